"""HardBLINK generator: place points of controlled depth difference in an image and draw them.

The rules are those of AURORA's notebooks and of HardBLINK, measured from the released images: images of
336 × 336 px, points at least 20 px apart, whose disparities (8 bits over the range of the image) differ
by at least 20. Points of HardBLINK lie near half height: in a band for each number of points, which
widens only if it has no room. `sets.write_hard_blink` writes a whole benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from sightline.errors import InputError
from sightline.perception.codebook import square

#: Side of the images, [px].
SIDE = 336
#: Letters that the compact VLM detects and that chains list.
LETTERS = "ABCDE"
#: Letters that a question may use.
MANY_LETTERS = "ABCDEFGH"

_RADIUS, _RING = 4, 2
_ABOVE = 25
_RED, _WHITE, _BLACK = (255, 0, 0), (255, 255, 255), (0, 0, 0)

#: Rows of HardBLINK's points, by number of points.
HARD_BANDS = {2: (110, 210), 3: (110, 210), 4: (80, 249), 5: (40, 324)}


@dataclass(frozen=True, slots=True)
class Point:
    """Point of an image.

    Attributes:
        x: column, from 0 at the left.
        y: row, from 0 at the top.
        value: disparity, 0 (farthest) to 255 (nearest).
    """

    x: int
    y: int
    value: int


@dataclass(frozen=True, slots=True)
class MarkerRule:
    """Placement rule of points.

    Attributes:
        columns: minimum and maximum column.
        rows: minimum and maximum row.
        bands: initial row range by number of points; widened by `widen` on both sides if no place is
            found.
        apart: minimum distance of two points, [px].
        gap: minimum difference of their values.
        most_gap: maximum difference between the nearest point and the next, for questions harder
            than the paper's; 255 for any.
        widen: widening of bands, [px].
        tries: attempts for each band.
    """

    columns: tuple[int, int] = (0, 300)
    rows: tuple[int, int] = (0, 300)
    bands: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    apart: float = 20.0
    gap: int = 20
    most_gap: int = 255
    widen: int = 10
    tries: int = 200

    def __post_init__(self) -> None:
        for low, high in (self.columns, self.rows, *self.bands.values()):
            if not 0 <= low < high < SIDE:
                raise InputError(f"points lie from 0 to {SIDE - 1}, got {low} to {high}")
        if not (self.apart >= 1 and 1 <= self.gap <= self.most_gap <= 255):
            raise InputError("points must be apart, in the picture and in depth")


#: Rule of the paper's training set.
TRAINED = MarkerRule()
#: Rule of HardBLINK.
HARD = MarkerRule(columns=(10, 325), rows=(10, 324), bands=HARD_BANDS)
#: Harder: smaller depth differences.
HARDER = MarkerRule(
    columns=(10, 325), rows=(10, 324), bands=HARD_BANDS, gap=6, most_gap=24, apart=12
)


def place_points(
    values: NDArray[np.uint8],
    count: int,
    rng: np.random.Generator,
    rule: MarkerRule = TRAINED,
    *,
    known: NDArray[np.bool_] | None = None,
) -> tuple[Point, ...] | None:
    """Draw points by a rule; None if the image has no such places.

    Args:
        values: (336, 336) disparity, from 0 (farthest place of the image) to 255 (nearest).
        count: number of points, 2 to 8.
        rng: random generator.
        rule: placement rule.
        known: (336, 336) mask of usable pixels; default: where `values` are not 0.
    """
    if values.shape != (SIDE, SIDE):
        raise InputError(f"points are placed in {SIDE} × {SIDE} px, got {values.shape}")
    if not 2 <= count <= len(MANY_LETTERS):
        raise InputError(f"from 2 to {len(MANY_LETTERS)} points can be asked about, got {count}")
    usable = values > 0 if known is None else known
    low, high = rule.bands.get(count, rule.rows)
    while True:
        for _ in range(rule.tries):
            found = _draw(values, usable, count, rng, rule, (low, high))
            if found is not None:
                return found
        if (low, high) == rule.rows:
            return None
        low, high = max(rule.rows[0], low - rule.widen), min(rule.rows[1], high + rule.widen)


def _draw(
    values: NDArray[np.uint8],
    usable: NDArray[np.bool_],
    count: int,
    rng: np.random.Generator,
    rule: MarkerRule,
    rows: tuple[int, int],
) -> tuple[Point, ...] | None:
    """Draw all points once; None if they break the rule."""
    x = rng.integers(rule.columns[0], rule.columns[1] + 1, count)
    y = rng.integers(rows[0], rows[1] + 1, count)
    if not usable[y, x].all():
        return None
    value = values[y, x].astype(np.int64)
    first, second = np.triu_indices(count, 1)
    if np.hypot(x[first] - x[second], y[first] - y[second]).min() < rule.apart:
        return None
    if np.abs(value[first] - value[second]).min() < rule.gap:
        return None
    nearest, next_ = np.sort(value)[::-1][:2]
    if nearest - next_ > rule.most_gap:
        return None
    return tuple(Point(int(a), int(b), int(c)) for a, b, c in zip(x, y, value, strict=True))


def letter_points(
    points: Sequence[Point], answer: int, rng: np.random.Generator
) -> dict[str, Point]:
    """Assign letters to points so that the nearest gets letter number `answer`; sorted by letter."""
    order = sorted(range(len(points)), key=lambda k: -points[k].value)
    rest = [int(k) for k in rng.permutation(order[1:])]
    rest.insert(answer, order[0])
    return {MANY_LETTERS[place]: points[k] for place, k in enumerate(rest)}


def nearest_letter(points: Mapping[str, Point]) -> str:
    """Return the letter of the nearest point."""
    return max(points, key=lambda letter: points[letter].value)


def draw_points(
    pixels: NDArray[np.uint8], points: Mapping[str, tuple[int, int]]
) -> NDArray[np.uint8]:
    """Draw a red ring for every point and its letter on black above it.

    Args:
        pixels: (336, 336, 3) sRGB.
        points: x and y by letter.
    """
    sheet = Image.fromarray(pixels)
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(14)
    for letter, (x, y) in points.items():
        ring = (x - _RADIUS, y - _RADIUS, x + _RADIUS, y + _RADIUS)
        draw.ellipse(ring, outline=_RED, width=_RING)
        above = y - _ABOVE if y >= _ABOVE else y + _RADIUS + 3
        left, top, right, bottom = draw.textbbox((x - 5, above), letter, font)
        draw.rectangle((left - 2, top - 2, right + 2, bottom + 2), fill=_BLACK)
        draw.text((x - 5, above), letter, _WHITE, font)
    return np.array(sheet)


def squash(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Resize an image or a map of bytes to 336 × 336 by nearest neighbor, as in the paper."""
    return square(pixels, SIDE)
