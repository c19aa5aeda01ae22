"""Draw what a hundred tokens keep of depth: `python docs/tokens_picture.py`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from sightline.depth.estimator import load
from sightline.examples import example_photograph
from sightline.io.color import colorize
from sightline.io.images import read_picture
from sightline.perception import DepthTokenizer
from sightline.types import DepthMap, Kind

HEIGHT = 300


def main() -> None:
    """Write pictures/tokens.jpg beside this file."""
    from skimage import data

    estimator, tokenizer = load("default"), DepthTokenizer()
    rows = []
    for pixels in (read_picture(example_photograph()).pixels, np.asarray(data.astronaut())[:341]):
        depth = estimator.infer(pixels)
        decoded = tokenizer.decode(tokenizer.encode(depth))
        shown = DepthMap(decoded, Kind.RELATIVE_DISPARITY)
        width = round(pixels.shape[1] * HEIGHT / pixels.shape[0])
        parts = [pixels, colorize(depth), colorize(shown)]
        rows.append(
            np.hstack([np.array(Image.fromarray(p).resize((width, HEIGHT))) for p in parts])
        )
    width = max(row.shape[1] for row in rows)
    sheet = Image.new("RGB", (width, HEIGHT * len(rows)), (255, 255, 255))
    for number, row in enumerate(rows):
        sheet.paste(Image.fromarray(row), (0, number * HEIGHT))
    sheet.save(Path(__file__).parent / "pictures" / "tokens.jpg", quality=88)


if __name__ == "__main__":
    main()
