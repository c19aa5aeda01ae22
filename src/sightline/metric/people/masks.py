"""Masks of people in the image, from mask logits in rotated crops."""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.metric.people.crops import Crop, apply
from sightline.metric.people.pose_landmarks import BODY, Pose
from sightline.metric.people.ssd import Array
from sightline.metric.people.types import LANDMARKS
from sightline.types import BoolArray, FloatArray

#: Logits are clipped to this range, so that their averages stay sensible.
CLIP = 6.0
#: Smallest share of its positive pixels that a person must keep after overlaps are resolved.
KEPT = 0.4

_INDEX = {name: index for index, name in enumerate(LANDMARKS)}
#: Segments of the body, between landmarks.
BONES = [
    (_INDEX[start], _INDEX[end])
    for start, end in (
        ("shoulder.L", "shoulder.R"),
        ("hip.L", "hip.R"),
        ("nose", "shoulder.L"),
        ("nose", "shoulder.R"),
        *(
            (f"{start}.{side}", f"{end}.{side}")
            for side in "LR"
            for start, end in (
                ("shoulder", "hip"),
                ("shoulder", "elbow"),
                ("elbow", "wrist"),
                ("hip", "knee"),
                ("knee", "ankle"),
                ("ankle", "toe"),
            )
        ),
    )
]


def warp_back(logits: FloatArray, crop: Crop, height: int, width: int) -> FloatArray:
    """Warp the logits of a crop to the image.

    Args:
        logits: (S, S) float32 in the crop.
        crop: where it was.
        height: of the image in [px].
        width: of the image in [px].

    Returns:
        (height, width) float32 logits within ±`CLIP`, −`CLIP` outside the crop.
    """
    size = len(logits)
    out = np.full((height, width), -CLIP, np.float32)
    corners = apply(
        crop.to_picture(size), np.array([(0, 0), (size, 0), (0, size), (size, size)]) - 0.5
    )
    left, top = np.clip(np.floor(corners.min(0)), 0, (width, height)).astype(int)
    right, bottom = np.clip(np.ceil(corners.max(0)) + 1, 0, (width, height)).astype(int)
    if right <= left or bottom <= top:
        return out
    # Where the crop is finer than the image, supersample and average.
    fine = max(1, math.ceil(size / crop.side))
    matrix = crop.from_picture(size)
    linear = matrix[:, :2] / fine
    # Image coordinates of the center of the first sample.
    first = np.array([left, top]) - 0.5 + 0.5 / fine
    shift = matrix[:, :2] @ first + matrix[:, 2]
    warped = cv2.warpAffine(
        np.clip(logits, -CLIP, CLIP),
        np.concatenate([linear, shift[:, None]], axis=1),
        (int(right - left) * fine, int(bottom - top) * fine),
        flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP,
        borderMode=cv2.BORDER_CONSTANT,
        borderValue=(-CLIP,),
    )
    if fine > 1:
        target = (int(right - left), int(bottom - top))
        warped = cv2.resize(warped, target, interpolation=cv2.INTER_AREA)
    out[top:bottom, left:right] = warped
    return out


def share_out(poses: Sequence[Pose], taken: BoolArray) -> list[BoolArray]:
    """Compute one mask per person; a pixel claimed by several goes to the larger logit.

    Args:
        poses: of the people.
        taken: (H, W) bool, pixels of people found before.

    Returns:
        (H, W) bool for each, without specks away from the limbs. Empty for those who would keep less
        than `KEPT` of their pixels: they are parts of somebody else.
    """
    best = np.zeros(taken.shape, np.float32)
    owner = np.full(taken.shape, -1, np.int32)
    claims = []
    for index, pose in enumerate(poses):
        logits = warp_back(pose.logits, pose.crop, *taken.shape)
        claims.append(int((logits > 0).sum()))
        mine = (logits > best) & ~taken
        best[mine] = logits[mine]
        owner[mine] = index
    masks = [without_specks(owner == index, pose) for index, pose in enumerate(poses)]
    return [
        mask if mask.sum() >= KEPT * claim else np.zeros_like(mask)
        for mask, claim in zip(masks, claims, strict=True)
    ]


def without_specks(mask: BoolArray, pose: Pose) -> BoolArray:
    """Keep the components of a mask that a bone with visible ends passes through."""
    count, parts = cv2.connectedComponents(mask.astype(np.uint8), connectivity=4)
    if count <= 2:
        return mask
    skeleton = draw_bones(pose.landmarks, pose.visibility, mask.shape)
    touched = np.zeros(count, bool)
    touched[np.unique(parts[skeleton])] = True
    touched[0] = False
    if not touched.any():
        touched[1 + int(np.argmax(np.bincount(parts.ravel(), minlength=count)[1:]))] = True
    kept: BoolArray = touched[parts]
    return kept


def painted_over(pixels: NDArray[np.uint8], taken: BoolArray) -> NDArray[np.uint8]:
    """Return the image with the mean color of the rest in `taken`, dilated a little.

    A uniform patch is not detected as a person, while an inpainted one often is.
    """
    if not taken.any() or taken.all():
        return pixels
    beyond = cv2.dilate(taken.astype(np.uint8), np.ones((5, 5), np.uint8)).astype(bool)
    out = pixels.copy()
    out[beyond] = np.round(pixels[~taken].mean(axis=0)).astype(np.uint8)
    return out


def free_share(pose: Pose, taken: BoolArray) -> float:
    """Return the share of the body's landmarks inside the image that lie outside `taken`, 0 to 1."""
    height, width = taken.shape
    x, y = np.round(pose.landmarks[BODY]).astype(int).T
    inside = (x >= 0) & (x < width) & (y >= 0) & (y < height)
    if not inside.any():
        return 0.0
    return float(1 - taken[y[inside], x[inside]].mean())


def draw_bones(landmarks: Array, visibility: Array, shape: tuple[int, ...]) -> BoolArray:
    """Draw one-pixel lines along the limbs whose ends are both visible; (H, W) bool."""
    canvas: NDArray[np.uint8] = np.zeros(shape[:2], np.uint8)
    # OpenCV's fixed-point coordinates would overflow far outside.
    places = np.clip(np.round(landmarks), -10_000, 10_000).astype(int)
    for start, end in BONES:
        if min(visibility[start], visibility[end]) > 0.3:
            cv2.line(canvas, places[start].tolist(), places[end].tolist(), 1)
    return canvas.astype(bool)


def box_of(mask: BoolArray) -> Array:
    """Return the (4,) left, top, right and bottom of a mask in [px]: pixel edges, not centers."""
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return np.array(
        [columns[0] - 0.5, rows[0] - 0.5, columns[-1] + 0.5, rows[-1] + 0.5], np.float64
    )
