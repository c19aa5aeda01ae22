"""Score a whole set of videos: here, in several processes, or on a cluster."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sightline import __version__
from sightline.errors import InputError, SightlineError
from sightline.physics.data.open import open_dataset
from sightline.physics.data.spec import COMBINATORIAL, PROBE
from sightline.physics.data.videos import VideoData
from sightline.physics.pictures.fvd import Fvd
from sightline.physics.pictures.values import NotAvailable
from sightline.physics.score.match import Matching
from sightline.physics.score.sample import SampleScore
from sightline.physics.score.work import MODEL, Chunk, Scored, Scorer, Task
from sightline.physics.score.yardsticks import YARDSTICKS, Yardstick
from sightline.physics.worlds.ranges import SCENARIOS
from sightline.processes import Answer, available_cores, run_in_processes

#: Videos that a worker takes at a time.
CHUNK = 16


@dataclass(frozen=True, slots=True)
class Result:
    """Everything a score says.

    Attributes:
        scenario: of the data set.
        scores: by `model` and by yardstick, samples in the order of their numbers.
        left_out: name of a video, and why.
        missing: samples of the data set without a video.
        provenance: what was compared with what, and how.
        fvd: between everybody's videos and the true ones, by `model` and by yardstick, where asked for.
    """

    scenario: str
    scores: dict[str, list[SampleScore]]
    left_out: list[tuple[str, str]]
    missing: int
    provenance: dict[str, Any]
    fvd: dict[str, Fvd | NotAvailable] | None = None


def default_yardsticks(scenario: str) -> tuple[Yardstick, ...]:
    """All yardsticks that mean something in a world."""
    return ("truth", "copy-last") if scenario == COMBINATORIAL else YARDSTICKS


def score_chunks(
    task: Task,
    matching: Matching,
    *,
    workers: int | None = None,
    cluster: bool = False,
    address: str | None = None,
) -> Generator[list[Scored], None, None]:
    """Score all pairs of a matching; yield what became of some at a time, as they come.

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
        from sightline.cluster import run_on_ray

        yield from _unwrap(run_on_ray(scorer, chunks, address=address, workers=workers))
    elif count <= 1:
        yield from map(scorer, chunks)
    else:
        yield from _unwrap(run_in_processes(scorer, chunks, workers=count))


def collect(chunks: Iterable[list[Scored]], task: Task, matching: Matching, source: str) -> Result:
    """Put the pieces together, in the order of the samples.

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
    scores = {name: [one.scores[name] for one in scored] for name in (MODEL, *task.yardsticks)}
    left_out = list(matching.unmatched)
    left_out += [(one.name, str(one.failure)) for one in failed]
    with open_dataset(task.truth) as data:
        return Result(
            data.scenario,
            scores,
            left_out,
            matching.missing,
            provenance(task, matching, data, source),
        )


def _nothing_scored(failed: Sequence[Scored], source: str) -> SightlineError:
    """Say why; it is a mistake in what was given only if the first failure is one."""
    reason = "no video could be scored"
    if not failed:
        return InputError(reason, path=source)
    reason += f": {failed[0].name}: {failed[0].failure}"
    if isinstance(failed[0].failure, InputError):
        return InputError(reason, path=source)
    return SightlineError(f"{source}: {reason}")


def provenance(task: Task, matching: Matching, data: VideoData, source: str) -> dict[str, Any]:
    """Say what was compared with what, and how: only what was used."""
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


def _method(task: Task, scenario: str, made_of: str) -> dict[str, str]:
    """Say how videos of a world are judged."""
    if scenario == COMBINATORIAL:
        return {
            "compared": "pixel by pixel; bars, jars and sticks are not parsed into bodies, so no law "
            "is asked, and whether a video is abnormal is not judged"
        }
    method = {
        "parser": "sightline (sub-pixel)",
        "definition": "velocity_paper: mean |v - v̂| over bodies and valid frames after the condition",
    }
    if scenario in SCENARIOS:
        method["parser"] += "; reference figures by the released evaluator's rules"
        method["definition"] += (
            ", collisions after the impact; velocity_code: error of the mean velocity"
        )
        method["ranges"] = task.preset
    if "nearest-case" in task.yardsticks:
        method["nearest_case_from"] = _trained_on(task, made_of)
    return method


def _trained_on(task: Task, made_of: str) -> str:
    """Name what the nearest case is taken from."""
    if task.training:
        return task.training.name
    if made_of.startswith(PROBE):
        return f"training part of {made_of}"
    return f"{task.level} grid ({task.preset})"


def _unwrap(
    answers: Iterable[Answer[Chunk, list[Scored]]],
) -> Generator[list[Scored], None, None]:
    """Yield results; a chunk that was lost as a whole is a failure of each of its videos."""
    for answer in answers:
        if answer.result is not None:
            yield answer.result
        else:
            yield [Scored(video.name, index, {}, answer.failure) for video, index in answer.item]
