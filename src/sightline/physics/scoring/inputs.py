"""Inputs of a score: find the videos, match them with samples, and check that they begin alike.

A folder may hold mp4 (or other videos), and `.npz` with one (T, H, W, 3) uint8 array, row 0 at the
top. Frames that are three times as wide as high are the panels of the released code [truth |
reconstruction | generated]; the generated one, on the right, is taken. Hidden files are ignored.

The first frame of a video was given to its model, so it equals that of the sample up to noise,
compression and size. Otherwise the video belongs to another data set or sample, or lacks the given
frames, and its scores would be meaningless. Compared is the contrast to the background, on a coarse
grid and without color: codecs, autoencoders, noise and other sizes hardly change it. Of 900 samples at
128 px, in and out of distribution, one falls below `ALIKE` after H.264 at its worst quality, two with
noise of 60 levels, none when shifted by 2 px or blurred by 3. Of the frames of other samples, 97 % of
uniform motions and collisions fall below it, and 80 % of parabolas, which all begin in one corner.

Colors of the given frame are compared over the whole folder before the work begins: swapped red and
blue, a negative or gray videos are mistakes in writing them. Whether colors are kept later is checked
by a law.
"""

from __future__ import annotations

import math
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import InputError
from sightline.io.reading import GET_AGAIN, open_file
from sightline.io.video import VIDEO_SUFFIXES, open_video
from sightline.physics.datasets.mp4 import MOST_FRAMES, MOST_PIXELS
from sightline.physics.datasets.reader import ReopenedData, open_dataset
from sightline.physics.types import Frames

Panel = Literal["auto", "whole", "left", "middle", "right"]
PANELS: tuple[Panel, ...] = get_args(Panel)

#: Largest video that is read, in bytes of its frames: a small file may claim any size.
MOST_BYTES = 1 << 29

#: Samples of a shard in the reference's files, whose videos are called `SSSSS-IIIII`.
SHARD = 1000

_SHARDED = re.compile(r"(\d{5})-(\d{5})")
_NUMBERED = re.compile(r"(\d+)(?!.*\d)")


@dataclass(frozen=True, slots=True)
class VideoSource:
    """A video that is read on demand.

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
        path: a folder with videos, a single video, or a data set (`.h5`).
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
    file = ReopenedData(path)
    return [VideoSource(f"{k:05d}", k, partial(_video, file, k)) for k in range(count)]


def number_in(name: str) -> int | None:
    """Return the sample index in a file name: `00001-00023` is 1023, `s_7` is 7."""
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
    """Return one of three panels side by side, or the whole frames."""
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


def _video(file: ReopenedData, index: int) -> Frames:
    return file.data.video(index)


def _is_video(path: Path) -> bool:
    """Return whether a path is that of a video; hidden files are not."""
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
    """Read the array of an npz; its header is checked before anything is unpacked."""
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


By = Literal["auto", "name", "order"]
BYS: tuple[By, ...] = get_args(By)


@dataclass(frozen=True, slots=True)
class Matching:
    """Videos matched with samples, and those without a match.

    Attributes:
        pairs: video, and number of its sample.
        by: how they were found: `name` or `order`.
        unmatched: names of videos without a sample of their own, and why; files that share a number
            are named with their suffix, which may be all that tells them apart.
        missing: how many samples have no video.
    """

    pairs: tuple[tuple[VideoSource, int], ...]
    by: str
    unmatched: tuple[tuple[str, str], ...]
    missing: int


def counted(count: int, what: str) -> str:
    """Format a count with its noun.

    >>> counted(1, "video"), counted(3, "video")
    ('1 video', '3 videos')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def match(videos: Sequence[VideoSource], samples: int, by: By = "auto") -> Matching:
    """Match videos with the samples of a data set.

    Args:
        videos: in their order.
        samples: how many there are.
        by: `name`: the number in a video's name is the sample's; `order`: the k-th video is of
            sample k, and there must be as many of each; `auto`: by order only when no name has a
            number.
    """
    if by == "auto":
        by = "name" if any(video.number is not None for video in videos) else "order"
    if by == "order":
        if len(videos) != samples:
            raise InputError(
                f"{counted(len(videos), 'video')} for {counted(samples, 'sample')} "
                "cannot be matched by order",
                remedy="name each video by the number of its sample, such as 00012.mp4",
            )
        return Matching(tuple((video, k) for k, video in enumerate(videos)), "order", (), 0)
    counts = Counter(video.number for video in videos)
    pairs: list[tuple[VideoSource, int]] = []
    unmatched: list[tuple[str, str]] = []
    for video in videos:
        if video.number is None:
            unmatched.append((video.name, "its name has no number"))
        elif video.number >= samples:
            unmatched.append((video.name, f"the data set has {counted(samples, 'sample')} only"))
        elif counts[video.number] > 1:
            same = ", ".join(one.file for one in videos if one.number == video.number)
            unmatched.append((video.file, f"several videos have its number ({same}); keep one"))
        else:
            pairs.append((video, video.number))
    if not pairs:
        raise InputError(
            f"no video has the number of a sample: {unmatched[0][0]}: {unmatched[0][1]}",
            remedy=f"number them from 0 to {samples - 1} as the data set that they were made from, "
            "or use --by order",
        )
    return Matching(tuple(pairs), "name", tuple(unmatched), samples - len(pairs))


#: Frames are alike from here on; 1 is the same.
ALIKE = 0.75

#: A frame with less than this shows nothing, as the laws will say: the smallest ball has 220, bad
#: compression of an empty frame less than 10, noise of 20 gray levels 55.
EMPTY = 100.0

#: Videos that are looked at before the work begins.
LOOKED_AT = 24

#: Colors that are further off than this on average, in levels of 255, are others: half of what a red
#: ball that turned blue has, and three times what bad H.264 (CRF 45) does to nine of ten first frames.
OTHER_COLORS = 85.0

#: By so much a frame must be more like a later one than like the first to count as that one. Balls move
#: by 1 to 5 px of 128 in a frame, which costs 0.02 and more; bad H.264 (CRF 45) costs less than 0.01.
LATER = 0.01

_GRID = 32

_UPSIDE_DOWN = "they are upside down: row 0 is the top"
_LACKING = "they lack the given frames: put these before the others"
_FROM_ONE = "their numbers are one too large: samples count from 0"
_SWAPPED = "red and blue are swapped: write RGB"
_NEGATIVE = "they are negatives: the background of the data set is white"
_GRAY = "they are without color: write RGB"
_OTHER = "their colors are not those of the data set"


def likeness(frame: NDArray[np.uint8], true: NDArray[np.uint8]) -> float | None:
    """Return the similarity of two frames: 1 identical, 0 nothing in common.

    None if the true frame is empty.

    Args:
        frame: (H, W, 3) uint8 RGB, of a video.
        true: (h, w, 3) uint8 RGB, what it should be.
    """
    shown, wanted = _standing_out(frame), _standing_out(true)
    strength, needed = np.linalg.norm(shown), np.linalg.norm(wanted)
    if needed < EMPTY:
        return None
    if strength < EMPTY / 4:
        return 0.0
    return float((shown * wanted).sum() / (strength * needed))


def check_beginning(frames: Frames, truth: Frames, index: int) -> None:
    """Refuse a video that does not begin like its sample."""
    if not _alike(frames[0], truth[0]):
        raise InputError(
            f"does not begin like sample {index}",
            remedy="is it of another sample, or without the given frames?",
        )


def check_beginnings(
    pairs: Sequence[tuple[VideoSource, int]], videos: Path, truth: Path, condition: int
) -> None:
    """Check some videos before scoring; refuse a folder in which most do not begin like their samples.

    Args:
        pairs: videos, and numbers of their samples.
        videos: where they are from, for the message.
        truth: the data set.
        condition: frames that the model was given.
    """
    chosen = np.unique(np.linspace(0, len(pairs) - 1, LOOKED_AT).round().astype(int))
    looked = unlike = 0
    slips: Counter[str] = Counter()
    with open_dataset(truth) as data:
        for video, index in (pairs[place] for place in chosen):
            try:
                frames, true = video.read(), data.video(index)
                before = data.video(index - 1)[0] if index else None
            except Exception:  # reported when it is scored
                continue
            looked += 1
            late = _frames_late(frames[0], true[: condition + 1])
            if late:
                unlike += 1
                slips[_LACKING if late == condition else _late(late)] += 1
            elif not _alike(frames[0], true[0]):
                unlike += 1
                slips.update(_slips(frames[0], true[0], before))
            elif colors_off(frames[0], true[0]) > OTHER_COLORS:
                unlike += 1
                slips.update(_color_slips(frames[0], true[0]))
    if 2 * unlike <= looked:
        return
    remedy = "give their own data set, and let every video begin with the given frames"
    slip, count = slips.most_common(1)[0] if slips else ("", 0)
    raise InputError(
        f"these do not begin like samples of {truth}: {unlike} of {looked} videos looked at",
        path=videos,
        remedy=slip if 2 * count > unlike else remedy,
    )


def _late(frames: int) -> str:
    return f"they begin {counted(frames, 'frame')} late"


def _frames_late(frame: NDArray[np.uint8], true: Frames) -> int:
    """Return which of the first true frames a first frame is most similar to; 0 unless it is clear."""
    values = [likeness(frame, one) or 0.0 for one in true]
    best = int(np.argmax(values))
    return best if values[best] > max(values[0] + LATER, ALIKE) else 0


def _slips(
    frame: NDArray[np.uint8], true: NDArray[np.uint8], before: NDArray[np.uint8] | None
) -> list[str]:
    """Return likely mistakes behind a first frame; `before` is that of the previous sample."""
    found = [(_UPSIDE_DOWN, true[::-1]), (_FROM_ONE, before)]
    return [slip for slip, other in found if other is not None and _alike(frame, other)]


def colors_off(frame: NDArray[np.uint8], true: NDArray[np.uint8]) -> float:
    """Return the color error in levels of 255, of the bodies or of the background.

    Args:
        frame: (H, W, 3) uint8 RGB, of a video.
        true: (h, w, 3) uint8 RGB, what it should be.
    """
    weights = _standing_out(true)
    away = np.abs(_cells(frame) - _cells(true)).mean(axis=2)
    bodies = float((weights * away).sum() / max(float(weights.sum()), 1e-9))
    # A cell that a body fills partly differs partly.
    filled = float((weights**2).sum() / max(float(weights.sum() * weights.max()), 1e-9))
    return max(bodies / max(filled, 0.1), float(np.median(away)))


def _color_slips(frame: NDArray[np.uint8], true: NDArray[np.uint8]) -> list[str]:
    """Return the likely mistake behind the colors of a first frame."""
    gray = np.repeat(true.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8)
    found = [(_SWAPPED, true[..., ::-1]), (_NEGATIVE, 255 - true), (_GRAY, gray)]
    fitting = [slip for slip, other in found if colors_off(frame, other) < OTHER_COLORS / 2]
    return [*fitting, _OTHER][:1]


def _alike(frame: NDArray[np.uint8], true: NDArray[np.uint8]) -> bool:
    value = likeness(frame, true)
    return value is None or value >= ALIKE


def _standing_out(frame: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return the contrast of each grid cell to the background, in gray levels."""
    cells = _cells(frame.mean(axis=2, dtype=np.float32, keepdims=True))[..., 0]
    return np.abs(cells - np.median(cells))


def _cells(frame: NDArray[np.uint8] | NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (G, G, C) means of the cells of the grid."""
    planes = (Image.fromarray(frame[..., c].astype(np.float32)) for c in range(frame.shape[2]))
    size = (_GRID, _GRID)
    return np.stack([np.asarray(one.resize(size, Image.Resampling.BOX)) for one in planes], axis=2)
