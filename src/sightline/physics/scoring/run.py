"""Score many videos: in this process, in several processes, or on a Ray cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError, explained
from sightline.physics.datasets.reader import ReopenedData, VideoData, open_dataset
from sightline.physics.datasets.spec import COMBINATORIAL, PROBE
from sightline.physics.scoring.baselines import (
    BASELINES,
    Baseline,
    BaselineMotions,
    baseline_motions,
    baseline_video,
    still_video,
    through_codec,
)
from sightline.physics.scoring.inputs import Matching, VideoSource, check_beginning
from sightline.physics.scoring.probe_outcomes import probe_made
from sightline.physics.scoring.sample import (
    Case,
    SampleScore,
    SceneCase,
    at_rate,
    check_square,
    score_scene,
    score_video,
)
from sightline.physics.types import Frames, Samples
from sightline.physics.video_metrics.frame_metrics import NotAvailable, Picture, picture_metrics
from sightline.physics.video_metrics.fvd import Fvd
from sightline.physics.worlds.splits import SCENARIOS, bucket
from sightline.runtime.parallel import MapResult, available_cores, map_inputs
from sightline.version import __version__

if TYPE_CHECKING:
    from sightline.physics.combinatorial.store import CombinatorialVideos
    from sightline.physics.scoring.summary import BucketSummary

#: Largest index range of a chunk, all of which is read.
MOST_READ = 10_000

#: Name of the model beside the baselines.
MODEL = "model"


@dataclass(frozen=True, slots=True)
class ScoringTask:
    """Settings that all workers share.

    Attributes:
        truth: the data set.
        condition: frames that the model was given.
        preset: of ranges, for buckets and for the nearest case.
        fps: frames per second of the videos; None: as the data set.
        pictures: picture metrics of all videos, the baselines' too.
        baselines: what else is scored on the same samples.
        training: a data set whose cases the nearest one is taken from; None: the grid of `level`.
        level: grid of the reference's training set.
    """

    truth: Path
    condition: int = 3
    preset: str = "code"
    fps: float | None = None
    pictures: tuple[Picture, ...] = ()
    baselines: tuple[Baseline, ...] = ()
    training: Path | None = None
    level: str = "3M"


@dataclass(frozen=True, slots=True)
class Scored:
    """The outcome of one video.

    Attributes:
        name: of the video.
        index: of its sample.
        scores: by `model` and by baseline; empty after a failure.
        failure: why it was left out.
    """

    name: str
    index: int
    scores: dict[str, SampleScore]
    failure: SightlineError | None = None


class Chunk(tuple[tuple[VideoSource, int], ...]):
    """Videos and the indexes of their samples: the unit of work."""

    __slots__ = ()

    def __str__(self) -> str:
        """Name the videos, for messages."""
        first, last = self[0][0].name, self[-1][0].name
        return f"video {first}" if len(self) == 1 else f"videos {first} to {last}"


class Scorer:
    """Score chunks of videos; the data set is opened at the first call."""

    def __init__(self, task: ScoringTask) -> None:
        self.task = task
        self._truth = ReopenedData(task.truth)

    def __call__(self, chunk: Chunk) -> list[Scored]:
        """Score some videos; a failure does not affect the others."""
        try:
            return self._together(chunk)
        except Exception as error:  # perhaps of one video only: try them one by one
            if len(chunk) == 1:
                video, index = chunk[0]
                return [Scored(video.name, index, {}, explained(error, video.name))]
        return [self(Chunk([pair]))[0] for pair in chunk]

    def _together(self, chunk: Chunk) -> list[Scored]:
        """Score some videos, reading samples and computing baselines together."""
        data = self._truth.data
        if data.scenario == COMBINATORIAL:
            worlds = cast("CombinatorialVideos", data)
            return [self._scene(worlds, video, index) for video, index in chunk]
        indexes = np.array([index for _, index in chunk])
        samples = read_motions(data, indexes)
        buckets = buckets_of(samples, self.task.preset)
        made_of = str(data.made.get("scenario", ""))
        baselines = baseline_motions(self.task, samples, made_of)
        done: list[Scored] = []
        for place, (video, index) in enumerate(chunk):
            case = Case(
                index,
                str(buckets[place]),
                tuple(float(value) for value in samples.init[place]),
                samples[place],
                samples.scenario,
                self.task.condition,
                probe_made(made_of),
            )
            try:
                scores = self._score(data, video, case, baselines, place)
            except Exception as error:  # reported; the other videos are still scored
                done.append(Scored(video.name, index, {}, explained(error, video.name)))
            else:
                done.append(Scored(video.name, index, scores))
        return done

    def _score(
        self,
        data: VideoData,
        video: VideoSource,
        case: Case,
        baselines: BaselineMotions,
        place: int,
    ) -> dict[str, SampleScore]:
        frames, truth = video.read(), data.video(case.index)
        check_square(frames)
        check_beginning(frames, truth, case.index)
        if self.task.fps is not None:
            frames = at_rate(frames, self.task.fps, case.motion.frame_time, len(truth))
        scores = {MODEL: score_video(video.name, frames, case, truth, self.task.pictures)}
        for name, baseline in baselines.items():
            shown = baseline_video(baseline, place, truth, lossy=data.lossy)
            scores[name] = score_video(video.name, shown, case, truth, self.task.pictures)
        if "truth" in scores:
            again = through_codec(truth, lossy=data.lossy)
            pictures = picture_metrics(again, truth, self.task.pictures)
            scores["truth"] = replace(scores["truth"], pictures=pictures)
        return scores

    def _scene(self, data: CombinatorialVideos, video: VideoSource, index: int) -> Scored:
        """Score a video of a combinatorial world by picture metrics."""
        from sightline.physics.combinatorial.tasks import HELD_OUT

        template = data.place(index)[0].partition(":")[0]
        held_out = template.isdecimal() and int(template) in HELD_OUT
        case = SceneCase(
            index, "held_out" if held_out else "in_template", template, self.task.condition
        )
        try:
            frames, truth = video.read(), data.video(index)
            check_square(frames)
            check_beginning(frames, truth, index)
            if self.task.fps is not None:
                frames = at_rate(frames, self.task.fps, data.frame_time, len(truth))
            pictures = self.task.pictures or ("psnr", "ssim")
            shown = {MODEL: frames, **self.scene_videos(truth, lossy=data.lossy)}
            scores = {
                who: score_scene(video.name, one, truth, case, pictures)
                for who, one in shown.items()
            }
        except Exception as error:  # reported; the other videos are still scored
            return Scored(video.name, index, {}, explained(error, video.name))
        return Scored(video.name, index, scores)

    def scene_videos(self, truth: Frames, *, lossy: bool) -> dict[str, Frames]:
        """Return the videos of the baselines in a combinatorial world: (T, S, S, 3) uint8 RGB each."""
        still = still_video(truth, self.task.condition)
        known = {
            "truth": through_codec(truth, lossy=lossy),
            "copy-last": through_codec(still, lossy=lossy),
        }
        return {name: known[name] for name in self.task.baselines}


def buckets_of(samples: Samples, preset: str) -> NDArray[np.str_]:
    """Return the bucket of each sample; the worlds of probes have only one, `test`."""
    if samples.scenario in SCENARIOS:
        return bucket(samples.scenario, samples.init, preset)
    return np.full(len(samples), "test")


def read_motions(data: VideoData, indexes: NDArray[np.int64]) -> Samples:
    """Read the motions of some samples, in the given order."""
    first, last = int(indexes.min()), int(indexes.max())
    if last - first > MOST_READ:
        raise InputError("samples so far apart are not read at once")
    return data.read_samples(first, last + 1).take(indexes - first)


#: Videos that a worker takes at a time.
CHUNK = 16


@dataclass(frozen=True, slots=True)
class PhysicsReport:
    """Scores of a set of videos and of the baselines on the same samples.

    Attributes:
        scenario: of the data set.
        scores: by `model` and by baseline, in the order of the samples.
        left_out: name of each video that was not scored, and the reason.
        missing: number of samples without a video.
        provenance: what was compared with what, and how.
        fvd: Fréchet video distance to the true videos, by `model` and by baseline, if requested.
        task: settings of the scoring, needed for the film strips of `to_html`.
        pairs: videos and the indexes of their samples, likewise.
    """

    scenario: str
    scores: dict[str, list[SampleScore]]
    left_out: list[tuple[str, str]]
    missing: int
    provenance: dict[str, Any]
    fvd: dict[str, Fvd | NotAvailable] | None = None
    task: ScoringTask | None = None
    pairs: tuple[tuple[VideoSource, int], ...] = ()

    @property
    def summary(self) -> dict[str, dict[str, BucketSummary]]:
        """Mean figures by `model` and baseline, then by bucket (`all`, `in`, `out`, …)."""
        from sightline.physics.scoring.summary import summarize

        return {who: summarize(scores) for who, scores in self.scores.items()}

    def __str__(self) -> str:
        """Return the summary as text of 80 columns."""
        from sightline.physics.scoring.text import summary_text

        return summary_text(self)

    def to_json(self, path: str | Path | None = None) -> dict[str, Any]:
        """Return all scores as plain values; write them to a file if a path is given.

        Args:
            path: of the new JSON file.
        """
        from sightline.physics.scoring.report import record, write_json

        found = record(self)
        if path is not None:
            write_json(Path(path), found)
        return found

    def to_html(self, path: str | Path, title: str | None = None) -> None:
        """Write the report as one HTML file with tables, plots and film strips of the worst videos.

        Args:
            path: of the new file.
            title: of the report; default: the name of the folder of videos.
        """
        from sightline.physics.scoring.film_strips import worst_strips
        from sightline.physics.scoring.page import write_page

        strips = worst_strips(self, self.task, self.pairs) if self.task is not None else []
        write_page(Path(path), self, strips, title or str(self.provenance["videos"]))


def default_baselines(scenario: str) -> tuple[Baseline, ...]:
    """Return all baselines that apply to a scenario."""
    return ("truth", "copy-last") if scenario == COMBINATORIAL else BASELINES


def score_chunks(
    task: ScoringTask,
    matching: Matching,
    *,
    workers: int | None = None,
    cluster: bool = False,
    address: str | None = None,
) -> Generator[list[Scored], None, None]:
    """Score all pairs of a matching; yield the outcomes chunk by chunk, as they finish.

    Args:
        task: what every worker needs to know.
        matching: videos and samples.
        workers: processes; None: one per core; 1 works here.
        cluster: use Ray.
        address: of the Ray cluster.
    """
    pairs = sorted(matching.pairs, key=lambda pair: pair[1])
    chunks = [Chunk(pairs[k : k + CHUNK]) for k in range(0, len(pairs), CHUNK)]
    count = workers or min(available_cores(), len(chunks))
    scorer = Scorer(task)
    if cluster:
        yield from _unwrap(
            map_inputs(scorer, chunks, workers=workers, cluster=True, address=address)
        )
    elif count <= 1:
        yield from map(scorer, chunks)
    else:
        yield from _unwrap(map_inputs(scorer, chunks, workers=count))


def collect(
    chunks: Iterable[list[Scored]], task: ScoringTask, matching: Matching, source: str
) -> PhysicsReport:
    """Collect the outcomes into a report, in the order of the samples.

    Args:
        chunks: of `score_chunks`.
        task: that they were made for.
        matching: that they were made from.
        source: name of the folder of videos, for the record.
    """
    done = sorted((one for chunk in chunks for one in chunk), key=lambda one: one.index)
    failed = [one for one in done if one.failure is not None]
    scored = [one for one in done if one.failure is None]
    if not scored:
        raise _nothing_scored(failed, source)
    scores = {name: [one.scores[name] for one in scored] for name in (MODEL, *task.baselines)}
    left_out = list(matching.unmatched)
    left_out += [(one.name, str(one.failure)) for one in failed]
    with open_dataset(task.truth) as data:
        return PhysicsReport(
            data.scenario,
            scores,
            left_out,
            matching.missing,
            provenance(task, matching, data, source),
            task=task,
            pairs=matching.pairs,
        )


def _nothing_scored(failed: Sequence[Scored], source: str) -> SightlineError:
    """Return the error for a run without scores: an `InputError` only if the first failure is one."""
    reason = "no video could be scored"
    if not failed:
        return InputError(reason, path=source)
    reason += f": {failed[0].name}: {failed[0].failure}"
    if isinstance(failed[0].failure, InputError):
        return InputError(reason, path=source)
    return SightlineError(f"{source}: {reason}")


def provenance(
    task: ScoringTask, matching: Matching, data: VideoData, source: str
) -> dict[str, Any]:
    """Return the provenance: what was compared with what, and how."""
    made_of = str(data.made.get("scenario", ""))
    return {
        "sightline": __version__,
        "data_set": data.path.name,
        "data_set_sha256": data.digest,
        "scenario": data.scenario,
        "made_of": made_of,
        "part": data.made.get("part"),
        "samples": len(data),
        "videos": source,
        "matched_by": matching.by,
        "condition_frames": task.condition,
        "frames": len(data.video(0)) if len(data) else 0,
        "frame_time": data.frame_time,
        "video_fps": task.fps,
        **_method(task, data.scenario, made_of),
    }


def _method(task: ScoringTask, scenario: str, made_of: str) -> dict[str, str]:
    """Return the provenance entries about the method."""
    if scenario == COMBINATORIAL:
        return {
            "compared": "pixel by pixel; bars, jars and sticks are not parsed into bodies, so no law "
            "is asked, and whether a video is abnormal is not judged"
        }
    method = {
        "parser": "sightline (sub-pixel)",
        "definition": "velocity_steps: mean |v - v̂| over bodies and valid frames after the condition",
    }
    if scenario in SCENARIOS:
        method["parser"] += "; reference figures by the released evaluator's rules"
        method["definition"] += (
            ", collisions after the impact; velocity_code: error of the mean velocity; "
            "reference.table_error: as in the paper's tables"
        )
        method["ranges"] = task.preset
    if "nearest-case" in task.baselines:
        method["nearest_case_from"] = _trained_on(task, made_of)
    return method


def _trained_on(task: ScoringTask, made_of: str) -> str:
    """Name the training set of the baseline `nearest-case`."""
    if task.training:
        return task.training.name
    if made_of.startswith(PROBE):
        return f"training part of {made_of}"
    return f"{task.level} grid ({task.preset})"


def _unwrap(
    answers: Iterable[MapResult[Chunk, list[Scored]]],
) -> Generator[list[Scored], None, None]:
    """Yield results; a chunk that failed as a whole is a failure of each of its videos."""
    for answer in answers:
        if answer.result is not None:
            yield answer.result
        else:
            yield [Scored(video.name, index, {}, answer.failure) for video, index in answer.item]
