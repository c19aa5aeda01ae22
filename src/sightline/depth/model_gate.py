"""Model gate: detect defects of a depth network that benchmark figures do not show.

Each check is a pure function of maps; `measure` runs a network and collects them, `LIMITS` has the
thresholds. A network must not depend on the shape of its input grid (edge jump, grid), on left and
right (mirror) or on where patches begin (shift), and it must not predict a ground plane where there
is none (ramp).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from sightline.depth.estimator import DepthEstimator
from sightline.depth.preprocessing import to_input
from sightline.geometry import align
from sightline.types import FloatArray

#: A network at a fixed grid: ((H, W, 3) uint8, rows, columns in patches) to (h, w), larger is nearer.
Run = Callable[[NDArray[np.uint8], int, int], FloatArray]

#: Grids of the gate, in patches: the other side is `OTHER_SIDE`.
SIDES = tuple(range(10, 41))
OTHER_SIDE = 18

#: Width of the strip along an edge that is compared with what lies inside, [px] of the network.
STRIP = 4

#: Distance from the edge at which the band begins that the strip is compared with, and width of that
#: band, [px] of the network. Three patches: the padding of the head reaches no farther.
INSIDE = 42

#: A map whose range is below this share of the usual range is flat: its ramp, if any, is not visible.
FLAT_RANGE = 0.03

#: Pictures whose true inverse depth correlates more with the row number are not used to measure ramps.
TRUE_RAMP = 0.3

#: Range of a usual map of a network trained here, whose outputs are anchored to 0–1.
USUAL_RANGE = 1.0


@dataclass(frozen=True, slots=True)
class Faults:
    """Measured defects; 0 is best for all.

    Attributes:
        edge_jump: largest jump along an edge over all grids, as a share of the map's range.
        grid: mean difference between the maps of one picture at neighboring grids, share of the range.
        mirror: mean difference to the mirrored answer to the mirrored picture, share of the range.
        shift: mean difference to the answer to the picture moved by half a patch, share of the range.
        ramp: mean rank correlation of the maps of pictures without ground with the row number, its
            sign ignored; NaN without such pictures.
    """

    edge_jump: float
    grid: float
    mirror: float
    shift: float
    ramp: float

    def exceeding(self, limits: Faults) -> list[str]:
        """List the defects that exceed their limit, one line each."""
        pairs = [(f.name, getattr(self, f.name), getattr(limits, f.name)) for f in fields(self)]
        return [
            f"{name} is {value:.3f}, at most {most} passes"
            for name, value, most in pairs
            if value > most
        ]


#: What a model may have and still ship.
LIMITS = Faults(edge_jump=0.05, grid=0.05, mirror=0.05, shift=0.05, ramp=0.5)


def measure(
    run: Run,
    photographs: Sequence[NDArray[np.uint8]],
    groundless: Iterable[NDArray[np.uint8]] = (),
    sides: Sequence[int] = SIDES,
) -> Faults:
    """Measure all faults of a network.

    Args:
        run: the network.
        photographs: (H, W, 3) uint8 each, at least 300 px a side, for edges, mirror and shift.
        groundless: pictures of sky, of walls from the front and from straight above, for the ramp.
        sides: sides of the grids, ascending, in patches, once as columns and once as rows.
    """
    pairs = [pair for pixels in photographs for pair in neighboring_maps(run, pixels, sides)]
    ramps = [ramp_correlation(run(pixels, *_grid(pixels))) for pixels in groundless]
    return Faults(
        max(edge_jump(one, other) for one, other in pairs),
        float(np.mean([_difference(_resized(other, one), one) for one, other in pairs])),
        float(np.mean([mirror_error(run, pixels) for pixels in photographs])),
        float(np.mean([shift_error(run, pixels) for pixels in photographs])),
        float(np.mean(ramps)) if ramps else float("nan"),
    )


def run_of(estimator: DepthEstimator) -> Run:
    """Return a function that runs an estimator's network at a given grid."""

    def run(pixels: NDArray[np.uint8], rows: int, columns: int) -> FloatArray:
        multiple = estimator.spec.multiple
        entry = to_input(pixels, estimator.spec, (rows * multiple, columns * multiple))
        return np.asarray(estimator.engine.run(entry)[0], np.float32)

    return run


def neighboring_maps(
    run: Run, pixels: NDArray[np.uint8], sides: Sequence[int] = SIDES
) -> list[tuple[FloatArray, FloatArray]]:
    """Return the maps of one picture at every pair of neighboring sides, as columns and as rows.

    Args:
        run: the network.
        pixels: (H, W, 3) uint8, squeezed into every grid.
        sides: ascending, in patches.

    Returns:
        Pairs of maps (h, w) and (h, w'); maps of grids that differ in their rows are transposed.
    """
    columns = [run(pixels, OTHER_SIDE, side) for side in sides]
    rows = [run(pixels, side, OTHER_SIDE).T for side in sides]
    return [*pairwise(columns), *pairwise(rows)]


def edge_jump(values: FloatArray, other: FloatArray) -> float:
    """Return how far two maps of one picture at neighboring widths differ along the left or right edge.

    The picture is the same, so a structure at the edge of only one map is an artifact. The
    difference in a strip along the edge is compared with the difference in a band a few patches inside:
    two grids may estimate a whole side of the picture differently, which is not a stripe and counts in
    `Faults.grid`. The median over the rows ignores single objects that touch the edge.

    Args:
        values: (h, w).
        other: (h, w'), at a grid with one patch more.

    Returns:
        The larger jump of the two edges, as a share of the range of `values`.
    """
    span = _span(values)
    if span <= 0:
        return 0.0
    like = _resized(other, values)
    # A squeezed picture may come out in another range; that is no jump.
    fit = align(like, values, robust=True, nonnegative=True)
    apart = np.asarray(fit(like) - values)
    jumps = []
    for side in (apart, apart[:, ::-1]):
        inside = np.median(side[:, INSIDE : 2 * INSIDE], axis=1)
        jumps.append(abs(float(np.median(side[:, :STRIP].mean(1) - inside))))
    return max(jumps) / span


def mirror_error(run: Run, pixels: NDArray[np.uint8]) -> float:
    """Return the mean difference to the mirrored answer to the mirrored picture, share of the range."""
    grid = _grid(pixels)
    straight = run(pixels, *grid)
    mirrored = run(np.ascontiguousarray(pixels[:, ::-1]), *grid)[:, ::-1]
    return _difference(mirrored, straight)


def shift_error(run: Run, pixels: NDArray[np.uint8]) -> float:
    """Return the mean difference between two views half a patch apart where both see the same."""
    rows, columns = _grid(pixels)
    height, width = pixels.shape[:2]
    down, across = round(height / rows / 2), round(width / columns / 2)
    here = run(pixels[: height - down, : width - across], rows, columns)
    moved = run(pixels[down:, across:], rows, columns)
    # Both views are as large; the second begins `down` and `across` pixels later.
    tall, wide = here.shape
    step_y, step_x = down * tall / (height - down), across * wide / (width - across)
    matrix = np.array([[1, 0, step_x], [0, 1, step_y]])
    there = cv2.warpAffine(
        here, matrix, (wide, tall), flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    )
    keep = (slice(0, tall - int(np.ceil(step_y)) - 1), slice(0, wide - int(np.ceil(step_x)) - 1))
    return _difference(there[keep], moved[keep])


def ramp_correlation(values: FloatArray) -> float:
    """Return how much of (h, w) is a ramp: its rank correlation with the row number, 0 to 1.

    A map that is practically flat has no ramp, whatever the order of its last digits.
    """
    if _span(values) < FLAT_RANGE * USUAL_RANGE:
        return 0.0
    ranks = rankdata(values).reshape(values.shape) - (values.size + 1) / 2
    rows = np.arange(len(values)) - (len(values) - 1) / 2
    scale = float(np.sqrt((ranks**2).sum() * (rows**2).sum() * values.shape[1]))
    return abs(float((ranks.sum(1) * rows).sum())) / scale


def has_no_ramp(disparity: FloatArray) -> bool:
    """Return whether the true (H, W) inverse depth of a picture is flat or independent of the rows."""
    top = float(disparity.max())
    return top <= 0 or ramp_correlation(disparity / top) < TRUE_RAMP


def _grid(pixels: NDArray[np.uint8]) -> tuple[int, int]:
    """Return rows and columns in patches, the shorter side being `OTHER_SIDE`."""
    height, width = pixels.shape[:2]
    scale = OTHER_SIDE / min(height, width)
    return round(height * scale), round(width * scale)


def _resized(values: FloatArray, like: FloatArray) -> FloatArray:
    """Return a map at the size of another one."""
    return cv2.resize(values, like.shape[::-1], interpolation=cv2.INTER_LINEAR)


def _span(values: FloatArray) -> float:
    """Return the range of a map, its 2 % of extremes at either end left out."""
    low, high = np.percentile(values, (2, 98))
    return float(high - low)


def _difference(values: FloatArray, like: FloatArray) -> float:
    """Return the mean absolute difference after the best scale and shift, as a share of the range."""
    fit = align(values, like, nonnegative=True)
    return float(np.abs(fit(values) - like).mean()) / max(_span(like), 1e-6)
