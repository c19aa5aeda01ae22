"""Render motions as videos: `render` for one, `Canvas` for many.

    render(motion, size=128)          (T, S, S, 3) uint8 RGB, row 0 at the top, where y is 10
    Canvas(size).paint(motion)        the same into a reused buffer: only what the last video painted
    is erased
    to_planes(frames)                 (3, T, H, W), channels first, as networks take it

The outermost pixels lie on the border of the world: x of column c is 10 · c / (S − 1), y of row k is
10 · (1 − k / (S − 1)). In units of the side of the world, a body with center p and size r has the
opacity

    a(d, r) = clip((r² − d²) / (0.03 r²), 0, 1)

as in the released generator, where d is the distance to p: Euclidean for a ball, max(|dx|, |dy|) for a
square. A ring is a ball without its middle: a(d, r) · (1 − a(d, h)) with h = `HOLE` · r. A pixel
becomes (1 − a) · old + a · color, truncated to an integer. The released generator truncates once after
all bodies, this code after each body: where the soft edges of two bodies share a pixel it may be one
level darker; everywhere else the bytes are the same.

The formula is evaluated only for the soft pixels of each row; between them the body is opaque. Inner
loops use unsigned indexes: for signed ones numba handles negative values, which keeps the compiler
from turning the loop into one copy or fill, at eight times the cost.
"""

from __future__ import annotations

from math import ceil, floor, sqrt
from typing import Any, NamedTuple

import numpy as np
from numba import njit, uintp
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.types import FRAMES, WORLD_SIDE, Doubles, Frames, Motion, Samples

#: Sides of a picture in [px].
SMALLEST, LARGEST = 16, 1024


def render(motion: Motion, size: int = 128) -> Frames:
    """Render a motion as a video.

    Args:
        motion: of the bodies; later ones are drawn over earlier ones. Bodies partly or completely
            outside
            the picture are clipped.
        size: width and height in [px], 16 to 1024.

    Returns:
        (T, size, size, 3) uint8 RGB, row 0 at the top, on white.
    """
    return Canvas(size, len(motion.positions)).paint(motion)


def render_samples(samples: Samples, size: int = 128, out: Frames | None = None) -> Frames:
    """Render samples; for many of them, a `Canvas` needs only the memory of one.

    Args:
        samples: M motions.
        size: width and height in [px].
        out: (M, T, size, size, 3) uint8, C-contiguous, to be overwritten; default: a new array.

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
    """A reusable video buffer.

    Args:
        size: width and height in [px].
        frames: number of frames.
        buffer: (frames, size, size, 3) uint8, C-contiguous and white; default: a new one. It must not
            be
            changed by others while the canvas is in use.

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
        """Render a motion and return `frames`, valid until the next call."""
        positions = motion.positions
        if len(positions) != len(self.frames):
            raise InputError(f"a motion of {len(positions)} frames, not of {len(self.frames)}")
        self._make_room(positions.shape[1])
        done = paint(
            self._flat,
            self._grid,
            np.divide(positions, WORLD_SIDE, dtype=np.float64, order="C"),
            np.divide(motion.sizes, WORLD_SIDE, dtype=np.float64, order="C"),
            np.ascontiguousarray(motion.colors, np.uint8),
            np.ascontiguousarray(motion.shapes, np.uint8),
            self.boxes,
        )
        if not done:
            raise InputError(
                "a body has a position that is not finite, a size that is not positive, or no shape"
            )
        return self.frames

    def _make_room(self, bodies: int) -> None:
        """Allocate a box per body; clear the frames if their number changes."""
        if self.boxes.shape[1] != bodies:
            self.frames.fill(WHITE)
            self.boxes = np.zeros((len(self.frames), bodies, 4), np.int32)


def check_size(size: int) -> int:
    """Return the frame size in [px] if it is supported."""
    if not SMALLEST <= size <= LARGEST:
        raise InputError(f"a video is {SMALLEST} to {LARGEST} pixels wide, got {size}")
    return size


#: Width of the soft edge, as a share of r².
EDGE = 0.03
#: Radius of the hole of a ring, as a share of the ring's.
HOLE = 0.5

WHITE = 255
_SQUARE, _RING = 1, 2  # values of `Shape`, as numbers that compiled code knows
_SLACK = 1e-5  # pixels; pixels this near to where opaque begins are evaluated, to be sure
_NOWHERE = (0, -1)


class BodyRow(NamedTuple):
    """A body in one row of pixels, in units of the side of the world.

    Attributes:
        x: of the center.
        up: height of the row above the center.
        r: radius or half side.
        shape: value of `Shape`.
    """

    x: float
    up: float
    r: float
    shape: int


@njit(cache=True)  # type: ignore[untyped-decorator]
def paint(
    frames: Frames,
    grid: Doubles,
    positions: Doubles,
    sizes: Doubles,
    colors: NDArray[np.uint8],
    shapes: NDArray[np.uint8],
    boxes: NDArray[np.int32],
) -> bool:
    """Erase the boxes, paint a video, and store the painted boxes.

    Returns False, without changes, for invalid `positions`, `sizes` or `shapes`.

    Args:
        frames: (T, S·S·3) uint8, white outside the boxes; row 0 at the top.
        grid: (S,) linspace(0, 1, S).
        positions: (T, N, 2) centers (x, y) over the side of the world; must be finite.
        sizes: (N,) over the side of the world; must be finite and positive.
        colors: (N, 3) RGB.
        shapes: (N,) values of `Shape`.
        boxes: (T, N, 4) int32, rows from, to and columns from, to (`to` is not part of it).
    """
    if not np.isfinite(positions.sum()):
        return False
    for body in range(len(sizes)):
        if not (0 < sizes[body] < np.inf and shapes[body] <= _RING):
            return False
    size = len(grid)
    fills = np.empty((len(sizes), 3 * size), np.uint8)
    for body in range(len(sizes)):
        for column in range(size):
            for channel in range(3):
                fills[body, 3 * column + channel] = colors[body, channel]
    for frame in range(len(frames)):
        pixels = frames[frame]
        for body in range(len(sizes)):
            _wipe(pixels, size, boxes[frame, body])
        for body in range(len(sizes)):
            x, y = positions[frame, body]
            shape = shapes[body]
            _paint_body(pixels, grid, x, y, sizes[body], shape, fills[body], boxes[frame, body])
    return True


@njit(cache=True)  # type: ignore[untyped-decorator]
def _wipe(pixels: Frames, size: int, box: NDArray[np.int32]) -> None:
    """Make a box white."""
    for row in range(box[0], box[1]):
        start = row * size
        for byte in range(uintp(3 * (start + box[2])), uintp(3 * (start + box[3]))):
            pixels[byte] = WHITE


@njit(cache=True)  # type: ignore[untyped-decorator]
def _paint_body(
    pixels: Frames,
    grid: Doubles,
    x: float,
    y: float,
    r: float,
    shape: int,
    fill: NDArray[np.uint8],
    box: NDArray[np.int32],
) -> None:
    """Paint one body into one frame; `box` receives the covered area."""
    size = len(grid)
    first, last = _covered(y, r, size)
    left, right = _covered(x, r, size)
    if last < first or right < left:
        box[:] = 0
        return
    box[0], box[1], box[2], box[3] = size - 1 - last, size - first, left, right + 1
    for k in range(first, last + 1):
        row = pixels[3 * size * (size - 1 - k) : 3 * size * (size - k)]
        up = grid[k] - y
        body = BodyRow(x, up, r, shape)
        begin, end = _span(x, up, r * r, shape, size, -_SLACK)
        opaque_begin, opaque_end = _span(x, up, (1 - EDGE) * r * r, shape, size, _SLACK)
        if opaque_end < opaque_begin:  # a row of soft pixels only
            opaque_begin, opaque_end = end + 1, end
        hole = HOLE * r
        if shape == _RING and abs(up) < hole:
            soft_begin, soft_end = _span(x, up, hole * hole, shape, size, -_SLACK)
            open_begin, open_end = _span(x, up, (1 - EDGE) * hole * hole, shape, size, _SLACK)
            if soft_begin <= soft_end:
                if open_end < open_begin:
                    open_begin, open_end = soft_begin, soft_begin - 1
                left_half, left_opaque = (begin, open_begin - 1), (opaque_begin, soft_begin - 1)
                right_half, right_opaque = (open_end + 1, end), (soft_end + 1, opaque_end)
                _paint_run(row, grid, fill, body, left_half, left_opaque)
                _paint_run(row, grid, fill, body, right_half, right_opaque)
                continue
        _paint_run(row, grid, fill, body, (begin, end), (opaque_begin, opaque_end))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _covered(center: float, r: float, size: int) -> tuple[int, int]:
    """Return the first and last pixel of the picture that a body may touch, along one axis."""
    low, high = (center - r) * (size - 1) - _SLACK, (center + r) * (size - 1) + _SLACK
    if high < 0 or low > size - 1:
        return _NOWHERE
    return ceil(max(low, 0.0)), floor(min(high, size - 1.0))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _span(
    x: float, up: float, square: float, shape: int, size: int, inset: float
) -> tuple[int, int]:
    """Return first and last column where d² < `square`, each `inset` pixels further in.

    `up` is the height of the row over the center; no column when the first is after the last.
    """
    left = square - up * up
    if left <= 0:
        return _NOWHERE
    half = sqrt(square) if shape == _SQUARE else sqrt(left)
    low, high = (x - half) * (size - 1) + inset, (x + half) * (size - 1) - inset
    if high < 0 or low > size - 1:
        return _NOWHERE
    return ceil(max(low, 0.0)), floor(min(high, size - 1.0))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _paint_run(
    row: Frames,
    grid: Doubles,
    fill: NDArray[np.uint8],
    body: BodyRow,
    columns: tuple[int, int],
    opaque: tuple[int, int],
) -> None:
    """Paint the first to the last of some columns of a row, of which some in the middle are opaque."""
    begin, end = columns
    opaque_begin, opaque_end = opaque
    if opaque_end < opaque_begin:
        opaque_begin, opaque_end = end + 1, end
    for column in range(begin, opaque_begin):
        _blend(row, grid[column] - body.x, body, fill, column)
    for byte in range(uintp(3 * opaque_begin), uintp(3 * (opaque_end + 1))):
        row[byte] = fill[byte]
    for column in range(opaque_end + 1, end + 1):
        _blend(row, grid[column] - body.x, body, fill, column)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _blend(row: Frames, right: float, body: BodyRow, fill: NDArray[np.uint8], column: int) -> None:
    """Blend a body into one pixel: (1 − a) · old + a · color, truncated."""
    square = right * right + body.up * body.up
    if body.shape == _SQUARE:
        square = max(right * right, body.up * body.up)
    opacity = _opacity(square, body.r)
    if body.shape == _RING:
        opacity *= 1 - _opacity(square, HOLE * body.r)
    for channel in range(uintp(3 * column), uintp(3 * column + 3)):
        row[channel] = np.uint8((1 - opacity) * row[channel] + opacity * fill[channel])


@njit(cache=True)  # type: ignore[untyped-decorator]
def _opacity(square: float, r: float) -> float:
    return min(max((r * r - square) / (r * r * EDGE), 0.0), 1.0)


_LEVELS = np.arange(256, dtype=np.uint8)
_UNIT = (np.arange(256) / 127.5 - 1).astype(np.float32)


def to_planes(frames: Frames, *, floats: bool = False, mirror: bool = False) -> NDArray[Any]:
    """Return a video with the channel axis first.

    Args:
        frames: (T, H, W, 3) uint8.
        floats: float32 from −1 (0) to 1 (255) instead of uint8.
        mirror: flip left and right.

    Returns:
        (3, T, H, W).
    """
    count, height, width, _ = frames.shape
    table = _UNIT if floats else _LEVELS
    planes = np.empty((3, count * height, width), table.dtype)
    _spread(np.ascontiguousarray(frames).reshape(count * height, -1), table, mirror, planes)
    return planes.reshape(3, count, height, width)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _spread(rows: Frames, table: NDArray[Any], mirror: bool, planes: NDArray[Any]) -> None:
    """Fill (3, R, W) planes from (R, 3 W) rows; unsigned numbers for the reason of `bodies`."""
    width = uintp(planes.shape[2])
    for row in range(len(rows)):
        pixels = rows[row]
        for channel in range(uintp(3)):
            plane = planes[channel, row]
            if mirror:
                for column in range(width):
                    place = uintp(3) * (width - column - uintp(1)) + channel
                    plane[column] = table[uintp(pixels[place])]
            else:
                for column in range(width):
                    plane[column] = table[uintp(pixels[uintp(3) * column + channel])]
