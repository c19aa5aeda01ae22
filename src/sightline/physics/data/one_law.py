"""The recipe of a data set of worlds of one law: uniform motion, parabolas, collisions, probes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.physics.data import pack
from sightline.physics.data.block import Layout, Records, read_records
from sightline.physics.data.encode import make_block
from sightline.physics.data.recipe import HDF5_SUFFIXES, Made, Recipe, check_layout
from sightline.physics.data.spec import BLOCK, DataSpec, draw

_SECONDS = {"runs": 0.0003, "standard": 0.01, "lossless": 0.013}  # for a video of 128 px, roughly


@dataclass(frozen=True, slots=True)
class Job:
    """The block that a worker makes; prints as what it is.

    Attributes:
        number: of the block.
        videos: how many it has.
    """

    number: int
    videos: int

    def rehearsal(self) -> Job:
        """Return the same job with its first video alone."""
        return replace(self, videos=1)

    def __str__(self) -> str:
        first = self.number * BLOCK
        return f"videos {first} to {first + self.videos - 1}"


def recipe_of(spec: DataSpec, out: Path, layout: str) -> Recipe[Job]:
    """Return how a data set is made; refuse what cannot be made, or not into such a file.

    Args:
        spec: what it holds. Its `video` must be `runs` for `.slv`, one of mp4 for HDF5.
        out: the file that is to be.
        layout: of HDF5.
    """
    _check_format(spec, out, layout)
    draw(spec, spec.count - 1, 1)  # what is wrong with the settings is told before anything is made
    jobs = [Job(k, min(BLOCK, spec.count - k * BLOCK)) for k in range(spec.blocks)]
    seconds = _SECONDS[spec.video] * (spec.size / 128) ** 2
    write = partial(_write_packed, spec) if spec.video == "runs" else partial(_write, spec, layout)
    return Recipe({**spec.record(), "block": BLOCK}, jobs, partial(_make, spec), seconds, write)


def _check_format(spec: DataSpec, out: Path, layout: str) -> None:
    suffix = out.suffix.lower()
    if suffix not in (pack.SUFFIX, *HDF5_SUFFIXES):
        raise InputError(
            f"no format has the suffix {out.suffix!r}",
            path=out,
            remedy=f"use {pack.SUFFIX} (lossless, fast) or .h5 (mp4 in the reference's layout)",
        )
    if (suffix == pack.SUFFIX) != (spec.video == "runs"):
        raise InputError(f"videos kept as {spec.video} do not go into {suffix}", path=out)
    check_layout(layout)
    if suffix == pack.SUFFIX and layout != "merged":
        raise InputError(f"{suffix} has one layout only", path=out, remedy="layouts are for .h5")


def _make(spec: DataSpec, job: Job) -> bytes:
    return make_block(spec, job.number, job.videos)


def _facts(spec: DataSpec) -> tuple[Layout, dict[str, Any]]:
    """Return the sizes of a record, and what either format says of all samples."""
    sample = draw(spec, 0, 1)
    facts = {
        "scenario": sample.scenario,
        "frame_time": sample.frame_time,
        "made": spec.record(),
    }
    return Layout.of(sample), facts


def _write_packed(spec: DataSpec, path: Path, made: Iterator[Made[Job]]) -> None:
    """Write `.slv`."""
    sizes, facts = _facts(spec)
    facts |= {"count": spec.count, "block": BLOCK, "size": spec.size}
    facts |= {name: getattr(sizes, name) for name in ("parameters", "frames", "bodies")}
    with path.open("wb") as file:
        pack.write(file, ((block, digest) for _, block, digest in made), facts)


def _write(spec: DataSpec, layout: str, path: Path, made: Iterator[Made[Job]]) -> None:
    """Write HDF5."""
    from sightline.physics.data import hdf5_write

    sizes, facts = _facts(spec)
    apart = (_taken_apart(job, block, sizes) for job, block, _ in made)
    hdf5_write.write(path, apart, spec.count, facts, layout)


def _taken_apart(job: Job, block: bytes, sizes: Layout) -> tuple[Records, list[bytes]]:
    """Return records and videos of a block."""
    records = read_records(block[: sizes.head(job.videos)], sizes, job.videos, len(block))
    places = (records.place(index) for index in range(job.videos))
    return records, [block[begin : begin + length] for begin, length in places]
