"""Straight segments of a picture, and how well they point at directions in space.

A direction d in space (camera frame) meets the picture at its vanishing point, and every edge along
d points there. A segment with middle m (from the centre of the picture, in [px]) and unit normal n
does so if the angle between it and the line from m to that point is zero. For a focal length f the
sine of that angle is a·d / ‖f d_xy − d_z m‖, where a = (f n, −n·m) is the normal of the plane
through eye and segment.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Doubles = NDArray[np.float64]

#: Longer side that pictures are shrunk to; shorter side below which nothing is sought, [px].
LONG_SIDE, LEAST_SIDE = 640, 16
#: Shortest segment of use, as a share of the longer side and in [px]; how many are kept at most.
SHORTEST, SHORTEST_PX, MOST = 0.03, 8.0, 300
#: Segments this near to the border and along it belong to a frame, not to the scene, [px].
BORDER = 2.5
#: Error of either end of a segment [px], and of edges that are not quite straight or square [rad].
END_ERROR, EDGE_ERROR = 0.35, 0.003
#: Width over which the usual directions of a picture are counted [rad]; share that may run anyhow.
SPREAD, ANYHOW = 0.15, 0.3


@dataclass(frozen=True, slots=True, eq=False)
class Segments:
    """Segments of a picture, the longest first.

    Attributes:
        middle: (N, 2) middles as (x, y) from the centre of the picture, [px].
        normal: (N, 2) unit normals as (x, y).
        length: (N,) in [px].
        sigma: (N,) standard deviation of the direction in the picture, [rad].
        usual: (N,) how dense directions such as its own are in this picture, per [rad].
        size: (width, height) of the picture that they were found in, shrunk, [px].
        shrink: [px] here for each [px] of the picture as it was given.
    """

    middle: Floats
    normal: Floats
    length: Floats
    sigma: Floats
    usual: Floats
    size: tuple[int, int]
    shrink: float

    def __len__(self) -> int:
        return len(self.length)

    def planes(self, focal: Floats) -> Floats:
        """(F,) focal lengths → (F, N, 3) normals, of any length, of planes through the eye."""
        across = focal[:, None, None] * self.normal
        along = -(self.normal * self.middle).sum(1)
        return np.concatenate([across, np.broadcast_to(along, across.shape[:2])[..., None]], 2)

    def miss(self, focal: Floats, directions: Floats) -> tuple[Floats, Floats]:
        """Tell by how much each segment misses each direction's vanishing point.

        Args:
            focal: (F,) in [px].
            directions: (F, K, 3) in the camera frame.

        Returns:
            (F, K, N) sines of angles, with a sign; and (F, K, N) the ‖f d_xy − d_z m‖ in them.
        """
        point = directions[..., :2] * focal[:, None, None]
        depth = directions[..., 2:]
        x = point[..., :1] - depth * self.middle[:, 0]
        y = point[..., 1:] - depth * self.middle[:, 1]
        across = x * self.normal[:, 0] + y * self.normal[:, 1]
        # Right on its vanishing point a segment may run any way.
        reach = np.maximum(np.sqrt(x * x + y * y), np.float32(1e-3) * focal[:, None, None])
        return across / reach, reach


def find_segments(pixels: NDArray[np.uint8]) -> Segments | None:
    """Find the straight edges of a picture.

    Args:
        pixels: (H, W, 3) sRGB or (H, W) grey.

    Returns:
        None where there are none.
    """
    height, width = pixels.shape[:2]
    shrink = min(1.0, LONG_SIDE / max(height, width, 1))
    size = (round(width * shrink), round(height * shrink))
    if min(size) < LEAST_SIDE:
        return None
    small = pixels
    if shrink < 1:
        small = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    small = np.ascontiguousarray(small)
    grey = small if small.ndim == 2 else cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)
    found = cv2.createLineSegmentDetector().detect(grey)[0]
    if found is None:
        return None
    ends = np.asarray(found, np.float64).reshape(-1, 2, 2)
    return _longest(ends[~_on_border(ends, size)], size, shrink)


def _on_border(ends: Doubles, size: tuple[int, int]) -> NDArray[np.bool_]:
    """(N, 2, 2) ends → (N,) True where both lie on one side of the picture's frame."""
    near = (ends < BORDER) | (ends > np.array(size) - 1 - BORDER)
    flat = np.abs(ends[:, 0] - ends[:, 1]) < BORDER
    return np.asarray((near.all(1) & flat).any(1))


def _longest(ends: Doubles, size: tuple[int, int], shrink: float) -> Segments | None:
    """Keep the longest of the segments with these (N, 2, 2) ends."""
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    order = np.argsort(-length, kind="stable")[:MOST]
    order = order[length[order] >= max(SHORTEST * max(size), SHORTEST_PX)]
    if len(order) == 0:
        return None
    ends, length = ends[order], length[order]
    along = (ends[:, 1] - ends[:, 0]) / length[:, None]
    return Segments(
        middle=(ends.mean(1) - (np.array(size) - 1) / 2).astype(np.float32),
        normal=np.stack([-along[:, 1], along[:, 0]], 1).astype(np.float32),
        length=length.astype(np.float32),
        sigma=np.hypot(2 * END_ERROR / length, EDGE_ERROR).astype(np.float32),
        usual=_usual(along, length),
        size=size,
        shrink=shrink,
    )


def _usual(along: Doubles, length: Doubles) -> Floats:
    """(N,) density of directions near each segment's own, by the length of the others, per [rad].

    Grain on the ground, leaves and ripples lie flat in a picture because they are seen from the
    side. That many of them point at some place on the horizon is no evidence for a direction in
    space; segments that agree closer than such things would by chance are.
    """
    sine = along[:, :1] * along[:, 1] - along[:, 1:] * along[:, 0]
    kernel = np.exp(-0.5 * (sine / SPREAD) ** 2)
    np.fill_diagonal(kernel, 0)
    dense = kernel @ length / length.sum() / (SPREAD * np.sqrt(2 * np.pi))
    return np.asarray(ANYHOW / np.pi + (1 - ANYHOW) * dense, np.float32)
