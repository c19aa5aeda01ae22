"""The embedded video model on a CPU core: a codec, a diffusion transformer, and the studies.

    python recipes/cpu/video.py --work DIR [--only STAGE ...] [--threads N]

Stop it at any time: the same command goes on. Stages:

    codec    frames of 64 px as places, steps and shapes of bodies, and the way back to soft frames
    train    the network of three worlds that `sightline video demo` shows
    score    its errors in range and out of it, and the floors of codec and parser
    embed    the model as `video` of the registry
    studies  every study of `sightline video study` with the cpu budget

Every stage but `score` and `embed` is a command of `sightline video`; what they print is what to type.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
from collections.abc import Sequence
from pathlib import Path

from sightline.cli import main as sightline
from sightline.errors import SightlineError
from sightline.models.registry import embedded_folder, record
from sightline.physics.worlds.simulation import sample
from sightline.video_model.autoencoders.floor import reconstruction_floor
from sightline.video_model.options import EMBEDDED
from sightline.video_model.pipeline import load
from sightline.video_model.scoring import MEAN_VELOCITY, mean_of, score_model, spec_of
from sightline.video_model.studies.catalog import STUDIES

STAGES = ("codec", "train", "score", "embed", "studies")
WORLDS = ("uniform", "collision", "parabola")

#: Blue balls, squares and rings turn up in conflicts of attributes.
CODEC = (
    "video codec --steps 2000 --rate 5e-3 --noise 0.02 "
    + " ".join(f"--data {world}" for world in WORLDS)
    + " --data probe:conflict-color-square --data probe:conflict-color-ring"
)
#: Squares and rings are rare among all these, and seen best when balls can be drawn already.
SHAPES = (
    "video codec --steps 1200 --rate 4e-3 --noise 0.02 --data uniform --data collision "
    + 3 * "--data probe:conflict-color-square "
    + "--data probe:conflict-color-ring"
)
TRAIN = (
    "video train --network micro --patch 4 1 1 --says video --gain 8 --videos 10000 --steps 8000 "
    "--batch 64 --rate 2e-3 --mean-decay 0.998 --keep 30000 --validate-every 2000 "
    + " ".join(f"--data {world} --check {world} --check {world}:ood" for world in WORLDS)
)

#: Videos of each world and range that are scored, of a seed that no training has.
COUNT, SEED = 128, 77


def run(command: str, *more: str) -> None:
    """Run a command of ours, and say what it is."""
    words = [*shlex.split(command), *more]
    print("sightline", shlex.join(words), flush=True)
    if sightline(words):
        raise SystemExit(1)


def score(work: Path) -> list[str]:
    """Return the errors of the trained model as a table, a row for each world."""
    model = load(work / "train", "cpu")
    rows = [
        "| | true videos | coded | in range | out of range | in range, mean | out of range, mean |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for world in WORLDS:
        floor = reconstruction_floor(model.codec, sample(world, COUNT, seed=SEED), model.size)
        inside, outside = (
            score_model(model, spec_of(f"{world}:{split}", COUNT, model.size, SEED))
            for split in ("id", "ood")
        )
        figures = [
            *(floor.truth.velocity, floor.coded.velocity, mean_of(inside), mean_of(outside)),
            *(mean_of(inside, MEAN_VELOCITY), mean_of(outside, MEAN_VELOCITY)),
        ]
        rows.append(f"| {world} | " + " | ".join(f"{figure:.3f}" for figure in figures) + " |")
    return rows


def embed(work: Path) -> None:
    """Enter the model into the registry of this package."""
    source, file = work / "train/model.safetensors", f"{EMBEDDED}.safetensors"
    shutil.copyfile(source, embedded_folder() / file)
    model = load(source, "cpu")
    record(
        EMBEDDED,
        file,
        None,
        purpose="video",
        summary=f"our video model, {model.parameters / 1e6:.1f} M weights: goes on with three worlds",
        trained_on="our uniform, collision and parabola worlds, in range",
        note=f"{model.notes.get('steps')} steps of {model.notes.get('batch')} videos",
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the stages."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", nargs="+", choices=STAGES, default=STAGES[:3])
    parser.add_argument("--threads", default="1")
    chosen = parser.parse_args(arguments)
    work, threads = chosen.work, ("--threads", chosen.threads)
    first, codec = (str(work / name / "codec.safetensors") for name in ("codec", "codec-2"))
    try:
        if "codec" in chosen.only:
            run(CODEC, "--out", str(work / "codec"), *threads)
            run(SHAPES, "--out", str(work / "codec-2"), "--start", first, *threads)
        if "train" in chosen.only:
            run(TRAIN, "--out", str(work / "train"), "--codec", codec, *threads)
        if "score" in chosen.only:
            print("\n".join(score(work)))
        if "embed" in chosen.only:
            embed(work)
        if "studies" in chosen.only:
            for name in STUDIES:
                out = str(work / "studies" / name)
                run(f"video study {name}", "--out", out, "--codec", codec, *threads)
    except SightlineError as error:
        raise SystemExit(str(error)) from error


if __name__ == "__main__":
    main()
