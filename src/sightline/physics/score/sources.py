"""Where the videos to be scored come from: a folder of files, or a data set.

A folder may hold mp4 (or any other video), and `.npz` with one (T, H, W, 3) uint8 array of any name,
upright. Files that are three pictures wide are the reference's panels [truth | reconstruction |
generated]; the generated one, on the right, is taken. Hidden files are none of them.
"""

from __future__ import annotations

import math
import re
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from sightline.errors import InputError
from sightline.files.reading import GET_AGAIN, open_file
from sightline.files.video_read import VIDEO_SUFFIXES, open_video
from sightline.physics.data.mp4 import MOST_FRAMES, MOST_PIXELS
from sightline.physics.data.open import open_dataset
from sightline.physics.data.reopened import Reopened
from sightline.physics.types import Frames

Panel = Literal["auto", "whole", "left", "middle", "right"]
PANELS: tuple[Panel, ...] = get_args(Panel)

#: Longest and largest video that is read, in bytes of its frames: a small file may claim any size.
MOST_BYTES = 1 << 29

#: Samples of a shard in the reference's files, whose videos are called `SSSSS-IIIII`.
SHARD = 1000

_SHARDED = re.compile(r"(\d{5})-(\d{5})")
_NUMBERED = re.compile(r"(\d+)(?!.*\d)")


@dataclass(frozen=True, slots=True)
class VideoSource:
    """A video that has not been read yet.

    Attributes:
        name: without suffix.
        number: of the sample that its name says, or None.
        read: gives the frames, (T, H, W, 3) uint8 RGB.
        suffix: of its file; empty in a data set.
    """

    name: str
    number: int | None
    read: Callable[[], Frames]
    suffix: str = ""

    @property
    def file(self) -> str:
        """Name with suffix, for messages."""
        return self.name + self.suffix


def list_videos(path: str | Path, panel: Panel = "auto") -> list[VideoSource]:
    """List the videos of a folder, in natural order of their names; or those of a data set.

    Args:
        path: a folder with videos, a single video, or a data set (`.h5`, `.slv`).
        panel: which part of a picture to take; `auto` is the right third of pictures three times as
            wide as high, else the whole.
    """
    path = Path(path)
    if path.is_dir():
        try:
            files = sorted(filter(_is_video, path.iterdir()), key=lambda file: _natural(file.name))
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", path=path) from error
        if not files:
            raise InputError("has no video", path=path, remedy="give a folder of mp4 or npz files")
        return [_source(file, panel) for file in files]
    if _is_video(path):
        return [_source(path, panel)]
    with open_dataset(path) as data:
        count = len(data)
    if panel not in ("auto", "whole"):
        raise InputError(
            "a data set has no panels", path=path, remedy="leave out --panel, or give a folder"
        )
    file = Reopened(path)
    return [VideoSource(f"{k:05d}", k, partial(_video, file, k)) for k in range(count)]


def number_in(name: str) -> int | None:
    """Return the number of the sample that a file's name says: `00001-00023` is 1023, `s_7` is 7."""
    sharded = _SHARDED.search(name)
    if sharded:
        return SHARD * int(sharded[1]) + int(sharded[2])
    number = _NUMBERED.search(name)
    return int(number[1]) if number and len(number[1]) < 10 else None


def read_frames(path: Path, panel: Panel = "auto") -> Frames:
    """Read a video file, or an array in an `.npz`: (T, H, W, 3) uint8 RGB."""
    frames = _read_npz(path) if path.suffix.lower() == ".npz" else _read_video(path)
    return take_panel(frames, panel, path)


def take_panel(frames: Frames, panel: Panel, path: Path) -> Frames:
    """Cut out one of three panels side by side, or nothing."""
    height, width = frames.shape[1:3]
    triple = width == 3 * height
    if panel == "whole" or (panel == "auto" and not triple):
        return frames
    if not triple:
        raise InputError(
            f"pictures of {width}×{height} are not three panels",
            path=path,
            remedy="use --panel whole",
        )
    start = {"left": 0, "middle": height, "right": 2 * height, "auto": 2 * height}[panel]
    return np.ascontiguousarray(frames[:, :, start : start + height])


def _video(file: Reopened, index: int) -> Frames:
    return file.data.video(index)


def _is_video(path: Path) -> bool:
    """Whether a name is that of a video; half-written ones are hidden."""
    return path.suffix.lower() in VIDEO_SUFFIXES | {".npz"} and not path.name.startswith(".")


def _source(path: Path, panel: Panel) -> VideoSource:
    return VideoSource(
        path.stem, number_in(path.stem), partial(read_frames, path, panel), path.suffix
    )


def _natural(name: str) -> list[tuple[int, int | str]]:
    """Key by which `a10` follows `a9`."""
    pieces = re.split(r"(\d+)", name)
    return [(0, int(piece)) if piece.isdecimal() else (1, piece) for piece in pieces if piece]


def _read_video(path: Path) -> Frames:
    frames: list[Frames] = []
    room = MOST_BYTES
    with open_video(path, max_pixels=3 * MOST_PIXELS) as video:
        for frame in video:
            room -= frame.nbytes
            if len(frames) == MOST_FRAMES or room < 0:
                raise InputError(
                    f"has more frames than memory should hold ({len(frames)} read)", path=path
                )
            frames.append(frame)
        if video.damage:
            raise InputError(video.damage, path=path, remedy=GET_AGAIN)
    return np.stack(frames)


def _read_npz(path: Path) -> Frames:
    """Read the one array of an npz; what it claims is checked before anything is unpacked."""
    with open_file(path, what="array of frames") as file:
        try:
            with zipfile.ZipFile(file) as archive:
                return _read_array(archive, path)
        except (zipfile.BadZipFile, zlib.error, ValueError, EOFError, OSError) as error:
            raise InputError(
                f"is no npz of frames ({error})", path=path, remedy=GET_AGAIN
            ) from error
        except (NotImplementedError, RuntimeError) as error:  # a compression, or a password
            raise InputError(f"cannot be unpacked ({error})", path=path) from error


def _read_array(archive: zipfile.ZipFile, path: Path) -> Frames:
    members = archive.infolist()
    if len(members) != 1:
        raise InputError(
            f"holds {len(members)} arrays", path=path, remedy="give one of shape (T, H, W, 3)"
        )
    with archive.open(members[0]) as member:
        version = np.lib.format.read_magic(member)
        if version == (1, 0):
            shape, _, kind = np.lib.format.read_array_header_1_0(member)
        else:
            shape, _, kind = np.lib.format.read_array_header_2_0(member)
    if kind != np.uint8 or len(shape) != 4 or shape[3] != 3 or 0 in shape:
        raise InputError(
            f"holds {kind} of shape {shape}", path=path, remedy="give uint8 of shape (T, H, W, 3)"
        )
    if math.prod(shape) > MOST_BYTES or shape[0] > MOST_FRAMES:
        raise InputError(f"claims {shape}, more than memory should hold", path=path)
    with archive.open(members[0]) as member:
        frames: Frames = np.lib.format.read_array(member, allow_pickle=False)
    return np.ascontiguousarray(frames)
