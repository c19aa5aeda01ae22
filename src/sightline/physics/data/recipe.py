"""What a data set is made of: blocks by number, what makes one, and what puts them together.

There is one recipe for the worlds of one law (`one_law`) and one for combinatorial worlds
(`combinatorial.recipe`); `make` follows either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, Self, TypeVar

from sightline.errors import InputError

#: Suffixes of files in the reference's layout.
HDF5_SUFFIXES = (".h5", ".hdf5")
#: Layouts of HDF5: groups of shards, or one shard.
LAYOUTS = ("merged", "shard")


class Job(Protocol):
    """A block that is to be made. Printed, it says what it is."""

    @property
    def number(self) -> int:
        """Place of the block in the data set."""
        ...

    @property
    def videos(self) -> int:
        """How many it has."""
        ...

    def rehearsal(self) -> Self:
        """Return the same job with its first video alone, which compiles what all of it needs."""
        ...


J = TypeVar("J", bound=Job)

#: A job, its block and the sha256 of the block.
Made = tuple[J, bytes, str]


@dataclass(frozen=True, slots=True)
class Recipe(Generic[J]):
    """How to make one data set.

    Attributes:
        settings: that its bytes depend on.
        jobs: in the order of the file.
        make: returns the block of a job: the same bytes for the same job, wherever it runs.
        seconds: that a video takes, roughly.
        write: writes the file from its blocks, which come in the order of the jobs.
    """

    settings: dict[str, Any]
    jobs: Sequence[J]
    make: Callable[[J], bytes]
    seconds: float
    write: Callable[[Path, Iterator[Made[J]]], None]


def check_layout(layout: str) -> None:
    """Refuse a layout that there is not."""
    if layout not in LAYOUTS:
        raise InputError(f"no layout is called {layout!r}", remedy=f"use {', '.join(LAYOUTS)}")
