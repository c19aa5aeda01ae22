"""Write colour video: H.264 in MP4 that plays everywhere, with the sound of another file if asked.

* Written whole or not at all: a temporary file beside the target, renamed at the end. An error or
  Ctrl-C inside the `with` statement leaves nothing behind.
* yuv420p, BT.709, limited range, all of it tagged; the index stands in front ("faststart").
* yuv420p halves the colour both ways, so the size must be even: an odd side gets one more row or
  column, a copy of the last. `ColorVideoWriter.size` is the size of the file.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from fractions import Fraction
from pathlib import Path
from types import TracebackType

import av
import numpy as np
from av.container import OutputContainer
from av.video.reformatter import ColorRange, Colorspace
from av.video.stream import VideoStream
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.files.video_audio import AudioTrack
from sightline.files.video_output import Ticks, output

_BT709 = 1  # as primaries and transfer characteristics of ITU-T H.273


class ColorVideoWriter:
    """Writes (H, W, 3) uint8 RGB frames as H.264. Use it in a `with` statement.

    Args:
        path: ends in `.mp4`, `.mov` or `.mkv`.
        width: of the frames, in [px].
        height: of the frames, in [px].
        fps: frames per second, exact; the average where `write` is given times.
        audio_from: keep the sound of this file: copied as it is, or turned into AAC where the
            container cannot hold it. A file without sound gives a silent video.
        crf: x264's quality; 18 is visually lossless, 23 its default.
    """

    def __init__(
        self,
        path: str | Path,
        width: int,
        height: int,
        fps: Fraction | int,
        audio_from: str | Path | None = None,
        *,
        crf: int = 18,
    ) -> None:
        if width < 1 or height < 1:
            raise InputError(f"a video needs pixels, got {width}×{height}", path=path)
        self.path = Path(path)
        self.size = (width + width % 2, height + height % 2)
        self._shape = (height, width, 3)
        self._ticks = Ticks(Fraction(fps))
        self._audio_from = audio_from
        self._audio: AudioTrack | None = None
        self._crf = crf
        self._stack = ExitStack()

    @property
    def count(self) -> int:
        """Frames written so far."""
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
