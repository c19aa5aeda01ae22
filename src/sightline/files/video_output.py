"""What all video writers share: an output file that is whole or absent, and times in a fine clock."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path

import av
from av.container import OutputContainer

from sightline.errors import InputError
from sightline.files.atomic import atomic_path


@contextmanager
def output(path: str | Path, options: dict[str, str] | None = None) -> Iterator[OutputContainer]:
    """Open a container for writing; it becomes `path` when the block ends well, else it goes.

    A failed write (a full disk, say) comes out as the one-line error `atomic_path` makes of it.

    Args:
        path: its suffix chooses the format.
        options: of the muxer.
    """
    with atomic_path(path) as temporary:
        try:
            container = av.open(f"file:{temporary}", "w", container_options=options or {})
        except (av.FFmpegError, ValueError) as error:
            raise InputError(
                f"cannot write a video with the suffix {Path(path).suffix!r}", path=path
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
    """Turns frame times into whole, strictly rising ticks of `clock(fps)`."""

    def __init__(self, fps: Fraction) -> None:
        if fps <= 0:
            raise InputError(f"frames per second must be positive, got {fps}")
        self.fps = fps
        self.base = clock(fps)
        self.count = 0
        self._last = -1

    def next(self, time: Fraction | None) -> int:
        """Tick of the next frame; `time` in [s] since the first, None for the even rate."""
        seconds = self.count / self.fps if time is None else time
        # Files with doubled or backward times exist; players and muxers want them to rise.
        self._last = max(round(seconds / self.base), self._last + 1)
        self.count += 1
        return self._last

    @property
    def step(self) -> int:
        """Ticks per frame at the even rate."""
        return round(1 / self.fps / self.base)

    @property
    def end(self) -> Fraction:
        """When the last frame ends, in [s]."""
        return (self._last + self.step) * self.base
