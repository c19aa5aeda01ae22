"""Read data sets of videos, made by Sightline or released with the paper.

The released files store less than ours. Missing values are derived:

* sizes, colors and shapes from the columns of `init_streams`: [r, v], [r, v, color 0 red 1 blue], [r,
  v, color, shape], or [r1, r2, v1, v2] of a red and a blue ball;
* velocities by forward differences of positions; the last frame repeats the one before;
* the scenario: two bodies are a `collision`, one body on a curve is a `parabola`, any other `uniform`.
"""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.reading import naming, open_file
from sightline.physics.datasets import mp4, rle
from sightline.physics.datasets.hdf5 import (
    GET,
    MOST_BODIES,
    MOST_FRAMES,
    MOST_PARAMETERS,
    MOST_PIXELS,
    StreamFile,
    check_shapes,
    guarded,
    is_combinatorial,
    open_streams,
)
from sightline.physics.datasets.spec import COMBINATORIAL
from sightline.physics.datasets.writer import (
    CHECKSUMS,
    COLORS,
    INIT,
    NOTE,
    POSITIONS,
    RLE,
    SHAPES,
    SIZES,
    VELOCITIES,
)
from sightline.physics.rendering import LARGEST, SMALLEST
from sightline.physics.types import (
    BLUE,
    FRAME_TIME,
    RED,
    Doubles,
    Frames,
    Motion,
    Samples,
    Shape,
)

_HDF5 = b"\x89HDF\r\n\x1a\n"
_PIECE = 1 << 20  # bytes hashed at a time
_CURVED = 1e-3  # world units; least second difference of the height of a parabola


def open_dataset(path: str | Path) -> VideoData:
    """Open a data set of videos in HDF5: one of `make_dataset`, or a released one.

    Args:
        path: of the file.

    Returns:
        The open data set; for combinatorial worlds a `CombinatorialVideos`.
    """
    path = Path(path)
    with open_file(path, what="data set") as file:
        start = file.read(len(_HDF5))
    if start != _HDF5:
        raise InputError(
            "is not an HDF5 data set", path=path, remedy="make one with sightline physics make"
        )
    if is_combinatorial(path):
        from sightline.physics.combinatorial.store import CombinatorialVideos

        return CombinatorialVideos(path)
    return Hdf5Videos(path)


class ReopenedData:
    """A data set that each process opens for itself: an HDF5 file must not be shared across a fork.

    Args:
        path: of the data set.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._open: tuple[int, VideoData] | None = None

    @property
    def data(self) -> VideoData:
        """The data set, opened at the first access in a process."""
        if self._open is None or self._open[0] != os.getpid():
            self._open = (os.getpid(), open_dataset(self.path))
        return self._open[1]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the path, not the open file."""
        return {"path": self.path, "_open": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.path, self._open = state["path"], None


class VideoData(ABC):
    """Videos and their motions, read from a file. Use it in a `with` statement, or call `close`.

    Attributes:
        path: of the file.
        format: description of the file format.
        scenario: `uniform`, `collision`, `parabola`, or the name of a probe's world.
        frame_time: seconds between frames.
        made: the settings it was made with (`DataSpec.record`); empty for files of other origin.
        lossy: whether the videos went through a lossy codec, as the released ones did.
    """

    path: Path
    format: str
    scenario: str
    frame_time: float
    made: dict[str, Any]
    lossy: bool = False

    @abstractmethod
    def __len__(self) -> int: ...

    @cached_property
    def samples(self) -> Samples:
        """All motions."""
        return self.read_samples(0, len(self))

    @cached_property
    @abstractmethod
    def digest(self) -> str:
        """SHA-256 of the file, as `sha256sum` prints it."""

    @abstractmethod
    def read_samples(self, start: int, stop: int) -> Samples:
        """Return the motions from `start` to before `stop`, without caching them."""

    def read_init(self, start: int, stop: int) -> Doubles:
        """Return the parameters of some of the motions: (n, K) float64."""
        return self.read_samples(start, stop).init

    @abstractmethod
    def video(self, index: int) -> Frames:
        """Return a video: (T, H, W, 3) uint8 RGB, row 0 at the top, where y is 10."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def motion(self, index: int) -> Motion:
        """Return the motion of one video."""
        index = self._checked(index)
        return self.read_samples(index, index + 1)[0]

    def __iter__(self) -> Iterator[tuple[Motion, Frames]]:
        for index in range(len(self)):
            yield self.motion(index), self.video(index)

    def __enter__(self) -> VideoData:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _checked(self, index: int) -> int:
        """Return the index, counted from the end when negative; refuse one out of range."""
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise InputError(f"no video {index}, there are {len(self)}", path=self.path)
        return place


class Hdf5File(VideoData):
    """An HDF5 file of videos in shards, one row per video in each stream.

    Attributes:
        needed: streams that a file must have, beside the videos.
        optional: streams that it may have.
        timed: the stream with one entry per frame on its second axis.
        row: what messages call a row.
        frame_time: seconds between frames where the file does not say.
    """

    needed: ClassVar[tuple[str, ...]]
    optional: ClassVar[tuple[str, ...]]
    timed: ClassVar[str]
    row: ClassVar[str]

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._streams: StreamFile = open_streams(
            self.path, self.needed, self.optional, self._check_shard
        )
        self._ends = list(accumulate(self._streams.counts))
        try:
            self._note = self._read_note()
            self._describe()
            self.lossy = self.made.get("video") not in ("rle", "lossless")
        except BaseException:
            self.close()
            raise

    @staticmethod
    @abstractmethod
    def _check_shard(streams: dict[str, Any], path: Path) -> int:
        """Check types, shapes and counts of one shard; return its number of rows."""

    @abstractmethod
    def _describe(self) -> None:
        """Set the remaining attributes from the note and the streams."""

    def __len__(self) -> int:
        return self._ends[-1]

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the file, as `sha256sum` prints it."""
        found = hashlib.sha256()
        with open_file(self.path, what="data set") as file:
            while piece := file.read(_PIECE):
                found.update(piece)
        return found.hexdigest()

    def video(self, index: int) -> Frames:
        """Return a video as it is stored: (T, H, W, 3) uint8 RGB, row 0 at the top."""
        shard, row = self._place(index)
        name = self._streams.videos
        what = f"{self.row} {row} of {self._streams.name_of(name, shard)}"
        try:
            with guarded(self.path, "the video"):
                wanted = self._streams.get(self.timed, shard).shape[1]
                data = np.asarray(self._streams.get(name, shard)[row], np.uint8).tobytes()
            frames = self._decode(data, shard, row, wanted)
        except InputError as error:
            problem = f"{what}: {error.problem}"
            raise InputError(problem, path=self.path, remedy=GET) from error
        if len(frames) != wanted:
            other = self._streams.name_of(self.timed, shard)
            problem = f"{what}: {len(frames)} frames in the mp4, {wanted} in {other}"
            raise InputError(problem, path=self.path, remedy=GET)
        return frames

    def _decode(self, data: bytes, shard: int, row: int, frames: int) -> Frames:
        if self._streams.videos != RLE:
            return mp4.decode(data)
        if self._streams.has(CHECKSUMS):
            with guarded(self.path, "the checksum"):
                checksum = int(self._streams.get(CHECKSUMS, shard)[row])
            if zlib.crc32(data) != checksum:
                raise InputError("the checksum is wrong")
        size = self._note.get("size")
        if not isinstance(size, int) or not SMALLEST <= size <= LARGEST:
            raise InputError(f"the frame size is {size!r}, expected {SMALLEST} to {LARGEST}")
        if frames * size**2 > MOST_PIXELS:
            raise InputError(f"{frames} frames of {size} px are more than memory should hold")
        return rle.decode(data, frames, size)

    def close(self) -> None:
        """Close the file."""
        self._streams.file.close()

    def __reduce__(self) -> tuple[Any, ...]:
        """Open the file again where it is unpickled."""
        return type(self), (str(self.path.absolute()),)

    def _read_note(self) -> dict[str, Any]:
        """Return the settings stored in the file; empty for files of other origin."""
        with guarded(self.path, f"the attribute {NOTE}"):
            note = _parse_note(self._streams.file.attrs)
            self.made = dict(note.get("made", {}))
            self.frame_time = float(note.get("frame_time", self.frame_time))
        if not 0 < self.frame_time < np.inf:
            raise InputError(f"a frame takes {self.frame_time} s", path=self.path, remedy=GET)
        return note

    def _place(self, index: int) -> tuple[int, int]:
        """Return shard and row of a video."""
        index = self._checked(index)
        shard = bisect_right(self._ends, index)
        return shard, index - (self._ends[shard - 1] if shard else 0)

    def _rows(self, name: str, shard: int, rows: slice) -> NDArray[Any]:
        """Return some rows of a stream in a shard; refuse numbers that are not finite."""
        label = self._streams.name_of(name, shard)
        with guarded(self.path, label):
            found = np.asarray(self._streams.get(name, shard)[rows])
        finite = np.isfinite(found).all(axis=tuple(range(1, found.ndim)))
        bad = np.flatnonzero(~finite)
        if bad.size:
            first = f"first in {self.row} {rows.start + bad[0]}"
            problem = f"{label} has a number that is not finite, {first}"
            raise InputError(problem, path=self.path, remedy=GET)
        return found


class Hdf5Videos(Hdf5File):
    """An HDF5 file of moving balls, squares or rings."""

    needed = (POSITIONS, INIT)
    optional = (VELOCITIES, SIZES, COLORS, SHAPES, CHECKSUMS)
    timed, row = POSITIONS, "sample"
    frame_time = FRAME_TIME

    def _describe(self) -> None:
        """Take format and scenario from the note, else derive the scenario from the positions."""
        for name, shapes in self._streams.shapes.items():
            if len(shapes) > 1:
                problem = f"{name} has shards of different shapes: {sorted(shapes)}"
                raise InputError(problem, path=self.path, remedy=GET)
        coded = "HDF5, run-length coded" if self._streams.videos == RLE else "HDF5, released layout"
        self.format = f"{coded} ({self._streams.layout})"
        named = self._note.get("scenario")
        self.scenario = self._guess_scenario() if named is None else str(named)
        if self.scenario == COMBINATORIAL:
            problem = f"is called {COMBINATORIAL} and holds samples of moving balls"
            raise InputError(problem, path=self.path, remedy=GET)

    @staticmethod
    def _check_shard(streams: dict[str, Any], path: Path) -> int:
        """Check the shapes of one shard; return its number of samples."""
        positions, parameters = streams[POSITIONS], streams[INIT].shape[-1]
        shape = positions.shape
        if len(shape) not in (3, 4) or shape[-1] != 2 or 0 in shape[1:]:
            problem = f"{positions.name} has the shape {shape}, not (samples, frames[, bodies], 2)"
            raise InputError(problem, path=path, remedy=GET)
        count, bodies = shape[0], shape[2] if len(shape) == 4 else 1
        if shape[1] > MOST_FRAMES or bodies > MOST_BODIES or parameters > MOST_PARAMETERS:
            problem = f"claims {shape[1]:,} frames, {bodies:,} bodies and {parameters:,} parameters"
            raise InputError(problem, path=path, remedy=GET)
        wanted = {
            INIT: (count, parameters),
            VELOCITIES: shape,
            SIZES: (count, bodies),
            COLORS: (count, bodies, 3),
            SHAPES: (count, bodies),
            CHECKSUMS: (count,),
        }
        check_shapes(streams, wanted, path)
        return int(count)

    def read_init(self, start: int, stop: int) -> Doubles:
        """Return the parameters of some of the motions."""
        return self._read(INIT, start, stop)

    def read_samples(self, start: int, stop: int) -> Samples:
        """Return some of the motions."""
        positions = self._read(POSITIONS, start, stop)
        init = self._read(INIT, start, stop)
        if positions.ndim == 3:
            positions = positions[:, :, None]
        bodies = positions.shape[2]
        if self._streams.has(VELOCITIES):
            velocities = self._read(VELOCITIES, start, stop).reshape(positions.shape)
        else:
            velocities = differences(positions, self.frame_time)
        if all(self._streams.has(name) for name in (SIZES, COLORS, SHAPES)):
            sizes = self._read(SIZES, start, stop)
            colors = self._read(COLORS, start, stop).astype(np.uint8)
            shapes = self._read(SHAPES, start, stop).astype(np.uint8)
        else:
            with naming(self.path):
                sizes, colors, shapes = appearance(init, bodies)
        with naming(self.path):
            return Samples(
                self.scenario, init, positions, velocities, sizes, colors, shapes, self.frame_time
            )

    def _read(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Read some rows of a stream across shards."""
        pieces = []
        for shard, (end, count) in enumerate(zip(self._ends, self._streams.counts, strict=True)):
            begin = end - count
            if begin < stop and start < end:
                rows = slice(max(start - begin, 0), min(stop, end) - begin)
                pieces.append(self._rows(name, shard, rows))
        if not pieces:
            return np.empty((0, *self._streams.get(name, 0).shape[1:]))
        kind = np.uint8 if pieces[0].dtype == np.uint8 else np.float64
        return np.concatenate(pieces).astype(kind, copy=False)

    def _guess_scenario(self) -> str:
        first = self._read(POSITIONS, 0, 1)
        if first.ndim == 4 and first.shape[2] > 1:
            return "collision"
        heights = first.reshape(len(first), -1, 2)[..., 1]
        curved = np.abs(np.diff(heights, n=2, axis=1)).max(initial=0) > _CURVED
        return "parabola" if curved else "uniform"


def differences(positions: Doubles, frame_time: float) -> Doubles:
    """Return velocities by forward differences; the last frame repeats the one before.

    Args:
        positions: (M, T, N, 2) in world units.
        frame_time: in [s].
    """
    if positions.shape[1] < 2:
        return np.zeros_like(positions)
    steps = np.diff(positions, axis=1) / frame_time
    return np.concatenate([steps, steps[:, -1:]], axis=1)


def appearance(init: Doubles, bodies: int) -> tuple[Doubles, NDArray[np.uint8], NDArray[np.uint8]]:
    """Return sizes (M, N), colors (M, N, 3) and shapes (M, N) from the columns of `init_streams`."""
    count, columns = init.shape
    if (bodies, columns) not in ((2, 4), (1, 2), (1, 3), (1, 4)):
        raise InputError(f"{INIT} has {columns} columns for {bodies} bodies", remedy=GET)
    palette = np.array([RED, BLUE], np.uint8)
    sizes = init[:, :bodies]
    colors = np.broadcast_to(palette[:bodies], (count, bodies, 3)).copy()
    shapes = np.full((count, bodies), Shape.BALL, np.uint8)
    if not (sizes > 0).all():
        raise InputError(f"{INIT} has a radius that is not positive", remedy=GET)
    if bodies == 1 and columns >= 3:
        colors = palette[_codes(init[:, 2], 2, "color")][:, None]
    if bodies == 1 and columns == 4:
        shapes = _codes(init[:, 3], len(Shape), "shape").astype(np.uint8)[:, None]
    return np.ascontiguousarray(sizes), colors, shapes


def _codes(column: Doubles, most: int, what: str) -> NDArray[np.int64]:
    codes = np.rint(column).astype(np.int64)
    if not ((codes == column) & (codes >= 0) & (codes < most)).all():
        raise InputError(f"{INIT} has a {what} other than 0 to {most - 1}", remedy=GET)
    return codes


def _parse_note(attributes: Any) -> dict[str, Any]:
    """Return the JSON object in the attribute `sightline`; empty where it is missing or not JSON."""
    if NOTE not in attributes:
        return {}
    if attributes.get_id(NOTE).dtype.kind != "S":
        raise ValueError("it is not as Sightline writes it")
    try:
        note = json.loads(attributes[NOTE])
    except (ValueError, RecursionError):
        return {}
    return note if isinstance(note, dict) else {}
