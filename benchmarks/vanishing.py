"""Focal lengths from vanishing points, rendered and real: `python benchmarks/vanishing.py`.

Protocol: scenes of seed 77 at 640 × 480, by `sightline.scenes` with its usual lenses (38 to 100
degrees), tilts, blur, noise and JPEG; numbers 0 to 59 of rooms and of streets, every second one of
nature. All constants of `metric/vanishing_points.py` were chosen on seed 5. "Error"
is the median of |ln(f / true f)| where an answer is given, "worst" its 90th percentile; "within"
are the shares of answers closer than one and two of their own sigmas (for normal errors 68 % and
95 %). Time is that of the processor, for each picture.

`--real DIR` adds photographs with known cameras (`index.json`; `image.jpg` and `K` of `truth.npz`
for each sample). Nothing was chosen by them. Only rendered lenses keep lines straight.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.io.atomic import write_text
from sightline.metric.vanishing_points import FocalEstimate, focal_from_lines
from sightline.scenes.generate import make_scene

SEED, WIDTH, HEIGHT = 77, 640, 480
#: Rendered pictures of each kind of scene.
COUNTS = {"room": 60, "street": 60, "nature": 30}
HEAD = "| pictures | n | answers | error | worst | sigma | within 1 σ | within 2 σ | time |"

Sample = tuple[NDArray[np.uint8], float]


def rendered(kind: str, count: int) -> Iterator[Sample]:
    """Yield pictures of a kind of scene with their focal lengths in [px]."""
    for index in range(0, 60, 60 // count):
        frame = make_scene(SEED, index, width=WIDTH, height=HEIGHT, kinds=(kind,)).frame
        yield frame.pixels, frame.camera.focal


def photographs(folder: Path) -> dict[str, list[Sample]]:
    """Read photographs whose camera is known, by the set they belong to."""
    sets: dict[str, list[Sample]] = defaultdict(list)
    for sample in json.loads((folder / "index.json").read_text()):
        place = folder / sample["sample"]
        with np.load(place / "truth.npz") as truth:
            if "K" not in truth:
                continue
            focal = float(np.sqrt(truth["K"][0, 0] * truth["K"][1, 1]))
        with Image.open(place / "image.jpg") as image:
            sets[sample["set"]].append((np.asarray(image.convert("RGB")), focal))
    return sets


def row(name: str, found: list[tuple[FocalEstimate | None, float, float]]) -> str:
    """Make a row of the table from answers, true focal lengths and seconds."""
    answers = [(guess, focal) for guess, focal, _ in found if guess is not None]
    share = f"{len(answers)} ({len(answers) / len(found):.0%})"
    seconds = f"{np.median([taken for *_, taken in found]):.2f} s"
    if not answers:
        return f"| {name} | {len(found)} | {share} | | | | | | {seconds} |"
    off = np.abs([np.log(guess.focal / focal) for guess, focal in answers])
    sigma = np.array([guess.sigma for guess, _ in answers])
    figures = (np.median(off), np.quantile(off, 0.9), np.median(sigma))
    cells = [f"{figure:.1%}" for figure in figures]
    cells += [f"{np.mean(off < times * sigma):.0%}" for times in (1, 2)]
    return f"| {name} | {len(found)} | {share} | {' | '.join(cells)} | {seconds} |"


def answer(samples: Iterator[Sample]) -> list[tuple[FocalEstimate | None, float, float]]:
    """Ask for the focal length of each picture."""
    found = []
    for pixels, focal in samples:
        start = time.process_time()
        guess = focal_from_lines(pixels)
        found.append((guess, focal, time.process_time() - start))
    return found


def main() -> None:
    """Print the table, and write it if asked to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", type=Path, help="folder of photographs with known cameras")
    parser.add_argument("--write", type=Path, help="Markdown file to write the table to")
    options = parser.parse_args()
    lines = [HEAD, "|---" * (HEAD.count("|") - 1) + "|"]
    print("\n".join(lines), flush=True)
    for kind, count in COUNTS.items():
        lines.append(row(kind, answer(rendered(kind, count))))
        print(lines[-1], flush=True)
    for name, samples in photographs(options.real).items() if options.real else ():
        lines.append(row(f"real: {name}", answer(iter(samples))))
        print(lines[-1], flush=True)
    if options.write:
        write_text(options.write, "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
