"""What the picture metrics accept: whole colour videos, in pairs of the same size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sightline.errors import InputError
from sightline.physics.types import Frames


def check_video(video: Frames, what: str = "the video") -> None:
    """Raise an `InputError` unless `video` is (T, H, W, 3) uint8 with something in it."""
    if not isinstance(video, np.ndarray) or video.dtype != np.uint8:
        found = getattr(video, "dtype", type(video).__name__)
        raise InputError(f"{what} is {found}, expected uint8 frames with values from 0 to 255")
    if video.ndim != 4 or video.shape[3] != 3 or video.size == 0:
        raise InputError(f"{what} has shape {video.shape}, expected (frames, height, width, 3)")


def check_pair(video: Frames, truth: Frames, least: int) -> None:
    """Raise an `InputError` unless both are videos of the same shape, `least` pixels a side or more."""
    check_video(video)
    check_video(truth, "the true video")
    if video.shape != truth.shape:
        raise InputError(f"the video has shape {video.shape}, the true one {truth.shape}")
    if min(video.shape[1:3]) < least:
        raise InputError(
            f"frames of {video.shape[2]} × {video.shape[1]} px are too small, "
            f"at least {least} × {least} are needed"
        )


def channels_first(frames: Frames, kind: DTypeLike) -> NDArray[Any]:
    """Copy (N, H, W, 3) uint8 to (N, 3, H, W) floats 0 to 255, which torch may have for its own."""
    return np.ascontiguousarray(frames.transpose(0, 3, 1, 2), dtype=kind)
