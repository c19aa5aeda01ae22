"""Depth of bodies in the image: silhouettes, and pseudo ground truth (Metric from Human, Eq. 4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.body.fit import FittedBody
from sightline.metric.people.types import BodyMesh
from sightline.rasterize import nearest_faces
from sightline.types import BoolArray, Camera, FloatArray

#: Near plane in [m].
NEAR = 0.05

#: `mask first` is Eq. 4 of the paper, `nearest first` what its code does.
Order = Literal["mask first", "nearest first"]


def silhouette(mesh: BodyMesh, camera: Camera) -> FloatArray:
    """Render the (H, W) float32 depth of a surface along the optical axis in [m]; 0 outside.

    Only the window around the surface is rasterized, so the size of the image costs little.
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
    people: Sequence[FittedBody | BodyMesh],
    masks: Sequence[BoolArray],
    camera: Camera,
    *,
    order: Order = "mask first",
) -> tuple[FloatArray, NDArray[np.int32]]:
    """Return the depth of people where both their mask and their body cover a pixel.

    Args:
        people: bodies in [m] in the camera frame.
        masks: (H, W) bool of each person's pixels; eroded by 3×3 before use.
        camera: of the image.
        order: `mask first`, the default, is Eq. 4 of the paper: a body gives depth only under the
            mask of its own person, and where several do, the nearest counts. `nearest first` is
            what the code of the paper does: the nearest body at every pixel, then the union of all
            masks. There a body that is too near or too large gives its depth to its neighbor's
            pixels, and the assignment of pixels to people, which weights per person need, is lost.

    Returns:
        (H, W) float32 depth in [m], 0 where unknown; and (H, W) int32 index of the person, −1 for none.
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
    """Erode an (H, W) bool mask by 3×3; pixels outside the image count as inside the mask."""
    kernel = np.ones((3, 3), np.uint8)
    return np.asarray(cv2.erode(np.asarray(mask, np.uint8), kernel), bool)


def _window(mesh: BodyMesh, camera: Camera) -> tuple[int, int, int, int] | None:
    """Return left, top, right, bottom of the pixels that a surface may cover; None if none."""
    points = np.asarray(mesh.vertices, np.float64)
    whole = (0, 0, camera.width, camera.height)
    if not len(points) or not np.isfinite(points).all():
        raise InputError("a body needs vertices, all of them finite")
    if points[:, 2].max() < NEAR:
        return None
    if points[:, 2].min() < 2 * NEAR:  # vertices near the camera plane do not bound the outline
        return whole
    flat = points @ camera.K.T
    pixels = flat[:, :2] / flat[:, 2:]
    low = np.maximum(np.floor(pixels.min(0)), 0)
    high = np.minimum(np.ceil(pixels.max(0)) + 1, (camera.width, camera.height))
    if (high <= low).any():
        return None
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])
