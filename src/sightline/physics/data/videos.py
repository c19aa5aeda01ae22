"""One interface to data sets, whatever their format."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any

from sightline.errors import InputError
from sightline.physics.types import Doubles, Frames, Motion, Samples


class VideoData(ABC):
    """Videos and what happens in them, read from a file. Use it in a `with` statement, or `close` it.

    Attributes:
        path: of the file.
        format: in words.
        scenario: `uniform`, `collision`, `parabola`, or the name of a probe's world.
        frame_time: seconds between frames.
        made: the settings it was made with (`DataSpec.record`); empty when it is not ours.
        lossy: whether its videos went through a codec that changes them, as the released ones did.
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
        """All motions. Velocities are those stored, else differences of positions: see `hdf5_read`."""
        return self.read_samples(0, len(self))

    @cached_property
    @abstractmethod
    def digest(self) -> str:
        """64 hexadecimal digits that stand for the content: two files with the same hold the same."""

    @abstractmethod
    def read_samples(self, start: int, stop: int) -> Samples:
        """Return some of the motions, without keeping them."""

    def read_init(self, start: int, stop: int) -> Doubles:
        """Return the parameters of some of the motions: (n, K) float64."""
        return self.read_samples(start, stop).init

    @abstractmethod
    def video(self, index: int) -> Frames:
        """Return a video: (T, H, W, 3) uint8 RGB, upright: row 0 is the top, where y is 10."""

    @abstractmethod
    def close(self) -> None:
        """Give the file back."""

    def motion(self, index: int) -> Motion:
        """Return what happens in one video."""
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
        """Return the index, counted from the end when negative, if there is such a video."""
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise InputError(f"no video {index}, there are {len(self)}", path=self.path)
        return place
