"""A part of a probe in words, for reports and the command line."""

from __future__ import annotations

from sightline.physics.probes.parts import PIXEL, Cell, Cells, Part, Plane, Rectangle, Scenes
from sightline.physics.worlds.ranges import Interval


def describe(part: Part) -> str:
    """Say in a phrase what a part consists of.

    >>> describe(Cells((Cell(speed=(1.0, 1.25)), Cell(speed=(3.75, 4.0)))))
    'uniform motion: red ball, r 0.7–1.4, v 1–1.25; red ball, r 0.7–1.4, v 3.75–4'
    >>> describe(Plane(outside=(((2.0, 3.0), (2.0, 3.0)),)))
    'collisions: (v1, v2) in [1–4]×[1–4], but not in [2–3]×[2–3]'
    """
    if isinstance(part, Cells):
        flipped = ", half of them mirrored" if part.flip else ""
        return f"uniform motion{flipped}: " + "; ".join(_cell(cell) for cell in part.cells)
    if isinstance(part, Plane):
        cut = f", but not in {_union(part.outside)}" if part.outside else ""
        return f"collisions: (v1, v2) in {_union(part.inside)}{cut}"
    if isinstance(part, Scenes):
        return f"{part.world} scenes: {', '.join(part.kinds)}"
    low, high = (margin / PIXEL for margin in part.margin)
    return f"gates: a margin or an overlap of {low:.2g}–{high:.2g} pixels of 128"


def _cell(cell: Cell) -> str:
    what = f"{'blue' if cell.colour else 'red'} {cell.shape.name.lower()}"
    return f"{what}, r {_interval(cell.radius)}, v {_interval(cell.speed)}"


def _union(rectangles: tuple[Rectangle, ...]) -> str:
    return " or ".join(f"[{_interval(v1)}]×[{_interval(v2)}]" for v1, v2 in rectangles)


def _interval(values: Interval) -> str:
    low, high = values
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"
