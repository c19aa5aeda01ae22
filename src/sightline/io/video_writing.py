"""Write color video: H.264 in MP4, optionally with the audio track of another file.

* Written whole or not at all: a temporary file beside the target, renamed at the end. An error or
  Ctrl-C inside the `with` statement leaves nothing behind.
* yuv420p, BT.709, limited range, all of it tagged; the index stands in front ("faststart").
* yuv420p halves the color both ways, so the size must be even: an odd side gets one more row or
  column, a copy of the last. `ColorVideoWriter.size` is the size of the file.
* `output` and `Ticks` are shared with `depth_video`.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from fractions import Fraction
from types import TracebackType

import av
import numpy as np
from av.audio.stream import AudioStream
from av.container import InputContainer, OutputContainer
from av.packet import Packet
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import atomic_path
from sightline.io.paths import AnyPath, to_path
from sightline.io.video import open_container


@contextmanager
def output(path: str | AnyPath, options: dict[str, str] | None = None) -> Iterator[OutputContainer]:
    """Open a container for writing; it becomes `path` if the block succeeds, else it is removed.

    A failed write, such as on a full disk, raises the one-line error of `atomic_path`.

    Args:
        path: its suffix chooses the format.
        options: options of the muxer.
    """
    with atomic_path(path) as temporary:
        try:
            container = av.open(f"file:{temporary}", "w", container_options=options or {})
        except (av.FFmpegError, ValueError) as error:
            raise InputError(
                f"cannot write a video with the suffix {to_path(path).suffix!r}", path=path
            ) from error
        try:
            yield container
            container.close()
        except av.FFmpegError as error:
            number = error.errno if error.errno and error.errno > 0 else errno.EIO
            raise OSError(number, error.strerror) from error
        finally:
            with suppress(av.FFmpegError):  # only reached open when the block failed already
                container.close()


def clock(fps: Fraction) -> Fraction:
    """Time base in [s] that counts an even rate exactly and an uneven one to 0.1 ms or better.

    >>> clock(Fraction(30000, 1001)), clock(Fraction(25))
    (Fraction(1, 30000), Fraction(1, 10000))
    """
    return Fraction(1, fps.numerator * -(-10_000 // fps.numerator))


class Ticks:
    """Converter of frame times to strictly increasing integer ticks of `clock(fps)`."""

    def __init__(self, fps: Fraction) -> None:
        if fps <= 0:
            raise InputError(f"frames per second must be positive, got {fps}")
        self.fps = fps
        self.base = clock(fps)
        self.count = 0
        self._last = -1

    def next(self, time: Fraction | None) -> int:
        """Return the tick of the next frame; `time` in [s] since the first, None for an even rate."""
        seconds = self.count / self.fps if time is None else time
        # Files with repeated or decreasing times exist; players and muxers need increasing ones.
        self._last = max(round(seconds / self.base), self._last + 1)
        self.count += 1
        return self._last

    @property
    def step(self) -> int:
        """Ticks per frame at an even rate."""
        return round(1 / self.fps / self.base)

    @property
    def end(self) -> Fraction:
        """End of the last frame in [s]."""
        return (self._last + self.step) * self.base


#: Audio codecs that players support in MP4 and MOV; others are converted to AAC.
_MP4_CODECS = frozenset({"aac", "mp3", "ac3", "eac3", "alac", "opus"})

_AAC_RATES = frozenset({8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 88200, 96000})

#: Layout by number of channels: encoders need one, and raw audio often names none.
_LAYOUTS = {1: "mono", 2: "stereo", 6: "5.1", 8: "7.1"}


class AudioTrack:
    """First audio track of `source`, written packet by packet to `target`; silent if it has none.

    Copied as it is where the container can hold the codec, else turned into AAC. Sound before the
    first picture and after the last is cut off, so that both stay in step.

    Args:
        source: file to take the sound from; its times count from its first picture.
        target: container, before anything was written to it.
    """

    def __init__(self, source: str | AnyPath, target: OutputContainer) -> None:
        self._target = target
        self._input = open_container(to_path(source))
        self._packets: Iterator[Packet[AudioStream]] = iter(())
        self._waiting: Packet[AudioStream] | None = None
        self._start = _start(self._input)
        if not self._input.streams.audio:
            return
        stream = self._input.streams.audio[0]
        self._copies = _can_hold(target, stream.codec_context.name)
        if self._copies:
            self._stream: AudioStream = target.add_stream_from_template(stream)
        else:
            rate = stream.rate if stream.rate in _AAC_RATES else 48000
            layout = _LAYOUTS.get(stream.layout.nb_channels, "stereo")
            self._stream = target.add_stream("aac", rate=rate, layout=layout)
        self._packets = self._input.demux(stream)

    def close(self) -> None:
        """Close the source."""
        self._input.close()

    def write_until(self, time: Fraction) -> None:
        """Write all audio that begins before `time`, in [s] since the first frame."""
        while True:
            packet = self._waiting or self._next()
            self._waiting = None
            if packet is None:
                return
            if packet.pts is None or packet.time_base is None:
                continue
            begins = packet.pts * packet.time_base - self._start
            if begins < 0:
                continue
            if begins >= time:
                self._waiting = packet
                return
            self._write(packet)

    def finish(self, time: Fraction) -> None:
        """Write the rest up to `time` and flush the encoder."""
        self.write_until(time)
        if self._input.streams.audio and not self._copies:
            self._target.mux(self._stream.encode(None))

    def _next(self) -> Packet[AudioStream] | None:
        try:
            return next(self._packets, None)
        except av.FFmpegError:  # the sound breaks off; the pictures go on
            return None

    def _write(self, packet: Packet[AudioStream]) -> None:
        base = packet.time_base
        shift = round(self._start / base)
        if self._copies:
            packet.pts = None if packet.pts is None else packet.pts - shift
            packet.dts = None if packet.dts is None else packet.dts - shift
            packet.stream = self._stream
            self._target.mux(packet)
            return
        try:
            frames = packet.decode()
        except av.FFmpegError:  # a damaged packet is a short silence
            return
        for frame in frames:
            if isinstance(frame, av.AudioFrame):
                if frame.pts is not None:
                    frame.pts -= shift
                self._target.mux(self._stream.encode(frame))


def _can_hold(target: OutputContainer, codec: str) -> bool:
    if target.format.name in ("mp4", "mov"):
        return codec in _MP4_CODECS
    return codec in target.supported_codecs


def _start(container: InputContainer) -> Fraction:
    """Return the time of the first frame in [s] on the container's clock."""
    for stream in container.streams.video:
        if stream.start_time is not None and stream.time_base is not None:
            return stream.start_time * stream.time_base
    return Fraction(0)


_BT709 = 1  # as primaries and transfer characteristics of ITU-T H.273


class ColorVideoWriter:
    """Write (H, W, 3) uint8 RGB frames as H.264. Use it in a `with` statement.

    Args:
        path: ends in `.mp4`, `.mov` or `.mkv`.
        width: width of the frames, in [px].
        height: height of the frames, in [px].
        fps: frames per second, exact; the average where `write` is given times.
        audio_from: keep the sound of this file: copied as it is, or turned into AAC where the
            container cannot hold it. A file without sound gives a silent video.
        crf: x264's quality; 18 is visually lossless, 23 its default.
    """

    def __init__(
        self,
        path: str | AnyPath,
        width: int,
        height: int,
        fps: Fraction | int,
        audio_from: str | AnyPath | None = None,
        *,
        crf: int = 18,
    ) -> None:
        if width < 1 or height < 1:
            raise InputError(f"a video needs pixels, got {width}×{height}", path=path)
        self.path = to_path(path)
        self.size = (width + width % 2, height + height % 2)
        self._shape = (height, width, 3)
        self._ticks = Ticks(Fraction(fps))
        self._audio_from = audio_from
        self._audio: AudioTrack | None = None
        self._crf = crf
        self._stack = ExitStack()

    @property
    def count(self) -> int:
        """Number of frames written so far."""
        return self._ticks.count

    def __enter__(self) -> ColorVideoWriter:
        with ExitStack() as stack:
            container = stack.enter_context(output(self.path, {"movflags": "+faststart"}))
            self._container: OutputContainer = container
            self._stream = self._add_stream()
            if self._audio_from is not None:
                self._audio = stack.enter_context(closing(AudioTrack(self._audio_from, container)))
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
            if self.count == 0:
                raise SightlineError(f"{self.path}: no frame was given, so there is no video")
            self._container.mux(self._stream.encode(None))
            if self._audio is not None:
                self._audio.finish(self._ticks.end)

    def write(self, frame: NDArray[np.uint8], time: Fraction | None = None) -> None:
        """Add a frame.

        Args:
            frame: (H, W, 3) uint8 RGB of the size given at the start.
            time: when it is shown, in [s] since the first; None for the even rate.
        """
        if frame.shape != self._shape:
            raise InputError(f"frame is {frame.shape}, video is {self._shape}", path=self.path)
        height, width, _ = self._shape
        if height % 2 or width % 2:
            frame = np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
        picture = av.VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24").reformat(
            format="yuv420p",
            dst_colorspace=int(Colorspace.ITU709),
            src_color_range=int(ColorRange.JPEG),
            dst_color_range=int(ColorRange.MPEG),
        )
        picture.pts = self._ticks.next(time)
        picture.time_base = self._ticks.base
        self._container.mux(self._stream.encode(picture))
        if self._audio is not None:
            self._audio.write_until(picture.pts * self._ticks.base)

    def _add_stream(self) -> VideoStream:
        options = {"crf": str(self._crf), "preset": "veryfast"}
        stream = self._container.add_stream("libx264", rate=self._ticks.fps, options=options)
        stream.width, stream.height = self.size
        stream.pix_fmt = "yuv420p"
        context = stream.codec_context
        context.time_base = self._ticks.base
        context.color_range = int(ColorRange.MPEG)
        context.colorspace = int(Colorspace.ITU709)
        context.color_primaries = context.color_trc = _BT709
        return stream
