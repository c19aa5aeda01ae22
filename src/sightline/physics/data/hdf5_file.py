"""What all HDF5 data sets have in common, whatever happens in their videos.

A file has streams (`hdf5_guard.Streams`), in shards: one row a video in each of them.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.reading import open_file
from sightline.physics.data import mp4
from sightline.physics.data.hdf5_guard import GET, Streams, guarded, open_streams
from sightline.physics.data.hdf5_heap import check_heap
from sightline.physics.data.hdf5_write import NOTE, VIDEOS
from sightline.physics.data.videos import VideoData
from sightline.physics.types import Frames

_PIECE = 1 << 20


class Hdf5File(VideoData):
    """An HDF5 file of videos. Its subclasses know what their streams mean.

    Attributes:
        needed: streams that a file must have.
        optional: streams that it may have.
        timed: the stream with a row per frame on its second axis.
        row: what a row is called.
        frame_time: seconds between frames where the file says nothing of it.
    """

    needed: ClassVar[tuple[str, ...]]
    optional: ClassVar[tuple[str, ...]]
    timed: ClassVar[str]
    row: ClassVar[str]

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._streams: Streams = open_streams(
            self.path, self.needed, self.optional, self._check_shard
        )
        self._ends = list(accumulate(self._streams.counts))
        try:
            self._note = self._read_note()
            self._describe()
            self.lossy = self.made.get("video") != "lossless"
        except BaseException:
            self.close()
            raise

    @staticmethod
    @abstractmethod
    def _check_shard(streams: dict[str, Any], path: Path) -> int:
        """Check types, shapes and counts of one shard; return how many rows it has."""

    @abstractmethod
    def _describe(self) -> None:
        """Set what else is said of the file."""

    def __len__(self) -> int:
        return self._ends[-1]

    @cached_property
    def digest(self) -> str:
        """Sha256 of the file, as `sha256sum` prints it."""
        found = hashlib.sha256()
        with open_file(self.path, what="data set") as file:
            while piece := file.read(_PIECE):
                found.update(piece)
        return found.hexdigest()

    def video(self, index: int) -> Frames:
        """Return a video as the mp4 has it, upright: (T, H, W, 3) uint8 RGB."""
        shard, row = self._place(index)
        what = f"{self.row} {row} of {self._streams.name_of(VIDEOS, shard)}"
        try:
            with guarded(self.path, "the mp4"):
                stream = self._streams.get(VIDEOS, shard)
                check_heap(stream, row)
                data = np.asarray(stream[row], np.uint8).tobytes()
            frames = mp4.decode(data)
        except InputError as error:
            problem = f"{what}: {error.problem}"
            raise InputError(problem, path=self.path, remedy=GET) from error
        wanted = self._streams.get(self.timed, shard).shape[1]
        if len(frames) != wanted:
            other = self._streams.name_of(self.timed, shard)
            problem = f"{what}: {len(frames)} frames in the mp4, {wanted} in {other}"
            raise InputError(problem, path=self.path, remedy=GET)
        return frames

    def close(self) -> None:
        """Give the file back."""
        self._streams.file.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the file again on the other side of a pickle."""
        return type(self), (str(self.path.absolute()),)

    def _read_note(self) -> dict[str, Any]:
        """Return what the file says of itself, if it is ours; take over what all such files say."""
        with guarded(self.path, f"the attribute {NOTE}"):
            note = _parse(self._streams.file.attrs)
            self.made = dict(note.get("made", {}))
            self.frame_time = float(note.get("frame_time", self.frame_time))
        if not 0 < self.frame_time < np.inf:
            raise InputError(f"a frame takes {self.frame_time} s", path=self.path, remedy=GET)
        return note

    def _place(self, index: int) -> tuple[int, int]:
        """Return shard and row in it of a video."""
        index = self._checked(index)
        shard = bisect_right(self._ends, index)
        return shard, index - (self._ends[shard - 1] if shard else 0)

    def _rows(self, name: str, shard: int, rows: slice) -> NDArray[Any]:
        """Return some rows of a shard of a stream; finite numbers only."""
        label = self._streams.name_of(name, shard)
        with guarded(self.path, label):
            found = np.asarray(self._streams.get(name, shard)[rows])
        bad = np.flatnonzero(~np.isfinite(found).reshape(len(found), -1).all(1))
        if bad.size:
            first = f"first in {self.row} {rows.start + bad[0]}"
            problem = f"{label} has a number that is not finite, {first}"
            raise InputError(problem, path=self.path, remedy=GET)
        return found


def _parse(attributes: Any) -> dict[str, Any]:
    """Return the note among the attributes of a file."""
    if NOTE not in attributes:
        return {}
    if attributes.get_id(NOTE).dtype.kind != "S":  # variable length: the library may get lost in it
        raise ValueError("it is not as Sightline writes it")
    try:
        note = json.loads(attributes[NOTE])
    except (ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}
