"""The benchmark sets there are."""

from __future__ import annotations

from sightline.benchmarks import da2k, diode, eth3d, ibims, kitti, nyu, points, rgbd, sintel
from sightline.benchmarks.samples import Benchmark
from sightline.errors import InputError

SETS: tuple[Benchmark, ...] = (
    da2k.BENCHMARK,
    nyu.BENCHMARK,
    kitti.BENCHMARK,
    sintel.BENCHMARK,
    sintel.CLEAN,
    eth3d.BENCHMARK,
    diode.BENCHMARK,
    ibims.BENCHMARK,
    rgbd.BENCHMARK,
    points.BENCHMARK,
)


def find(name: str) -> Benchmark:
    """Return the set of that name."""
    for benchmark in SETS:
        if benchmark.name == name:
            return benchmark
    names = ", ".join(benchmark.name for benchmark in SETS)
    raise InputError(f"there is no benchmark {name!r}", remedy=f"choose from {names}")
