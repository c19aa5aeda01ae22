"""Marks on a picture: people in outline, measured lines, lettered points.

Places are pixels (x, y) of the picture; the center of the top left one is (0, 0). How they are drawn is
in `templates/marks.html`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

Place = tuple[float, float]


@dataclass(frozen=True, slots=True)
class OutlineMark:
    """Labeled outline over an image.

    Attributes:
        polygons: closed polygons in pixel coordinates.
        lines: lines of the label.
        at: position of the label, the middle of its first line.
    """

    polygons: Sequence[Sequence[Place]]
    lines: Sequence[str]
    at: Place
    kind: ClassVar[str] = "outline"

    @property
    def label(self) -> str:
        """The words in one line."""
        return ", ".join(self.lines)

    @property
    def path(self) -> str:
        """All polygons as the path of an SVG."""
        return "".join(
            "M" + "L".join(f"{x + 0.5:g} {y + 0.5:g}" for x, y in polygon) + "Z"
            for polygon in self.polygons
        )


@dataclass(frozen=True, slots=True)
class Line:
    """A measured line.

    Attributes:
        start: one end.
        end: the other one.
        label: its length in words.
    """

    start: Place
    end: Place
    label: str
    kind: ClassVar[str] = "line"


@dataclass(frozen=True, slots=True)
class Letter:
    """A point that a question is about.

    Attributes:
        at: where it is.
        label: its letter.
        won: whether it is the answer.
    """

    at: Place
    label: str
    won: bool = False
    kind: ClassVar[str] = "letter"


Mark = OutlineMark | Line | Letter
