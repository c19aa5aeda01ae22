"""`sightline physics score` and `sightline physics run`: how well videos obey the laws."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import ExitStack, closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from sightline.config import Flag
from sightline.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator

    from sightline.physics import PhysicsReport, ScoreOptions
    from sightline.physics.model_runner import Prediction

_PICTURES = ("psnr", "ssim", "lpips", "fvd")


def _names(_type: Any, tokens: Sequence[Token]) -> tuple[str, ...]:
    """Read `psnr,ssim` as a tuple."""
    words = [word.strip() for token in tokens for word in token.value.split(",") if word.strip()]
    for word in words:
        if word not in _PICTURES:
            raise InputError(
                f"no picture metric is called {word!r}", remedy=f"use {', '.join(_PICTURES)}"
            )
    if not words:
        raise InputError("--pictures names no metric", remedy=f"use {', '.join(_PICTURES)}")
    return tuple(dict.fromkeys(words))


Pictures = Annotated[tuple[str, ...], Parameter(converter=_names, n_tokens=1, show_choices=False)]


def score(
    videos: Annotated[Path, Parameter(name="VIDEOS")],
    /,
    *,
    truth: Path,
    out: Path,
    condition: int | None = None,
    by: Literal["auto", "name", "order"] = "auto",
    fps: float | None = None,
    panel: Literal["auto", "whole", "left", "middle", "right"] = "auto",
    pictures: Pictures = (),
    training: Path | None = None,
    level: Literal["30K", "300K", "3M"] | None = None,
    preset: Literal["code", "paper"] | None = None,
    title: str | None = None,
    workers: int | None = None,
    cluster: Flag = False,
    address: str | None = None,
    force: Flag = False,
) -> int:
    """Score how well videos obey physical laws, beside simple baselines.

    Writes scores.json and report.html, and prints a summary. Videos that cannot be read, or that do
    not begin like their sample, are left out and listed; the exit code is then 2.

    Args:
        videos: folder of mp4 or npz files (also with the reference's three panels), or a data set.
            Every video begins with the condition frames.
        truth: data set of the true videos, from `sightline physics make` or a released one.
        out: output folder for scores.json and report.html.
        condition: number of condition frames. Default: 3; 1 for combinatorial worlds, as in the paper.
        by: match videos with samples by the number in their name, or by order; auto: by order only
            if no name has a number.
        fps: frame rate of the videos, if it is a multiple of that of the data set.
        panel: part of each frame to score; auto: the right one of three panels, or the whole frame.
        pictures: image metrics, separated by commas: psnr, ssim, lpips, fvd.
        training: training set of the model, for the nearest-neighbor baseline. Default: the grid of
            --level; for a probe, its training part.
        level: training grid of the reference for the nearest-neighbor baseline. Default: 3M.
        preset: ranges that separate in and out of distribution. Default: those of the data set, or
            code.
        title: title of the report. Default: the name of the folder.
        workers: number of worker processes. Default: one per core.
        cluster: run on a Ray cluster instead of processes of this machine.
        address: address of the Ray cluster, for example auto or ray://host:10001. Default: the
            environment variable RAY_ADDRESS, or a new cluster on this machine.
        force: replace an existing report.
    """
    from sightline.physics import ScoreOptions
    from sightline.physics.scoring.report import claimed

    if videos.is_dir() and out.resolve() == videos.resolve():
        raise InputError("holds the videos", path=out, remedy="choose another --out for the report")
    options = ScoreOptions(condition, by, fps, panel, pictures, training, level, preset)
    with claimed(out, force=force):
        report = _score(videos, truth, options, workers, cluster, address)
        return _write(report, out, title)


def run(
    *,
    model: str,
    data: Path,
    out: Path,
    condition: int | None = None,
    count: int | None = None,
    start: int = 0,
    score_to: Annotated[Path | None, Parameter(name="--score")] = None,
) -> int:
    """Continue the videos of a data set with a video model, and optionally score them.

    `factory()` returns the model, an object with the method `predict(condition, mask, n)` that returns
    n frames: (n, H, W, 3) uint8 RGB. Videos are written as lossless mp4, named by sample number. An
    interrupted run resumes with the same command. Samples on which the model fails are listed; the exit
    code is then 2.

    Args:
        model: Python path of the model, in the form module:factory.
        data: data set that provides the condition frames.
        out: folder for the videos.
        condition: number of condition frames. Default: 3; 1 for combinatorial worlds, as in the paper.
        count: number of samples. Default: all from --start.
        start: number of the first sample.
        score_to: folder for a report of `sightline physics score` on these videos. Default: no report.
    """
    from sightline.physics.datasets.reader import open_dataset
    from sightline.physics.model_runner import condition_frames, iter_predictions
    from sightline.physics.scoring.inputs import counted

    with open_dataset(data) as videos:
        total = len(videos) - start if count is None else count
        condition = (
            condition_frames(videos, condition, start) if 0 <= start < len(videos) else condition
        )
    steps = iter_predictions(model, data, out, condition=condition, start=start, count=count)
    failures = _follow(steps, total)
    done = counted(total - failures, "video")
    print(f"{done} in {out}" + (f", {failures} failed" if failures else ""))
    if score_to is not None and failures < total:
        score(out, truth=data, out=score_to, condition=condition)
    return 2 if failures else 0


def _follow(steps: Generator[Prediction, None, None], total: int) -> int:
    """Let a model work under a progress bar; return how many samples it failed on."""
    from sightline.cli.progress import progress
    from sightline.errors import one_line
    from sightline.physics.scoring.inputs import counted

    done = failures = 0
    try:
        with progress(total, "videos") as display, closing(steps):
            for step in steps:
                done += 1
                if step.failure is not None:
                    failures += 1
                    print(one_line(step.failure), file=sys.stderr)
                    if os.environ.get("SIGHTLINE_DEBUG"):
                        print(*getattr(step.failure, "__notes__", ()), file=sys.stderr)
                display.advance()
    except KeyboardInterrupt as stop:
        goal = counted(total, "video")
        raise type(stop)(f"stopped after {done} of {goal}; the same command goes on") from None
    return failures


def _score(
    videos: Path,
    truth: Path,
    options: ScoreOptions,
    workers: int | None,
    cluster: bool,
    address: str | None,
) -> PhysicsReport:
    """Score with a progress bar."""
    from sightline import physics
    from sightline.cli.progress import progress

    shown = 0
    with ExitStack() as stack:
        stack.enter_context(redirect_stdout(sys.stderr))  # where Ray's own messages belong
        display: Any = None

        def advance(done: int, total: int) -> None:
            nonlocal display, shown
            display = display or stack.enter_context(progress(total, "videos"))
            for _ in range(done - shown):
                display.advance()
            shown = done

        return physics.score(
            videos,
            truth,
            options,
            workers=workers,
            cluster=cluster,
            address=address,
            progress=advance,
        )


def _write(report: PhysicsReport, out: Path, title: str | None) -> int:
    from sightline.physics.scoring.report import REPORT, SCORES
    from sightline.physics.scoring.text import left_out_lines

    report.to_json(out / SCORES)
    report.to_html(out / REPORT, title)
    for line in left_out_lines(report):
        print(line, file=sys.stderr)
    print(report)
    print(f"\n{out / REPORT}")
    return 2 if report.left_out else 0
