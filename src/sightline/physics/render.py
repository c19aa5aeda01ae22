"""What happens in a world to a video: `render` for one, `Canvas` for millions.

    render(motion, size=128)          (T, S, S, 3) uint8 RGB, row 0 at the top, where y is 10
    Canvas(size).paint(motion)        the same in a buffer that is used again: only what the last video
                                      painted is wiped, so most of the picture is never touched

The drawing is the reference's (`draw.bodies` has the formula); the bytes depend on nothing but the
motion and the size. World x of column c is 10 · c / (S − 1), y of row k is 10 · (1 − k / (S − 1)): the
outermost pixels stand on the border of the world.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.draw.bodies import WHITE, paint
from sightline.physics.types import FRAMES, WORLD_SIDE, Doubles, Frames, Motion, Samples

#: Sides of a picture in [px].
SMALLEST, LARGEST = 16, 1024


def render(motion: Motion, size: int = 128) -> Frames:
    """Return the video of a motion.

    Args:
        motion: what happens; later bodies are drawn over earlier ones. Where they are is free: bodies
            partly or wholly outside the picture are cut off.
        size: width and height in [px], 16 to 1024.

    Returns:
        (T, size, size, 3) uint8 RGB, row 0 at the top, on white.
    """
    return Canvas(size, len(motion.positions)).paint(motion)


def render_samples(samples: Samples, size: int = 128, out: Frames | None = None) -> Frames:
    """Return the videos of samples; for many of them, a `Canvas` needs the memory of one only.

    Args:
        samples: M motions.
        size: width and height in [px].
        out: (M, T, size, size, 3) uint8, C-contiguous, to be painted over; default: a new array.

    Returns:
        (M, T, size, size, 3) uint8 RGB.
    """
    shape = (len(samples), samples.positions.shape[1], check_size(size), size, 3)
    if out is None:
        out = np.empty(shape, np.uint8)
    elif out.shape != shape or out.dtype != np.uint8 or not out.flags.c_contiguous:
        raise InputError(f"out is {out.dtype} {out.shape}, expected contiguous uint8 {shape}")
    out.fill(WHITE)
    for index in range(len(samples)):
        Canvas(size, shape[1], out[index]).paint(samples[index])
    return out


class Canvas:
    """A video that is painted again and again.

    Args:
        size: width and height in [px].
        frames: of a video.
        buffer: (frames, size, size, 3) uint8, C-contiguous and white, to paint on; default: a new one.
            Nobody else may write to it as long as the canvas is in use.

    Attributes:
        frames: (T, size, size, 3) uint8, the video painted last; white before.
        boxes: (T, N, 4) int32: rows from, to, columns from, to of each body of it; empty when unseen.
    """

    def __init__(self, size: int = 128, frames: int = FRAMES, buffer: Frames | None = None) -> None:
        shape = (frames, check_size(size), size, 3)
        self.frames: Frames = np.full(shape, WHITE, np.uint8) if buffer is None else buffer
        if self.frames.shape != shape or not self.frames.flags.c_contiguous:
            raise InputError(f"buffer of shape {self.frames.shape}, expected contiguous {shape}")
        self.boxes: NDArray[np.int32] = np.zeros((frames, 1, 4), np.int32)
        self._grid: Doubles = np.linspace(0, 1, size)
        self._flat = self.frames.reshape(frames, -1)

    def paint(self, motion: Motion) -> Frames:
        """Paint a motion and return `frames`, which keeps its content until the next one."""
        positions = motion.positions
        if len(positions) != len(self.frames):
            raise InputError(f"a motion of {len(positions)} frames, not of {len(self.frames)}")
        self._make_room(positions.shape[1])
        done = paint(
            self._flat,
            self._grid,
            np.divide(positions, WORLD_SIDE, dtype=np.float64, order="C"),
            np.divide(motion.sizes, WORLD_SIDE, dtype=np.float64, order="C"),
            np.ascontiguousarray(motion.colours, np.uint8),
            np.ascontiguousarray(motion.shapes, np.uint8),
            self.boxes,
        )
        if not done:
            raise InputError(
                "a body has a position that is not finite, a size that is not positive, or no shape"
            )
        return self.frames

    def _make_room(self, bodies: int) -> None:
        """Have a box for each body; with another number of them, begin with a clean sheet."""
        if self.boxes.shape[1] != bodies:
            self.frames.fill(WHITE)
            self.boxes = np.zeros((len(self.frames), bodies, 4), np.int32)


def check_size(size: int) -> int:
    """Return the size of a picture in [px] if it can be rendered."""
    if not SMALLEST <= size <= LARGEST:
        raise InputError(f"a video is {SMALLEST} to {LARGEST} pixels wide, got {size}")
    return size
