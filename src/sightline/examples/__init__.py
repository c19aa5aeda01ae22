"""Photographs that come with the package; see LICENCE.md beside them."""

from __future__ import annotations

from pathlib import Path


def example_photograph() -> Path:
    """Return the path of a real photograph to try things on: a cup of coffee, 600 × 400."""
    return Path(__file__).with_name("coffee.jpg")
