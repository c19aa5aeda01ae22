"""Read a video frame by frame, upright and in RGB, in bounded memory whatever its length.

* The display matrix (how a phone was held) is applied to frames and sizes.
* The rate is the container's own fraction (29.97 is 30000/1001). Frames keep their times, also at
  varying rate: `VideoReader.time` is that of the latest frame, relative to the first.
* A damaged or truncated file gives the frames that can be decoded; `VideoReader.damage` then says
  what is missing. Only a file without any frame is an error.
* 10-bit is rounded to 8, high dynamic range is tone mapped, transparency is composited over white.
* Pixels are taken as square, as stored; `VideoInfo.pixel_aspect` is what the file declares.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import TracebackType
from typing import Any

import av
import numpy as np
from av.container import InputContainer
from av.stream import Disposition
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.paths import AnyPath, is_remote, remote_errors, to_path
from sightline.io.pixels import Transfer, hdr_to_srgb, to_rgb8
from sightline.io.reading import GET_AGAIN, MAX_PIXELS, check_pixels, open_file

RGB = NDArray[np.uint8]

#: High dynamic range by transfer characteristics of ITU-T H.273.
HDR: dict[int, Transfer] = {16: "pq", 18: "hlg"}


def to_rgb(frame: av.VideoFrame, size: tuple[int, int], hdr: Transfer | None) -> RGB:
    """Convert a decoded frame to (H, W, 3) uint8, not rotated; `size` is (width, height)."""
    see_through = any(component.is_alpha for component in frame.format.components)
    wanted = "rgb48le" if hdr else "rgba" if see_through else "rgb24"
    matrix = int(frame.colorspace)
    if matrix not in (1, 4, 5, 7, 9):
        # Untagged: by convention, standard definition is BT.601 and high definition BT.709.
        matrix = int(Colorspace.ITU709 if frame.height >= 720 else Colorspace.ITU601)
    converted: Any = frame.reformat(
        width=size[0],
        height=size[1],
        format=wanted,
        src_colorspace=matrix,
        src_color_range=int(frame.color_range),
        dst_color_range=int(ColorRange.JPEG),
    ).to_ndarray()
    return hdr_to_srgb(converted, hdr) if hdr else to_rgb8(converted)


def display_matrix(frame: av.VideoFrame) -> tuple[int, int, int, int]:
    """Return a, b, c, d (−1, 0 or 1): a pixel is to be shown at x' = a·x + c·y, y' = b·x + d·y."""
    data: Any = frame.side_data.get("DISPLAYMATRIX")
    if data is None:
        return 1, 0, 0, 1
    a, b, _, c, d = np.frombuffer(memoryview(data), "<i4", count=5) / 65536.0
    # By any other angle than a quarter turn, the nearest one: the corners would be lost otherwise.
    if abs(b) > abs(a):
        return 0, 1 if b > 0 else -1, 1 if c > 0 else -1, 0
    return -1 if a < 0 else 1, 0, 0, -1 if d < 0 else 1


def turn(pixels: RGB, matrix: tuple[int, int, int, int]) -> RGB:
    """Rotate and flip by the display matrix."""
    a, b, c, d = matrix
    if a == 0:
        pixels, flip_x, flip_y = pixels.swapaxes(0, 1), c < 0, b < 0
    else:
        flip_x, flip_y = a < 0, d < 0
    pixels = pixels[:, ::-1] if flip_x else pixels
    pixels = pixels[::-1] if flip_y else pixels
    return np.ascontiguousarray(pixels)


#: Suffixes of videos (and animated images), lower case with dot.
VIDEO_SUFFIXES: frozenset[str] = frozenset(
    {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts"}
    | {".wmv", ".flv", ".3gp", ".ogv", ".mxf", ".y4m", ".gif"}
)

_TRIES = 20  # demuxer errors in a row before the rest of a file is given up
_CLOCK = re.compile(r"(\d{1,9}):(\d\d):(\d\d(?:\.\d{1,9})?)")
_ROUNDING = Fraction(1, 1000)  # Matroska keeps times to a millisecond


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """Metadata of a video file.

    Attributes:
        width: width of the upright frames, in [px].
        height: height of the upright frames, in [px].
        fps: frames per second, exact; the average where the rate varies.
        frames: number of frames, declared or derived from the duration; None if unknown.
        duration: duration in [s]; None if unknown.
        has_audio: whether there is an audio track.
        pixel_aspect: width of a pixel divided by its height, of the upright frames.
        tags: metadata of container and stream, keys in lower case.
    """

    width: int
    height: int
    fps: Fraction
    frames: int | None
    duration: float | None
    has_audio: bool
    pixel_aspect: Fraction = Fraction(1)
    tags: Mapping[str, str] = field(default_factory=dict)


def open_video(path: str | AnyPath, *, max_pixels: int = MAX_PIXELS) -> VideoReader:
    """Open a video file for reading; use it in a `with` statement and iterate over it once.

    Args:
        path: file or URL; its content decides the format, not its suffix.
        max_pixels: maximum number of pixels of a frame.
    """
    return VideoReader(to_path(path), max_pixels)


class VideoReader:
    """Iterator over upright (H, W, 3) uint8 RGB frames.

    Attributes:
        info: sizes, rate, length.
        time: time of the last returned frame, in [s] since the first frame.
        stamp: stored presentation time of the last returned frame, in [s]; None without one.
        count: number of frames returned so far.
    """

    def __init__(self, path: AnyPath, max_pixels: int) -> None:
        self.path = path
        self.time = Fraction(0)
        self.stamp: Fraction | None = None
        self.count = 0
        self._skipped = 0
        self._broken = self._ended = False
        self._container = open_container(path)
        try:
            self._stream = _video_stream(self._container, path)
            context = self._stream.codec_context
            if context.width and context.height:
                check_pixels(context.width, context.height, max_pixels, path=path)
            context.thread_type = "AUTO"
            self._frames = self._decode()
            # The first frame is kept: it has the true size and rotation, and shows that there is one.
            first = _first(self._frames, path)
            check_pixels(first.width, first.height, max_pixels, path=path)
        except BaseException:
            self._container.close()
            raise
        self._pending: av.VideoFrame | None = first
        self._origin = _seconds(first)
        self._matrix = display_matrix(first)
        self._stored = (first.width, first.height)
        self._hdr = HDR.get(int(context.color_trc))
        self._claimed = self._stream.frames
        self._length = _length(self._container, self._stream, self._origin)
        self._end = Fraction(0)
        self.info = self._describe()

    def __enter__(self) -> VideoReader:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._container.close()

    def __iter__(self) -> Iterator[RGB]:
        while (frame := self._pending) is not None:
            even = self.count / self.info.fps
            seconds = self.stamp = _seconds(frame)
            if seconds is None or self._origin is None:
                self.time = even
            else:
                seconds -= self._origin
                # Within a container's rounding of an even rate it is an even rate.
                self.time = even if abs(seconds - even) <= _ROUNDING else seconds
            self.count += 1
            self._end = max(self._end, self.time + _shown(frame, self.info.fps))
            pixels = turn(to_rgb(frame, self._stored, self._hdr), self._matrix)
            self._pending = None
            yield pixels
            self._pending = next(self._frames, None)
        self._ended = True

    @property
    def damage(self) -> str | None:
        """Description of the damage in one line, or None; known after the last frame."""
        if not self._ended:
            return None
        missing = self._ends_early()
        if missing or self._broken:
            of = f" of about {self.info.frames}" if missing else ""
            return f"the file is truncated or damaged: {self.count}{of} frames could be decoded"
        if self._skipped:
            packets = (
                "1 damaged packet" if self._skipped == 1 else f"{self._skipped} damaged packets"
            )
            return f"{packets}: {self.count} frames could be decoded"
        return None

    def _ends_early(self) -> bool:
        """Tell whether frames are missing by every measure that the file gives: count and duration.

        The number that rate and duration suggest is no such measure: where the rate varies, it is
        wrong. Durations are rounded, and edit lists hide a frame or two; that is no damage.
        """
        measures = []
        if self._claimed:
            measures.append(self.count < min(self._claimed - 2, self._claimed * 0.98))
        if self._length is not None:
            slack = max(2 / self.info.fps, self._length / 50)
            measures.append(self._end < self._length - slack)
        return bool(measures) and all(measures)

    def _decode(self) -> Iterator[av.VideoFrame]:
        """Yield every frame that can be decoded, skipping damaged packets."""
        tries = 0
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets, None)
            except av.FFmpegError:
                # Some demuxers recover after damaged data; others fail forever.
                tries += 1
                if tries == _TRIES:
                    self._broken = True
                    break
                packets = self._container.demux(self._stream)
                continue
            if packet is None:
                break
            try:
                frames = packet.decode()
            except av.FFmpegError:
                self._skipped += 1
                continue
            tries = 0
            self._skipped += packet.is_corrupt and packet.size > 0
            for frame in frames:
                if isinstance(frame, av.VideoFrame):
                    yield frame

    def _describe(self) -> VideoInfo:
        stream, container = self._stream, self._container
        rate = stream.average_rate or stream.guessed_rate or stream.base_rate
        fps = Fraction(rate) if rate else Fraction(25)
        duration = None
        if stream.duration is not None and stream.time_base is not None:
            duration = float(stream.duration * stream.time_base)
        elif container.duration is not None:
            duration = container.duration / av.time_base
        frames = stream.frames or (round(duration * fps) if duration else 0)
        width, height = self._stored
        aspect = Fraction(stream.sample_aspect_ratio or 1) or Fraction(1)
        if self._matrix[0] == 0:
            width, height, aspect = height, width, 1 / aspect
        tags = {**container.metadata, **stream.metadata}
        return VideoInfo(
            width,
            height,
            fps,
            frames or None,
            duration,
            bool(container.streams.audio),
            aspect,
            {key.lower(): value for key, value in tags.items()},
        )


def open_container(path: AnyPath) -> InputContainer:
    """Open the container; files that it refers to are never fetched from the network."""
    if is_remote(path):
        with remote_errors(path):
            stream = path.open("rb")
        try:
            return av.open(
                stream, "r", options={"protocol_whitelist": "data"}, metadata_errors="replace"
            )
        except (av.FFmpegError, OSError) as error:
            raise _not_a_video(path) from error
    with open_file(path, what="video"):
        pass  # the system's own word on what cannot be read; FFmpeg's would be less clear
    try:
        # The explicit protocol keeps a colon in the name from being read as one.
        return av.open(
            f"file:{path}",
            options={"protocol_whitelist": "file"},
            metadata_errors="replace",  # a title in rubbish is no reason to refuse the pictures
        )
    except (av.FFmpegError, OSError) as error:
        raise _not_a_video(path) from error


def _not_a_video(path: AnyPath) -> InputError:
    return InputError(
        "is not a video, or its header is cut off", path=path, remedy="check it in a player"
    )


def _video_stream(container: InputContainer, path: AnyPath) -> VideoStream:
    """Return the first video stream that is not cover art."""
    for stream in container.streams.video:
        if Disposition.attached_pic not in stream.disposition:
            if stream.codec_context is None:  # FFmpeg knows no such codec
                raise InputError("is in a codec that is not known", path=path)
            return stream
    has = "only sound" if container.streams.audio else "no pictures"
    raise InputError(f"has {has}, no video stream", path=path)


def _first(frames: Iterator[av.VideoFrame], path: AnyPath) -> av.VideoFrame:
    for frame in frames:
        return frame
    raise InputError("no frame of this video can be decoded", path=path, remedy=GET_AGAIN)


def _seconds(frame: av.VideoFrame) -> Fraction | None:
    """Return the exact presentation time in [s], if the file has one."""
    if frame.pts is None or frame.time_base is None:
        return None
    return frame.pts * frame.time_base


def _shown(frame: av.VideoFrame, fps: Fraction) -> Fraction:
    """Return the duration of a frame in [s]."""
    if frame.duration and frame.time_base is not None:
        return frame.duration * frame.time_base
    return 1 / fps


def _length(
    container: InputContainer, stream: VideoStream, origin: Fraction | None
) -> Fraction | None:
    """Return the declared duration in [s] from the first frame; None if there is none."""
    if stream.duration is not None and stream.time_base is not None:
        return stream.duration * stream.time_base
    # Matroska stores the end of a track in a tag; the end of the file may be that of the audio.
    clock = _CLOCK.fullmatch(stream.metadata.get("DURATION", ""))
    if clock is not None:
        end = 3600 * int(clock[1]) + 60 * int(clock[2]) + Fraction(clock[3])
    elif container.duration is not None and len(container.streams) == 1:
        end = Fraction(container.duration, av.time_base)
    else:
        return None
    return end - (origin or 0)
