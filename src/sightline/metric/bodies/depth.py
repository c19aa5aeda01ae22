"""From bodies to depth in the picture: silhouettes, and the paper's pseudo ground truth (Eq. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.bodies.fit import FittedBody
from sightline.metric.people.types import Mesh
from sightline.rasterise import nearest_faces
from sightline.types import BoolArray, Camera, FloatArray

#: Nothing nearer to the camera is seen, [m].
NEAR = 0.05

#: `mask first` is Eq. 4 of the paper, `nearest first` what its code does.
Order = Literal["mask first", "nearest first"]


def silhouette(mesh: Mesh, camera: Camera) -> FloatArray:
    """(H, W) float32 depth of a surface along the optical axis in [m]; 0 where it is not seen.

    Only the part of the picture around the surface is filled, so size of the picture costs little.
    """
    depth = np.zeros((camera.height, camera.width), np.float32)
    window = _window(mesh, camera)
    if window is None:
        return depth
    left, top, right, bottom = window
    K = camera.K.copy()
    K[:2, 2] -= (left, top)
    part = Camera(K, right - left, bottom - top, camera.source)
    nearness, face = nearest_faces(mesh.vertices, mesh.faces, part, near=NEAR)
    seen = face >= 0
    view = depth[top:bottom, left:right]
    np.divide(1.0, nearness, out=view, where=seen, casting="same_kind")
    return depth


def pseudo_depth(
    people: Sequence[FittedBody | Mesh],
    masks: Sequence[BoolArray],
    camera: Camera,
    *,
    order: Order = "mask first",
) -> tuple[FloatArray, NDArray[np.int32]]:
    """Depth of people where both their mask and their body say they are.

    Args:
        people: bodies in [m] in the camera's frame.
        masks: (H, W) bool of each person's pixels; eroded by 3×3 before use.
        camera: lens and picture size.
        order: `mask first`, the default, is Eq. 4 of the paper: a body gives depth only under the mask
            of its own person, and where several do, the nearest counts. `nearest first` is what the
            code of the paper does: the nearest body at every pixel, then the union of all masks. So
            a body that is too near or too large gives its depth to its neighbour's pixels, and nobody
            can say afterwards whose they were; weights per person need the first.

    Returns:
        (H, W) float32 depth in [m], 0 where nothing is known; and (H, W) int32, whose body it is, the
        place in `people`, −1 for none.
    """
    if len(people) != len(masks):
        raise InputError(f"{len(people)} people need as many masks, got {len(masks)}")
    size = (camera.height, camera.width)
    nearest = np.full(size, np.inf, np.float32)
    who = np.full(size, -1, np.int32)
    anybody = np.zeros(size, bool)
    for number, (person, mask) in enumerate(zip(people, masks, strict=True)):
        if mask.shape != size:
            raise InputError(f"mask {number} is {mask.shape}, the picture is {size}")
        mesh = person.mesh if isinstance(person, FittedBody) else person
        depth = silhouette(mesh, camera)
        inner = eroded(mask)
        anybody |= inner
        closer = (depth > 0) & (depth < nearest)
        if order == "mask first":
            closer &= inner
        nearest[closer] = depth[closer]
        who[closer] = number
    if order == "nearest first":
        who[~anybody] = -1
    return np.where(who >= 0, nearest, np.float32(0)), who


def eroded(mask: BoolArray) -> BoolArray:
    """(H, W) bool: pixels whose eight neighbours are in the mask too; those outside the picture are."""
    kernel = np.ones((3, 3), np.uint8)
    return np.asarray(cv2.erode(np.asarray(mask, np.uint8), kernel), bool)


def _window(mesh: Mesh, camera: Camera) -> tuple[int, int, int, int] | None:
    """Left, top, right, bottom of the pixels that a surface may cover; None if there are none."""
    points = np.asarray(mesh.vertices, np.float64)
    whole = (0, 0, camera.width, camera.height)
    if not len(points) or not np.isfinite(points).all():
        raise InputError("a body needs vertices, all of them finite")
    if points[:, 2].max() < NEAR:
        return None
    if points[:, 2].min() < 2 * NEAR:  # reaches behind the camera: its outline is not its corners'
        return whole
    flat = points @ camera.K.T
    pixels = flat[:, :2] / flat[:, 2:]
    low = np.maximum(np.floor(pixels.min(0)), 0)
    high = np.minimum(np.ceil(pixels.max(0)) + 1, (camera.width, camera.height))
    if (high <= low).any():
        return None
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])
