"""Depth as the codebook sees it: bytes from the farthest (0) to the nearest (255), 320 × 320.

As in the paper: relative disparity, stretched from its least to its greatest value in the picture,
bright is near, brought to a square by nearest neighbours.
"""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.errors import InputError
from sightline.perception.codebook.network import SIDE
from sightline.types import BoolArray, DepthMap


def to_bytes(disparity: NDArray[Any], known: BoolArray | None = None) -> NDArray[np.uint8]:
    """(H, W) disparity → bytes, 0 where it is the farthest of the picture or unknown.

    A flat picture is all 0: nothing in it is nearer than anything else.
    """
    known = np.ones(disparity.shape, bool) if known is None else known
    known = known & np.isfinite(disparity)
    if not known.any():
        raise InputError("nothing is known of this picture's depth")
    values = disparity.astype(np.float64)
    low, high = values[known].min(), values[known].max()
    if not high > low:
        return np.zeros(disparity.shape, np.uint8)
    share = np.where(known, (values - low) / (high - low), 0.0)
    return np.rint(share * 255).astype(np.uint8)


def bytes_of(depth: DepthMap) -> NDArray[np.uint8]:
    """Return a depth map of any kind as bytes of its own size, bright is near."""
    values = depth.values if depth.kind.larger_is_nearer else 1 / np.maximum(depth.values, 1e-6)
    return to_bytes(values, depth.valid)


def map_of(depth: DepthMap) -> NDArray[np.uint8]:
    """Return a depth map of any kind as (320, 320) bytes, bright is near."""
    return square(bytes_of(depth))


def square(
    values: NDArray[np.uint8], side: int = SIDE, *, smooth: bool = False
) -> NDArray[np.uint8]:
    """Bring (H, W) or (H, W, 3) bytes to a square by nearest neighbours, or smoothly by areas."""
    how = cv2.INTER_AREA if smooth else cv2.INTER_NEAREST
    return np.asarray(cv2.resize(values, (side, side), interpolation=how), np.uint8)


def to_input(values: NDArray[np.uint8]) -> Tensor:
    """(N, 320, 320) or (320, 320) bytes → (N, 1, 320, 320) in [−1, 1]."""
    maps = values if values.ndim == 3 else values[None]
    return torch.from_numpy(maps.astype(np.float32) / 127.5 - 1.0)[:, None]


def from_output(decoded: Tensor) -> NDArray[np.uint8]:
    """(N, 1, 320, 320) in about [−1, 1] → (N, 320, 320) bytes."""
    values = (decoded[:, 0].detach().cpu().float().clamp(-1, 1) + 1) * 127.5
    return values.round().to(torch.uint8).numpy()
