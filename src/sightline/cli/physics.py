"""`sightline physics`: make videos of worlds with known laws, and say what a data set holds."""

from __future__ import annotations

import sys
import time
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import App, Parameter

from sightline.batch.options import Flag
from sightline.cli.physics_probes import probes
from sightline.cli.physics_score import run, score
from sightline.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator

    from sightline.physics.combinatorial.spec import CombinatorialSpec
    from sightline.physics.data.make import Step
    from sightline.physics.data.spec import DataSpec

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
    quality: Literal["standard", "lossless"] | None = None,
    layout: Literal["merged", "shard"] | None = None,
    workers: int | None = None,
    cluster: Flag = False,
    address: str | None = None,
    force: Flag = False,
) -> int:
    """Make a data set of videos: .slv is lossless and fast, .h5 is mp4 in the reference's layout.

    Every video follows from the settings and its number, so the file is the same whoever made it. After
    a stop the same command goes on. An option that would have no effect is refused.

    Args:
        scenario: uniform, parabola, collision, combinatorial, or probe:NAME with a name that sightline
            physics probes lists.
        out: the file, .slv, .h5 or .hdf5; combinatorial worlds are .h5 or .hdf5 only.
        count: how many videos, the first of those asked for; default: all of a level, of templates,
            tasks and trials; of a split or probe as many as in the paper.
        split: id, ood, one of its levels such as ood-r or ood-v1v2, xl or cross; default: id.
        level: a training grid of the reference instead of a split.
        part: of a probe: train or test.
        templates: of combinatorial worlds: 6, 30, 60, held-out, all, or ids such as 10003,10060.
        tasks: of each template; default: 100, as in the paper.
        trials: of each task, such as 50, or 990-999; default: as in the paper 1000, 1 if held out.
        size: width and height in pixels; default: 128, of combinatorial worlds 256.
        seed: of all random choices.
        preset: ranges of the released code or of the paper, for a split or level; default: code.
        mode: exact laws, or the reference's integrator, for a split or level; default: exact.
        shard_seed: repeat start positions every 1000 videos, as the reference does; of a level, its
            very cells and start positions.
        quality: of the mp4s in .h5; default: standard.
        layout: of .h5: groups of shards, or one shard; default: merged.
        workers: processes that share the work; default: as many as it is worth.
        cluster: work on Ray instead of processes of this machine.
        address: of the Ray cluster, such as auto or ray://host:10001; default: RAY_ADDRESS, else one
            of this machine alone.
        force: put the new file in the place of an old one, also of one that is half made.
    """
    from sightline.cli.physics_options import check_options, one_law_spec, scenes_spec
    from sightline.physics.data.make import make_dataset
    from sightline.physics.data.spec import COMBINATORIAL

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
    check_options(scenario, out, {**of_one_law, **of_scenes, **of_files})
    common = {"size": size, "seed": seed}
    spec: DataSpec | CombinatorialSpec
    if scenario == COMBINATORIAL:
        spec = scenes_spec(templates, tasks, trials, count, {**common, "video": quality})
    else:
        spec = one_law_spec(scenario, out, count, quality, {**common, **of_one_law})
    steps = make_dataset(
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
    """Say what a data set file holds: which videos, how many, their size and quality, seed, digest.

    Args:
        file: .slv or HDF5, ours or a released one.
    """
    from sightline.physics.data.describe import describe
    from sightline.physics.data.open import open_dataset

    with open_dataset(file) as data:
        for name, value in describe(data).items():
            print(f"{name:<12}{value}")
    return 0


app.command(probes)
app.command(score)
app.command(run)
