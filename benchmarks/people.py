"""People of real pictures against measured depth: `python benchmarks/people.py --data DIR`.

DIR holds `rgbd` and `rgbd_train`. In every picture with meters and a known focal length, people are
looked for, a body is fitted to each, and its distance is compared with the median of the depth that
was measured under the person's mask (at least 200 pixels of it). Nothing was tuned on these pictures:
the networks are Google's, the body model and its priors come from elsewhere. `--sheet FILE.png` shows
every person that was found, for somebody to look at: a poster or a statue is not left out here.

`--recall FOLDER` measures instead how small people may be: everybody who is found in the photographs of
a folder with a confidence of 0.9 and at least 200 px tall counts as there; the photograph is then made
smaller and smaller.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import InputError
from sightline.io.atomic import write_text
from sightline.io.images import read_picture
from sightline.io.rgbd import read_rgbd
from sightline.metric.body.fit import fit_body
from sightline.metric.body.render import eroded
from sightline.metric.people.blazepose import BlazePoseFinder
from sightline.training.data.labels import read_gray
from sightline.types import Camera

FEWEST = 200


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """A picture with its meters: (H, W), 0 where nothing was measured."""

    name: str
    pixels: NDArray[np.uint8]
    depth: NDArray[np.float32]
    camera: Camera


@dataclass(frozen=True, slots=True)
class DetectedPerson:
    """One person: distance by the body, its sigma, distance as measured, height in the picture [px]."""

    name: str
    said: float
    sigma: float
    true: float
    pixels: float
    sure: float


def shots(data: Path, every: int) -> Iterator[Shot]:
    """Yield the pictures of both folders whose meters and lens are known."""
    for truth in read_rgbd(data / "rgbd"):
        with np.load(data / "rgbd" / truth.sample / "truth.npz") as file:
            K = file.get("K")
        if K is not None and truth.metric:
            measured = np.where(truth.known, 1 / np.maximum(truth.disparity, 1e-6), 0)
            camera = Camera(K, truth.pixels.shape[1], truth.pixels.shape[0])
            yield Shot(truth.sample, truth.pixels, measured.astype(np.float32), camera)
    folder = data / "rgbd_train"
    rows = list(csv.DictReader((folder / "index.csv").read_text().splitlines()))
    for row in rows[::every]:
        if row["kind"] == "depth_mm" and row["fx"] and row["real"] == "1":
            pixels = read_picture(folder / f"{row['id']}.jpg").pixels
            depth = read_gray(folder / f"{row['id']}.png").astype(np.float32) / np.float32(1000)
            camera = Camera.from_focal(float(row["fx"]), pixels.shape[1], pixels.shape[0])
            yield Shot(f"{row['source']} {row['id']}", pixels, depth, camera)


def main() -> None:
    """Look for people, compare, print, and draw if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--recall", type=Path, help="folder of photographs of people")
    parser.add_argument("--most", type=int, default=40, help="photographs of that folder")
    parser.add_argument("--every", type=int, default=1, help="one picture of rgbd_train in so many")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--sheet", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    finder = BlazePoseFinder(threads=options.threads)
    if options.recall:
        text = recall(options.recall, finder, options.most)
        print(text)
        if options.write:
            write_text(options.write, text + "\n")
        return
    found: list[DetectedPerson] = []
    tiles: list[NDArray[np.uint8]] = []
    looked = 0
    for shot in shots(options.data, options.every):
        looked += 1
        for person in finder.find(shot.pixels, shot.camera):
            mask = eroded(person.mask) & (shot.depth > 0)
            try:
                body = fit_body(person, shot.camera)
            except InputError:
                continue
            if mask.sum() < FEWEST:
                continue
            true = float(np.median(shot.depth[mask]))
            height = float(person.box[3] - person.box[1])
            one = DetectedPerson(
                shot.name, body.distance, body.distance_sigma, true, height, person.confidence
            )
            found.append(one)
            print(f"{one}", flush=True)
            tiles.append(tile(shot.pixels, person.mask, person.box, one))
    text = table(found, looked)
    print(text)
    if options.write:
        write_text(options.write, text + "\n")
    if options.sheet and tiles:
        wide = 6
        tiles += [np.zeros_like(tiles[0])] * (-len(tiles) % wide)
        rows = [np.hstack(tiles[k : k + wide]) for k in range(0, len(tiles), wide)]
        Image.fromarray(np.vstack(rows)).save(options.sheet)


HEIGHTS = (200, 160, 120, 80, 60, 40)


def recall(folder: Path, finder: BlazePoseFinder, most: int) -> str:
    """Return, by height in pixels, the share of people who are found again, as Markdown."""
    kept = {height: [0, 0, 0] for height in HEIGHTS}
    pictures = sorted(path for path in folder.rglob("*") if path.suffix.lower() in (".jpg", ".png"))
    for path in pictures[:: max(1, len(pictures) // most)]:
        pixels = read_picture(path).pixels
        size = pixels.shape[1], pixels.shape[0]
        sure = [p for p in finder.find(pixels, Camera.assumed(*size)) if p.confidence >= 0.9]
        tall = [p.box for p in sure if p.box[3] - p.box[1] >= max(HEIGHTS)]
        for box in tall[:2]:
            for height in HEIGHTS:
                share = height / (box[3] - box[1])
                small = tuple(max(1, round(side * share)) for side in size)
                shrunk = np.asarray(cv2.resize(pixels, small, interpolation=cv2.INTER_AREA))
                again = finder.find(shrunk, Camera.assumed(*small))
                same = [p.confidence for p in again if _overlap(p.box, box * share) > 0.4]
                best = max(same, default=0.0)
                kept[height] = [
                    a + b for a, b in zip(kept[height], (1, best >= 0.5, best >= 0.85), strict=True)
                ]
    rows = [
        "| height, px | people | found, confidence 0.5 | found, 0.85 |",
        "|---:|---:|---:|---:|",
    ]
    for height, (count, half, most_sure) in kept.items():
        rows.append(
            f"| {height} | {count} | {half / max(count, 1):.0%} | {most_sure / max(count, 1):.0%} |"
        )
    return "\n".join(rows)


def _overlap(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Intersection over union of two boxes."""
    low, high = np.maximum(one[:2], other[:2]), np.minimum(one[2:], other[2:])
    shared = float(np.prod(np.maximum(high - low, 0)))
    areas = [float(np.prod(box[2:] - box[:2])) for box in (one, other)]
    return shared / max(sum(areas) - shared, 1e-9)


def tile(
    pixels: NDArray[np.uint8],
    mask: NDArray[np.bool_],
    box: NDArray[np.float64],
    one: DetectedPerson,
) -> NDArray[np.uint8]:
    """Show a person with the mask, and both distances."""
    shown = pixels.copy()
    shown[mask] = (0.6 * shown[mask] + [0, 100, 0]).astype(np.uint8)
    left, top, right, bottom = (int(v) for v in box)
    cv2.rectangle(shown, (left, top), (right, bottom), (255, 255, 0), 2)
    shown = cv2.resize(shown, (240, 180))
    words = f"{one.said:.2f} ({one.true:.2f}) m"
    cv2.putText(shown, words, (4, 174), cv2.FONT_HERSHEY_SIMPLEX, 0.5, (255, 255, 255), 1)
    return np.asarray(shown, np.uint8)


def table(found: list[DetectedPerson], looked: int) -> str:
    """Summarize as Markdown, by how sure the finder was."""
    rows = [
        f"| {looked} pictures | found | median error | ratio | over 1.5 × | within 1σ | 2σ |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for least in (0.5, 0.85, 0.95):
        some = [one for one in found if one.sure >= least]
        if not some:
            rows.append(f"| confidence {least:g} and above | 0 | | | | | |")
            continue
        off = np.array([np.log(one.said / one.true) for one in some])
        z = np.abs(off / np.array([one.sigma for one in some]))
        rows.append(
            f"| confidence {least:g} and above | {len(some)} | {np.median(np.abs(np.expm1(off))):.0%} "
            f"| {np.exp(np.median(off)):.2f} | {(off > np.log(1.5)).mean():.0%} "
            f"| {(z <= 1).mean():.0%} | {(z <= 2).mean():.0%} |"
        )
    return "\n".join(rows)


if __name__ == "__main__":
    main()
