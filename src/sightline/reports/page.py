"""Write results as one self-contained HTML page.

Per result: the photograph with its depth behind a slider, the value under the pointer with its unit,
and a point cloud to turn. Layout, style and script lie in `templates/`; this file only fills them in.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.atomic import write_bytes
from sightline.io.color import Palette
from sightline.reports import payload
from sightline.reports.marks import Mark
from sightline.reports.templating import environment
from sightline.types import CameraSource, DepthMap, Kind

_MEANING = {
    Kind.RELATIVE_DISPARITY: (
        "relative disparity: larger is nearer; no unit, scale and zero point are unknown"
    ),
    Kind.METRIC_DEPTH: "depth in meters along the viewing direction: larger is farther",
    Kind.METRIC_DISPARITY: "inverse depth in 1/meter: larger is nearer",
}

_CAMERA = {
    CameraSource.GIVEN: "given",
    CameraSource.EXIF: "from the picture's EXIF",
    CameraSource.ESTIMATED: "from the picture's straight lines",
    CameraSource.ASSUMED: "assumed: the picture does not say",
}


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One result to show.

    Attributes:
        title: heading, such as the file's name.
        depth: its depth map.
        photo: (H, W, 3) uint8 RGB of the same size, or None when it is not at hand.
        files: label to path of files that the page links to, such as `{"npz": Path("a.npz")}`.
        marks: over the picture.
    """

    title: str
    depth: DepthMap
    photo: NDArray[np.uint8] | None = None
    files: Mapping[str, Path] = field(default_factory=dict)
    marks: Sequence[Mark] = ()

    def __post_init__(self) -> None:
        if self.photo is not None and self.photo.shape != (*self.depth.values.shape, 3):
            raise InputError(
                f"photo is {self.photo.shape}, depth map is {self.depth.values.shape}",
                path=self.title,
            )


def write_page(
    path: str | Path,
    exhibits: Sequence[Exhibit],
    *,
    title: str = "Sightline",
    palette: Palette = "spectral",
) -> None:
    """Write a page that shows `exhibits`, one below the other.

    Args:
        path: the `.html` file; links to other files are relative to its folder.
        exhibits: exhibits to show, at least one.
        title: title of the page.
        palette: colors for depth, as in `io.color`.
    """
    if not exhibits:
        raise InputError("no result to show", path=path)
    folder = Path(path).parent
    text = (
        environment()
        .get_template("page.html")
        .render(
            title=title,
            exhibits=[fields_of(exhibit, folder, palette) for exhibit in exhibits],
        )
    )
    # A file's name may hold bytes that are no text; the title shows them as `\udce9`.
    write_bytes(path, text.encode(errors="backslashreplace"))


def fields_of(exhibit: Exhibit, folder: Path, palette: Palette = "spectral") -> dict[str, Any]:
    """Return what `panes.html` shows of a result.

    Args:
        exhibit: the result.
        folder: folder of the page.
        palette: colors for depth.
    """
    depth = exhibit.depth
    camera = payload.camera_of(depth)
    return {
        "title": exhibit.title,
        "width": depth.width,
        "height": depth.height,
        "marks": exhibit.marks,
        "size": f"{depth.width} × {depth.height}",
        "meaning": _MEANING[depth.kind],
        "camera": f"{camera.fov:.0f}° wide, {_CAMERA[camera.source]}",
        "source": depth.source,
        "photo": None if exhibit.photo is None else payload.picture(exhibit.photo),
        "legend": payload.legend(depth, palette),
        "color": payload.color(depth, palette),
        "links": {name: _link(target, folder) for name, target in exhibit.files.items()},
        "data": payload.grid(depth),
    }


def _link(target: Path, folder: Path) -> str:
    return quote(os.fsencode(Path(os.path.relpath(target, folder)).as_posix()))
