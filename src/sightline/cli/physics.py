"""`sightline physics`: make videos of worlds with known laws, and say what a data set holds."""

from __future__ import annotations

import sys
import time
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from sightline.cli.physics_probes import probes
from sightline.cli.physics_score import run, score
from sightline.config import Flag
from sightline.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator

    from sightline.physics.combinatorial.store import CombinatorialSpec
    from sightline.physics.datasets.making import Step
    from sightline.physics.datasets.spec import DataSpec

app = App(name="physics", help="Videos of worlds with known laws, and how well videos obey them.")


@app.command
def make(
    scenario: Annotated[str, Parameter(name="SCENARIO")],
    /,
    *,
    out: Path,
    count: int | None = None,
    split: str | None = None,
    level: Literal["30K", "300K", "3M"] | None = None,
    part: Literal["train", "test"] | None = None,
    templates: str | None = None,
    tasks: int | None = None,
    trials: str | None = None,
    size: int | None = None,
    seed: int = 0,
    preset: Literal["code", "paper"] | None = None,
    mode: Literal["exact", "box2d"] | None = None,
    shard_seed: Flag = False,
    quality: Literal["rle", "standard", "lossless"] | None = None,
    layout: Literal["merged", "shard"] | None = None,
    workers: int | None = None,
    cluster: Flag = False,
    address: str | None = None,
    force: Flag = False,
) -> int:
    """Simulate a data set of videos in HDF5.

    A video depends only on the settings and its number, so the file is always the same. The same
    command continues an interrupted run. Options without effect are refused.

    Args:
        scenario: world to simulate: uniform, parabola, collision, combinatorial, or probe:NAME with a
            name listed by `sightline physics probes`.
        out: output file, .h5 or .hdf5.
        count: number of videos. Default: all of a level, or of templates, tasks and trials; as many
            as in the paper for a split or probe.
        split: part of the parameter space: id, ood, one of its levels such as ood-r or ood-v1v2, xl or
            cross. Default: id.
        level: a training grid of the reference instead of a split.
        part: part of a probe: train or test.
        templates: combinatorial worlds: 6, 30, 60, held-out, all, or ids such as 10003,10060.
        tasks: combinatorial worlds: tasks per template. Default: 100, as in the paper.
        trials: combinatorial worlds: trials per task, for example 50 or 990-999. Default: 1000, or 1
            for held-out templates, as in the paper.
        size: width and height in pixels. Default: 128; 256 for combinatorial worlds.
        seed: random seed.
        preset: parameter ranges of the released code or of the paper, for a split or level. Default:
            code.
        mode: dynamics: exact laws, or the integrator of the reference (box2d), for a split or level.
            Default: exact.
        shard_seed: repeat start positions every 1000 videos, as the reference does; for a level, use
            its cells and start positions.
        quality: coding of the frames: rle (lossless, fast), or mp4 of standard or lossless quality in
            the released layout. Default: rle; standard for combinatorial worlds.
        layout: groups of shards (merged), or one shard. Default: merged.
        workers: number of worker processes. Default: chosen by the amount of work.
        cluster: run on a Ray cluster instead of processes of this machine.
        address: address of the Ray cluster, for example auto or ray://host:10001. Default: the
            environment variable RAY_ADDRESS, or a new cluster on this machine.
        force: replace an existing or unfinished file.
    """
    from sightline.cli.physics_options import check_options, one_law_spec, scenes_spec
    from sightline.physics.datasets.making import iter_make_dataset
    from sightline.physics.datasets.spec import COMBINATORIAL

    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    of_one_law = {
        "split": split,
        "level": level,
        "preset": preset,
        "mode": mode,
        "shard_seed": shard_seed,
        "part": part,
    }
    of_scenes = {"templates": templates, "tasks": tasks, "trials": trials}
    of_files = {"quality": quality, "layout": layout, "cluster": cluster, "address": address}
    check_options(scenario, {**of_one_law, **of_scenes, **of_files})
    common = {"size": size, "seed": seed}
    spec: DataSpec | CombinatorialSpec
    if scenario == COMBINATORIAL:
        spec = scenes_spec(templates, tasks, trials, count, {**common, "video": quality})
    else:
        spec = one_law_spec(scenario, count, quality, {**common, **of_one_law})
    steps = iter_make_dataset(
        spec,
        out,
        layout=layout or "merged",
        workers=workers,
        cluster=cluster,
        address=address,
        force=force,
    )
    begin = time.perf_counter()
    skipped = _run(spec.count, steps)
    before = f", {skipped} of them made before" if skipped else ""
    seconds = time.perf_counter() - begin
    written = out.stat().st_size
    size_text = f"{written / 1e6:.1f} MB" if written >= 100_000 else f"{written / 1e3:.1f} kB"
    print(f"{_videos(spec.count)} in {seconds:.1f} s{before}, {size_text}: {out}")
    return 0


def _videos(count: int) -> str:
    return f"{count} video" if count == 1 else f"{count} videos"


def _run(count: int, steps: Generator[Step, None, None]) -> int:
    """Make the data set under a progress bar; return how many videos were there before."""
    from sightline.cli.progress import progress

    done = skipped = 0
    try:
        with (
            redirect_stdout(sys.stderr),  # where Ray's own remarks belong
            progress(count, "videos") as display,
            closing(steps),
        ):
            for step in steps:
                done += step.videos
                skipped += step.videos if step.skipped else 0
                for _ in range(step.videos):
                    display.advance()
    except KeyboardInterrupt as stop:
        raise type(stop)(
            f"stopped with {done} of {_videos(count)}; the same command goes on"
        ) from None
    return skipped


@app.command
def info(file: Annotated[Path, Parameter(name="FILE")], /) -> int:
    """Describe a data set file: number, size and quality of the videos, seed and checksum.

    Args:
        file: HDF5 file, made by Sightline or released with PhyWorld.
    """
    from sightline.physics.datasets.describe import describe
    from sightline.physics.datasets.reader import open_dataset

    with open_dataset(file) as data:
        for name, value in describe(data).items():
            print(f"{name:<12}{value}")
    return 0


app.command(probes)
app.command(score)
app.command(run)
