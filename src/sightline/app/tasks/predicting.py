"""`POST /v1/physics/predict`: a video model goes on from the first frames of a world."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

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
from sightline.physics.models import continue_video
from sightline.physics.render import render


def run(order: Order, tools: Tools, report: Reporter) -> tuple[Sequence[str], dict[str, str]]:
    """Let the model predict, and ask the laws about what it makes of it."""
    tools.laws.wait(report)
    start, fields = time.perf_counter(), order.fields
    report(None, "loading the video model", counted=False)
    model = tools.video_model
    # A model works at the size, and from the number of frames, that it was trained with.
    size = int(getattr(model, "size", fields["size"]))
    given = int(getattr(getattr(model, "build", None), "condition", fields["condition"]))
    motion = world_of(fields)
    truth = render(motion, size)
    report(None, "predicting")
    frames = continue_video(model, truth, given)
    init = np.array([*fields["radii"], *fields["speeds"]], np.float64)
    order.write(
        {
            **{name: fields[name] for name in ("scenario", "speeds", "radii", "seed", "direction")},
            **scene(frames, motion.frame_time),
            "condition": given,
            "truth": "world",
            "model": Path(tools.setup.video_model or "").name,
            "range": range_of(fields["scenario"], init),
            "bodies": bodies_of(motion),
            **asked(frames, motion, fields["scenario"], motion.frame_time, given),
            "note": "",
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    store_frames(order, frames)
    return FRAMES, {}


def make(order: Order) -> None:
    """Make a video or a sheet of it."""
    make_again(order)
