"""How much the depth of a clip flickers, measured where the truth is known.

Protocol:

1. ONE scale and shift for the whole clip bring the predictions to true disparity (least squares
   over every valid pixel of every frame). Per-frame freedom would hide the very thing to be
   measured.
2. By the exact depth and poses each pixel of a frame is found again in the frames before and after,
   where it is visible there.
3. `flicker`: how far the error at a place departs from the mean of its errors one frame before and
   one after. An error that stays, or that changes evenly as the camera comes nearer, does not
   count; a surface that jumps to and fro does.
4. `alignment`: the temporal alignment error of Video Depth Anything (Chen et al., 2025): predicted
   depth is lifted to points, moved by the true motion to the next frame and compared with the depth
   predicted there, relative to it, in both directions. It contains the flicker, and also how far
   the predicted shapes are wrong, which shows as soon as the camera moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.geometry import align, project, unproject
from sightline.types import BoolArray, Camera, DepthMap, FloatArray

#: Two depths closer than this share are the same surface; else something moved in front.
_SAME_SURFACE = 0.02


@dataclass(frozen=True, slots=True)
class TemporalError:
    """Errors of a clip.

    Attributes:
        flicker: mean absolute departure from an even course, as a share of the mean true disparity.
        alignment: mean relative difference between the depth carried over from a neighboring frame
            and the depth predicted.
        error: mean absolute error of disparity, as a share of the mean true disparity; steady maps
            can be steadily wrong.
        samples: how many pixels the flicker was measured at.
    """

    flicker: float
    alignment: float
    error: float
    samples: int


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
    if not 3 <= len(predictions) == len(truths) == len(poses):
        raise InputError(
            f"needs the same number of predictions, truths and poses, at least three, got "
            f"{len(predictions)}, {len(truths)}, {len(poses)}"
        )
    depths = [truth.to_metric_depth() for truth in truths]
    valid = np.stack([depth.valid for depth in depths])
    disparity = np.stack([_inverse(depth) for depth in depths])
    fit = align(np.stack(predictions), disparity, valid)
    fitted = fit(np.stack(predictions))
    errors = fitted - disparity
    mean = float(disparity[valid].mean())
    # A shift can push far surfaces behind infinity: there depth ends at twice the farthest truth.
    lifted = 1 / np.maximum(fitted, 0.5 * disparity[valid].min())
    departures, samples, apart = 0.0, 0, []
    for t in range(len(depths)):
        ways = {}
        for n in (t - 1, t + 1):
            if 0 <= n < len(depths):
                motion = np.linalg.inv(poses[n]) @ poses[t]
                ways[n] = _follow(depths[t], depths[n], motion)
                apart.append(_misalignment(lifted[t], lifted[n], ways[n][1], depths[t], motion))
        if len(ways) == 2:
            (place, seen), (place_after, seen_after) = ways.values()
            between = (_sample(errors[t - 1], place) + _sample(errors[t + 1], place_after)) / 2
            off = np.abs(errors[t] - between)[seen & seen_after]
            departures += float(off.sum(dtype=np.float64))
            samples += off.size
    if samples == 0:
        raise InputError("no pixel is seen in three frames in a row")
    return TemporalError(
        departures / samples / mean,
        float(np.nanmean(apart)),
        float(np.abs(errors[valid]).mean()) / mean,
        samples,
    )


def _misalignment(
    here: FloatArray, there: FloatArray, seen: BoolArray, truth: DepthMap, motion: Any
) -> float:
    """Mean relative difference of depth carried from one frame to another and depth found there."""
    points = unproject(here, _camera(truth)).astype(np.float64)
    moved = points @ motion[:3, :3].T + motion[:3, 3]
    seen = seen & (moved[..., 2] > 1e-3)
    moved[~seen] = (0.0, 0.0, 1.0)
    found = _sample(there, project(moved, _camera(truth)))
    seen &= found > 0  # carried out of the picture
    if not bool(seen.any()):
        return float("nan")
    return float((np.abs(moved[..., 2] - found)[seen] / found[seen]).mean())


def _inverse(depth: DepthMap) -> FloatArray:
    return np.asarray(np.where(depth.valid, 1 / np.where(depth.valid, depth.values, 1), 0))


def _follow(
    now: DepthMap, after: DepthMap, motion: NDArray[np.float64]
) -> tuple[FloatArray, BoolArray]:
    """(H, W, 2) places (x, y) of a frame's pixels in another frame; (H, W) whether seen there."""
    points = unproject(now.values, _camera(now)).astype(np.float64)
    moved = points @ motion[:3, :3].T + motion[:3, 3]
    ahead = now.valid & (moved[..., 2] > 1e-3)
    moved[~ahead] = (0.0, 0.0, 1.0)
    place = project(moved, _camera(after))
    inside = ((place >= 0) & (place <= np.array([now.width - 1, now.height - 1]))).all(-1)
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
