"""Make the pictures of the docs with the default model: `python docs/figures.py`.

The photographs come in the wheels of scikit-image (coffee: Rachel Michetti, CC0; chelsea: Stéfan van
der Walt, CC0; astronaut: NASA, public domain) and scikit-learn (china.jpg: CC BY, by Rei).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont
from skimage import data
from sklearn.datasets import load_sample_image

import sightline
from sightline.io.color import colorize

PICTURES = Path(__file__).parent / "pictures"
HEIGHT = 300
INK, FAINT, ACCENT = (40, 40, 48), (200, 200, 208), (200, 40, 60)


def scaled(pixels: np.ndarray, height: int = HEIGHT) -> Image.Image:
    """Bring an (H, W, 3) picture to one height."""
    picture = Image.fromarray(pixels)
    width = round(picture.width * height / picture.height)
    return picture.resize((width, height), Image.Resampling.LANCZOS)


def side_by_side(pictures: list[Image.Image], gap: int = 6) -> Image.Image:
    """Join pictures of one height, with a white gap."""
    width = sum(p.width for p in pictures) + gap * (len(pictures) - 1)
    sheet = Image.new("RGB", (width, pictures[0].height), "white")
    x = 0
    for picture in pictures:
        sheet.paste(picture, (x, 0))
        x += picture.width + gap
    return sheet


def stack(rows: list[Image.Image], gap: int = 6) -> Image.Image:
    """Put rows under each other."""
    sheet = Image.new(
        "RGB", (max(r.width for r in rows), sum(r.height + gap for r in rows) - gap), "white"
    )
    y = 0
    for row in rows:
        sheet.paste(row, (0, y))
        y += row.height + gap
    return sheet


def plot(values: np.ndarray, width: int, height: int) -> Image.Image:
    """Draw one row of relative disparity against the column."""
    sheet = Image.new("RGB", (width, height), "white")
    draw = ImageDraw.Draw(sheet)
    font = ImageFont.load_default(15)
    left, right, top, bottom = 16, width - 12, 34, height - 34
    low, high = float(values.min()), float(values.max())
    x = np.linspace(left, right, len(values))
    y = bottom - (values - low) / max(high - low, 1e-9) * (bottom - top)
    draw.rectangle((left, top, right, bottom), outline=FAINT)
    draw.line(list(zip(x.tolist(), y.tolist(), strict=True)), fill=ACCENT, width=2)
    draw.text((left, 8), "values along the line: no unit, larger is nearer", INK, font)
    draw.text((left, height - 26), "left", INK, font)
    draw.text((right - 34, height - 26), "right", INK, font)
    return sheet


def with_line(picture: Image.Image, row: float) -> Image.Image:
    """Draw a horizontal line at `row` (0 top to 1 bottom)."""
    draw = ImageDraw.Draw(picture)
    y = round(row * picture.height)
    draw.line((0, y, picture.width, y), fill="white", width=4)
    draw.line((0, y, picture.width, y), fill=ACCENT, width=2)
    return picture


def main() -> None:
    """Write `docs/pictures`."""
    PICTURES.mkdir(exist_ok=True)
    estimator = sightline.load("default")
    photos = [data.coffee(), load_sample_image("china.jpg"), data.astronaut(), data.chelsea()]
    rows = []
    for pair in (photos[:2], photos[2:]):
        row = []
        for pixels in pair:
            row += [scaled(pixels, 220), scaled(colorize(estimator.infer(pixels)), 220)]
        rows.append(side_by_side(row))
    width = min(row.width for row in rows)
    rows = [row.resize((width, round(row.height * width / row.width))) for row in rows]
    stack(rows).save(PICTURES / "hero.jpg", quality=88)

    coffee = estimator.infer(photos[0])
    at = 0.45
    numbers = side_by_side(
        [
            with_line(scaled(photos[0], 260), at),
            with_line(scaled(colorize(coffee), 260), at),
            plot(coffee.values[round(at * coffee.height)], 390, 260),
        ]
    )
    numbers.save(PICTURES / "numbers.png")


if __name__ == "__main__":
    main()
