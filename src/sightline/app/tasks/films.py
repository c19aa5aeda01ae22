"""Videos of strangers: what they may be, before they are opened and while they are read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import av
import numpy as np

from sightline.app.options import Limits
from sightline.errors import InputError
from sightline.files.reading import GET_AGAIN
from sightline.files.video_read import VideoReader, open_video
from sightline.physics.types import Frames

#: Frames of a video whose laws are asked take at most so many bytes.
MOST_BYTES = 128_000_000
#: And there are at most so many of them: some eight times the reference's.
MOST_FRAMES = 256

_EBML = b"\x1aE\xdf\xa3"


def check_container(path: Path) -> None:
    """Take containers that hold pictures themselves; lists of other files are none.

    FFmpeg would also open playlists, which name files of this machine.
    """
    with path.open("rb") as file:
        head = file.read(16)
    box = head[4:8] in (b"ftyp", b"moov", b"mdat", b"wide", b"free", b"skip")
    avi = head[:4] == b"RIFF" and head[8:12] == b"AVI "
    if not (box or avi or head[:4] == _EBML or head[:6] in (b"GIF87a", b"GIF89a")):
        raise InputError(
            "is not a video of a kind that is taken",
            path=path,
            remedy="send mp4, mov, mkv, webm, avi or gif",
        )


def check_film(path: Path, limits: Limits) -> None:
    """Refuse a video that says itself that it is too long or too large."""
    check_container(path)
    with _decoding(path), open_video(path, max_pixels=limits.video_pixels) as video:
        _check_claims(video, limits)


@contextmanager
def _decoding(path: Path) -> Iterator[None]:
    """Name the file where FFmpeg and its wrapper stumble over it in a way of their own."""
    try:
        yield
    except (av.FFmpegError, ValueError, IndexError) as error:
        raise InputError("cannot be decoded", path=path, remedy=GET_AGAIN) from error


def _check_claims(video: VideoReader, limits: Limits) -> None:
    info = video.info
    if info.duration is not None and info.duration > limits.video_seconds:
        raise InputError(
            f"the video lasts {info.duration:.2f} s, more than the limit of "
            f"{limits.video_seconds:g} s",
            remedy="cut it",
        )
    if info.frames is not None and info.frames > limits.video_frames:
        raise InputError(
            f"the video has {info.frames} frames, more than the limit of {limits.video_frames}",
            remedy="cut it",
        )


def read_film(path: Path, limits: Limits) -> Frames:
    """Read a short video into memory: (T, H, W, 3) uint8 RGB."""
    check_container(path)
    frames: list[Frames] = []
    room = MOST_BYTES
    with _decoding(path), open_video(path, max_pixels=limits.video_pixels) as video:
        _check_claims(video, limits)
        for frame in video:
            room -= frame.nbytes
            if room < 0 or len(frames) == MOST_FRAMES:
                raise InputError(
                    f"the video has more than the limit of {MOST_FRAMES} frames or "
                    f"{MOST_BYTES / 1e6:.0f} MB of pixels",
                    remedy="cut it, or make it smaller",
                )
            frames.append(frame)
        if video.damage:
            raise InputError(video.damage, remedy=GET_AGAIN)
    return np.stack(frames)
