"""Decode the outputs of SSD detectors: anchors, boxes, key points, non-maximum suppression.

The detectors (Liu et al., arXiv 1512.02325) have the form of BlazeFace (arXiv 1907.05047, section 3):
anchors have unit size, so an anchor is only a point. Per anchor the network gives a box (center x,
center y, width, height) and key points (x, y), in input pixels relative to the anchor, and a score
before the sigmoid. Layers of equal stride share one grid, whose cells hold the anchors of all of
them in turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray


def ssd_anchors(size: int, strides: Sequence[int], per_layer: int = 2) -> NDArray[np.float64]:
    """Return the anchors of a square network in the order of its outputs.

    Args:
        size: side of the network's input in [px].
        strides: stride of each layer in [px], from fine to coarse; layers of equal stride are adjacent.
        per_layer: anchors per cell and layer.

    Returns:
        (N, 2) float64, x and y as fractions of the side, row by row.

    >>> len(ssd_anchors(224, (8, 16, 32, 32, 32)))
    2254
    """
    grids = []
    for stride, layers in groupby(strides):
        cells = -(-size // stride)
        middles = (np.arange(cells) + 0.5) / cells
        y, x = np.meshgrid(middles, middles, indexing="ij")
        grid = np.stack([x, y], axis=-1).reshape(-1, 2)
        grids.append(np.repeat(grid, per_layer * len(list(layers)), axis=0))
    return np.concatenate(grids)


Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """N detected objects.

    Attributes:
        scores: (N,) float64, 0 to 1.
        boxes: (N, 4) float64, left, top, right and bottom.
        points: (N, K, 2) float64 key points, x and y.
    """

    scores: Array
    boxes: Array
    points: Array

    def __len__(self) -> int:
        return len(self.scores)

    def __getitem__(self, index: NDArray[np.bool_] | NDArray[np.intp]) -> Detections:
        return Detections(self.scores[index], self.boxes[index], self.points[index])

    def moved(self, scale: float, shift: tuple[float, float]) -> Detections:
        """Return the detections in other coordinates: `scale` times these plus `shift` (x, y)."""
        offset = np.array(shift)
        return Detections(
            self.scores,
            self.boxes * scale + np.tile(offset, 2),
            self.points * scale + offset,
        )


def joined(parts: list[Detections], points: int) -> Detections:
    """Concatenate detections; with no parts, return none with `points` key points each."""
    empty = Detections(np.zeros(0), np.zeros((0, 4)), np.zeros((0, points, 2)))
    return Detections(
        np.concatenate([empty.scores, *(part.scores for part in parts)]),
        np.concatenate([empty.boxes, *(part.boxes for part in parts)]),
        np.concatenate([empty.points, *(part.points for part in parts)]),
    )


def sigmoid(logits: NDArray[np.floating]) -> Array:
    """Map logits to 0 to 1 in float64; logits are clipped to ±100."""
    return 1.0 / (1.0 + np.exp(-np.clip(np.asarray(logits, np.float64), -100.0, 100.0)))


def decode(
    regressors: NDArray[np.floating],
    logits: NDArray[np.floating],
    anchors: Array,
    size: int,
    threshold: float,
) -> Detections:
    """Decode the detections that score at least `threshold`.

    Args:
        regressors: (N, 4 + 2 K) box and key points of every anchor in [px] of the input.
        logits: (N, 1) or (N,) scores before the sigmoid.
        anchors: (N, 2) from `ssd_anchors`.
        size: side of the network's input in [px].
        threshold: lowest score, 0 to 1.

    Returns:
        Boxes and points as fractions of the input's side: 0 is its left or upper edge, 1 the opposite.
    """
    scores = sigmoid(logits).reshape(-1)
    kept = scores >= threshold
    values = np.asarray(regressors, np.float64)[kept] / size
    points = values.reshape(len(values), values.shape[1] // 2, 2) + anchors[kept][:, None]
    # The second pair holds width and height rather than a point.
    half = values[:, 2:4] / 2
    center = points[:, 0]
    boxes = np.concatenate([center - half, center + half], axis=1)
    return Detections(scores[kept], boxes, points[:, 2:])


def overlaps(box: Array, boxes: Array) -> Array:
    """Return the intersection over union of one (4,) box with each of (N, 4) boxes, 0 to 1."""
    low = np.maximum(box[:2], boxes[:, :2])
    high = np.minimum(box[2:], boxes[:, 2:])
    shared = np.prod(np.clip(high - low, 0.0, None), axis=1)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    union = areas + np.prod(box[2:] - box[:2]) - shared
    return np.asarray(shared / np.maximum(union, 1e-12), np.float64)


def weighted_suppression(found: Detections, overlap: float) -> Detections:
    """Merge boxes that overlap by more than `overlap`, weighted by score (BlazeFace, section 3.4).

    The weighted mean is more stable than the best box. The merged detection keeps the highest score.
    Sorted by score.
    """
    order = np.argsort(-found.scores, kind="stable")
    merged = []
    while len(order):
        near = overlaps(found.boxes[order[0]], found.boxes[order]) > overlap
        near[0] = True
        group = found[order[near]]
        weights = group.scores / group.scores.sum()
        merged.append(
            Detections(
                group.scores[:1],
                (weights @ group.boxes)[None],
                np.einsum("n,nkc->kc", weights, group.points)[None],
            )
        )
        order = order[~near]
    return joined(merged, found.points.shape[1])
