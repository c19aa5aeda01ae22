"""The released evaluator's parser, rule by rule, for figures that compare with the paper's.

Spec §2.5, items 1 and 3 (`R-PHY` id_ood_data/evaluate.py):

* red is R > 127, G < 127, B < 127; blue is R < 127, G < 127, B > 127;
* a centre is the mean index of these pixels, times 10 over the *width*: the drawing puts the last
  column at 10, so this places bodies up to 10 / W too far left, and every velocity is short by 1 / W;
* a radius is √(area / π), scaled likewise;
* a ball without pixels is at the border (x = 10; with two balls red at 0, blue at 10), at the height
  of the frame before (of the *red* ball, whichever is missing) and with its own last radius. Before
  any pixel was seen these two are NaN, as they are there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import FRAME_TIME, WORLD_SIDE, Doubles, Frames


@dataclass(frozen=True, slots=True)
class ReferenceTracks:
    """What the reference parser gives.

    Attributes:
        positions: (T, N, 2) float64, (x, y) in world units by the reference's scale.
        radii: (T, N) float64.
        found: (T, N) bool, whether a ball has any pixel.
        frame_time: seconds between frames.
    """

    positions: Doubles
    radii: Doubles
    found: NDArray[np.bool_]
    frame_time: float = FRAME_TIME

    @property
    def velocities(self) -> Doubles:
        """(T - 1, N, 2) forward differences over the time between frames, in units/s."""
        return np.diff(self.positions, axis=0) / self.frame_time


def parse_reference(
    frames: Frames, colours: tuple[str, ...] = ("red",), *, frame_time: float = FRAME_TIME
) -> ReferenceTracks:
    """Parse a video as the released evaluator does.

    Args:
        frames: (T, H, W, 3) uint8 RGB, row 0 at the top.
        colours: `("red",)`, `("blue",)` or `("red", "blue")`: one ball each, in this order.
        frame_time: seconds between frames.
    """
    if frames.dtype != np.uint8 or frames.ndim != 4 or frames.shape[3] != 3 or 0 in frames.shape:
        raise InputError(f"frames are {frames.dtype} {frames.shape}, expected uint8 (T, H, W, 3)")
    if colours not in {("red",), ("blue",), ("red", "blue")}:
        raise InputError(f"the reference knows a red ball, a blue one, or both, not {colours}")
    sums = _sums(np.ascontiguousarray(frames))
    wanted = [("red", "blue").index(colour) for colour in colours]
    area, columns, rows = np.moveaxis(sums[:, wanted].astype(np.float64), 2, 0)
    height, width = frames.shape[1:3]
    found = area > 0
    scale = WORLD_SIDE / width
    positions = np.empty((*area.shape, 2))
    radii = np.sqrt(area / np.pi) * scale
    # Rows are counted from the bottom: the reference turns its frames upside down first.
    some = np.maximum(area, 1)
    positions[..., 0] = columns / some * scale
    positions[..., 1] = (height - 1 - rows / some) * scale
    _fill(positions, radii, found)
    return ReferenceTracks(positions, radii, found, frame_time)


def _fill(positions: Doubles, radii: Doubles, found: NDArray[np.bool_]) -> None:
    """Put missing balls where the reference has them, in place."""
    bodies = found.shape[1]
    for frame, body in np.argwhere(~found):
        positions[frame, body, 0] = 0.0 if bodies == 2 and body == 0 else WORLD_SIDE
        positions[frame, body, 1] = positions[frame - 1, 0, 1] if frame else np.nan
        radii[frame, body] = radii[frame - 1, body] if frame else np.nan


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _sums(frames: Frames) -> NDArray[np.int64]:  # pragma: no cover (compiled)
    """Return (T, 2, 3): area, sum of columns and sum of rows of the red and the blue pixels."""
    count, height, width = frames.shape[:3]
    out = np.zeros((count, 2, 3), np.int64)
    for t in range(count):
        for row in range(height):
            for column in range(width):
                if frames[t, row, column, 1] >= 127:
                    continue
                red, blue = frames[t, row, column, 0], frames[t, row, column, 2]
                if red > 127 and blue < 127:
                    ball = 0
                elif red < 127 and blue > 127:
                    ball = 1
                else:
                    continue
                out[t, ball, 0] += 1
                out[t, ball, 1] += column
                out[t, ball, 2] += row
    return out
