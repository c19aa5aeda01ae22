"""Procedural patterns: pure functions of the position on a surface, without stored pictures.

One unit of a pattern (`Material.scale`, [m]) is:

* plain, noise, plaster, skin: a wave of the variation;
* planks: width of a board, which runs along u; brick: length of a brick; tiles, checker: side of one;
* stripes: one light and one dark stripe, along v; cloth: a fold (some are checked);
* marble: distance of the veins; bark: width of a ridge, which runs along v;
* grass, leaves, asphalt, water: a clump, patch or wave; facade: one window with its share of wall;
* print: one sheet with blocks and lines of writing; photo: width of the picture.

`tint` is the main color, `second` the other: mortar, grout, dark squares, veins, window panes, ink.
Every pattern takes the pixel's footprint and fades finer detail.
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from numba import njit

from sightline.scenes.rendering.noise import (
    band_coverage,
    detail_weight,
    fractal_noise,
    lattice_value,
    line_coverage,
    smoothstep,
    value_noise,
)
from sightline.scenes.world import Pattern

#: Number of each pattern for the kernels, in the order of `Pattern`.
CODES: dict[str, int] = {name: code for code, name in enumerate(get_args(Pattern))}

# The same as plain constants: numba freezes whole numbers of a module, not dictionaries.
PLAIN, NOISE, PLASTER, PLANKS, BRICK, TILES, CHECKER, STRIPES, CLOTH, MARBLE = range(10)
GRASS, ASPHALT, BARK, LEAVES, FACADE, WATER, SKIN, PRINT, PHOTO = range(10, 19)

#: Patterns that replace `photo` when there is no folder of pictures.
_INSTEAD_OF_PHOTO = ("print", "noise", "marble", "plaster", "stripes")


def pattern_code(pattern: Pattern, photo: int, pictures: int) -> int:
    """Return the code of a pattern; `photo` becomes another one if there are no pictures."""
    if pattern == "photo" and not pictures:
        return CODES[_INSTEAD_OF_PHOTO[photo % len(_INSTEAD_OF_PHOTO)]]
    return CODES[pattern]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def pattern(  # noqa: PLR0912 - one branch for each pattern
    code: int, x: float, y: float, width: float, seed: Any
) -> tuple[float, float, float]:
    """Evaluate a pattern at a point in its own units.

    Returns:
        Share of the second color, 0 to 1; brightness, about 1; and the share that glows: the lit
        windows of `facade`, else 1.
    """
    if code == PLAIN:
        return 0.0, 0.97 + 0.06 * fractal_noise(x, y, seed, 2, width), 1.0
    if code == NOISE:
        return smoothstep(0.25, 0.75, fractal_noise(x, y, seed, 5, width)), 1.0, 1.0
    if code == PLASTER:
        rough = fractal_noise(8.0 * x, 8.0 * y, seed, 3, 8.0 * width)
        stain = smoothstep(0.5, 0.9, fractal_noise(x, y, seed + 7, 3, width))
        return 0.25 * stain, 0.85 + 0.3 * rough, 1.0
    if code == PLANKS:
        return _planks(x, y, width, seed)
    if code == BRICK:
        return _brick(x, y, width, seed)
    if code == TILES:
        return _tiles(x, y, width, seed)
    if code == CHECKER:
        return _checker(x, y, width, seed)
    if code == STRIPES:
        return band_coverage(x, 0.25, 0.75, width), 0.95 + 0.1 * value_noise(x, y, seed), 1.0
    if code == CLOTH:
        return _cloth(x, y, width, seed)
    if code == MARBLE:
        bend = fractal_noise(x, y, seed, 4, width) - 0.5
        vein = abs(np.sin(np.pi * (x + 0.4 * y + 3.0 * bend)))
        keep = detail_weight(width)
        return (
            keep * (1.0 - smoothstep(0.0, 0.35, vein)) + (1.0 - keep) * 0.2,
            0.9 + 0.3 * bend,
            1.0,
        )
    if code == GRASS:
        blade = fractal_noise(14.0 * x, 9.0 * y, seed, 3, 14.0 * width)
        patch = fractal_noise(x, y, seed + 3, 3, width)
        return smoothstep(0.35, 0.75, patch), 0.35 + 1.3 * blade, 1.0
    if code == ASPHALT:
        return _asphalt(x, y, width, seed)
    if code == BARK:
        ridge = fractal_noise(x, 0.15 * y, seed, 4, width)
        keep = detail_weight(width)
        crack = keep * (1.0 - smoothstep(0.0, 0.16, abs(ridge - 0.5))) + (1.0 - keep) * 0.35
        return 0.8 * crack, 0.6 + 0.8 * fractal_noise(3.0 * x, y, seed + 5, 2, 3.0 * width), 1.0
    if code == LEAVES:
        spot = fractal_noise(3.0 * x, 3.0 * y, seed, 3, 3.0 * width)
        return smoothstep(0.35, 0.7, spot), 0.7 + 0.6 * value_noise(9.0 * x, 9.0 * y, seed + 2), 1.0
    if code == FACADE:
        return _facade(x, y, width, seed)
    if code == WATER:
        return fractal_noise(0.3 * x, 0.3 * y, seed, 3, 0.3 * width), 1.0, 1.0
    if code == SKIN:
        blush = fractal_noise(x, y, seed, 4, width)
        return 0.3 * smoothstep(0.45, 0.9, blush), 0.92 + 0.16 * blush, 1.0
    return _print(x, y, width, seed)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _planks(x: float, y: float, width: float, seed: Any) -> tuple[float, float, float]:
    """Evaluate boards side by side, about eight widths long, with grain along them."""
    board = np.floor(y)
    along = x / 8.0 + lattice_value(board, 1, seed)
    tone = lattice_value(board, np.floor(along), seed + 2)
    grain = fractal_noise(0.7 * x + 17.0 * board, 9.0 * y, seed + 3, 3, 5.0 * width)
    gap = max(line_coverage(y, 0.03, width), line_coverage(along, 0.004, width / 8.0))
    shade = 0.72 + 0.3 * (0.5 + detail_weight(width) * (tone - 0.5)) + 0.4 * (grain - 0.5)
    return 0.35 * smoothstep(0.45, 0.8, grain), (shade + 0.12) * (1.0 - 0.6 * gap), 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _brick(x: float, y: float, width: float, seed: Any) -> tuple[float, float, float]:
    """Evaluate courses a third of a brick high; every other one is shifted by half a brick."""
    course = 3.1 * y
    row = np.floor(course)
    along = x + 0.5 * (row - 2.0 * np.floor(row / 2.0))
    tone = 0.5 + detail_weight(2.0 * width) * (lattice_value(np.floor(along), row, seed) - 0.5)
    mortar = max(line_coverage(along, 0.022, width), line_coverage(course, 0.07, 3.1 * width))
    rough = fractal_noise(9.0 * x, 9.0 * y, seed + 5, 3, 9.0 * width)
    return mortar, (0.62 + 0.45 * tone) * (0.8 + 0.4 * rough) + 0.2 * mortar, 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _tiles(x: float, y: float, width: float, seed: Any) -> tuple[float, float, float]:
    """Evaluate squares of slightly different tones with grout between them."""
    tone = 0.5 + detail_weight(width) * (lattice_value(np.floor(x), np.floor(y), seed) - 0.5)
    grout = max(line_coverage(x, 0.02, width), line_coverage(y, 0.02, width))
    cloud = fractal_noise(2.0 * x, 2.0 * y, seed + 9, 3, 2.0 * width)
    return grout, 0.82 + 0.14 * tone + 0.2 * cloud, 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _checker(x: float, y: float, width: float, seed: Any) -> tuple[float, float, float]:
    """Evaluate squares of alternating color."""
    keep = detail_weight(width)
    column, row = (
        band_coverage(0.5 * x, 0.0, 0.5, 0.5 * width),
        band_coverage(0.5 * y, 0.0, 0.5, 0.5 * width),
    )
    dark = column + row - 2.0 * column * row
    tone = fractal_noise(2.0 * x, 2.0 * y, seed, 3, 2.0 * width)
    return keep * dark + (1.0 - keep) * 0.5, 0.85 + 0.3 * tone, 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _cloth(x: float, y: float, width: float, seed: Any) -> tuple[float, float, float]:
    """Evaluate a fine weave over soft folds; every third cloth is checked in the second color."""
    keep = detail_weight(12.0 * width)
    weave = keep * (np.sin(75.0 * x) + np.sin(75.0 * y)) if keep > 0.0 else 0.0
    fold = fractal_noise(x, y, seed, 3, width)
    check = 0.0
    if lattice_value(3, 5, seed) < 0.33:
        across = band_coverage(3.0 * x, 0.1, 0.35 + 0.3 * lattice_value(1, 1, seed), 3.0 * width)
        along = band_coverage(3.0 * y, 0.1, 0.35 + 0.3 * lattice_value(2, 1, seed), 3.0 * width)
        check = 0.5 * (across + along)
    return check, 0.75 + 0.5 * fold + 0.05 * weave, 1.0


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _asphalt(x: float, y: float, width: float, seed: Any) -> tuple[float, float, float]:
    """Evaluate speckle, darker patches, and cracks."""
    speckle = fractal_noise(40.0 * x, 40.0 * y, seed, 2, 40.0 * width)
    patch = fractal_noise(x, y, seed + 3, 4, width)
    crack = 1.0 - smoothstep(0.0, 0.008 + width, abs(fractal_noise(x, y, seed + 8, 4, width) - 0.5))
    crack *= smoothstep(0.5, 0.7, patch)  # only where the surface is worn
    shade = 0.55 + 0.5 * speckle + 0.4 * patch
    return (
        0.5 * smoothstep(0.5, 0.8, patch),
        shade * (1.0 - 0.35 * crack * detail_weight(4.0 * width)),
        1.0,
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _facade(x: float, y: float, width: float, seed: Any) -> tuple[float, float, float]:
    """Evaluate a wall with a window in every cell: frame, cross bar, sill; some windows are lit."""
    wide, high = 0.2 + 0.2 * lattice_value(1, 2, seed), 0.22 + 0.2 * lattice_value(2, 2, seed)
    hole = band_coverage(x, 0.5 - wide, 0.5 + wide, width) * band_coverage(
        y, 0.5 - high, 0.5 + high, width
    )
    inner = band_coverage(x, 0.53 - wide, 0.47 + wide, width) * band_coverage(
        y, 0.53 - high, 0.47 + high, width
    )
    bars = line_coverage(x + 0.5, 0.012, width) if lattice_value(3, 2, seed) < 0.6 else 0.0
    pane = inner * (1.0 - bars)
    wall = 0.8 + 0.3 * fractal_noise(3.0 * x, 3.0 * y, seed + 4, 4, 3.0 * width)
    tone = lattice_value(np.floor(x), np.floor(y), seed + 6)
    lit = 1.0 if tone < 0.35 else 0.0
    keep = detail_weight(width)
    shade = wall * (1.0 - hole) + (hole - pane) * 1.25 + pane * (0.5 + keep * (1.2 * tone - 0.5))
    return pane, shade, pane * (keep * lit + (1.0 - keep) * 0.35)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _print(x: float, y: float, width: float, seed: Any) -> tuple[float, float, float]:
    """Evaluate a printed sheet: colored blocks, a heading and lines of text."""
    column, row = np.floor(x), np.floor(y)
    sheet = seed + 31 * np.int64(column) + 57 * np.int64(row)
    fx, fy = x - column, y - row
    ink, shade = 0.0, 0.95
    for block in range(3):
        left, top = 0.8 * lattice_value(block, 0, sheet), 0.8 * lattice_value(block, 1, sheet)
        right = left + 0.15 + 0.5 * lattice_value(block, 2, sheet)
        bottom = top + 0.1 + 0.4 * lattice_value(block, 3, sheet)
        if left < fx < right and top < fy < bottom:
            ink = lattice_value(block, 4, sheet)
            shade = 0.5 + 0.7 * lattice_value(block, 5, sheet)
    line = np.floor(24.0 * fy)
    if 0.12 < fx < 0.88 and lattice_value(line, 9, sheet) < 0.4:
        word = lattice_value(np.floor(30.0 * fx), line, sheet)
        stroke = band_coverage(24.0 * fy, 0.2, 0.8, 24.0 * width) * (1.0 if word < 0.75 else 0.0)
        ink += 0.85 * stroke * (1.0 - 2.0 * ink)
    keep = detail_weight(6.0 * width)
    return keep * ink + (1.0 - keep) * 0.35, shade, 1.0
