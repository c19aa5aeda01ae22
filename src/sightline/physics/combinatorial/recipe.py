"""The recipe of a data set of combinatorial worlds."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from sightline.errors import InputError
from sightline.physics.combinatorial.files import make_block, write
from sightline.physics.combinatorial.render import SIZE
from sightline.physics.combinatorial.spec import CombinatorialSpec, Job
from sightline.physics.data.recipe import HDF5_SUFFIXES, Recipe, check_layout

_SECONDS = 0.02, 0.035  # for a video: to simulate it, to render and encode it at 256 px, roughly


def recipe_of(spec: CombinatorialSpec, out: Path, layout: str) -> Recipe[Job]:
    """Return how a data set is made; refuse one that does not go into such a file.

    Args:
        spec: what it holds.
        out: the file that is to be: `.h5` or `.hdf5`. A record of `.slv` has as many bodies as any
            other of its file, and no angles, so scenes do not fit there.
        layout: `merged`, or `shard` for one task.
    """
    if out.suffix.lower() not in HDF5_SUFFIXES:
        raise InputError(
            f"combinatorial worlds do not go into {out.suffix or 'a file without a suffix'}",
            path=out,
            remedy="use .h5, with --quality lossless to keep every pixel",
        )
    check_layout(layout)
    jobs = spec.jobs()
    if layout == "shard" and jobs[0].key != jobs[-1].key:
        raise InputError("a shard holds one task", remedy="use --layout merged, or --tasks 1")
    simulating, drawing = _SECONDS
    seconds = simulating + drawing * (spec.size / SIZE) ** 2
    make = partial(make_block, spec)
    return Recipe(spec.record(), jobs, make, seconds, partial(write, spec, layout))
