"""Photographs that come with the package; see LICENCE.md beside them."""

from __future__ import annotations

from pathlib import Path


def example_photograph() -> Path:
    """Return the path of a real photograph to try things on: a cup of coffee, 600 × 400."""
    return Path(__file__).with_name("coffee.jpg")


def example_person() -> Path:
    """Return the path of a real photograph with a person: Eileen Collins, 512 × 512, no EXIF."""
    return Path(__file__).with_name("astronaut.jpg")
