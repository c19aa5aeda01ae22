"""`POST /v1/physics/score`: how well an uploaded video obeys the laws."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sightline.app.formats import FRAMES
from sightline.app.tasks.films import read_film
from sightline.app.tasks.order import Order
from sightline.app.tasks.physics import (
    asked,
    balls_of,
    bodies_of,
    make_again,
    range_of,
    scene,
    store_frames,
    world_of,
)
from sightline.app.tasks.tools import Tools
from sightline.app.worker import Reporter
from sightline.errors import InputError
from sightline.physics.parse import Tracks, parse
from sightline.physics.score.sample import at_rate, check_square
from sightline.physics.score.sources import take_panel
from sightline.physics.types import FRAME_TIME, GRAVITY, SUB_STEP, Doubles, Frames, Motion
from sightline.physics.worlds import exact


def run(order: Order, tools: Tools, report: Reporter) -> tuple[Sequence[str], dict[str, str]]:
    """Measure the video and ask the laws."""
    start, fields = time.perf_counter(), order.fields
    path = order.upload("video")
    if path is None:
        raise InputError("there is no video", remedy="send one as the field video")
    if fields["truth"] == "law" and fields["condition"] < 2:
        raise InputError(
            "the law goes on from at least 2 condition frames", remedy="give condition=3, or truth"
        )
    tools.laws.wait(report)
    planned = world_of(fields) if fields["truth"] == "world" else None
    report(None, "reading the video")
    frames = take_panel(read_film(path, tools.limits), fields["panel"], path)
    check_square(frames)
    if fields["fps"] is not None:
        seconds = len(frames) / fields["fps"]
        frames = at_rate(frames, fields["fps"], FRAME_TIME, int(seconds / FRAME_TIME) + 1)
    condition = fields["condition"]
    if len(frames) < condition + 2:
        raise InputError(
            f"{len(frames)} frames are too few after {condition} condition frames",
            remedy=f"send at least {condition + 2}",
        )
    report(None, "measuring")
    motion, note = (planned, "") if planned is not None else _truth(frames, fields)
    if motion is not None and len(frames) != len(motion.positions):
        count = min(len(frames), len(motion.positions))
        note = f"{len(frames)} frames, {len(motion.positions)} in the truth: {count} compared"
        frames, motion = frames[:count], _cut(motion, count)
    facts = asked(frames, motion, fields["scenario"], FRAME_TIME, condition)
    order.write(
        {
            "scenario": fields["scenario"],
            **scene(frames, FRAME_TIME),
            "condition": condition,
            "truth": "none" if motion is None else fields["truth"],
            "bodies": [] if motion is None else bodies_of(motion),
            **facts,
            "range": None
            if motion is None
            else range_of(fields["scenario"], init_of(motion, fields["scenario"])),
            "note": note,
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    store_frames(order, frames)
    return FRAMES, {}


def make(order: Order) -> None:
    """Make a video or a sheet of what was scored."""
    make_again(order)


def _truth(frames: Frames, fields: dict[str, Any]) -> tuple[Motion | None, str]:
    """Return what the law makes of the first frames, if asked, and what is to be said about that."""
    if fields["truth"] == "none":
        return None, ""
    given, scenario = fields["condition"], fields["scenario"]
    begun = parse(frames[:given], frame_time=FRAME_TIME)
    balls = balls_of(scenario)
    if begun.bodies != balls or not bool(begun.measured.all()):
        return None, (
            f"the first {given} frames show {begun.bodies} bodies, {scenario} has {balls}: "
            "compared with no truth"
        )
    return lawful(begun, scenario), ""


def lawful(begun: Tracks, scenario: str) -> Motion:
    """Let bodies go on as the law says from what was measured of their first frames.

    Args:
        begun: two or more frames.
        scenario: whose law holds.

    Returns:
        Motion of 32 frames that begins where the measured ones do.
    """
    order = np.argsort(begun.positions[0, :, 0], kind="stable")  # the left one first
    begun = begun.take(order)
    falling = scenario == "parabola"
    times = SUB_STEP + FRAME_TIME * np.arange(len(begun))
    drop = 0.5 * (GRAVITY if falling else 0.0) * times**2
    places = begun.positions.copy()
    places[..., 1] += drop[:, None]
    # A straight line through what is left without gravity: places at t = 0, and velocities.
    flat = places.reshape(len(times), -1)
    slope, start = np.polyfit(times, flat, 1)
    starts, speeds = (one.reshape(1, begun.bodies, 2) for one in (start, slope))
    if scenario == "collision":
        starts[..., 1] = starts[..., 1].mean()  # the law of two balls is one along x
        speeds[..., 1] = 0.0
        positions, velocities = exact.pair(starts, speeds, begun.sizes[None])
    else:
        positions, velocities = exact.free(starts, speeds, falling=falling)
    return Motion(
        positions[0],
        velocities[0],
        begun.sizes,
        begun.body_colours,
        begun.body_shapes,
        FRAME_TIME,
    )


def _cut(motion: Motion, count: int) -> Motion:
    return replace(motion, positions=motion.positions[:count], velocities=motion.velocities[:count])


def init_of(motion: Motion, scenario: str) -> Doubles:
    """(K,) radii and speeds of a motion at its beginning; of what falls, the speed along x."""
    first = motion.velocities[0]
    speeds = np.hypot(*first.T) if scenario == "uniform" else np.abs(first[:, 0])
    return np.array([*motion.sizes, *speeds], np.float64)
