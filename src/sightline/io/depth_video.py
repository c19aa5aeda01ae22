"""Depth as lossless video: 16-bit gray FFV1 in Matroska, with unit and scale in its metadata.

    value = offset + scale * pixel        pixel 0: nothing known; 1 to 65535: valid

The tag `SIGHTLINE` of the container holds JSON: `kind`, `unit`, `direction`, `fps`, `K`,
`camera_source`, `source`, and `segments`: a list of [first frame, scale, offset]. The first
segment's numbers stand in the tags `SIGHTLINE_SCALE` and `SIGHTLINE_OFFSET` as well.

One scale for a whole clip keeps the gray values steady, but a stream does not know its range
beforehand. So the first frame sets the range, with room for as much again and a half on either side
(16 000 levels remain for the frame itself). A frame that does not fit, or that would be left with
less than a thousand levels, starts a new segment: nothing is ever clipped, and the error is at most
half a step everywhere. The segments are known only at the end, so the packets are first written to
a scratch file and then copied, without encoding them again, behind the finished header.

The uncertainty `sigma` is not kept: use `.npz` for it.

Depth of a video can also be a folder of `.npz`: `000000.npz`, `000001.npz` and so on, one per frame
(`DepthFolderWriter`). A local folder is whole or absent: frames go to a hidden folder beside it, which
is renamed at the end. Frames of a remote folder are uploaded at the end, each whole or not at all.
"""

from __future__ import annotations

import json
import math
import re
import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from types import TracebackType
from typing import TYPE_CHECKING

import av
import numpy as np
from av.container import OutputContainer
from av.video.stream import VideoStream
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.io.depth_files import read_npz, write_npz
from sightline.io.paths import AnyPath, is_remote, remote_errors, to_path, upload
from sightline.io.reading import (
    GET_AGAIN,
    MAX_PIXELS,
    check_pixels,
    naming,
    parse_camera_source,
    parse_kind,
)
from sightline.io.video import open_container
from sightline.io.video_writing import Ticks, output
from sightline.types import Camera, DepthMap, Kind

if TYPE_CHECKING:
    from upath import UPath

_TAG = "SIGHTLINE"
_STEPS = 65534  # between pixel 1 and pixel 65535
#: Room on either side of the first frame's range, in units of that range.
MARGIN = 1.5
#: A frame that fills less than this share of its segment's range starts a new one.
_LEAST_SHARE = 1 / 64


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of frames with one scale: `value = offset + scale * pixel`, from frame `first` on."""

    first: int
    scale: float
    offset: float

    def fits(self, low: float, high: float) -> bool:
        """Tell whether values from `low` to `high` are stored with enough levels."""
        inside = self.offset + self.scale <= low and high <= self.offset + 65535 * self.scale
        return inside and (high == low or high - low >= _LEAST_SHARE * _STEPS * self.scale)

    @classmethod
    def around(cls, first: int, low: float, high: float, *, positive: bool) -> Segment:
        """Make a segment for values from `low` to `high`, with room on either side."""
        room = MARGIN * max(high - low, 1e-3 * max(abs(low), abs(high)), 1e-30)
        bottom = max(low - room, 0.0) if positive else low - room
        scale = (high + room - bottom) / _STEPS
        return cls(first, scale, bottom - scale)


class Depth16VideoWriter:
    """Write depth maps as 16-bit lossless video. Use it in a `with` statement.

    Args:
        path: ends in `.mkv`.
        fps: frames per second, exact; the average where `write` is given times.

    Attributes:
        segments: how the numbers were stored so far; one entry as a rule.
    """

    def __init__(self, path: str | AnyPath, fps: Fraction | int) -> None:
        self.path = to_path(path)
        if self.path.suffix.lower() != ".mkv":
            raise InputError("16-bit depth video needs the suffix .mkv", path=path)
        self.segments: list[Segment] = []
        self._ticks = Ticks(Fraction(fps))
        self._first: DepthMap | None = None
        self._stack = ExitStack()

    @property
    def count(self) -> int:
        """Number of frames written so far."""
        return self._ticks.count

    def __enter__(self) -> Depth16VideoWriter:
        with ExitStack() as stack:
            # Opening the target first shows a missing permission before any work is done.
            self._target = stack.enter_context(output(self.path))
            beside = None if is_remote(self.path) else self.path.parent
            folder = stack.enter_context(
                TemporaryDirectory(prefix=f".{self.path.stem[:32]}.", suffix=".part", dir=beside)
            )
            self._scratch = Path(folder) / "scratch.mkv"
            self._writing = stack.enter_context(ExitStack())
            self._container = self._writing.enter_context(output(self._scratch))
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            self._stack.__exit__(kind, error, trace)
            return
        with self._stack:
            if self._first is None:
                raise SightlineError(f"{self.path}: no frame was given, so there is no video")
            self._container.mux(self._stream.encode(None))
            self._writing.close()
            self._copy(self._first)

    def write(self, depth: DepthMap, time: Fraction | None = None) -> None:
        """Add a frame; kind and size must be those of the first.

        Args:
            depth: the map.
            time: when it is shown, in [s] since the first; None for the even rate.
        """
        if self._first is None:
            self._first = depth
            self._stream = self._add_stream(self._container, depth)
        elif depth.kind is not self._first.kind or depth.values.shape != self._first.values.shape:
            raise InputError(
                f"frame is {depth.kind} {depth.values.shape}, "
                f"video is {self._first.kind} {self._first.values.shape}",
                path=self.path,
            )
        picture = av.VideoFrame.from_ndarray(self._quantize(depth), format="gray16le")
        picture.pts = self._ticks.next(time)
        picture.time_base = self._ticks.base
        self._container.mux(self._stream.encode(picture))

    def _quantize(self, depth: DepthMap) -> NDArray[np.uint16]:
        """Quantize to (H, W) uint16, 0 where invalid; start a segment if the last one does not fit."""
        whole = bool(depth.valid.all())
        known = depth.values if whole else depth.values[depth.valid]
        if known.size == 0:
            return np.zeros(depth.values.shape, np.uint16)
        low, high = float(known.min()), float(known.max())
        if not self.segments or not self.segments[-1].fits(low, high):
            positive = depth.kind is not Kind.RELATIVE_DISPARITY or low >= 0
            self.segments.append(Segment.around(self.count, low, high, positive=positive))
        segment = self.segments[-1]
        # In double precision: float32 would round away a small range far from zero.
        levels = depth.values.astype(np.float64)
        levels -= segment.offset
        levels *= 1 / segment.scale
        levels += 0.5  # truncation then rounds to the nearest
        np.clip(levels, 1, 65535, out=levels)
        pixels = levels.astype(np.uint16)
        if not whole:
            pixels[~depth.valid] = 0
        return pixels

    def _add_stream(self, container: OutputContainer, depth: DepthMap) -> VideoStream:
        # Version 3 with every frame a key frame and a checksum per slice: what archives use.
        # Four slices lie two by two, so a picture of one row or column is one slice.
        slices = "4" if min(depth.width, depth.height) > 1 else "1"
        options = {"level": "3", "g": "1", "slices": slices, "slicecrc": "1"}
        stream = container.add_stream("ffv1", rate=self._ticks.fps, options=options)
        stream.width, stream.height = depth.width, depth.height
        stream.pix_fmt = "gray16le"
        stream.codec_context.time_base = self._ticks.base
        return stream

    def _copy(self, first: DepthMap) -> None:
        """Copy the packets into the target, whose header has the tags."""
        segment = self.segments[0] if self.segments else Segment(0, 0.0, 0.0)
        self._target.metadata[_TAG] = _describe(first, self._ticks.fps, self.segments)
        self._target.metadata[f"{_TAG}_SCALE"] = repr(segment.scale)
        self._target.metadata[f"{_TAG}_OFFSET"] = repr(segment.offset)
        self._target.metadata[f"{_TAG}_KIND"] = str(first.kind)
        self._target.metadata[f"{_TAG}_DIRECTION"] = first.kind.direction
        with open_container(self._scratch) as source:
            stream = source.streams.video[0]
            # Declared anew rather than from the scratch file's stream, which would lose the rate.
            copy = self._add_stream(self._target, first)
            for packet in source.demux(stream):
                if packet.size:  # the last one is empty: it only says that this is the end
                    packet.stream = copy
                    self._target.mux(packet)


def _describe(depth: DepthMap, fps: Fraction, segments: list[Segment]) -> str:
    camera = depth.camera
    return json.dumps(
        {
            "version": 1,
            "kind": str(depth.kind),
            "unit": depth.unit,
            "direction": depth.kind.direction,
            "formula": "value = offset + scale * pixel; pixel 0 is not valid",
            "fps": str(fps),
            "K": None if camera is None else camera.K.ravel().tolist(),
            "camera_source": None if camera is None else str(camera.source),
            "source": depth.source,
            "segments": [[s.first, s.scale, s.offset] for s in segments],
        }
    )


@dataclass(frozen=True, slots=True)
class DepthVideoInfo:
    """Metadata of a depth video; `camera` as in `DepthMap`, `fps` exact."""

    kind: Kind
    fps: Fraction
    segments: tuple[Segment, ...]
    camera: Camera | None
    source: str
    width: int
    height: int


def depth_video_info(path: str | AnyPath) -> DepthVideoInfo:
    """Read the metadata of a depth video without decoding its frames."""
    with open_container(to_path(path)) as container, naming(path):
        if not container.streams.video or _TAG not in container.metadata:
            raise InputError(
                "is not a depth video of Sightline",
                path=path,
                remedy="only files written by Depth16VideoWriter say what their gray means",
            )
        context = container.streams.video[0].codec_context
        width, height = context.width, context.height
        check_pixels(width, height, MAX_PIXELS, path=path)
        try:
            text = json.loads(container.metadata[_TAG])
            segments = tuple(Segment(int(i), float(s), float(o)) for i, s, o in text["segments"])
            fps, K, source = Fraction(text["fps"]), text["K"], str(text["source"])
            kind, camera_source = parse_kind(text["kind"]), text["camera_source"]
        except (ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            raise InputError("has a damaged description", path=path, remedy=GET_AGAIN) from error
        if not all(math.isfinite(s.scale) and math.isfinite(s.offset) for s in segments):
            raise InputError(
                "has a damaged description (scale not finite)", path=path, remedy=GET_AGAIN
            )
        camera = None
        if K is not None:
            matrix = np.array(K, np.float64).reshape(3, 3)
            camera = Camera(matrix, width, height, parse_camera_source(camera_source))
    return DepthVideoInfo(kind, fps, segments, camera, source, width, height)


def read_depth_video(path: str | AnyPath) -> Iterator[DepthMap]:
    """Iterate over the depth maps of a `Depth16VideoWriter` file, one in memory at a time."""
    info = depth_video_info(path)
    return _read(to_path(path), info)


def _read(path: AnyPath, info: DepthVideoInfo) -> Iterator[DepthMap]:
    upcoming = list(info.segments)
    segment = Segment(0, 0.0, 0.0)
    with open_container(path) as container:
        try:
            for number, frame in enumerate(container.decode(container.streams.video[0])):
                while upcoming and upcoming[0].first <= number:
                    segment = upcoming.pop(0)
                levels = frame.to_ndarray(format="gray16le")
                values = segment.offset + segment.scale * levels.astype(np.float64)
                yield DepthMap(
                    values.astype(np.float32),
                    info.kind,
                    levels > 0,
                    info.camera,
                    source=info.source,
                )
        except av.FFmpegError as error:
            raise InputError("is damaged or cut off", path=path, remedy=GET_AGAIN) from error


_FRAME = re.compile(r"\d{6,}\.npz")


class DepthFolderWriter:
    """Write depth maps as numbered `.npz` files. Use it in a `with` statement.

    Args:
        path: the folder. One that holds nothing but numbered frames of an earlier run is replaced;
            any other is left alone and refused.
    """

    def __init__(self, path: str | AnyPath) -> None:
        self.path = to_path(path)
        self.count = 0

    def __enter__(self) -> DepthFolderWriter:
        if is_remote(self.path):
            self._scratch = Path(mkdtemp(prefix="sightline-"))
            return self
        if self.path.is_symlink() or (self.path.exists() and not self.path.is_dir()):
            raise InputError("a file is in the way of this folder", path=self.path)
        if self.path.is_dir() and not all(_FRAME.fullmatch(f.name) for f in self.path.iterdir()):
            raise InputError(
                "this folder holds other files", path=self.path, remedy="choose another --out"
            )
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            name = mkdtemp(prefix=f".{self.path.name}.", suffix=".part", dir=self.path.parent)
            self._scratch = Path(name)
        except (FileExistsError, NotADirectoryError) as error:
            raise InputError("a file is in the way of this folder", path=self.path) from error
        except PermissionError as error:
            raise InputError(
                "no permission to write", path=self.path, remedy="choose another --out"
            ) from error
        except OSError as error:
            raise SightlineError(f"{self.path}: cannot be made ({error.strerror})") from error
        return self

    def write(self, depth: DepthMap) -> None:
        """Add a frame."""
        write_npz(self._scratch / f"{self.count:06d}.npz", depth)
        self.count += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                if self.count == 0:
                    raise SightlineError(f"{self.path}: no frame was given")
                if is_remote(self.path):
                    self._upload(self.path)
                    return
                self._scratch.chmod(0o755)  # mkdtemp makes folders private
                if self.path.exists():
                    shutil.rmtree(self.path)
                self._scratch.rename(self.path)
        except OSError as problem:
            raise SightlineError(
                f"{self.path}: could not be written ({problem.strerror})"
            ) from problem
        finally:
            shutil.rmtree(self._scratch, ignore_errors=True)

    def _upload(self, folder: UPath) -> None:
        """Replace the frames of a remote folder, one by one: stores have no rename of folders."""
        kept = {frame.name for frame in self._scratch.iterdir()}
        for name in sorted(kept):
            upload(folder / name, self._scratch / name)
        with remote_errors(folder):
            for old in folder.iterdir():
                if _FRAME.fullmatch(old.name) and old.name not in kept:
                    old.unlink()


def read_depth_folder(path: str | AnyPath) -> Iterator[DepthMap]:
    """Iterate over the frames of a `DepthFolderWriter` folder, in order."""
    frames = sorted(
        (f for f in to_path(path).glob("*.npz") if _FRAME.fullmatch(f.name)),
        key=lambda f: int(f.stem),
    )
    if not frames:
        raise InputError("holds no depth frames (000000.npz …)", path=path)
    return (read_npz(frame) for frame in frames)
