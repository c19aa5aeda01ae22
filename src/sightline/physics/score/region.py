"""What a model was trained on, as a region of radii and speeds: for the shading of plots.

A region is a union of boxes, with holes. A preset is one box; a probe has a box for each of its cells,
or holes where pairs of speeds were cut out. Where colour or shape decide what was trained, no region of
radii and speeds can say it, and there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.physics.probes.parts import Cells, Plane, Probe
from sightline.physics.types import Doubles
from sightline.physics.worlds.ranges import SCENARIOS, Interval, ranges

#: An interval for each parameter: r, v; or r1, r2, v1, v2.
Box = tuple[Interval, ...]

# Values that went through a file as 32-bit floats must not fall out of a closed range.
_SLACK = 1e-6


@dataclass(frozen=True, slots=True)
class Region:
    """Boxes of parameters, and holes in them.

    Attributes:
        boxes: one interval per parameter; at least one box.
        holes: likewise; an interval of the whole line where a hole does not depend on a parameter.
    """

    boxes: tuple[Box, ...]
    holes: tuple[Box, ...] = ()

    def spans(self, axis: int) -> list[Interval]:
        """Return the values of a parameter that occur, as intervals that do not touch."""
        merged: list[Interval] = []
        for low, high in sorted({box[axis] for box in self.boxes}):
            if merged and low <= merged[-1][1] + _SLACK:
                merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
            else:
                merged.append((low, high))
        return merged

    def rectangles(self, x: int, y: int) -> list[tuple[Interval, Interval]]:
        """Return the boxes as they lie in the plane of two parameters."""
        return sorted({(box[x], box[y]) for box in self.boxes})

    def holes_in(self, x: int, y: int) -> list[tuple[Interval, Interval]]:
        """Return the holes that are holes in a plane whatever the other parameters are."""
        return [
            (hole[x], hole[y])
            for hole in self.holes
            if all(np.isinf(hole[k]).all() for k in range(len(hole)) if k not in (x, y))
        ]

    def outside_elsewhere(self, init: Doubles, axes: Sequence[int]) -> NDArray[np.bool_]:
        """Say of (M, parameters) which are out in a parameter that is not one of the axes.

        A dot of theirs may lie on shaded ground and is out of the training region all the same.
        """
        outside = np.zeros(len(init), np.bool_)
        for axis in range(len(self.boxes[0])):
            if axis not in axes:
                inside = np.zeros(len(init), np.bool_)
                for low, high in self.spans(axis):
                    inside |= (init[:, axis] >= low - _SLACK) & (init[:, axis] <= high + _SLACK)
                outside |= ~inside
        return outside


def training_region(scenario: str, preset: str, probe: Probe | None = None) -> Region | None:
    """Return what was trained on: by a probe, or by a preset of ranges; None where it is no region.

    Args:
        scenario: of the data set.
        preset: of ranges.
        probe: that the data set is the test part of.
    """
    if scenario not in SCENARIOS:
        return None
    known = ranges(scenario, preset)
    if probe is None:
        balls = 2 if scenario == "collision" else 1
        return Region(((known.radius,) * balls + (known.speed,) * balls,))
    if isinstance(probe.train, Cells) and probe.attributes is None:
        return Region(tuple((cell.radius, cell.speed) for cell in probe.train.cells))
    if isinstance(probe.train, Plane):
        radii = (ranges("collision").radius,) * 2
        anything = ((-np.inf, np.inf),) * 2
        return Region(
            tuple((*radii, *speeds) for speeds in probe.train.inside),
            tuple((*anything, *speeds) for speeds in probe.train.outside),
        )
    return None


def parameters(init: Sequence[Sequence[float]], scenario: str) -> Doubles:
    """Return (M, 2) r and v, or (M, 4) r1, r2, v1 and v2 of two balls; speeds without a sign."""
    balls = 2 if scenario == "collision" else 1
    table = np.array([row[: 2 * balls] for row in init], float).reshape(-1, 2 * balls)
    table[:, balls:] = np.abs(table[:, balls:])
    return table
