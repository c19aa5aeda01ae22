"""`POST /v1/depth`: a map of a picture, or of every frame of a video."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from sightline.app.formats import FILM, MAP
from sightline.app.tasks.films import check_film
from sightline.app.tasks.maps import described, headers_of, make_again, read_upload, store
from sightline.app.tasks.order import Order
from sightline.app.tasks.tools import Tools
from sightline.app.worker import Reporter
from sightline.errors import InputError
from sightline.types import Camera


def run(order: Order, tools: Tools, report: Reporter) -> tuple[Sequence[str], dict[str, str]]:
    """Estimate depth."""
    film = order.upload("video")
    if film is not None:
        return _film(order, film, tools, report)
    start, fields = time.perf_counter(), order.fields
    report(None, "reading the picture")
    picture = read_upload(order, tools.limits.pixels)
    if fields["fov"] is not None:
        camera = Camera.from_fov(fields["fov"], picture.width, picture.height)
        picture = replace(picture, camera=camera)
    estimator = tools.estimator(fields["model"])
    report(None, "estimating depth")
    depth = estimator.infer(picture, tiles=fields["tiles"], sigma=fields["sigma"])
    report(None, "writing the result")
    order.write({**described(depth), "seconds": round(time.perf_counter() - start, 3)})
    store(order, depth, picture)
    return MAP, headers_of(depth)


def make(order: Order) -> None:
    """Make another file of it."""
    make_again(order)


def _film(
    order: Order, path: Path, tools: Tools, report: Reporter
) -> tuple[Sequence[str], dict[str, str]]:
    from sightline.depth.video import process_video

    limits, start = tools.limits, time.perf_counter()
    fields = order.fields
    check_film(path, limits)

    def follow(done: int, total: int | None) -> None:
        if done > limits.video_frames:
            raise InputError(f"the video has more than the limit of {limits.video_frames} frames")
        share = None if not total else min(1.0, done / total)
        report(share, f"frame {done} of {total}" if total else f"frame {done}")

    report(0.0, "opening the video")
    estimator = tools.estimator(fields["model"])
    result = process_video(
        estimator,
        path,
        {"color": order.path("mp4"), "ffv1": order.path("mkv")},
        stabilise=fields["steady"],
        palette=fields["palette"],
        fov=fields["fov"],
        tiles=fields["tiles"],
        max_pixels=limits.video_pixels,
        progress=follow,
    )
    order.write(
        {
            "kind": str(result.kind),
            "unit": result.kind.unit,
            "direction": result.kind.direction,
            "frames": result.frames,
            "fps": float(result.fps),
            "width": result.width,
            "height": result.height,
            "cuts": list(result.cuts),
            "damage": result.damage,
            "model": estimator.source,
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    return FILM, {}
