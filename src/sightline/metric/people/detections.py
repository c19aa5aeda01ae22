"""From the raw outputs of an SSD detector to boxes and key points: decoding and merging.

The format is that of Google's BlazeFace and BlazePose detectors: per anchor a box (centre x, centre
y, width, height) and key points (x, y), all in input pixels relative to the anchor's point, and a
score before the sigmoid.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Detections:
    """N things found.

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
        """Return them in other coordinates: `scale` times these plus `shift` (x, y)."""
        offset = np.array(shift)
        return Detections(
            self.scores,
            self.boxes * scale + np.tile(offset, 2),
            self.points * scale + offset,
        )


def joined(parts: list[Detections], points: int) -> Detections:
    """Put several together; `points` key points each, should there be none at all."""
    empty = Detections(np.zeros(0), np.zeros((0, 4)), np.zeros((0, points, 2)))
    return Detections(
        np.concatenate([empty.scores, *(part.scores for part in parts)]),
        np.concatenate([empty.boxes, *(part.boxes for part in parts)]),
        np.concatenate([empty.points, *(part.points for part in parts)]),
    )


def sigmoid(logits: NDArray[np.floating]) -> Array:
    """Map logits to 0 to 1, in float64; beyond ±100 they are taken as ±100."""
    return 1.0 / (1.0 + np.exp(-np.clip(np.asarray(logits, np.float64), -100.0, 100.0)))


def decode(
    regressors: NDArray[np.floating],
    logits: NDArray[np.floating],
    anchors: Array,
    size: int,
    threshold: float,
) -> Detections:
    """Decode what scores at least `threshold`.

    Args:
        regressors: (N, 4 + 2 K) box and key points of every anchor in [px] of the input.
        logits: (N, 1) or (N,) scores before the sigmoid.
        anchors: (N, 2) as `ssd_anchors` gives them.
        size: side of the network's input in [px].
        threshold: lowest score, 0 to 1.

    Returns:
        Boxes and points in fractions of the input's side: 0 is its left or upper edge, 1 the other.
    """
    scores = sigmoid(logits).reshape(-1)
    kept = scores >= threshold
    values = np.asarray(regressors, np.float64)[kept] / size
    points = values.reshape(len(values), values.shape[1] // 2, 2) + anchors[kept][:, None]
    # The second pair is no point but width and height.
    half = values[:, 2:4] / 2
    centre = points[:, 0]
    boxes = np.concatenate([centre - half, centre + half], axis=1)
    return Detections(scores[kept], boxes, points[:, 2:])


def overlaps(box: Array, boxes: Array) -> Array:
    """Intersection over union of one (4,) box with each of (N, 4) boxes, 0 to 1."""
    low = np.maximum(box[:2], boxes[:, :2])
    high = np.minimum(box[2:], boxes[:, 2:])
    shared = np.prod(np.clip(high - low, 0.0, None), axis=1)
    areas = np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    union = areas + np.prod(box[2:] - box[:2]) - shared
    return np.asarray(shared / np.maximum(union, 1e-12), np.float64)


def weighted_suppression(found: Detections, overlap: float) -> Detections:
    """Merge boxes that overlap by more than `overlap`, weighted by score (BlazeFace, section 3.4).

    The mean of all is steadier than the best alone. The merged one keeps the highest score. The
    surest come first.
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
