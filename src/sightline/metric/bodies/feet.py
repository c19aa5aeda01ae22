"""Where a body stands: the lowest part of it, which is as far away as the ground there.

Networks set people off from what is around them, by more or less, so relative disparity on a person is
a doubtful reading. On the ground at their feet it is not: the ground is one surface, near and far.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.metric.people.types import LANDMARKS, Mesh, Person
from sightline.types import Camera

#: What of a body counts as its lowest part, as a share of its extent in the picture.
LOWEST = 0.015
#: How far below or beside its mask the lowest part may lie, as a share of the same.
CLOSE = 0.03
#: Least visibility of a foot that stands where it seems to.
SEEN = 0.5
_FEET = tuple(
    tuple(LANDMARKS.index(f"{part}.{side}") for part in ("ankle", "heel", "toe")) for side in "LR"
)


@dataclass(frozen=True, slots=True, eq=False)
class Footing:
    """The ground that somebody stands on.

    Attributes:
        rows: (N,) of pixels at the lowest part of the body.
        columns: (N,) of the same pixels.
        depth: of that part along the optical axis, [m].
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    depth: float


def footing(mesh: Mesh, person: Person, camera: Camera) -> Footing | None:
    """Find where a person's feet meet the ground; None where that is not seen.

    It is not if feet are cut off or hidden: by their landmarks, or, where only a mesh is known, because
    the mask ends above them. A mask that is the mesh's own outline says nothing of it.

    Args:
        mesh: surface of the person in [m].
        person: whose it is.
        camera: that saw them.
    """
    if person.outlined:
        return None
    if person.mesh is None and not any(
        float(np.nan_to_num(person.visibility[list(foot)]).min()) >= SEEN for foot in _FEET
    ):
        return None
    ahead = mesh.vertices[mesh.vertices[:, 2] > 0]
    if not len(ahead):
        return None
    flat = ahead @ camera.K.T
    columns, rows = flat[:, 0] / flat[:, 2], flat[:, 1] / flat[:, 2]
    extent = float(rows.max() - rows.min())
    low = rows > rows.max() - LOWEST * extent
    places = np.rint(np.column_stack([rows[low], columns[low]])).astype(np.intp)
    inside = (places >= 1) & (places < np.array([camera.height, camera.width]) - 1)
    if not inside.all() or not _meets(person, places, extent):
        return None
    places = np.unique(places, axis=0)
    return Footing(places[:, 0], places[:, 1], float(np.median(ahead[low, 2])))


def _meets(person: Person, places: NDArray[np.intp], extent: float) -> bool:
    """Whether the mask reaches the lowest part of the body."""
    reach = max(1, round(CLOSE * extent))
    top, left = np.maximum(places.min(0) - reach, 0)
    bottom, right = places.max(0) + reach + 1
    part = np.asarray(person.mask[top:bottom, left:right], np.uint8)
    wide = cv2.dilate(part, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    rows, columns = (places - (top, left)).T
    return bool(wide[rows, columns].mean() > 0.5)
