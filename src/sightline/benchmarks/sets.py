"""The benchmark sets there are."""

from __future__ import annotations

from pathlib import Path

from sightline.benchmarks import da2k, diode, eth3d, ibims, kitti, moge, nyu, points, rgbd, sintel
from sightline.benchmarks.samples import Benchmark
from sightline.errors import InputError

#: All benchmark sets that `sightline bench` knows.
SETS: tuple[Benchmark, ...] = (
    da2k.BENCHMARK,
    nyu.BENCHMARK,
    kitti.BENCHMARK,
    sintel.BENCHMARK,
    sintel.CLEAN,
    eth3d.BENCHMARK,
    diode.BENCHMARK,
    ibims.BENCHMARK,
    moge.BENCHMARK,
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


#: File that tells a set by its folder.
_SIGNS = {
    "index.json": "rgbd",
    "annotations.json": "da2k",
    "pairs.json": "points",
    "pairs.csv": "points",
    "nyu_depth_v2_labeled.mat": "nyu",
    moge.INDEX: "moge",
}


def detect(folder: Path) -> Benchmark:
    """Return the set that a folder holds, by its files."""
    for sign, name in _SIGNS.items():
        if (folder / sign).is_file():
            return find(name)
    if any(folder.glob(f"*/{moge.INDEX}")):
        return moge.BENCHMARK
    raise InputError(
        "cannot tell which set this is",
        path=folder,
        remedy="name it, such as nyu=DIR (see sightline bench)",
    )


def locate(place: str) -> tuple[Benchmark, Path]:
    """Return the set and folder that DIR or NAME=DIR stands for."""
    name, sign, folder = place.partition("=")
    if sign and any(one.name == name for one in SETS):
        return find(name), Path(folder)
    return detect(Path(place)), Path(place)


def describe_sets() -> str:
    """Return a listing of the sets: title, layout of the folder, source, protocol."""
    lines = []
    for one in SETS:
        count = "" if one.expected is None else f", {one.expected:,} pictures"
        lines.append(f"{one.name}: {one.title}{count}")
        lines += [f"    DIR/{line.removeprefix('DIR/')}" for line in one.layout]
        lines.append(f"  from {one.source}")
        if one.average != "pairs":
            lines.append(f"  {one.protocol}")
    return "\n".join(lines)
