"""Estimate the depth of a video: read, estimate, stabilize and write frame by frame.

Memory does not grow with length. The results of a video appear at its end; an error or Ctrl-C half
way leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.depth.stabilization import (
    MotionStatus,
    StabilizeConfig,
    Stabilizer,
    View,
    follow,
    shrink,
)
from sightline.errors import InputError
from sightline.io.color import Palette, colorize, range_for_display
from sightline.io.depth_video import Depth16VideoWriter, DepthFolderWriter
from sightline.io.paths import AnyPath, to_path
from sightline.io.reading import MAX_PIXELS
from sightline.io.video import VideoReader, open_video
from sightline.io.video_writing import ColorVideoWriter
from sightline.types import Camera, DepthMap, Kind

VideoFormat = Literal["color", "ffv1", "npz"]

#: What is added to a video's stem: color video, 16-bit video, folder of frames.
VIDEO_ENDINGS: dict[VideoFormat, str] = {
    "color": "_color.mp4",
    "ffv1": "_depth.mkv",
    "npz": "_frames",
}

#: Share by which the range of the colors follows each frame: about a second of memory.
_RANGE_SHARE = 0.04

Progress = Callable[[int, int | None], bool | None]


class FrameEstimator(Protocol):
    """Interface of estimators, implemented by `DepthEstimator`."""

    def infer(
        self, image: NDArray[np.uint8], *, camera: Camera | None, tiles: bool, sigma: bool
    ) -> DepthMap:
        """Estimate the depth of one (H, W, 3) uint8 RGB frame."""
        ...


@dataclass(frozen=True, slots=True)
class VideoResult:
    """Result of a video.

    Attributes:
        frames: number of written frames.
        fps: frames per second, exact; the average where the rate varies.
        width: width of the upright frames in [px]; a color video has even sides (see `io.video`).
        height: height of the upright frames in [px].
        kind: unit and direction of the values.
        cuts: numbers of the frames that begin a new shot, without the first.
        segments: number of segments of the 16-bit video with a constant scale; 0 without that video.
        damage: description of damage to the input file, or None.
        outputs: path of each written format.
    """

    frames: int
    fps: Fraction
    width: int
    height: int
    kind: Kind
    cuts: tuple[int, ...]
    segments: int
    damage: str | None
    outputs: Mapping[VideoFormat, AnyPath]


def video_outputs(
    path: str | AnyPath, out: str | AnyPath, save: Sequence[VideoFormat] = ("color", "ffv1", "npz")
) -> dict[VideoFormat, AnyPath]:
    """Return the output paths of a video: `DIR/<stem>_color.mp4`, `_depth.mkv`, `_frames/`."""
    for kind in save:
        if kind not in VIDEO_ENDINGS:
            raise InputError(
                f"a video cannot be saved as {kind!r}", remedy=f"use {', '.join(VIDEO_ENDINGS)}"
            )
    folder, stem = to_path(out), to_path(path).stem
    return {kind: folder / f"{stem}{VIDEO_ENDINGS[kind]}" for kind in save}


def process_video(
    estimator: FrameEstimator,
    path: str | AnyPath,
    out: str | AnyPath | Mapping[VideoFormat, AnyPath],
    *,
    save: Sequence[VideoFormat] = ("color", "ffv1", "npz"),
    stabilize: bool | StabilizeConfig = True,
    keep_audio: bool = False,
    palette: Palette = "spectral",
    fov: float | None = None,
    tiles: bool = False,
    sigma: bool = False,
    max_pixels: int = MAX_PIXELS,
    progress: Progress | None = None,
) -> VideoResult:
    """Estimate the depth of every frame of a video.

    Args:
        estimator: depth model, from `sightline.load`.
        path: path of the video.
        out: output folder (for names see `video_outputs`), or the path of each format.
        save: formats, when `out` is a folder: color video, 16-bit lossless video, `.npz` per frame.
        stabilize: whether to stabilize the maps over time, or a config for it.
        keep_audio: copy the audio track to the color video.
        palette: colors of the color video.
        fov: horizontal field of view of the upright frames in [degrees]; None to assume a lens.
        tiles: add detail from overlapping tiles.
        sigma: estimate per-pixel uncertainty; stored in `.npz` only.
        max_pixels: maximum number of pixels of a frame.
        progress: called after every frame with frames done and frames in all, where known; False
            ends the video there, with the frames so far as result.
    """
    outputs = dict(out) if isinstance(out, Mapping) else video_outputs(path, out, save)
    if not outputs:
        raise InputError("no format to save the video in", path=path)
    if keep_audio and "color" not in outputs:
        raise InputError("only the color video can keep the sound", remedy="save color as well")
    steady = _Steady(stabilize)
    with open_video(path, max_pixels=max_pixels) as video, ExitStack() as stack:
        info = video.info
        sinks = _Sinks(stack, outputs, video, palette, keep_audio=keep_audio)
        camera = Camera.assumed(info.width, info.height)
        if fov is not None:
            camera = Camera.from_fov(fov, info.width, info.height)
        kind = Kind.RELATIVE_DISPARITY
        for frame in video:
            depth = estimator.infer(frame, camera=camera, tiles=tiles, sigma=sigma)
            depth, cut = steady(depth, frame)
            sinks.write(depth, video.time, cut=cut)
            kind = depth.kind
            if progress is not None and progress(video.count, info.frames) is False:
                break
        damage = video.damage
    segments = 0 if sinks.gray is None else len(sinks.gray.segments)
    return VideoResult(
        video.count,
        info.fps,
        info.width,
        info.height,
        kind,
        tuple(steady.cuts),
        segments,
        damage,
        outputs,
    )


class _Steady:
    """Stabilize maps or only detect cuts; record the frame numbers of cuts."""

    def __init__(self, stabilize: bool | StabilizeConfig) -> None:
        self.cuts: list[int] = []
        self._stabilizer: Stabilizer | None = None
        if stabilize is not False:
            self._stabilizer = Stabilizer(None if stabilize is True else stabilize)
        self._last: View | None = None
        self._count = 0

    def __call__(self, depth: DepthMap, frame: NDArray[np.uint8]) -> tuple[DepthMap, bool]:
        if self._stabilizer is not None:
            result = self._stabilizer.update(depth, frame)
            depth, cut = result.depth, result.step is MotionStatus.CUT
        else:
            view = shrink(frame)
            cut = self._last is None or follow(self._last, view).step is MotionStatus.CUT
            self._last = view
        if cut and self._count > 0:
            self.cuts.append(self._count)
        self._count += 1
        return depth, cut


class DisplayRange:
    """Color range over a video: it changes slowly, and abruptly only at cuts.

    A separate range for each frame makes a stable video flicker.
    """

    def __init__(self) -> None:
        self._ends: tuple[float, float] | None = None

    def update(self, depth: DepthMap, *, cut: bool) -> tuple[float, float]:
        """Return (low, high) for this frame."""
        if not bool(depth.valid.any()):
            return self._ends or (0.0, 1.0)
        low, high = range_for_display(depth)
        if self._ends is not None and not cut:
            low = self._ends[0] + _RANGE_SHARE * (low - self._ends[0])
            high = self._ends[1] + _RANGE_SHARE * (high - self._ends[1])
        self._ends = (low, high)
        return self._ends


class _Sinks:
    """Open the requested writers in `stack`, so that they are committed or discarded together."""

    def __init__(
        self,
        stack: ExitStack,
        outputs: Mapping[VideoFormat, AnyPath],
        video: VideoReader,
        palette: Palette,
        *,
        keep_audio: bool,
    ) -> None:
        info = video.info
        self.color = self.gray = self.frames = None
        self._palette: Palette = palette
        self._range = DisplayRange()
        if "npz" in outputs:
            self.frames = stack.enter_context(DepthFolderWriter(outputs["npz"]))
        if "ffv1" in outputs:
            self.gray = stack.enter_context(Depth16VideoWriter(outputs["ffv1"], info.fps))
        if "color" in outputs:
            audio = video.path if keep_audio else None
            self.color = stack.enter_context(
                ColorVideoWriter(outputs["color"], info.width, info.height, info.fps, audio)
            )

    def write(self, depth: DepthMap, time: Fraction, *, cut: bool) -> None:
        if self.color is not None:
            low, high = self._range.update(depth, cut=cut)
            self.color.write(colorize(depth, lo=low, hi=high, palette=self._palette), time)
        if self.gray is not None:
            self.gray.write(depth, time)
        if self.frames is not None:
            self.frames.write(depth)
