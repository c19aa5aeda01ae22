"""Pieces that plots are made of: axes with round ticks, text, grid lines, a legend above the points.

Colours are the page's own variables, so that a plot follows its light or dark look. Numbers are rounded
to a tenth of a pixel, and the same data give the same text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from sightline.ticks import log_ticks, ticks

#: Width of a character of a label, on average, and height of a row of the legend, in [px].
_LETTER, LEGEND_ROW = 6.0, 17


@dataclass(frozen=True, slots=True)
class Axis:
    """Where values lie on a line of pixels.

    Attributes:
        low: value at `begin`; on a logarithmic axis anything smaller lies there too.
        high: value at `end`.
        begin: pixel of the low end.
        end: pixel of the high end.
        ticks: values with a label, from low to high.
        log: whether equal distances are equal ratios.
    """

    low: float
    high: float
    begin: float
    end: float
    ticks: tuple[float, ...]
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the pixel of a value."""
        if self.log:
            share = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return self.begin + (self.end - self.begin) * share


def linear(low: float, high: float, begin: float, end: float, most: int = 7) -> Axis:
    """Return an axis from a round number to another that hold the values between them."""
    marks = tuple(ticks(low, high, most))
    return Axis(marks[0], marks[-1], begin, end, marks)


def logarithmic(low: float, high: float, begin: float, end: float) -> Axis:
    """Return a logarithmic axis from a power of ten to another; `low` and `high` are positive."""
    marks = tuple(log_ticks(low, high))
    return Axis(marks[0], marks[-1], begin, end, marks, log=True)


def text(x: float, y: float, words: str, anchor: str = "start", kind: str = "") -> str:
    """Return a label; `anchor` is `start`, `middle` or `end`, `kind` a class of the stylesheet."""
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'


def upward(x: float, y: float, words: str) -> str:
    """Return a label that is read from below, its middle at a point."""
    return (
        f'<text transform="translate({x:.1f} {y:.1f}) rotate(-90)" text-anchor="middle">'
        f"{escape(words)}</text>"
    )


def line(x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> str:
    """Return a straight line."""
    return f'<path class="{kind}" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


def rectangle(x1: float, y1: float, x2: float, y2: float, kind: str, title: str = "") -> str:
    """Return a rectangle between two corners; `title` shows under the pointer."""
    left, top = min(x1, x2), min(y1, y2)
    inner = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" width="{abs(x2 - x1):.1f}" '
        f'height="{abs(y2 - y1):.1f}">{inner}</rect>'
    )


def dots(points: Sequence[tuple[float, float]], kind: str) -> str:
    """Return round dots as one path: their size and colour are those of the class."""
    path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)
    return f'<path class="{kind}" d="{path}"/>'


def polyline(points: Sequence[tuple[float, float]], kind: str) -> str:
    """Return a line through points."""
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    return f'<path class="{kind}" d="M{path}"/>'


def legend(
    entries: Sequence[tuple[Sequence[str], str]], left: float, right: float
) -> tuple[list[str], int]:
    """Lay out a legend from the top of a plot downwards, in as many rows as it takes.

    Args:
        entries: classes of the mark (`dots …` for a dot, else a line), and the name.
        left: first pixel.
        right: last pixel.

    Returns:
        The parts, and the height that they take in [px].
    """
    parts, x, row = [], left, 0
    for kinds, name in entries:
        width = 24 + _LETTER * len(name)
        if x > left and x + width > right:
            x, row = left, row + 1
        y = 10 + row * LEGEND_ROW
        for kind in kinds:
            if kind.startswith("dots"):
                parts.append(dots([(x + 8, y)], kind))
            elif kind.startswith("shaded"):
                parts.append(rectangle(x, y - 5, x + 16, y + 5, kind))
            else:
                parts.append(line(x, y, x + 16, y, kind))
        parts.append(text(x + 20, y + 4, name))
        x += width + 10
    return parts, (row + 1) * LEGEND_ROW if entries else 0


def frame(width: float, height: float, parts: Sequence[str], title: str = "") -> str:
    """Return the whole drawing; `title` is what it is called to those who cannot see it."""
    inner = f"<title>{escape(title)}</title>" if title else ""
    return (
        f'<svg class="plot" viewBox="0 0 {width:g} {height:g}" role="img">'
        + inner
        + "".join(parts)
        + "</svg>"
    )
