"""`POST /v1/depth`: depth of a picture or of every frame of a video, and files of depth maps."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.geometry import to_pointcloud
from sightline.io import depth_files, pointclouds
from sightline.io.atomic import atomic_path, write_bytes
from sightline.io.color import colorize, range_for_display
from sightline.io.images import Picture, read_picture
from sightline.io.reading import GET_AGAIN, read_bytes
from sightline.io.video import VideoReader, open_video
from sightline.server.config import Limits
from sightline.server.formats import MAP_FORMATS, VIDEO_FORMATS
from sightline.server.models import LoadedModels
from sightline.server.worker import ProgressReporter, TaskResult, WorkerRequest
from sightline.types import Camera, DepthMap

#: File with the pixels of a kept job, for the colors of point clouds.
_COLORS = "colors.png"
_EBML = b"\x1aE\xdf\xa3"


def run_depth(request: WorkerRequest, models: LoadedModels, report: ProgressReporter) -> TaskResult:
    """Estimate the depth of a picture or video."""
    video = request.upload("video")
    if video is not None:
        return _run_video(request, video, models, report)
    start, fields = time.perf_counter(), request.fields
    report(None, "reading the picture")
    picture = read_upload(request, models.limits.max_pixels)
    if fields["fov"] is not None:
        camera = Camera.from_fov(fields["fov"], picture.width, picture.height)
        picture = replace(picture, camera=camera)
    estimator = models.estimator(fields["model"])
    report(None, "estimating depth")
    depth = estimator.infer(picture, tiles=fields["tiles"], sigma=fields["sigma"])
    report(None, "writing the result")
    seconds = round(time.perf_counter() - start, 3)
    request.write_json({**describe_map(depth), "seconds": seconds})
    return store_map(request, depth, picture)


def _run_video(
    request: WorkerRequest, path: Path, models: LoadedModels, report: ProgressReporter
) -> TaskResult:
    from sightline.depth.video import process_video

    limits, start = models.limits, time.perf_counter()
    fields, total_frames, partial = request.fields, None, False
    check_container(path)
    with decoding_errors(path), open_video(path, max_pixels=limits.max_video_pixels) as video:
        check_declared_length(video, limits)
        total_frames = video.info.frames

    def on_frame(done: int, total: int | None) -> bool:
        """Report a frame; return False if the time limit of the video is reached."""
        nonlocal partial
        if done > limits.max_video_frames:
            raise InputError(
                f"the video has more than the limit of {limits.max_video_frames} frames"
            )
        share = None if not total else min(1.0, done / total)
        step = f"frame {done} of {total}" if total else f"frame {done}"
        report(share, step, step_limit=limits.frame_timeout)
        over = time.perf_counter() - start > limits.video_timeout
        partial = over and done != total
        return not over

    report(0.0, "loading the model", counted=False)
    estimator = models.estimator(fields["model"])
    report(0.0, "opening the video", step_limit=limits.frame_timeout)
    result = process_video(
        estimator,
        path,
        {"color": request.path("mp4"), "ffv1": request.path("mkv")},
        stabilize=fields["stabilize"],
        palette=fields["palette"],
        fov=fields["fov"],
        tiles=fields["tiles"],
        max_pixels=limits.max_video_pixels,
        progress=on_frame,
    )
    request.write_json(
        {
            "kind": str(result.kind),
            "unit": result.kind.unit,
            "direction": result.kind.direction,
            "frames": result.frames,
            "fps": float(result.fps),
            "width": result.width,
            "height": result.height,
            "cuts": list(result.cuts),
            "damage": None if partial else result.damage,
            "partial": partial,
            "frames_total": total_frames,
            "model": estimator.source,
            "seconds": round(time.perf_counter() - start, 3),
        }
    )
    return TaskResult(VIDEO_FORMATS, {})


def read_upload(request: WorkerRequest, max_pixels: int) -> Picture:
    """Read the uploaded picture; its size is checked before it is decoded."""
    path = request.upload("image")
    if path is None:
        raise InputError("there is no picture", remedy="send one as the field image")
    # Decoded from bytes, so that error messages do not name a temporary file.
    return read_picture(read_bytes(path, limit=1 << 33, what="picture"), max_pixels=max_pixels)


def describe_map(depth: DepthMap) -> dict[str, Any]:
    """Return the JSON description of a depth map."""
    known = depth.values[depth.valid]
    low, high = range_for_display(depth)
    return {
        "kind": str(depth.kind),
        "unit": depth.unit,
        "direction": depth.kind.direction,
        "width": depth.width,
        "height": depth.height,
        "camera": None if depth.camera is None else _describe_camera(depth.camera),
        "minimum": float(known.min()) if known.size else None,
        "maximum": float(known.max()) if known.size else None,
        "low": low,
        "high": high,
        "valid_share": float(depth.valid.mean()),
        "sigma": depth.sigma is not None,
        "model": depth.source,
    }


def _describe_camera(camera: Camera) -> dict[str, Any]:
    K = camera.K
    return {
        "fx": float(K[0, 0]),
        "fy": float(K[1, 1]),
        "cx": float(K[0, 2]),
        "cy": float(K[1, 2]),
        "fov": camera.fov,
        "source": str(camera.source),
    }


def store_map(request: WorkerRequest, depth: DepthMap, picture: Picture) -> TaskResult:
    """Write the requested format, and what later conversions need if the job is kept."""
    if request.keep:
        depth_files.write_npz(request.path("npz"), depth)
        # Only the pixels are kept, no metadata of the upload; low compression is fast.
        write_bytes(
            request.folder / _COLORS,
            _encode(".png", picture.pixels, [cv2.IMWRITE_PNG_COMPRESSION, 1]),
        )
    if not request.path().is_file():
        write_map(request, depth, picture.pixels)
    headers = {
        "X-Sightline-Width": str(depth.width),
        "X-Sightline-Height": str(depth.height),
        "X-Sightline-Planes": "1" if depth.sigma is None else "2",
        "X-Sightline-Kind": str(depth.kind),
        "X-Sightline-Unit": depth.unit,
    }
    return TaskResult(MAP_FORMATS, headers)


def convert_map(request: WorkerRequest) -> None:
    """Write a kept depth map in another format."""
    depth = depth_files.read_npz(request.path("npz"))
    pixels = None
    if request.format in ("ply", "glb"):
        data = np.frombuffer((request.folder / _COLORS).read_bytes(), np.uint8)
        decoded = cv2.imdecode(data, cv2.IMREAD_COLOR)
        assert decoded is not None
        pixels = np.ascontiguousarray(decoded[..., ::-1]).astype(np.uint8, copy=False)
    write_map(request, depth, pixels)


def write_map(request: WorkerRequest, depth: DepthMap, pixels: NDArray[np.uint8] | None) -> None:
    """Write a depth map in the requested format.

    Args:
        request: names the format and the path.
        depth: the depth map.
        pixels: (H, W, 3) RGB colors of a point cloud; None for other formats.
    """
    path = request.path()
    match request.format:
        case "npz":
            depth_files.write_npz(path, depth)
        case "png16":
            depth_files.write_png16(path, depth)
        case "exr":
            depth_files.write_exr(path, depth)
        case "f32":
            _write_raw(path, depth)
        case "color":
            colors = colorize(depth, palette=request.fields.get("palette", "spectral"))
            write_bytes(path, _encode(".jpg", colors, [cv2.IMWRITE_JPEG_QUALITY, 92]))
        case "grid":
            from sightline.reports.payload import grid

            write_bytes(path, json.dumps(grid(depth)).encode())
        case _:
            mesh = request.format == "glb"
            points = to_pointcloud(depth, pixels, mesh=mesh, max_points=request.max_points)
            pointclouds.write_pointcloud(path, points)


def _encode(suffix: str, pixels: Any, settings: list[int]) -> bytes:
    """Encode (H, W, 3) uint8 RGB pixels as an image file."""
    done, data = cv2.imencode(suffix, pixels[..., ::-1], settings)
    if not done:
        raise InputError("the picture is too large for a JPEG", remedy="ask for png16 or npz")
    return bytes(data.tobytes())


def _write_raw(path: Path, depth: DepthMap) -> None:
    """Write little-endian float32 in row order: values (NaN where invalid), then sigma if any."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        file.write(np.where(depth.valid, depth.values, np.float32(np.nan)).astype("<f4").tobytes())
        if depth.sigma is not None:
            file.write(depth.sigma.astype("<f4").tobytes())


def check_container(path: Path) -> None:
    """Accept video containers only; FFmpeg would also open playlists that name local files."""
    with path.open("rb") as file:
        head = file.read(16)
    mp4 = head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
    avi = head[:4] == b"RIFF" and head[8:12] == b"AVI "
    if not (mp4 or avi or head[:4] == _EBML or head[:6] in (b"GIF87a", b"GIF89a")):
        raise InputError(
            "is not a supported video", path=path, remedy="send mp4, mov, mkv, webm, avi or gif"
        )


@contextmanager
def decoding_errors(path: Path) -> Iterator[None]:
    """Turn errors of FFmpeg and its wrapper into an `InputError`."""
    try:
        yield
    except (av.FFmpegError, ValueError, IndexError) as error:
        raise InputError("cannot be decoded", path=path, remedy=GET_AGAIN) from error


def check_declared_length(video: VideoReader, limits: Limits) -> None:
    """Refuse a video whose header declares more seconds or frames than allowed."""
    info = video.info
    if info.duration is not None and info.duration > limits.max_video_seconds:
        raise InputError(
            f"the video lasts {info.duration:.2f} s, more than the limit of "
            f"{limits.max_video_seconds:g} s",
            remedy="cut it",
        )
    if info.frames is not None and info.frames > limits.max_video_frames:
        raise InputError(
            f"the video has {info.frames} frames, more than the limit of {limits.max_video_frames}",
            remedy="cut it",
        )
