"""`sightline view RESULT...`: write results as an HTML page."""

from __future__ import annotations

import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sightline.config import Palette
from sightline.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sightline.reports import Exhibit
    from sightline.types import DepthMap


def view(
    results: Annotated[list[Path], Parameter(name="RESULT")],
    /,
    *,
    out: Path | None = None,
    palette: Palette = "spectral",
) -> int:
    """Write results as one self-contained HTML page: image, depth, point cloud.

    Invalid results are left out and reported at the end.

    Args:
        results: folders written by `sightline depth` or `sightline metric`, or npz, png or exr files.
        out: output file. Default: index.html beside the first result.
        palette: color map of depth.
    """
    from sightline.errors import one_line
    from sightline.reports import write_page
    from sightline.reports.templating import check_ours

    files = [file for result in results for file in _files(result)]
    exhibits: list[Exhibit] = []
    failures: list[InputError] = []
    for file in files:
        try:
            exhibits.append(exhibit(file))
        except InputError as error:
            failures.append(error)
    if not exhibits:
        raise failures[0]
    page = out or files[0].parent / "index.html"
    if out is None:
        check_ours(page)
    write_page(page, exhibits, palette=palette)
    print(page)
    for failure in failures:
        print(f"left out: {one_line(failure)}", file=sys.stderr)
    return max((failure.exit_code for failure in failures), default=0)


def exhibit(file: Path) -> Exhibit:
    """Read one result together with its photograph and its sister files, where they can be found."""
    from sightline.io.depth_files import read_depth
    from sightline.reports import Exhibit

    depth = read_depth(file)
    sisters = {
        suffix: file.with_suffix(f".{suffix}")
        for suffix in ("npz", "png", "exr", "ply", "glb")
        if file.with_suffix(f".{suffix}").is_file()
    }
    return Exhibit(file.stem, depth, _photo(file, depth), sisters)


def _files(result: Path) -> Iterator[Path]:
    """Yield the results that `result` stands for, one file each, npz before exr before png."""
    from sightline.depth.video import VIDEO_ENDINGS
    from sightline.io.inputs import mode_of
    from sightline.jobs.manifest import Manifest

    mode = mode_of(result)
    if mode is None:
        raise InputError("no such file or folder", path=result, remedy="check the spelling")
    if not stat.S_ISDIR(mode):
        yield result
        return

    frames = VIDEO_ENDINGS["npz"]  # a page of every frame of a video would be too long to look at
    files = [f for f in result.rglob("*.npz") if not f.parent.name.endswith(frames)]
    # Other endings are everyone's: of those only what is on record as ours.
    recorded = [f for f in Manifest(result).outputs() if isinstance(f, Path)]
    ours = [f for f in sorted(recorded) if f.is_file()]
    files += [f for f in ours if f.suffix == ".exr"]
    pictures = ("_color", "_normals")
    files += [f for f in ours if f.suffix == ".png" and not f.stem.endswith(pictures)]
    found: dict[Path, Path] = {}
    for file in files:
        found.setdefault(file.resolve().with_suffix(""), file)
    if not found:
        films = [f.name for f in ours if f.suffix in (".mp4", ".mkv")]
        raise InputError(
            "holds films only" if films else "no results in this folder",
            path=result,
            remedy=f"open {films[0]} in a player" if films else "run sightline depth first",
        )
    yield from sorted(found.values())


def _photo(file: Path, depth: DepthMap) -> NDArray[np.uint8] | None:
    """Return the picture that a result was made from, if the manifest knows it and it still fits.

    A page without the photograph is better than none: whatever is wrong with it is passed over.
    """
    from sightline.io.images import read_picture
    from sightline.jobs.manifest import NAME, Manifest

    for folder in file.absolute().parents:
        if not (folder / NAME).is_file():
            continue
        source = Manifest(folder).source_of(file)
        if source is None:
            return None
        try:
            pixels = read_picture(source).pixels
        except InputError:
            return None
        return pixels if pixels.shape[:2] == depth.values.shape else None
    return None
