"""Two statements about one place: whoever made them says how sure each is, and that decides.

What a relative map says wrong about a place, it says wrong about both of them, so errors of reading,
which are most of a yardstick's error bar, explain no difference between the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from sightline.metric.yardsticks.known import MEASURED, box_name, depth_name, length_name
from sightline.metric.yardsticks.reading import WINDOW, read
from sightline.metric.yardsticks.words import Length
from sightline.types import DepthMap

#: Above this many of their own standard deviations, two statements contradict each other.
TOO_FAR = 3.0
#: Readings that differ by less than this share of a picture's range are of the same thing.
SAME = 0.02
#: At most so many contradictions are named.
MOST = 3

Statement = tuple[tuple[float, ...], Length]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two statements that cannot both be true.

    Attributes:
        names: of both.
        gap: difference of their logarithms.
        allowed: largest difference that their own errors explain.
    """

    names: tuple[str, str]
    gap: float
    allowed: float

    def __str__(self) -> str:
        return (
            f"{self.names[0]} and {self.names[1]} contradict each other: they differ by "
            f"{math.expm1(self.gap):.1%}, their own errors explain {math.expm1(self.allowed):.1%}; "
            "the result is a compromise, correct one of them"
        )


def conflict_notes(conflicts: Sequence[Conflict]) -> list[str]:
    """Name the worst contradictions, and count the others."""
    more = len(conflicts) - MOST
    notes = [str(one) for one in conflicts[:MOST]]
    return notes + ([f"{more} more contradict each other like that"] if more > 0 else [])


def conflicts_of(
    relative: DepthMap,
    lengths: Sequence[Statement] = (),
    depths: Sequence[Statement] = (),
    boxes: Sequence[Statement] = (),
    measured: DepthMap | None = None,
) -> list[Conflict]:
    """Return the contradictions between statements about the same pixels, the worst first.

    Args:
        relative: the picture's relative disparity.
        lengths: pixels (x, y, x, y) and the length between them.
        depths: pixels (x, y) and their depth.
        boxes: (left, top, right, bottom) and the height of what is in them.
        measured: a map of measured depth, which a depth may contradict.
    """
    found = [] if measured is None else _against_map(depths, measured)
    for statements, name, size in (
        (lengths, length_name, _apart),
        (depths, depth_name, _any_size),
        (boxes, box_name, _height),
    ):
        for one, other in _about_one_place(statements, relative):
            conflict = _conflict(one, other, name, size)
            if conflict.gap > conflict.allowed:
                found.append(conflict)
    return sorted(found, key=lambda conflict: conflict.allowed / conflict.gap)


def _against_map(depths: Sequence[Statement], measured: DepthMap) -> list[Conflict]:
    """Return the depths that a measured map contradicts at their own pixel."""
    metres, found = measured.to_metric_depth(), []
    for (x, y), length in depths:
        row, column = round(y), round(x)
        inside = 0 <= row < metres.height and 0 <= column < metres.width
        if not inside or not metres.valid[row, column]:
            continue
        gap = abs(math.log(length.metres / float(metres.values[row, column])))
        allowed = TOO_FAR * math.hypot(length.share, MEASURED)
        if gap > allowed:
            name = f"measured depth {metres.values[row, column]:.3g} m there"
            found.append(Conflict((depth_name((x, y), length), name), gap, allowed))
    return found


def _about_one_place(
    statements: Sequence[Statement], relative: DepthMap
) -> list[tuple[Statement, Statement]]:
    """Return the pairs of statements whose pixels are the same, and show the same thing."""
    if len(statements) < 2:
        return []
    tree = cKDTree([_ordered(place) for place, _ in statements])
    pairs = sorted(tree.query_pairs(WINDOW, p=np.inf))
    found = [(statements[first], statements[second]) for first, second in pairs]
    return [pair for pair in found if _shows_one_thing(relative, pair[0][0], pair[1][0])]


def _shows_one_thing(relative: DepthMap, one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether relative disparity is the same at the pixels of two places: no edge is between."""
    if (
        len(one) > 2 or one == other
    ):  # ends of lengths and boxes lie on edges: the nearer side counts
        return True
    far, near = np.quantile(relative.values[relative.valid], [0.05, 0.95])
    readings = [read(relative, x, y) for x, y in (one, other)]
    return abs(readings[0] - readings[1]) <= SAME * float(near - far)


def _conflict(
    one: Statement, other: Statement, name: Callable[..., str], size: Callable[..., float]
) -> Conflict:
    """Compare two statements about one place, whose pixels may differ by a few."""
    moved = float(np.abs(np.subtract(_ordered(one[0]), _ordered(other[0]))).sum())
    errors = math.hypot(one[1].share, other[1].share, moved / size(one[0]))
    gap = abs(math.log(one[1].metres / other[1].metres))
    return Conflict((name(*one), name(*other)), gap, TOO_FAR * errors)


def _ordered(place: tuple[float, ...]) -> tuple[float, ...]:
    """Return the pixels of a place so that it does not matter which one was named first."""
    return tuple(np.ravel(sorted(zip(place[::2], place[1::2], strict=True))).tolist())


def _apart(ends: tuple[float, ...]) -> float:
    """Return how many pixels the ends of a length are apart."""
    return math.dist(ends[:2], ends[2:])


def _height(box: tuple[float, ...]) -> float:
    """Return how many pixels a box is high."""
    return box[3] - box[1]


def _any_size(_place: tuple[float, ...]) -> float:
    """Return how much moving by a pixel matters to a depth: not at all, on one thing."""
    return math.inf
