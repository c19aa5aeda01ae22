"""Read a video frame by frame, upright and in RGB, in bounded memory whatever its length.

* The display matrix (how a telephone was held) is applied: frames and sizes are as people see them.
* The rate is the container's own fraction (29.97 is 30000/1001). Frames keep their times, also at
  varying rate: `VideoReader.time` is that of the frame given last, the first frame's being 0.
* A damaged or truncated file gives the frames that can be decoded; `VideoReader.damage` then says
  what is missing. Only a file that gives no frame at all is an error.
* 10-bit is rounded to 8, high dynamic range is tone mapped, transparency is laid over white.
* Pixels are taken as square, as stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av
from av.container import InputContainer
from av.stream import Disposition
from av.video.stream import VideoStream

from sightline.errors import InputError
from sightline.files.reading import GET_AGAIN, MAX_PIXELS, check_pixels, open_file
from sightline.files.video_frames import HDR, RGB, display_matrix, to_rgb, turn

#: What `open_video` is offered by suffix, lower case with dot (animated pictures among them).
VIDEO_SUFFIXES: frozenset[str] = frozenset(
    {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".mpg", ".mpeg", ".ts", ".mts", ".m2ts"}
    | {".wmv", ".flv", ".3gp", ".ogv", ".mxf", ".y4m", ".gif"}
)

_TRIES = 20  # demuxer errors in a row before the rest of a file is given up
_CLOCK = re.compile(r"(\d{1,9}):(\d\d):(\d\d(?:\.\d{1,9})?)")
_ROUNDING = Fraction(1, 1000)  # Matroska keeps times to a millisecond


@dataclass(frozen=True, slots=True)
class VideoInfo:
    """What a video file says of itself.

    Attributes:
        width: of the upright frames, in [px].
        height: of the upright frames, in [px].
        fps: frames per second, exact; the average where the rate varies.
        frames: how many the container claims or its duration suggests; None when it says neither.
        duration: in [s], None when unknown.
        has_audio: whether there is sound.
    """

    width: int
    height: int
    fps: Fraction
    frames: int | None
    duration: float | None
    has_audio: bool


def open_video(path: str | Path, *, max_pixels: int = MAX_PIXELS) -> VideoReader:
    """Open a video file for reading; use it in a `with` statement and iterate over it once.

    Args:
        path: a local file; its content decides the format, not its suffix.
        max_pixels: largest frame accepted.
    """
    return VideoReader(Path(path), max_pixels)


class VideoReader:
    """Iterates over (H, W, 3) uint8 RGB frames, upright.

    Attributes:
        info: sizes, rate, length.
        time: of the frame given last, in [s] since the first frame.
        count: frames given so far.
    """

    def __init__(self, path: Path, max_pixels: int) -> None:
        self.path = path
        self.time = Fraction(0)
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
            # The first frame is held: it tells the true size, the rotation, and whether there is one.
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
        """Give the file back."""
        self._container.close()

    def __iter__(self) -> Iterator[RGB]:
        while (frame := self._pending) is not None:
            even = self.count / self.info.fps
            seconds = _seconds(frame)
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
        """What was wrong with the file in one line, or None; known once all of it has been read."""
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
        """Whether there is less than the file says, by every measure it gives: frames and time.

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
        """Every frame that can be had, past damaged packets."""
        tries = 0
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets, None)
            except av.FFmpegError:
                # Some formats find their feet again after rubbish; others fail for ever.
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
        if self._matrix[0] == 0:
            width, height = height, width
        return VideoInfo(
            width, height, fps, frames or None, duration, bool(container.streams.audio)
        )


def open_container(path: Path) -> InputContainer:
    """Open the container; local files only, also for what the file itself may point to."""
    with open_file(path, what="video"):
        pass  # the system's own word on what cannot be read; FFmpeg's would be less clear
    try:
        # With the protocol named, a colon in the name is no other protocol's.
        return av.open(
            f"file:{path}",
            options={"protocol_whitelist": "file"},
            metadata_errors="replace",  # a title in rubbish is no reason to refuse the pictures
        )
    except (av.FFmpegError, OSError) as error:
        raise InputError(
            "is not a video, or its header is cut off", path=path, remedy="check it in a player"
        ) from error


def _video_stream(container: InputContainer, path: Path) -> VideoStream:
    """Return the first moving stream: cover art of music is a picture, not a video."""
    for stream in container.streams.video:
        if Disposition.attached_pic not in stream.disposition:
            if stream.codec_context is None:  # FFmpeg knows no such codec
                raise InputError("is in a codec that is not known", path=path)
            return stream
    has = "only sound" if container.streams.audio else "no pictures"
    raise InputError(f"has {has}, no video stream", path=path)


def _first(frames: Iterator[av.VideoFrame], path: Path) -> av.VideoFrame:
    for frame in frames:
        return frame
    raise InputError("no frame of this video can be decoded", path=path, remedy=GET_AGAIN)


def _seconds(frame: av.VideoFrame) -> Fraction | None:
    """Exact presentation time, where the file gives one."""
    if frame.pts is None or frame.time_base is None:
        return None
    return frame.pts * frame.time_base


def _shown(frame: av.VideoFrame, fps: Fraction) -> Fraction:
    """How long a frame is to be shown, in [s]."""
    if frame.duration and frame.time_base is not None:
        return frame.duration * frame.time_base
    return 1 / fps


def _length(
    container: InputContainer, stream: VideoStream, origin: Fraction | None
) -> Fraction | None:
    """How long the pictures last by the file's own word, in [s] from the first; None without one."""
    if stream.duration is not None and stream.time_base is not None:
        return stream.duration * stream.time_base
    # Matroska says when a track ends in a tag. The whole file's end may be that of the sound.
    clock = _CLOCK.fullmatch(stream.metadata.get("DURATION", ""))
    if clock is not None:
        end = 3600 * int(clock[1]) + 60 * int(clock[2]) + Fraction(clock[3])
    elif container.duration is not None and len(container.streams) == 1:
        end = Fraction(container.duration, av.time_base)
    else:
        return None
    return end - (origin or 0)
