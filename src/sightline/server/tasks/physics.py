"""`POST /v1/physics/…`: simulate a world, predict its continuation, score a video."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from sightline.errors import InputError
from sightline.io import png
from sightline.io.atomic import atomic_path, write_bytes
from sightline.io.reading import GET_AGAIN
from sightline.io.video import open_video
from sightline.physics.datasets.mp4 import RATE, encode
from sightline.physics.laws import LAWS, check_laws, is_abnormal
from sightline.physics.model_runner import continue_video
from sightline.physics.rendering import render
from sightline.physics.scoring.inputs import take_panel
from sightline.physics.scoring.labels import law_title, right_value
from sightline.physics.scoring.sample import at_rate, check_square
from sightline.physics.tracking import State, Tracks, parse, prior_of
from sightline.physics.types import (
    FRAME_TIME,
    GRAVITY,
    SUB_STEP,
    WORLD_SIDE,
    Doubles,
    Frames,
    Motion,
    Shape,
)
from sightline.physics.worlds import closed_form
from sightline.physics.worlds.sampling import all_fit, place_pair, place_single, tag_of
from sightline.physics.worlds.simulation import simulate
from sightline.physics.worlds.splits import bucket, ranges
from sightline.server.config import Limits
from sightline.server.formats import FRAME_FORMATS
from sightline.server.models import LoadedModels
from sightline.server.tasks import laws
from sightline.server.tasks.depth import check_container, check_declared_length, decoding_errors
from sightline.server.worker import ProgressReporter, TaskResult, WorkerRequest, to_plain

#: Largest decoded size in bytes and number of frames of a video that is scored; the reference's
#: videos have 32 frames.
_MAX_BYTES, _MAX_FRAMES = 128_000_000, 256
#: Frames per row, and widest frame in pixels, of a contact sheet.
_COLUMNS, _MAX_WIDTH = 8, 256
#: Request fields that are repeated in the response.
_WORLD_FIELDS = ("scenario", "speeds", "radii", "seed", "direction")

_RANGE_TEXTS = {
    "in": "inside the training range of the reference",
    "r_out": "the radius is outside the training range of the reference",
    "v_out": "the speed is outside the training range of the reference",
    "rv_out": "radius and speed are outside the training range of the reference",
    "zero_speed": "a ball at rest, which is not in the training data of the reference",
}


def run_world(request: WorkerRequest, models: LoadedModels, report: ProgressReporter) -> TaskResult:
    """Simulate a world."""
    models.law_compiler.wait(report)
    start, fields = time.perf_counter(), request.fields
    report(None, "simulating")
    motion = simulate_world(fields)
    frames = render(motion, fields["size"])
    request.write_json(
        {
            **{name: fields[name] for name in _WORLD_FIELDS},
            **_describe_frames(frames, motion.frame_time),
            "gravity": GRAVITY if fields["scenario"] == "parabola" else 0.0,
            "range": _describe_range(fields["scenario"], _initial_values(fields)),
            "bodies": _describe_bodies(motion),
            **score_video(
                frames, motion, fields["scenario"], motion.frame_time, fields["condition"]
            ),
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    return _store_frames(request, frames)


def run_predict(
    request: WorkerRequest, models: LoadedModels, report: ProgressReporter
) -> TaskResult:
    """Continue the first frames of a world with the video model and score the prediction."""
    models.law_compiler.wait(report)
    start, fields = time.perf_counter(), request.fields
    report(None, "loading the video model", counted=False)
    model = models.video_model
    # A model works at the size and with the number of condition frames that it was trained with.
    size = int(getattr(model, "size", fields["size"]))
    condition = int(getattr(getattr(model, "build", None), "condition", fields["condition"]))
    motion = simulate_world(fields)
    report(None, "predicting")
    frames = continue_video(model, render(motion, size), condition)
    request.write_json(
        {
            **{name: fields[name] for name in _WORLD_FIELDS},
            **_describe_frames(frames, motion.frame_time),
            "condition": condition,
            "truth": "world",
            "model": Path(models.settings.video_model or "").name,
            "range": _describe_range(fields["scenario"], _initial_values(fields)),
            "bodies": _describe_bodies(motion),
            **score_video(frames, motion, fields["scenario"], motion.frame_time, condition),
            "note": "",
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    return _store_frames(request, frames)


def run_score(request: WorkerRequest, models: LoadedModels, report: ProgressReporter) -> TaskResult:
    """Track an uploaded video and check the laws."""
    start, fields = time.perf_counter(), request.fields
    path = request.upload("video")
    if path is None:
        raise InputError("there is no video", remedy="send one as the field video")
    scenario, condition = fields["scenario"], fields["condition"]
    if fields["truth"] == "law" and condition < 2:
        raise InputError(
            "truth=law needs at least 2 condition frames", remedy="send condition=3, or truth=none"
        )
    models.law_compiler.wait(report)
    motion = simulate_world(fields) if fields["truth"] == "world" else None
    report(None, "reading the video")
    frames = take_panel(_read_video(path, models.limits), fields["panel"], path)
    check_square(frames)
    if fields["fps"] is not None:
        seconds = len(frames) / fields["fps"]
        frames = at_rate(frames, fields["fps"], FRAME_TIME, int(seconds / FRAME_TIME) + 1)
    if len(frames) < condition + 2:
        raise InputError(
            f"{len(frames)} frames are too few after {condition} condition frames",
            remedy=f"send at least {condition + 2}",
        )
    report(None, "tracking")
    note = ""
    if fields["truth"] == "law":
        motion, note = _law_truth(frames, scenario, condition)
    if motion is not None and len(frames) != len(motion.positions):
        count = min(len(frames), len(motion.positions))
        note = f"{len(frames)} frames, {len(motion.positions)} in the truth: {count} compared"
        frames = frames[:count]
        motion = replace(
            motion, positions=motion.positions[:count], velocities=motion.velocities[:count]
        )
    request.write_json(
        {
            "scenario": scenario,
            **_describe_frames(frames, FRAME_TIME),
            "condition": condition,
            "truth": "none" if motion is None else fields["truth"],
            "bodies": [] if motion is None else _describe_bodies(motion),
            **score_video(frames, motion, scenario, FRAME_TIME, condition),
            "range": None
            if motion is None
            else _describe_range(scenario, _measured_initial_values(motion, scenario)),
            "note": note,
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    return _store_frames(request, frames)


def simulate_world(fields: dict[str, Any]) -> Motion:
    """Simulate the world of a request.

    Args:
        fields: `scenario`, `radii`, `speeds`, `seed`, `direction`.
    """
    scenario, balls = fields["scenario"], _ball_count(fields["scenario"])
    radii, speeds = fields["radii"], fields["speeds"]
    if len(radii) != balls or len(speeds) != balls:
        count = "one radius and one speed" if balls == 1 else "two radii and two speeds"
        raise InputError(f"{scenario} takes {count}, got {len(radii)} and {len(speeds)}")
    initial = _initial_values(fields)[None]
    index, tag = np.zeros(1, np.int64), tag_of("serve", scenario)
    if scenario == "collision":
        if not all_fit(initial)[0]:
            raise InputError(
                "these two balls cannot meet in the picture with time before and after",
                remedy="make them smaller or slower, but not both at rest",
            )
        starts = place_pair(initial, seed=fields["seed"], tag=tag, indexes=index)
    else:
        falling = scenario == "parabola"
        starts = place_single(initial, falling=falling, seed=fields["seed"], tag=tag, indexes=index)
    return simulate(scenario, initial, starts, direction=fields["direction"])[0]


def _ball_count(scenario: str) -> int:
    return 2 if scenario == "collision" else 1


def _initial_values(fields: dict[str, Any]) -> Doubles:
    """Return (K,) radii and speeds of a request."""
    return np.array([*fields["radii"], *fields["speeds"]], np.float64)


def _measured_initial_values(motion: Motion, scenario: str) -> Doubles:
    """Return (K,) radii and initial speeds of a motion; for falling balls the speed along x."""
    first = motion.velocities[0]
    speeds = np.hypot(*first.T) if scenario == "uniform" else np.abs(first[:, 0])
    return np.array([*motion.sizes, *speeds], np.float64)


def _law_truth(frames: Frames, scenario: str, condition: int) -> tuple[Motion | None, str]:
    """Return the motion that the law predicts from the first frames, or a note why not."""
    begun = parse(frames[:condition], frame_time=FRAME_TIME)
    balls = _ball_count(scenario)
    if begun.bodies != balls or not bool(begun.measured.all()):
        return None, (
            f"the first {condition} frames show {begun.bodies} bodies, {scenario} has {balls}: "
            "no ground truth"
        )
    return extrapolate(begun, scenario), ""


def extrapolate(begun: Tracks, scenario: str) -> Motion:
    """Extrapolate tracked bodies by the law of a scenario.

    Args:
        begun: tracks of two or more frames.
        scenario: name of the scenario.

    Returns:
        Motion of 32 frames that starts with the tracked ones.
    """
    order = np.argsort(begun.positions[0, :, 0], kind="stable")  # left ball first
    begun = begun.take(order)
    falling = scenario == "parabola"
    times = SUB_STEP + FRAME_TIME * np.arange(len(begun))
    drop = 0.5 * (GRAVITY if falling else 0.0) * times**2
    places = begun.positions.copy()
    places[..., 1] += drop[:, None]
    # Without gravity the motion is a straight line: fit the position at t = 0 and the velocity.
    flat = places.reshape(len(times), -1)
    slope, start = np.polyfit(times, flat, 1)
    starts, speeds = (one.reshape(1, begun.bodies, 2) for one in (start, slope))
    if scenario == "collision":
        starts[..., 1] = starts[..., 1].mean()  # the closed form of a collision is along x
        speeds[..., 1] = 0.0
        positions, velocities = closed_form.pair(starts, speeds, begun.sizes[None])
    else:
        positions, velocities = closed_form.free(starts, speeds, falling=falling)
    return Motion(
        positions[0],
        velocities[0],
        begun.sizes,
        begun.body_colors,
        begun.body_shapes,
        FRAME_TIME,
    )


def score_video(
    frames: Frames, motion: Motion | None, scenario: str, frame_time: float, first: int
) -> dict[str, Any]:
    """Track a video and check every law.

    Args:
        frames: (T, S, S, 3) uint8 RGB.
        motion: true motion with as many frames; None if unknown.
        scenario: name of the scenario.
        frame_time: time between frames in [s].
        first: first frame that is compared with the truth.
    """
    prior = None if motion is None else prior_of(motion)
    tracks = parse(frames, frame_time=frame_time, prior=prior)
    scores = check_laws(tracks, motion, scenario, first=first)
    verdict = is_abnormal(tracks, scenario)
    results = []
    for law in LAWS:
        violations = [one for one in scores.violations if one.law == law.name]
        results.append(
            {
                "name": law.name,
                "title": law_title(law.name),
                "description": laws.DESCRIPTIONS[law.name],
                "unit": "" if law.unit == "1" else law.unit,
                "value": scores.values[law.name],
                "text": laws.format_value(law, scores.values[law.name], violations),
                "allowed": laws.format_allowed(law, scenario),
                "expected": right_value(law.name, scenario),
                "interval": scores.intervals.get(law.name),
                "tolerance": law.tolerance,
                "tolerance_unit": (law.limit_unit or law.unit).removeprefix("1"),
                "violated": bool(violations),
                "violations": [
                    {"frame": int(one.frame), "body": int(one.body), "size": one.size}
                    for one in violations
                ],
            }
        )
    reasons = laws.describe_violations(verdict.violations, tracks.bodies, frame_time)
    return {
        "tracks": _describe_tracks(tracks),
        "laws": results,
        "abnormal": {
            "abnormal": verdict.abnormal,
            "reasons": reasons if verdict.abnormal else [],
        },
        "coverage": scores.coverage,
    }


def _describe_range(scenario: str, initial: Doubles) -> dict[str, Any]:
    """Describe the position of (K,) radii and speeds relative to the training range."""
    name = str(bucket(scenario, initial[None])[0])
    return {
        "bucket": name,
        "in_training_range": name == "in",
        "text": _RANGE_TEXTS[name],
        **{key: list(value) for key, value in asdict(ranges(scenario)).items()},
    }


def _describe_tracks(tracks: Tracks) -> list[dict[str, Any]]:
    return [
        {
            "color": _hex_color(tracks.body_colors[body]),
            "shape": Shape(int(tracks.body_shapes[body])).name.lower(),
            "radius": float(tracks.sizes[body]),
            "positions": _rounded(tracks.positions[:, body]),
            "sigma": _rounded(tracks.position_sigma[:, body]),
            "radii": _rounded(tracks.radii[:, body]),
            "states": [State(int(state)).name.lower() for state in tracks.states[:, body]],
        }
        for body in range(tracks.bodies)
    ]


def _describe_bodies(motion: Motion) -> list[dict[str, Any]]:
    return [
        {
            "color": _hex_color(motion.colors[body]),
            "shape": Shape(int(motion.shapes[body])).name.lower(),
            "radius": float(motion.sizes[body]),
            "positions": _rounded(motion.positions[:, body]),
            "velocities": _rounded(motion.velocities[:, body]),
        }
        for body in range(len(motion.sizes))
    ]


def _describe_frames(frames: Frames, frame_time: float) -> dict[str, Any]:
    return {
        "frames": len(frames),
        "size": int(frames.shape[1]),
        "world_side": WORLD_SIDE,
        "frame_time": frame_time,
    }


def _rounded(values: Doubles) -> Any:
    """Round to 1e-4 units."""
    return to_plain(values.tolist(), 4)


def _hex_color(rgb: Any) -> str:
    return "#" + "".join(f"{int(level):02x}" for level in rgb)


def _read_video(path: Path, limits: Limits) -> Frames:
    """Read a short video: (T, H, W, 3) uint8 RGB."""
    check_container(path)
    frames: list[Frames] = []
    left = _MAX_BYTES
    with decoding_errors(path), open_video(path, max_pixels=limits.max_video_pixels) as video:
        check_declared_length(video, limits)
        for frame in video:
            left -= frame.nbytes
            if left < 0 or len(frames) == _MAX_FRAMES:
                raise InputError(
                    f"the video has more than the limit of {_MAX_FRAMES} frames or "
                    f"{_MAX_BYTES / 1e6:.0f} MB of pixels",
                    remedy="cut it, or make it smaller",
                )
            frames.append(frame)
        if video.damage:
            raise InputError(video.damage, remedy=GET_AGAIN)
    return np.stack(frames)


def _store_frames(request: WorkerRequest, frames: Frames) -> TaskResult:
    """Write the requested format, and the frames for later conversions if the job is kept."""
    if request.keep or request.format == "npz":
        with atomic_path(request.path("npz")) as temporary:
            np.savez_compressed(temporary, frames=frames)
    if request.format in ("mp4", "png"):
        _write_frames(request, frames)
    return TaskResult(FRAME_FORMATS, {})


def convert_frames(request: WorkerRequest) -> None:
    """Write kept frames in another format."""
    with np.load(request.path("npz"), allow_pickle=False) as file:
        _write_frames(request, file["frames"])


def _write_frames(request: WorkerRequest, frames: Frames) -> None:
    """Write a video, or a contact sheet of the frames."""
    if request.format == "mp4":
        even = frames[:, : frames.shape[1] & ~1, : frames.shape[2] & ~1]
        write_bytes(request.path(), encode(even, "standard", RATE))
    else:
        write_bytes(request.path(), png.encode(_contact_sheet(frames), {}))


def _contact_sheet(frames: Frames) -> Frames:
    """Arrange (T, S, S, 3) frames in rows of eight with a line between them."""
    if frames.shape[2] > _MAX_WIDTH:
        high = max(1, round(frames.shape[1] * _MAX_WIDTH / frames.shape[2]))
        frames = np.stack(
            [np.asarray(Image.fromarray(one).resize((_MAX_WIDTH, high))) for one in frames]
        )
    count, height, width = frames.shape[:3]
    rows = -(-count // _COLUMNS)
    sheet = np.full((rows * (height + 1) - 1, _COLUMNS * (width + 1) - 1, 3), 200, np.uint8)
    for number, frame in enumerate(frames):
        top, left = number // _COLUMNS * (height + 1), number % _COLUMNS * (width + 1)
        sheet[top : top + height, left : left + width] = frame
    return sheet
