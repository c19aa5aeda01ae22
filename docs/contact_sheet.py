"""A sheet of photographs that no training has seen, each with what the models say of it.

    python docs/contact_sheet.py --photos DIR --write docs/pictures/sheet.jpg

The photographs are chosen by name only: of the held-out ones, spread evenly over the folders, so that
nobody can choose the ones that came out well.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from itertools import zip_longest
from pathlib import Path

import cv2
import numpy as np

import sightline
from sightline.io.atomic import write_bytes
from sightline.io.color import colorize
from sightline.io.images import PICTURE_SUFFIXES, read_picture
from sightline.training.data.items import is_held_out

#: Size of one panel in [px], (height, width), and panels across.
PANEL, ACROSS = (150, 200), 2


def choose(photos: Path, count: int) -> list[Path]:
    """Take held-out photographs in turn from each folder, sorted by name."""
    folders: dict[Path, list[Path]] = defaultdict(list)
    for path in sorted(photos.rglob("*")):
        if path.suffix.lower() in PICTURE_SUFFIXES and is_held_out(path.name):
            folders[path.parent].append(path)
    rounds = zip_longest(*(folders[name] for name in sorted(folders)))
    return [path for one in rounds for path in one if path is not None][:count]


def fit(pixels: np.ndarray) -> np.ndarray:
    """Shrink (H, W, 3) into a panel, on white."""
    height, width = pixels.shape[:2]
    scale = min(PANEL[0] / height, PANEL[1] / width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    panel = np.full((*PANEL, 3), 255, np.uint8)
    small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    top, left = (PANEL[0] - size[1]) // 2, (PANEL[1] - size[0]) // 2
    panel[top : top + size[1], left : left + size[0]] = small
    return panel


def main() -> None:
    """Choose, estimate, put together, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--photos", type=Path, required=True)
    parser.add_argument("--models", nargs="+", default=["fastdepth", "tiny", "small"])
    parser.add_argument("--count", type=int, default=24)
    parser.add_argument("--write", type=Path, required=True)
    options = parser.parse_args()
    estimators = [sightline.load(name) for name in options.models]
    strips = []
    for path in choose(options.photos, options.count):
        pixels = read_picture(path).pixels
        maps = [colorize(estimator.infer(pixels)) for estimator in estimators]
        strips.append(np.concatenate([fit(p) for p in (pixels, *maps)], axis=1))
        print(path.relative_to(options.photos))
    while len(strips) % ACROSS:
        strips.append(np.full_like(strips[0], 255))
    rows = [np.concatenate(strips[k : k + ACROSS], 1) for k in range(0, len(strips), ACROSS)]
    sheet = cv2.cvtColor(np.concatenate(rows, 0), cv2.COLOR_RGB2BGR)
    quality = [cv2.IMWRITE_JPEG_QUALITY, 85]
    write_bytes(options.write, cv2.imencode(options.write.suffix, sheet, quality)[1].tobytes())


if __name__ == "__main__":
    main()
