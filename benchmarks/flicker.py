"""How steady depth video is, with and without steadying: `python benchmarks/flicker.py`.

Rendered rooms with a moving camera, exact depth and poses (`sightline.scenes`); metrics and protocol in
`temporal_error.py`. "Min–max" scales every frame to its own range, as is common.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sightline
from sightline.depth.stabilization import Stabilizer
from sightline.io.atomic import write_text
from sightline.scenes.clips import room_clip
from temporal_error import TemporalError, temporal_alignment_error


def measure(model: str, seed: int, frames: int) -> dict[str, TemporalError]:
    """Run the model over one room, in three ways."""
    clip = list(room_clip(frames, seed=seed))
    estimator = sightline.load(model)
    maps = [estimator.infer(frame.pixels) for frame in clip]
    steady = Stabilizer()
    ways = {
        "min–max per frame": [
            (m.values - m.values.min()) / max(float(np.ptp(m.values)), 1e-9) for m in maps
        ],
        "network as it is": [m.values for m in maps],
        "steadied": [
            steady.update(m, frame.pixels).depth.values for m, frame in zip(maps, clip, strict=True)
        ],
    }
    truths, poses = [frame.depth for frame in clip], [frame.pose for frame in clip]
    return {name: temporal_alignment_error(p, truths, poses) for name, p in ways.items()}


def main() -> None:
    """Measure, print, and write the table if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="default")
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1])
    parser.add_argument("--write", type=Path, help="Markdown file to write the table to")
    options = parser.parse_args()
    lines = ["| room | way | flicker | alignment error | error |", "|---|---|---|---|---|"]
    for seed in options.seeds:
        for name, found in measure(options.model, seed, options.frames).items():
            cells = f"{found.flicker:.4f} | {found.alignment:.4f} | {found.error:.3f}"
            lines.append(f"| {seed} | {name} | {cells} |")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.write:
        write_text(options.write, text)


if __name__ == "__main__":
    main()
