"""`POST /v1/physics/world`: a world with known laws, simulated, rendered and measured."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from sightline.app.formats import FRAMES
from sightline.app.tasks.order import Order
from sightline.app.tasks.physics import (
    asked,
    bodies_of,
    make_again,
    range_of,
    scene,
    store_frames,
    world_of,
)
from sightline.app.tasks.tools import Tools
from sightline.app.worker import Reporter
from sightline.physics.render import render
from sightline.physics.types import GRAVITY


def run(order: Order, tools: Tools, report: Reporter) -> tuple[Sequence[str], dict[str, str]]:
    """Play a world."""
    tools.laws.wait(report)
    start, fields = time.perf_counter(), order.fields
    report(None, "simulating")
    motion = world_of(fields)
    frames = render(motion, fields["size"])
    init = np.array([*fields["radii"], *fields["speeds"]], np.float64)
    order.write(
        {
            **{name: fields[name] for name in ("scenario", "speeds", "radii", "seed", "direction")},
            **scene(frames, motion.frame_time),
            "gravity": GRAVITY if fields["scenario"] == "parabola" else 0.0,
            "range": range_of(fields["scenario"], init),
            "bodies": bodies_of(motion),
            **asked(frames, motion, fields["scenario"], motion.frame_time, fields["condition"]),
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    store_frames(order, frames)
    return FRAMES, {}


def make(order: Order) -> None:
    """Make a video or a sheet of it."""
    make_again(order)
