"""Videos as mp4 in memory, the way the reference stores them: H.264 at 10 frames per second.

The same frames give the same bytes: one thread, and nothing of when and by whom in the file. Frames
are upright, y up; who compares row numbers with positions must count rows from below, as the
reference's evaluator does by flipping what it decodes.

`standard` is x264's own default quality with halved color (yuv420p), which any player and trainer
takes; `lossless` keeps every pixel (RGB inside H.264, which FFmpeg and what is built on it decode).
"""

from __future__ import annotations

import io
from typing import Literal

import av
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, Colorspace, VideoReformatter

from sightline.errors import InputError
from sightline.physics.types import Frames

Quality = Literal["standard", "lossless"]

#: Frames per second.
RATE = 10
#: What is decoded, by FFmpeg's names: what people put into mp4, and not the hundred others.
CODECS = frozenset({"h264", "hevc", "mpeg4", "vp9", "av1", "libdav1d"})
#: Longest and largest video that is decoded, against files that claim what memory cannot hold.
MOST_FRAMES, MOST_PIXELS = 4096, 2048 * 2048

# With macroblock trees, x264's assembly gives other bytes for the same picture at another place in
# memory (seen at 32 to 256 px in about one video of seven); without them, always the same.
_CRF = {"crf": "23", "preset": "veryfast", "mbtree": "0"}
_EXACT = {"qp": "0", "preset": "veryfast"}


def encode(frames: Frames, quality: Quality = "standard", rate: int = RATE) -> bytes:
    """Return the mp4 of a video.

    Args:
        frames: (T, H, W, 3) uint8 RGB, upright. `standard` needs even sides.
        quality: see above.
        rate: frames per second.
    """
    _, height, width, _ = frames.shape
    exact = quality == "lossless"
    if not exact and (height % 2 or width % 2):
        raise InputError(
            f"an mp4 of standard quality needs even sides, got {width}×{height}",
            remedy="choose another size or the quality lossless",
        )
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4", options={"fflags": "+bitexact"}) as container:
        stream = container.add_stream(
            "libx264rgb" if exact else "libx264", rate=rate, options=_EXACT if exact else _CRF
        )
        stream.width, stream.height = width, height
        stream.pix_fmt = "rgb24" if exact else "yuv420p"
        stream.codec_context.thread_count = 1
        if not exact:  # what players assume of small pictures anyway
            stream.codec_context.colorspace = int(Colorspace.ITU601)
            stream.codec_context.color_range = int(ColorRange.MPEG)
        for number, frame in enumerate(frames):
            picture = VideoFrame.from_ndarray(np.ascontiguousarray(frame), format="rgb24")
            picture.pts = number
            container.mux(stream.encode(picture))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def decode(data: bytes) -> Frames:
    """Return the frames of an mp4: (T, H, W, 3) uint8 RGB, as they are stored.

    Only mp4 is taken, and nothing that it may point to is opened.
    """
    try:
        frames = _decode(data)
    except (av.FFmpegError, ValueError, IndexError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise InputError(f"the mp4 cannot be decoded ({reason})") from error
    if not frames:
        raise InputError("the mp4 has no frame")
    return np.stack(frames)


def _decode(data: bytes) -> list[Frames]:
    options = {"protocol_whitelist": "", "enable_drefs": "0"}
    with av.open(io.BytesIO(data), "r", format="mov", options=options) as container:
        if not container.streams.video:
            raise InputError("the mp4 has no video stream")
        stream = container.streams.video[0]
        context = stream.codec_context
        if context is None or context.name not in CODECS:  # None: FFmpeg knows no such codec
            raise InputError("the mp4 is in a codec that is not taken")
        _check_size(context.width, context.height)
        context.thread_count = 1  # many small videos: threads would only get in each other's way
        reformatter = VideoReformatter()
        frames: list[Frames] = []
        for frame in container.decode(stream):
            if len(frames) == MOST_FRAMES:
                raise InputError(f"the mp4 has more than {MOST_FRAMES} frames")
            _check_size(frame.width, frame.height)
            rgb = reformatter.reformat(
                frame,
                width=context.width,
                height=context.height,
                format="rgb24",
                src_colorspace=_matrix(frame),
                dst_color_range=int(ColorRange.JPEG),
            )
            frames.append(np.asarray(rgb.to_ndarray(), np.uint8))
    return frames


def _check_size(width: int, height: int) -> None:
    if not 0 < width * height <= MOST_PIXELS:
        raise InputError(f"the mp4 has frames of {width}×{height} pixels")


def _matrix(frame: VideoFrame) -> int:
    """Return how colors were mixed; where nothing is said, small pictures are BT.601 by custom."""
    tagged = int(frame.colorspace)
    return tagged if tagged in (1, 4, 5, 7, 9) else int(Colorspace.ITU601)
