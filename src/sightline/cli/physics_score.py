"""`sightline physics score` and `sightline physics run`: how well videos obey the laws."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import closing, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter, Token

from sightline.batch.options import Flag
from sightline.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Generator

    from sightline.physics.data.videos import VideoData
    from sightline.physics.models import Prediction
    from sightline.physics.score.match import Matching
    from sightline.physics.score.run import Result
    from sightline.physics.score.work import Task

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
    """Say law by law how well videos obey physics, beside what simple predictors would get.

    Writes scores.json and report.html, and prints the summary. A video that cannot be read, or does not
    begin like its sample, is left out and named; the exit code is then 2.

    Args:
        videos: folder of mp4 or npz files (also the reference's three panels), or a data set. Every
            video begins with the frames that the model was given.
        truth: the data set with what should happen, from sightline physics make or a released one.
        out: folder for scores.json and report.html.
        condition: frames that the model was given; default: 3, of combinatorial worlds 1 (as in the
            paper).
        by: match videos with samples by the number in their name, or by order; auto: by order only
            when no name has a number.
        fps: frames per second of the videos, if not those of the data set: two, three, … times as many.
        panel: part of each picture to take; auto: the right one of three panels, else the whole.
        pictures: picture metrics, separated by commas: psnr, ssim, lpips, fvd.
        training: data set that the model was trained on, for the nearest case; default: the grid of
            --level, of a probe its own training part.
        level: training grid of the reference that the nearest case is taken from; default: 3M.
        preset: ranges that say what is in and out of distribution; default: those that the data set
            was made with, else code.
        title: of the report; default: the name of the folder.
        workers: processes that share the work; default: one per core.
        cluster: work on Ray instead of processes of this machine.
        address: of the Ray cluster; default: RAY_ADDRESS, else one of this machine alone.
        force: put the new report in the place of an old one.
    """
    from sightline.physics.data.open import open_dataset
    from sightline.physics.run_record import check_condition
    from sightline.physics.score.beginnings import check_beginnings
    from sightline.physics.score.choices import training_choices
    from sightline.physics.score.match import match
    from sightline.physics.score.run import default_yardsticks
    from sightline.physics.score.sample import every
    from sightline.physics.score.sources import list_videos
    from sightline.physics.score.store import claimed
    from sightline.physics.score.work import Task

    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    if fps is not None and not 0 < fps < 1e4:
        raise InputError(f"fps must be a positive number, got {fps}")
    if address is not None and not cluster:
        raise InputError("--address is that of a cluster", remedy="add --cluster")
    if videos.is_dir() and out.resolve() == videos.resolve():
        raise InputError("holds the videos", path=out, remedy="choose another --out for the report")
    with open_dataset(truth) as data:
        condition = _condition_of(data, condition)
        if fps is not None:
            every(fps, data.frame_time)
        task = Task(
            truth,
            condition,
            fps=fps,
            pictures=tuple(name for name in pictures if name != "fvd"),  # type: ignore[misc]
            yardsticks=default_yardsticks(data.scenario),
            **training_choices(data, training, level, preset),
        )
        matching = match(list_videos(videos, panel), len(data), by)
    check_condition(videos, condition)
    check_beginnings(matching.pairs, videos, truth, condition)
    with claimed(out, force=force):
        name = videos.resolve().name
        result = _score(task, matching, name, workers, cluster, address)
        return _write(result, task, matching, out, title or name, fvd="fvd" in pictures)


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
    """Let a video model continue the videos of a data set, and score them in one go if asked to.

    The model is made by calling `factory()` of a Python module; it needs one method,
    `predict(condition, mask, n)`, which returns n frames: (n, H, W, 3) uint8 RGB. Videos are written as
    lossless mp4, named by the number of their sample; after a stop the same command goes on. A sample
    that the model fails on is named, and the exit code is then 2.

    Args:
        model: module:factory.
        data: the data set whose first frames are given.
        out: folder for the videos.
        condition: frames that are given; default: 3, of combinatorial worlds 1 (as in the paper).
        count: how many samples; default: all from `start` on.
        start: number of the first one.
        score_to: folder for the report of sightline physics score on these videos; default: none, score
            them later.
    """
    from sightline.physics.data.open import open_dataset
    from sightline.physics.models import load_model, run_model
    from sightline.physics.run_record import claimed
    from sightline.physics.score.match import counted

    if count is not None and count < 1:
        raise InputError(f"count must be at least 1, got {count}")
    with open_dataset(data) as videos:
        stop = len(videos) if count is None else start + count
        if not 0 <= start < stop <= len(videos):
            asked = f"{start} on" if count is None else f"{start} to {stop - 1}"
            raise InputError(
                f"samples from {asked} were asked for",
                path=data,
                remedy=f"it has {counted(len(videos), 'sample')}, which count from 0",
            )
        condition = _condition_of(videos, condition, start)
        maker = load_model(model)
        record = {"model": model, "data_set": videos.digest, "condition": condition}
        with claimed(out, record):
            steps = run_model(maker, videos, out, range(start, stop), condition=condition)
            failures = _follow(steps, stop - start)
    done = counted(stop - start - failures, "video")
    print(f"{done} in {out}" + (f", {failures} failed" if failures else ""))
    if score_to is not None and failures < stop - start:
        score(out, truth=data, out=score_to, condition=condition)
    return 2 if failures else 0


def _condition_of(data: VideoData, condition: int | None, index: int = 0) -> int:
    """Return how many frames are given; refuse a number after which there is nothing to score."""
    from sightline.physics.data.spec import COMBINATORIAL

    if condition is None:
        condition = 1 if data.scenario == COMBINATORIAL else 3
    frames = len(data.video(index)) if len(data) else 0
    if not frames:
        raise InputError("holds no video", path=data.path)
    if not 1 <= condition <= frames - 2:
        raise InputError(
            f"{condition} condition frames of {frames}", remedy=f"give 1 to {frames - 2}"
        )
    return condition


def _follow(steps: Generator[Prediction, None, None], total: int) -> int:
    """Let a model work under a progress bar; return how many samples it failed on."""
    from sightline.batch.outcome import one_line
    from sightline.cli.progress import progress
    from sightline.physics.score.match import counted

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
    task: Task,
    matching: Matching,
    source: str,
    workers: int | None,
    cluster: bool,
    address: str | None,
) -> Result:
    """Score under a progress bar."""
    from sightline.cli.progress import progress
    from sightline.physics.score.run import collect, score_chunks

    chunks = score_chunks(task, matching, workers=workers, cluster=cluster, address=address)
    done = []
    with (
        redirect_stdout(sys.stderr),  # where Ray's own remarks belong
        progress(len(matching.pairs), "videos") as display,
        closing(chunks),
    ):
        for chunk in chunks:
            done.append(chunk)
            for _ in chunk:
                display.advance()
    return collect(done, task, matching, source)


def _write(
    result: Result, task: Task, matching: Matching, out: Path, title: str, *, fvd: bool
) -> int:
    from dataclasses import replace

    from sightline.physics.score.distance import measure_fvd
    from sightline.physics.score.page import write_page
    from sightline.physics.score.store import REPORT, write_scores
    from sightline.physics.score.text import left_out_lines, summary_text
    from sightline.physics.score.worst import worst_strips

    if fvd:
        scored = {one.index for one in result.scores["model"]}
        pairs = [pair for pair in matching.pairs if pair[1] in scored]
        result = replace(result, fvd=measure_fvd(pairs, task))
    write_scores(out, result)
    write_page(out / REPORT, result, worst_strips(result, task, matching.pairs), title)
    for line in left_out_lines(result):
        print(line, file=sys.stderr)
    print(summary_text(result))
    print(f"\n{out / REPORT}")
    return 2 if result.left_out else 0
