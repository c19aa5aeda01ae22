"""How much the depth of a clip flickers, measured where the truth is known.

Protocol of `temporal_alignment_error`:

1. ONE scale and shift for the whole clip bring the predictions to true disparity (least squares over
   every valid pixel of every frame). Per-frame freedom would hide the very thing to be measured.
2. The error of each frame is followed along the surfaces: by the exact depth and poses each pixel of
   frame t is found again in frame t+1, where it is visible.
3. Flicker is the mean absolute change of that error from frame to frame, over the mean true
   disparity. An error that stays where it is does not count; a surface that jumps does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.geometry import align, project, unproject
from sightline.types import BoolArray, Camera, DepthMap, FloatArray

#: Two depths closer than this share are the same surface; else something moved in front.
_SAME_SURFACE = 0.02


@dataclass(frozen=True, slots=True)
class TemporalError:
    """Errors of a clip, both as shares of the mean true disparity.

    Attributes:
        flicker: mean absolute change, between neighbouring frames, of the error at the same place.
        error: mean absolute error itself; steady maps can be steadily wrong.
        pairs: how many pixel pairs were compared.
    """

    flicker: float
    error: float
    pairs: int


def temporal_alignment_error(
    predictions: Sequence[NDArray[np.float32]],
    truths: Sequence[DepthMap],
    poses: Sequence[NDArray[np.float64]],
) -> TemporalError:
    """Measure the flicker of a clip of a still world seen by a moving camera.

    Args:
        predictions: (H, W) each, disparity up to one scale and shift for the clip.
        truths: metric depth of the same frames, with cameras.
        poses: (4, 4) camera to world of each frame, in [m].
    """
    if not 2 <= len(predictions) == len(truths) == len(poses):
        raise InputError(
            f"needs the same number of predictions, truths and poses, at least two, got "
            f"{len(predictions)}, {len(truths)}, {len(poses)}"
        )
    depths = [truth.to_metric_depth() for truth in truths]
    valid = np.stack([depth.valid for depth in depths])
    disparity = np.stack([_inverse(depth) for depth in depths])
    fit = align(np.stack(predictions), disparity, valid)
    errors = fit(np.stack(predictions)) - disparity
    mean = float(disparity[valid].mean())
    total, pairs = 0.0, 0
    for t in range(len(depths) - 1):
        place, seen = _follow(depths[t], depths[t + 1], np.linalg.inv(poses[t + 1]) @ poses[t])
        change = np.abs(_sample(errors[t + 1], place) - errors[t])[seen]
        total += float(change.sum(dtype=np.float64))
        pairs += change.size
    if pairs == 0:
        raise InputError("no pixel of one frame is seen in the next")
    return TemporalError(total / pairs / mean, float(np.abs(errors[valid]).mean()) / mean, pairs)


def _inverse(depth: DepthMap) -> FloatArray:
    return np.asarray(np.where(depth.valid, 1 / np.where(depth.valid, depth.values, 1), 0))


def _follow(
    now: DepthMap, after: DepthMap, motion: NDArray[np.float64]
) -> tuple[FloatArray, BoolArray]:
    """(H, W, 2) places (x, y) of this frame's pixels in the next frame; (H, W) whether seen there."""
    points = unproject(now.values, _camera(now)).astype(np.float64)
    moved = points @ motion[:3, :3].T + motion[:3, 3]
    ahead = now.valid & (moved[..., 2] > 1e-3)
    moved[~ahead] = (0.0, 0.0, 1.0)
    place = project(moved, _camera(after))
    inside = (place >= 0).all(-1) & (place <= np.array([now.width - 1, now.height - 1])).all(-1)
    # All four pixels around must lie on the surface, or the sample would mix front and back.
    seen: BoolArray = ahead & inside
    for dx in (0, 1):
        for dy in (0, 1):
            x = np.clip(np.floor(place[..., 0]).astype(int) + dx, 0, now.width - 1)
            y = np.clip(np.floor(place[..., 1]).astype(int) + dy, 0, now.height - 1)
            seen &= np.abs(after.values[y, x] - moved[..., 2]) < _SAME_SURFACE * moved[..., 2]
    return place, seen


def _camera(depth: DepthMap) -> Camera:
    if depth.camera is None:
        raise InputError("the true depth needs its camera")
    return depth.camera


def _sample(values: FloatArray, place: FloatArray) -> FloatArray:
    """Bilinear samples of (H, W) values at (H, W, 2) places (x, y)."""
    import cv2

    return np.asarray(cv2.remap(values, place, None, cv2.INTER_LINEAR), np.float32)
