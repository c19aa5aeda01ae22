"""Photographs of rooms in meters: the shape by our teacher, the scale by FastDepth.

    python recipes/cpu/rooms.py --photos DIR/rooms-places DIR/scannet-samples --out WORK/rooms

There are few measured rooms to learn meters from, and nearly all of one kind of camera. FastDepth
(MIT) learned from tens of thousands of frames of NYU Depth V2; its maps are coarse, but how large
rooms are it knows better than our pairs can say. So the teacher's relative depth is brought to
FastDepth's meters by a robust line, picture by picture, where the two agree about the shape.
FastDepth is told no lens: what it says holds for the camera of that set, so that is the focal
length written beside the depth.

Out: a folder for `sightline train metric --data pairs:OUT`. Photographs kept out of training stay out.
"""

from __future__ import annotations

import argparse
import csv
import io
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from sightline.depth.estimator import load
from sightline.errors import InputError
from sightline.geometry import align
from sightline.io.atomic import atomic_path, write_text
from sightline.io.images import PICTURE_SUFFIXES, read_picture
from sightline.training.data.items import is_held_out
from sightline.types import FloatArray

#: Focal length over the shorter side, both in [px]: the Kinect of NYU Depth V2.
FOCAL = 518.858 / 480
#: Mean relative difference up to which shapes agree.
AGREE = 0.2
#: FastDepth has seen nothing nearer or farther, [m].
NEAR, FAR = 0.5, 10.0
#: Shorter side of what is written, at most, in [px].
SIDE = 320


def meters_of(relative: FloatArray, coarse: FloatArray) -> tuple[FloatArray, float]:
    """Bring relative disparity to coarse meters.

    Args:
        relative: (H, W) disparity without unit.
        coarse: (H, W) in [m].

    Returns:
        (H, W) in [m], 0 where that is out of range, and the mean relative difference between both.
    """
    line = align(relative, 1 / np.clip(coarse, NEAR, FAR), robust=True, nonnegative=True)
    inverse = line(relative)
    depth = 1 / np.maximum(inverse, 1 / (2 * FAR))
    differs = float(np.mean(np.abs(depth / np.clip(coarse, NEAR, FAR) - 1)))
    known = (inverse > 1 / FAR) & (inverse < 1 / (0.5 * NEAR))
    return np.where(known, depth, 0).astype(np.float32), differs


def photographs(folders: list[Path]) -> Iterator[Path]:
    """Yield the photographs of folders in order, but for those that no training may see."""
    for folder in folders:
        found = sorted(p for p in folder.rglob("*") if p.suffix.lower() in PICTURE_SUFFIXES)
        if not found:
            raise InputError("no photographs in this folder", path=folder)
        yield from (path for path in found if not is_held_out(path.name))


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--photos", type=Path, nargs="+", required=True, help="folders of rooms")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--model", default="small", help="the teacher")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    teacher = load(options.model, threads=options.threads)
    coarse = load("fastdepth", threads=options.threads)
    rows: list[list[str | int]] = []
    seen = 0
    for path in photographs(options.photos):
        seen += 1
        pixels = read_picture(path).pixels
        meters, differs = meters_of(teacher.infer(pixels).values, coarse.infer(pixels).values)
        if differs > AGREE:
            continue
        scale = min(1.0, SIDE / min(meters.shape))
        size = (round(meters.shape[1] * scale), round(meters.shape[0] * scale))
        name = f"{len(rows):05d}"
        small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        depth = cv2.resize(meters, size, interpolation=cv2.INTER_NEAREST)
        _write(options.out / f"{name}.jpg", small[..., ::-1])
        _write(options.out / f"{name}.png", np.rint(depth * 1000).astype(np.uint16))
        rows.append([name, path.parent.name, path.stem, "depth_mm", f"{FOCAL * min(size):.2f}", 1])
    table = io.StringIO()
    csv.writer(table).writerows([["id", "source", "scene", "kind", "fx", "real"], *rows])
    write_text(options.out / "index.csv", table.getvalue())
    print(f"{len(rows)} of {seen} photographs of rooms in meters, in {options.out}")


def _write(path: Path, pixels: np.ndarray) -> None:
    with atomic_path(path) as temporary:
        _, data = cv2.imencode(path.suffix, pixels)
        temporary.write_bytes(bytes(data))


if __name__ == "__main__":
    main()
