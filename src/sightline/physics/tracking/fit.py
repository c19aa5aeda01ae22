"""Fit center and radius of one body to the pixels of its edge, to a small fraction of a pixel.

The generator draws a ball with opacity a = clip((r² − d²) / (0.03 r²), 0, 1): at 128 pixels the soft
edge is a fifth of a pixel wide. Most pixels near the edge only say "inside" or "outside", but each
half covered one gives its distance from the center to about a thousandth of a pixel: d = r √(1 − 0.03
a). The fit uses both kinds: half covered pixels contribute the difference between their distance and
the one their coverage implies; full and empty ones contribute only when they are on the wrong side of
the edge. Unlike a fit of opacities, whose gradient is zero nearly everywhere, this has no bad starting
points. It needs no complete outline, so a body that is cut by the border or covered by another one is
fitted as well as its visible part allows.

A video that was compressed, blurred or scaled has wider edges. There, coverage is that of a straight
edge under a Gaussian blur: d = ρ − σ Φ⁻¹(a), with σ measured on the video and ρ = r √0.985, the
distance where a = 1/2. A square is the same with d = max(|dx|, |dy|) (see `rendering`).

All lengths are pixels, x = column, y = row (down).
"""

from __future__ import annotations

from math import ceil, floor, sqrt
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import ndtri

from sightline.physics.types import Doubles, Frames

#: Width of the soft edge as a share of r², and where it is half covered as a share of r.
SOFT = 0.03
HALF = sqrt(1 - SOFT / 2)
#: Steps of coverage in a table: half a gray level.
LEVELS = 510
#: Standard deviation of a coverage whose pixel is a whole number.
LEVEL = 0.3 / 255

_CUT = 0.5 / 255  # by which coverages are too large, since the reference cuts levels to whole ones
_MARGIN = 2.0  # px to each side of the edge that are looked at when it is sharp
_WIDEST = 6.0


class EdgeProfile(NamedTuple):
    """How coverage depends on the distance to an edge, for one video.

    Attributes:
        scale: (511,) a pixel of coverage k / 510 is at distance scale[k] · r + offset[k].
        offset: (511,) in [px].
        low: coverage up to this only says "outside".
        high: coverage from this on only says "inside".
        noise: standard deviation of a coverage.
        sharp: whether the edge is as the reference draws it.
        margin: distance from the edge up to which pixels are used, in [px].
        blur: standard deviation of the Gaussian blur, in [px].
    """

    scale: Doubles
    offset: Doubles
    low: float
    high: float
    noise: float
    sharp: bool
    margin: float
    blur: float


def edge_profile(blur: float, noise: float, sharp: bool) -> EdgeProfile:
    """Return the edge profile of a video.

    Args:
        blur: standard deviation of the Gaussian blur, in [px].
        noise: standard deviation of coverages inside bodies.
        sharp: whether edges are as the reference draws them.
    """
    coverage = np.arange(LEVELS + 1) / LEVELS
    noise = float(max(noise, LEVEL))
    if sharp:
        # The drawn ramp: a = (r² − d²) / (0.03 r²), so d = r √(1 − 0.03 a).
        scale = np.sqrt(1 - SOFT * np.maximum(coverage - _CUT, 0))
        low = min(6 * noise, 0.3)
        return EdgeProfile(
            scale, np.zeros(LEVELS + 1), low, 1 - low, noise, True, _MARGIN, float(blur)
        )
    # A straight edge under a Gaussian blur: d = r √0.985 − σ Φ⁻¹(a).
    offset = -blur * ndtri(np.clip(coverage, 0.02, 0.98))
    margin = float(min(_MARGIN + 2 * blur, _WIDEST))
    return EdgeProfile(
        np.full(LEVELS + 1, HALF), offset, 0.12, 1 - 0.12, noise, False, margin, float(blur)
    )


#: What a fit gives: center, radius, a standard deviation of each, the root mean square of the
#: residuals per pixel of outline, and the number of pixels that had a say.
X, Y, R, SIGMA_X, SIGMA_Y, SIGMA_R, MISFIT, USED = range(8)
FIT_FIELDS = 8

_ROUNDS = 10
_OUTLIER = 1.5  # px; pixels further off belong to something else (fits of covered bodies only)
_SQUARE = 1
# Calibration, by the spread of errors over rendered videos (tests/physics/parse/test_sigma.py).
_GAP_BALL = (
    0.35  # px²; how far, times the radius, pixels that only say in or out leave a center free
)
_GAP_SQUARE = 0.18  # px; the same for straight edges, whose pixels all say the same
_CORRELATED = 1.2  # residuals of compressed videos come in blocks, so they average out more slowly
_COARSE = 0.3  # px²; the same for pixels that were blurred after they had been drawn
_ONE_SIDED = (
    0.6  # error of a radius by coverages that are all too large or too small, in their noise
)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def coverage(picture: Frames, mix: Doubles, x: int, y: int, row: int) -> float:  # pragma: no cover
    """Share of a color in a pixel; `row` 0 of the mix is the body's color, 1 its neighbor's."""
    return (
        mix[row, 0] * (255.0 - picture[y, x, 0])
        + mix[row, 1] * (255.0 - picture[y, x, 1])
        + mix[row, 2] * (255.0 - picture[y, x, 2])
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def collect(
    picture: Frames, mix: Doubles, place: Doubles, square: bool, margin: float, near: Doubles
) -> int:  # pragma: no cover
    """Put the pixels around an outline into `near`, (n, 3): x, y, coverage; return how many.

    Pixels in which the neighbor's color (row 1 of `mix`) has a share are left out: what is behind
    it is not known.
    """
    height, width = picture.shape[:2]
    x, y, radius = place[X], place[Y], place[R] * HALF
    margin = min(margin, max(0.3 * radius, 1.0))  # stays out of a ring's hole
    outer, inner = radius + margin, radius - margin
    crowded = mix[1, 0] != 0.0 or mix[1, 1] != 0.0 or mix[1, 2] != 0.0
    count = 0
    for row in range(max(0, ceil(y - outer)), min(height - 1, floor(y + outer)) + 1):
        up = row - y
        far = outer if square else sqrt(max(outer * outer - up * up, 0.0))
        close = -1.0
        if abs(up) < inner:
            close = inner if square else sqrt(inner * inner - up * up)
        column, end = max(0, ceil(x - far)), min(width - 1, floor(x + far))
        while column <= end:
            if close > 0 and abs(column - x) < close:
                column = max(column + 1, ceil(x + close))
                continue
            if not crowded or abs(coverage(picture, mix, column, row, 1)) < 0.1:
                near[count, 0], near[count, 1] = column, row
                near[count, 2] = min(max(coverage(picture, mix, column, row, 0), 0.0), 1.0)
                count += 1
            column += 1
    return count


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fit(
    picture: Frames,
    mix: Doubles,
    edge: EdgeProfile,
    place: Doubles,
    square: bool,
    free: bool,
    robust: bool,
    near: Doubles,
) -> None:  # pragma: no cover
    """Improve the center (and the radius, if `free`) of a body in one picture, in place.

    Args:
        picture: (H, W, 3) uint8.
        mix: (2, 3) takes a pixel apart into the body's color and its neighbor's.
        edge: profile of the video.
        place: (FIT_FIELDS,) starting point in X, Y, R; receives everything else.
        square: its outline is a square, not a circle.
        free: fit the radius too.
        robust: let pixels that are far off drop out (when something covers the body).
        near: (H·W, 3) scratch.
    """
    count = collect(picture, mix, place, square, edge.margin, near)
    from_x, from_y, from_r = place[X], place[Y], place[R]
    matrix = np.empty((3, 3))
    for turn in range(_ROUNDS):
        if abs(place[X] - from_x) + abs(place[Y] - from_y) + abs(place[R] - from_r) > 1.0:
            count = collect(picture, mix, place, square, edge.margin, near)
            from_x, from_y, from_r = place[X], place[Y], place[R]
        moved = _step(near[:count], edge, place, square, free, robust and turn > 2, matrix)
        if moved < 2e-4:
            break
    _judge(near[:count], edge, place, square, free, robust, matrix)
    if free and not edge.sharp and not square:
        # A blurred edge is half covered a little further in where it curves: by σ² / 2r.
        place[R] += edge.blur**2 / (2 * place[R])


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _residual(
    x: float, y: float, share: float, edge: EdgeProfile, place: Doubles, square: bool
) -> tuple[float, float, float, float, bool]:  # pragma: no cover
    """Return residual, its derivatives by x, y and r, and whether the pixel is half covered."""
    dx, dy = x - place[X], y - place[Y]
    if square:
        distance = max(abs(dx), abs(dy))
    else:
        distance = sqrt(dx * dx + dy * dy)
    half = edge.low < share < edge.high
    index = int(min(max(share, edge.low), edge.high) * LEVELS + 0.5)
    error = distance - edge.scale[index] * place[R] - edge.offset[index]
    if (share >= edge.high and error < 0) or (share <= edge.low and error > 0):
        return 0.0, 0.0, 0.0, 0.0, False
    if square:
        if abs(dx) >= abs(dy):
            return error, (-1.0 if dx > 0 else 1.0), 0.0, -edge.scale[index], half
        return error, 0.0, (-1.0 if dy > 0 else 1.0), -edge.scale[index], half
    distance = max(distance, 1e-9)
    return error, -dx / distance, -dy / distance, -edge.scale[index], half


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _step(
    near: Doubles,
    edge: EdgeProfile,
    place: Doubles,
    square: bool,
    free: bool,
    robust: bool,
    matrix: Doubles,
) -> float:  # pragma: no cover
    """Make one damped Gauss-Newton step; return how far it went in [px]."""
    matrix[:] = 0.0
    side = np.zeros(3)
    for index in range(len(near)):
        error, jx, jy, jr, _ = _residual(
            near[index, 0], near[index, 1], near[index, 2], edge, place, square
        )
        if error == 0.0 or (robust and abs(error) > _OUTLIER):
            continue
        matrix[0, 0] += jx * jx
        matrix[0, 1] += jx * jy
        matrix[1, 1] += jy * jy
        matrix[0, 2] += jx * jr
        matrix[1, 2] += jy * jr
        matrix[2, 2] += jr * jr
        side[0] -= jx * error
        side[1] -= jy * error
        side[2] -= jr * error
    if not free:
        matrix[0, 2] = matrix[1, 2] = side[2] = 0.0
        matrix[2, 2] = 1.0
    for k in range(3):
        matrix[k, k] += 0.02  # damping: where no pixel speaks, stay
    step = _solve(matrix, side)
    length = sqrt(step[0] ** 2 + step[1] ** 2 + step[2] ** 2)
    factor = min(1.0, 2.0 / max(length, 1e-12))
    for k in range(3):
        place[k] += factor * step[k]
    place[R] = max(place[R], 0.5)
    return factor * length


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _solve(matrix: Doubles, side: Doubles) -> Doubles:  # pragma: no cover
    """Solve a symmetric positive 3×3 system of which the upper half is given."""
    a, b, c = matrix[0, 0], matrix[0, 1], matrix[0, 2]
    d, e, f = matrix[1, 1], matrix[1, 2], matrix[2, 2]
    aa, bb, cc = d * f - e * e, c * e - b * f, b * e - c * d
    determinant = a * aa + b * bb + c * cc
    dd, ee, ff = a * f - c * c, b * c - a * e, a * d - b * b
    out = np.empty(3)
    out[0] = (aa * side[0] + bb * side[1] + cc * side[2]) / determinant
    out[1] = (bb * side[0] + dd * side[1] + ee * side[2]) / determinant
    out[2] = (cc * side[0] + ee * side[1] + ff * side[2]) / determinant
    return out


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _judge(
    near: Doubles,
    edge: EdgeProfile,
    place: Doubles,
    square: bool,
    free: bool,
    robust: bool,
    matrix: Doubles,
) -> None:  # pragma: no cover
    """Say how well the outline fits and how sure the place is."""
    noise, sharp = edge.noise, edge.sharp
    matrix[:] = 0.0
    squares, speaking, halves = 0.0, 0.0, 0.0
    for index in range(len(near)):
        error, jx, jy, jr, half = _residual(
            near[index, 0], near[index, 1], near[index, 2], edge, place, square
        )
        speaking += 1.0
        if robust and abs(error) > _OUTLIER:
            continue
        squares += error * error
        if half:
            halves += 1.0
            matrix[0, 0] += jx * jx
            matrix[0, 1] += jx * jy
            matrix[1, 1] += jy * jy
            matrix[0, 2] += jx * jr
            matrix[1, 2] += jy * jr
            matrix[2, 2] += jr * jr
    radius = place[R]
    outline = (8.0 if square else 6.283) * radius
    place[MISFIT] = sqrt(squares / max(min(outline, speaking), 1.0))
    place[USED] = speaking
    if sharp:
        # One half covered pixel is as good as its level; all together no better than their misfit.
        single = max(SOFT / 2 * radius * noise, sqrt(squares / max(halves, 1.0)))
        gap = _GAP_SQUARE if square else _GAP_BALL / radius
        coarse = 0.0
    else:
        single = _CORRELATED * sqrt(squares / max(halves - 3.0, 1.0)) + 0.01
        gap = 0.5
        coarse = _COARSE / radius  # the edge was sampled pixel by pixel before it was blurred
    shown = max(min(speaking / max(outline * 2 * edge.margin, 1.0), 1.0), 0.02)
    gap /= shown  # less of the outline, more freedom
    for k in range(3):
        for j in range(k, 3):
            matrix[k, j] /= single * single
        matrix[k, k] += 1.0 / (gap * gap)
    if not free:
        matrix[0, 2] = matrix[1, 2] = 0.0
    unit = np.zeros(3)
    for k in range(3):
        unit[:] = 0.0
        unit[k] = 1.0
        place[SIGMA_X + k] = sqrt(max(_solve(matrix, unit)[k], 1e-12) + coarse * coarse / shown)
    if sharp:
        # Coverages are cut and clipped to one side, which moves no center but every radius.
        bias = _ONE_SIDED * SOFT / 2 * radius * (noise - LEVEL)
        place[SIGMA_R] = sqrt(place[SIGMA_R] ** 2 + bias * bias)


def scratch(height: int, width: int) -> NDArray[np.float64]:
    """Return room for the pixels around an outline."""
    return np.empty((height * width, 3))
