"""Read the HDF5 layout of the reference: its released files, and ours.

Both layouts of `hdf5_write` are taken. What the reference does not store is derived:

* sizes, colours, shapes from the columns of `init_streams`: [r, v], [r, v, colour 0 red 1 blue],
  [r, v, colour, shape], or [r1, r2, v1, v2] of a red and a blue ball;
* velocities by forward differences of positions, the last frame's being that of the frame before;
* the scenario: two bodies are a `collision`, one on a curve a `parabola`, any other `uniform`.

A file may come from anywhere, so links to other files, data kept outside and sizes that the file cannot
hold are refused before they are followed (`hdf5_guard`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.reading import naming
from sightline.physics.data.hdf5_file import Hdf5File
from sightline.physics.data.hdf5_guard import GET, check_rows, check_shapes
from sightline.physics.data.hdf5_write import (
    COLOURS,
    INIT,
    POSITIONS,
    SHAPES,
    SIZES,
    VELOCITIES,
    VIDEOS,
)
from sightline.physics.data.index import MOST_BODIES, MOST_FRAMES, MOST_PARAMETERS
from sightline.physics.data.spec import COMBINATORIAL
from sightline.physics.types import BLUE, FRAME_TIME, RED, Doubles, Samples, Shape

_CURVED = 1e-3  # world units: what the height of a parabola differs from a line's by, at the least


class Hdf5Videos(Hdf5File):
    """An HDF5 file of moving balls in the layout of the reference."""

    needed = (VIDEOS, POSITIONS, INIT)
    optional = (VELOCITIES, SIZES, COLOURS, SHAPES)
    timed, row = POSITIONS, "sample"
    frame_time = FRAME_TIME

    def _describe(self) -> None:
        """Find out what the file holds: from its note, else from its numbers."""
        for name, shapes in self._streams.shapes.items():
            if len(shapes) > 1:
                problem = f"{name} has shards of different shapes: {sorted(shapes)}"
                raise InputError(problem, path=self.path, remedy=GET)
        self.format = f"HDF5 of the reference's layout ({self._streams.layout})"
        named = self._note.get("scenario")
        self.scenario = self._scenario() if named is None else str(named)
        if self.scenario == COMBINATORIAL:
            problem = f"is called {COMBINATORIAL} and holds samples of moving balls"
            raise InputError(problem, path=self.path, remedy=GET)

    @staticmethod
    def _check_shard(streams: dict[str, Any], path: Path) -> int:
        """Check types, shapes and counts of one shard; return how many samples it has."""
        count = check_rows(streams, path)
        positions, parameters = streams[POSITIONS], streams[INIT].shape[-1]
        shape = positions.shape
        if len(shape) not in (3, 4) or shape[-1] != 2 or 0 in shape[1:]:
            problem = f"{positions.name} has the shape {shape}, not (samples, frames[, bodies], 2)"
            raise InputError(problem, path=path, remedy=GET)
        bodies = shape[2] if len(shape) == 4 else 1
        if shape[1] > MOST_FRAMES or bodies > MOST_BODIES or parameters > MOST_PARAMETERS:
            problem = f"claims {shape[1]:,} frames, {bodies:,} bodies and {parameters:,} parameters"
            raise InputError(problem, path=path, remedy=GET)
        wanted = {
            INIT: (count, parameters),
            VELOCITIES: shape,
            SIZES: (count, bodies),
            COLOURS: (count, bodies, 3),
            SHAPES: (count, bodies),
        }
        check_shapes(streams, wanted, path)
        return count

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
        if all(self._streams.has(name) for name in (SIZES, COLOURS, SHAPES)):
            sizes = self._read(SIZES, start, stop)
            colours = self._read(COLOURS, start, stop).astype(np.uint8)
            shapes = self._read(SHAPES, start, stop).astype(np.uint8)
        else:
            with naming(self.path):
                sizes, colours, shapes = looks(init, bodies)
        with naming(self.path):
            return Samples(
                self.scenario, init, positions, velocities, sizes, colours, shapes, self.frame_time
            )

    def _read(self, name: str, start: int, stop: int) -> NDArray[Any]:
        """Read some rows of a stream, over the ends of shards; finite numbers only."""
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

    def _scenario(self) -> str:
        first = self._read(POSITIONS, 0, 1)
        if first.ndim == 4 and first.shape[2] > 1:
            return "collision"
        heights = first.reshape(len(first), -1, 2)[..., 1]
        curved = np.abs(np.diff(heights, n=2, axis=1)).max(initial=0) > _CURVED
        return "parabola" if curved else "uniform"


def differences(positions: Doubles, frame_time: float) -> Doubles:
    """Return velocities by forward differences; in the last frame, those of the frame before.

    Args:
        positions: (M, T, N, 2) in world units.
        frame_time: in [s].
    """
    if positions.shape[1] < 2:
        return np.zeros_like(positions)
    steps = np.diff(positions, axis=1) / frame_time
    return np.concatenate([steps, steps[:, -1:]], axis=1)


def looks(init: Doubles, bodies: int) -> tuple[Doubles, NDArray[np.uint8], NDArray[np.uint8]]:
    """Return sizes (M, N), colours (M, N, 3) and shapes (M, N) from the columns of `init_streams`."""
    count, columns = init.shape
    if (bodies, columns) not in ((2, 4), (1, 2), (1, 3), (1, 4)):
        raise InputError(f"{INIT} has {columns} columns for {bodies} bodies", remedy=GET)
    palette = np.array([RED, BLUE], np.uint8)
    sizes = init[:, :bodies]
    colours = np.broadcast_to(palette[:bodies], (count, bodies, 3)).copy()
    shapes = np.full((count, bodies), Shape.BALL, np.uint8)
    if not (sizes > 0).all():
        raise InputError(f"{INIT} has a radius that is not positive", remedy=GET)
    if bodies == 1 and columns >= 3:
        colours = palette[_codes(init[:, 2], 2, "colour")][:, None]
    if bodies == 1 and columns == 4:
        shapes = _codes(init[:, 3], len(Shape), "shape").astype(np.uint8)[:, None]
    return np.ascontiguousarray(sizes), colours, shapes


def _codes(column: Doubles, most: int, what: str) -> NDArray[np.int64]:
    codes = np.rint(column).astype(np.int64)
    if not ((codes == column) & (codes >= 0) & (codes < most)).all():
        raise InputError(f"{INIT} has a {what} other than 0 to {most - 1}", remedy=GET)
    return codes
