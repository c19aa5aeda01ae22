"""Example photographs of the package; licenses in LICENSE.md."""

from __future__ import annotations

from pathlib import Path

__all__ = ["example_person", "example_photograph"]


def example_photograph() -> Path:
    """Return the path of an example photograph: a cup of coffee, 600 × 400."""
    return Path(__file__).with_name("coffee.jpg")


def example_person() -> Path:
    """Return the path of a photograph with a person: Eileen Collins, 512 × 512, no EXIF."""
    return Path(__file__).with_name("astronaut.jpg")
