"""`score`: compare videos with a data set, law by law; and what is written of the result."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sightline.errors import InputError
from sightline.io.atomic import write_text
from sightline.physics.datasets.reader import VideoData, open_dataset
from sightline.physics.datasets.spec import COMBINATORIAL, PROBE
from sightline.physics.laws import LAWS
from sightline.physics.model_runner import check_condition, condition_frames, results_folder
from sightline.physics.scoring import sample, summary
from sightline.physics.scoring.baselines import baseline_motions, baseline_video, through_codec
from sightline.physics.scoring.inputs import (
    By,
    Matching,
    Panel,
    VideoSource,
    check_beginnings,
    list_videos,
    match,
)
from sightline.physics.scoring.run import (
    MODEL,
    PhysicsReport,
    Scorer,
    ScoringTask,
    collect,
    default_baselines,
    read_motions,
    score_chunks,
)
from sightline.physics.scoring.sample import at_rate, every
from sightline.physics.types import Frames
from sightline.physics.video_metrics.frame_metrics import NotAvailable
from sightline.physics.video_metrics.fvd import Fvd, FvdStatistics, load_i3d
from sightline.physics.worlds.splits import PRESETS, SCENARIOS

if TYPE_CHECKING:
    from sightline.physics.video_metrics.networks import I3d


#: Picture metrics to choose from.
PICTURES = ("psnr", "ssim", "lpips", "fvd")


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """Options of `score`.

    Attributes:
        condition: number of frames that the model was given; None: 3, for combinatorial worlds 1.
        by: match videos with samples by the number in their `name`, or by `order`; `auto`: by order
            only if no name has a number.
        fps: frames per second of the videos; None: as the data set.
        panel: part of each frame to take; `auto`: the right one of three panels, else the whole.
        pictures: picture metrics to compute: `psnr`, `ssim`, `lpips`, `fvd`.
        training: data set that the model was trained on, for the baseline `nearest-case`.
        level: training grid of the released data for that baseline, instead; None: `3M`.
        preset: parameter ranges that define in and out of distribution; None: those of the data set.
    """

    condition: int | None = None
    by: By = "auto"
    fps: float | None = None
    panel: Panel = "auto"
    pictures: tuple[str, ...] = ()
    training: Path | None = None
    level: str | None = None
    preset: str | None = None


def score(
    videos: str | Path,
    truth: str | Path,
    options: ScoreOptions | None = None,
    *,
    workers: int | None = None,
    cluster: bool = False,
    address: str | None = None,
    progress: Callable[[int, int], None] | None = None,
    **settings: Any,
) -> PhysicsReport:
    """Score videos against the data set that they continue.

    Every video begins with the frames that the model was given. Videos that cannot be read, or that do
    not begin like their sample, are listed in `PhysicsReport.left_out`.

    Args:
        videos: folder of mp4 or npz files, one video file, or a data set.
        truth: the data set with the true motions.
        options: see `ScoreOptions`.
        workers: processes; None: one per core.
        cluster: run on Ray.
        address: of the Ray cluster; None: `RAY_ADDRESS`, else a cluster on this machine.
        progress: called with the number of finished videos and of all videos.
        settings: fields of `ScoreOptions` by name.

    >>> report = score("videos", truth="test.h5", condition=3)  # doctest: +SKIP
    >>> report.to_html("report.html")  # doctest: +SKIP
    """
    chosen = replace(options or ScoreOptions(), **settings)
    videos, truth = Path(videos), Path(truth)
    if workers is not None and workers < 1:
        raise InputError(f"workers must be at least 1, got {workers}")
    if address is not None and not cluster:
        raise InputError("--address is that of a cluster", remedy="add --cluster")
    task, matching = _prepare(videos, truth, chosen)
    total, done = len(matching.pairs), []
    if progress is not None:
        progress(0, total)
    chunks = score_chunks(task, matching, workers=workers, cluster=cluster, address=address)
    with closing(chunks):
        for chunk in chunks:
            done.append(chunk)
            if progress is not None:
                progress(sum(map(len, done)), total)
    report = collect(done, task, matching, videos.resolve().name)
    if "fvd" not in chosen.pictures:
        return report
    scored = {one.index for one in report.scores[MODEL]}
    pairs = [pair for pair in matching.pairs if pair[1] in scored]
    return replace(report, fvd=measure_fvd(pairs, task))


def _prepare(videos: Path, truth: Path, options: ScoreOptions) -> tuple[ScoringTask, Matching]:
    """Check the options against the data set and match videos with samples."""
    if options.fps is not None and not 0 < options.fps < 1e4:
        raise InputError(f"fps must be a positive number, got {options.fps}")
    unknown = [name for name in options.pictures if name not in PICTURES]
    if unknown:
        raise InputError(
            f"no picture metric is called {unknown[0]!r}", remedy=f"use {', '.join(PICTURES)}"
        )
    training = None if options.training is None else Path(options.training)
    with open_dataset(truth) as data:
        condition = condition_frames(data, options.condition)
        if options.fps is not None:
            every(options.fps, data.frame_time)
        task = ScoringTask(
            truth,
            condition,
            fps=options.fps,
            pictures=tuple(name for name in options.pictures if name != "fvd"),  # type: ignore[misc]
            baselines=default_baselines(data.scenario),
            **training_choices(data, training, options.level, options.preset),
        )
        matching = match(list_videos(videos, options.panel), len(data), options.by)
    check_condition(videos, condition)
    check_beginnings(matching.pairs, videos, truth, condition)
    return task, matching


def training_choices(
    data: VideoData, training: Path | None, level: str | None, preset: str | None
) -> dict[str, Any]:
    """Check the options about training; return the fields of `ScoringTask` that they set.

    Args:
        data: the data set with the truth.
        training: data set for the baseline `nearest-case`.
        level: training grid of the released data, instead.
        preset: ranges in distribution; None: those of the data set, else `code`.
    """
    given = {"training": training, "level": level, "preset": preset}
    names = [f"--{name}" for name, value in given.items() if value is not None]
    if names and data.scenario not in SCENARIOS:
        raise InputError(
            f"{' and '.join(names)} would have no effect on {data.scenario}",
            path=data.path,
            remedy=f"leave out what is for {', '.join(SCENARIOS)}",
        )
    if training is not None and level is not None:
        raise InputError(
            "--training and --level both say what the nearest case is taken from",
            remedy="leave one out",
        )
    if level is not None and str(data.made.get("scenario", "")).startswith(PROBE):
        raise InputError(
            "--level would have no effect on a probe, which has a training part of its own",
            path=data.path,
            remedy="leave it out, or give --training",
        )
    if training is not None:
        check_training(training, data)
    made_with = str(data.made.get("preset"))
    given["preset"] = preset or (made_with if made_with in PRESETS else None)
    return {name: value for name, value in given.items() if value is not None}


def check_training(training: Path, data: VideoData) -> None:
    """Refuse a training set of another scenario or with other parameters."""
    with open_dataset(training) as other:
        if other.scenario != data.scenario:
            raise InputError(
                f"holds {other.scenario}, the data set to be scored {data.scenario}", path=training
            )
        if not len(other):
            raise InputError("holds no video", path=training)
        columns = other.read_samples(0, 1).init.shape[1], data.read_samples(0, 1).init.shape[1]
    if columns[0] != columns[1]:
        raise InputError(
            f"samples have {columns[0]} parameters, those to be scored {columns[1]}", path=training
        )


#: FVD of fewer videos is strongly biased upward; the paper has 500 out of template and 600 in it
#: (PhyWorld, Table 2).
ENOUGH = 500

#: Pairs of a video and the number of its sample.
Pairs = Sequence[tuple[VideoSource, int]]

# Videos whose baselines are computed at a time.
_AT_ONCE = 16


def measure_fvd(pairs: Pairs, task: ScoringTask) -> dict[str, Fvd | NotAvailable]:
    """Compute the Fréchet video distance to the true videos, of `model` and of each baseline.

    All videos are cut to the length of the shortest, since FVD compares videos of one length.

    Args:
        pairs: scored videos and the indexes of their samples.
        task: settings of the scoring.
    """
    whos = (MODEL, *task.baselines)
    network = load_i3d()
    if isinstance(network, NotAvailable):
        return dict.fromkeys(whos, network)
    with open_dataset(task.truth) as data:
        try:
            return _distances(pairs, task, data, network)
        except InputError as error:  # too few or too short: the rest of the report is still valid
            return dict.fromkeys(whos, NotAvailable("FVD", error.problem, "sightline physics run"))


def few_videos(fvd: dict[str, Fvd | NotAvailable] | None) -> str:
    """Return a warning if FVD was computed from fewer than `ENOUGH` videos; else an empty string."""
    counts = [one.videos for one in (fvd or {}).values() if isinstance(one, Fvd)]
    if not counts or min(counts) >= ENOUGH:
        return ""
    return f"FVD of {min(counts)} videos is biased upward: published figures are of 500 to 600"


def _distances(
    pairs: Pairs, task: ScoringTask, data: VideoData, network: I3d
) -> dict[str, Fvd | NotAvailable]:
    lengths = (len(_model_video(video, index, task, data)) for video, index in pairs)
    count = min(lengths, default=0)
    true, sets = FvdStatistics(), {who: FvdStatistics() for who in (MODEL, *task.baselines)}
    for k in range(0, len(pairs), _AT_ONCE):
        some = pairs[k : k + _AT_ONCE]
        for (video, index), baselines in zip(some, _baseline_videos(some, task, data), strict=True):
            true.add(data.video(index)[:count], network)
            shown = {MODEL: _model_video(video, index, task, data), **baselines}
            for who, frames in shown.items():
                sets[who].add(frames[:count], network)
    return {who: one.distance(true) for who, one in sets.items()}


def _model_video(video: VideoSource, index: int, task: ScoringTask, data: VideoData) -> Frames:
    frames, wanted = video.read(), len(data.video(index))
    if task.fps is not None:
        frames = at_rate(frames, task.fps, data.frame_time, wanted)
    return frames[:wanted]


def _baseline_videos(
    pairs: Pairs, task: ScoringTask, data: VideoData
) -> Iterator[dict[str, Frames]]:
    """Yield the videos of the baselines for each sample; `truth` is encoded once more."""
    indexes = np.array([index for _, index in pairs])
    if data.scenario == COMBINATORIAL:
        scorer = Scorer(task)
        for index in indexes:
            yield scorer.scene_videos(data.video(int(index)), lossy=data.lossy)
        return
    baselines = baseline_motions(
        task, read_motions(data, indexes), str(data.made.get("scenario", ""))
    )
    for place, index in enumerate(indexes):
        truth = data.video(int(index))
        yield {
            name: through_codec(truth, lossy=data.lossy)
            if baseline is None
            else baseline_video(baseline, place, truth, lossy=data.lossy)
            for name, baseline in baselines.items()
        }


SCORES, REPORT = "scores.json", "report.html"


@contextmanager
def claimed(folder: Path, *, force: bool) -> Iterator[None]:
    """Create the folder of a report; remove it again if nothing is written.

    A folder that holds a report is refused unless `force` is set.
    """
    there = [name for name in (SCORES, REPORT) if (folder / name).exists()]
    if there and not force:
        raise InputError(
            f"holds {there[0]} already", path=folder, remedy="choose another folder or add --force"
        )
    with results_folder(folder):
        yield


def record(result: PhysicsReport) -> dict[str, Any]:
    """Return a report as plain values."""
    return {
        "provenance": result.provenance,
        "laws": [
            {"name": law.name, "unit": law.unit, "tolerance": law.tolerance, "says": law.says}
            for law in LAWS
        ],
        "summary": {
            who: {name: summary.to_json(one) for name, one in summary.summarize(scores).items()}
            for who, scores in result.scores.items()
        },
        "fvd": None if result.fvd is None else _fvd_json(result.fvd),
        "samples": {
            who: [sample.to_json(score) for score in scores]
            for who, scores in result.scores.items()
        },
        "left_out": [{"name": name, "reason": why} for name, why in result.left_out],
        "samples_without_video": result.missing,
    }


def _fvd_json(fvd: dict[str, Fvd | NotAvailable]) -> dict[str, Any]:
    """Return FVD and the number of videos, by `model` and baseline."""
    return {
        who: one.as_json() if isinstance(one, NotAvailable) else asdict(one)
        for who, one in fvd.items()
    }


def write_json(path: Path, scores: dict[str, Any]) -> None:
    """Write the plain values of a report."""
    write_text(path, json.dumps(scores, ensure_ascii=False, allow_nan=False) + "\n")
