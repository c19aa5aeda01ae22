"""Samples of a probe, by the probe's name, its part, and the place in the part's endless row."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sightline.errors import InputError
from sightline.physics.probes.catalogue import probe_of
from sightline.physics.probes.cells import make_cells
from sightline.physics.probes.gates import make_gates
from sightline.physics.probes.parts import Cells, Plane, Probe, Scenes
from sightline.physics.probes.plane import make_plane
from sightline.physics.probes.spatial import make_spatial
from sightline.physics.probes.temporal import make_temporal
from sightline.physics.types import Samples
from sightline.physics.worlds.draws import check_address, tag_of


def make_probe(
    probe: Probe | str,
    part: Literal["train", "test"],
    count: int,
    seed: int = 0,
    start: int = 0,
) -> Samples:
    """Make samples `start` to `start + count` of what a probe trains on or tests on.

    Sample k depends on the probe, the part, the seed and k alone. Motion is exact.

    Args:
        probe: or its name.
        part: `train` or `test`; with the same seed they share no sample.
        count: how many.
        seed: of all random choices.
        start: number of the first.
    """
    check_address(seed, start, count)
    probe = probe_of(probe) if isinstance(probe, str) else probe
    if part not in ("train", "test"):
        raise InputError(f"no part of a probe is called {part!r}", remedy="use train or test")
    chosen = probe.train if part == "train" else probe.test
    tag = tag_of("probe", probe.name, part)
    indexes = np.arange(start, start + count)
    if isinstance(chosen, Cells):
        return make_cells(chosen, seed=seed, tag=tag, indexes=indexes)
    if isinstance(chosen, Plane):
        return make_plane(chosen, seed=seed, tag=tag, indexes=indexes)
    if isinstance(chosen, Scenes):
        scenes = make_spatial if chosen.world == "spatial" else make_temporal
        return scenes(chosen.kinds, seed=seed, tag=tag, indexes=indexes)
    return make_gates(chosen, seed=seed, tag=tag, indexes=indexes)
