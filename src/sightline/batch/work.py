"""One picture or video, from file to files.

The three stages of a picture (`read`, `estimate`, `write`) are apart, so that `pipeline` can run them
side by side: decoding and encoding cost about as much as a small network does.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sightline.batch.naming import VIDEO_FORMATS, Job
from sightline.batch.options import DepthOptions, Format
from sightline.batch.outcome import Outcome
from sightline.depth import video
from sightline.depth.estimator import DepthEstimator, load
from sightline.files import clouds, color, depth_files
from sightline.files.pictures import Picture, read_picture
from sightline.geometry import to_points
from sightline.types import Camera, CameraSource, DepthMap

#: A cloud or mesh is thinned evenly to at most this many points: what viewers still turn smoothly.
MAX_POINTS = 1_500_000

#: Told of a video's progress: frames done, and of how many where that is known.
OnFrame = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class Decoded:
    """A picture after the first stage; `seconds` is the time spent so far."""

    job: Job
    picture: Picture
    seconds: float


@dataclass(frozen=True, slots=True)
class Estimated:
    """A picture after the second stage; `seconds` is the time spent so far."""

    job: Job
    picture: Picture
    depth: DepthMap
    seconds: float


def load_estimator(options: DepthOptions, threads: int | None = None) -> DepthEstimator:
    """Load the model that `options` name; `threads` overrides their number of threads."""
    return load(
        options.model,
        engine=options.engine,
        size=options.size,
        threads=options.threads if threads is None else threads,
        device=options.device,
        sharpen=options.sharpen,
        accept_licence=options.accept_licence,
    )


def process(job: Job, estimator: DepthEstimator, options: DepthOptions) -> Outcome:
    """Do one job from beginning to end."""
    if job.is_video:
        return process_video(job, estimator, options)
    return write(estimate(read(job, options), estimator, options), options)


def process_video(
    job: Job,
    estimator: DepthEstimator,
    options: DepthOptions,
    on_frame: OnFrame | None = None,
) -> Outcome:
    """Do a video, frame by frame; `on_frame` is told how many are done, and of how many if known."""
    start = time.perf_counter()
    result = video.process_video(
        estimator,
        job.source,
        {VIDEO_FORMATS[kind]: path for kind, path in job.outputs},
        stabilise=options.stabilise,
        keep_audio=options.keep_audio,
        palette=options.palette,
        fov=options.fov,
        tiles=options.tiles,
        sigma=options.sigma,
        max_pixels=options.max_pixels,
        progress=on_frame,
    )
    source = CameraSource.ASSUMED if options.fov is None else CameraSource.GIVEN
    return Outcome(
        job,
        kind=result.kind.value,
        unit=result.kind.unit,
        width=result.width,
        height=result.height,
        camera=source.value,
        frames=result.frames,
        seconds=time.perf_counter() - start,
        note=result.damage or "",
    )


def read(job: Job, options: DepthOptions) -> Decoded:
    """Decode the picture of a job."""
    start = time.perf_counter()
    picture = read_picture(job.source, max_pixels=options.max_pixels)
    return Decoded(job, picture, time.perf_counter() - start)


def estimate(step: Decoded, estimator: DepthEstimator, options: DepthOptions) -> Estimated:
    """Estimate the depth of a decoded picture."""
    start = time.perf_counter()
    height, width = step.picture.pixels.shape[:2]
    camera = step.picture.camera
    if options.fov is not None:
        camera = Camera.from_fov(options.fov, width, height)
    depth = estimator.infer(step.picture, camera=camera, tiles=options.tiles, sigma=options.sigma)
    seconds = step.seconds + time.perf_counter() - start
    return Estimated(step.job, step.picture, depth, seconds)


def write(step: Estimated, options: DepthOptions) -> Outcome:
    """Write all files of an estimated picture."""
    start = time.perf_counter()
    depth = step.depth
    for kind, path in step.job.outputs:
        _write_one(kind, path, step.picture, depth, options)
    camera = depth.camera or step.picture.camera
    return Outcome(
        step.job,
        kind=depth.kind.value,
        unit=depth.unit,
        width=depth.width,
        height=depth.height,
        camera=camera.source.value,
        seconds=step.seconds + time.perf_counter() - start,
    )


def _write_one(
    kind: Format, path: Path, picture: Picture, depth: DepthMap, options: DepthOptions
) -> None:
    match kind:
        case "npz" | "png" | "exr":
            depth_files.write_depth(path, depth)
        case "color":
            color.write_color(path, depth, palette=options.palette)
        case "ply" | "glb":
            points = to_points(depth, picture.pixels, mesh=kind == "glb", max_points=MAX_POINTS)
            clouds.write_points(path, points)
