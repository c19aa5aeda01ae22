"""Train the object detector on images with known boxes, from features of the frozen network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from sightline.errors import InputError
from sightline.perception.vlm.detectors import ObjectDetector
from sightline.training.schedules import cosine_rate

#: Left, top, right and bottom as shares of the picture, by kind.
Boxes = Mapping[str, Sequence[tuple[float, float, float, float]]]

#: Weight of the sides beside the scores.
_SIDES = 0.5
#: Exponents of the focal loss: of how wrong a score is, and of how far from a center.
_HARD, _FAR = 2, 4


@dataclass(frozen=True, slots=True, eq=False)
class DetectionTarget:
    """Target of the object detector for one image.

    Attributes:
        heat: (K, R, C) heat map per kind, 1 at box centers, falling off around them.
        sides: (4, R, C) distances of the four sides from the center of the cell, in cells.
        counts: (R, C) weights of `sides`: 1 near a center, else 0.
    """

    heat: NDArray[np.float32]
    sides: NDArray[np.float32]
    counts: NDArray[np.float32]


def detection_target(boxes: Boxes, kinds: Sequence[str], across: int) -> DetectionTarget:
    """Return the target on a grid of `across` × `across` cells; boxes of other kinds are left out."""
    heat = np.zeros((len(kinds), across, across), np.float32)
    sides = np.zeros((4, across, across), np.float32)
    counts = np.zeros((across, across), np.float32)
    middle = np.arange(across) + 0.5
    # Large things first, so that a small one before them keeps its sides.
    known = [(kind, box) for kind, some in boxes.items() if kind in kinds for box in some]
    for kind, box in sorted(known, key=lambda one: -_area(one[1])):
        left, top, right, bottom = (side * across for side in box)
        wide, high = max(right - left, 0.5), max(bottom - top, 0.5)
        x, y = ((left + right) / 2, (top + bottom) / 2)
        column, row = (min(across - 1, int(v)) for v in (x, y))
        fall = np.exp(
            -((middle[None] - (column + 0.5)) ** 2) / (2 * max(0.6, wide / 8) ** 2)
            - ((middle[:, None] - (row + 0.5)) ** 2) / (2 * max(0.6, high / 8) ** 2)
        ).astype(np.float32)
        layer = heat[list(kinds).index(kind)]
        np.maximum(layer, fall, out=layer)
        near = fall > 0.4
        away = (
            middle[None] - left,
            middle[:, None] - top,
            right - middle[None],
            bottom - middle[:, None],
        )
        for side, value in zip(sides, away, strict=True):
            side[near] = np.broadcast_to(value, side.shape)[near]
        counts[near] = 1.0
    return DetectionTarget(heat, np.maximum(sides, 0.0), counts)


def train_object_detector(
    features: NDArray[np.float16],
    pixels: Callable[[Sequence[int]], Tensor],
    boxes: Sequence[Boxes],
    kinds: Sequence[str],
    *,
    steps: int,
    batch: int = 16,
    rate: float = 2e-3,
    bfloat16: bool = False,
    seed: int = 0,
    report: Callable[[str], None] = print,
) -> ObjectDetector:
    """Train an object detector.

    Args:
        features: (N, C, R, R) features of the frozen network.
        pixels: returns (B, 3, S, S) network inputs by image index.
        boxes: boxes of every image.
        kinds: kinds of objects to detect.
        steps: number of training steps.
        batch: images per step.
        rate: peak learning rate of AdamW.
        bfloat16: compute in bfloat16.
        seed: random seed of the weights and the order of images.
        report: receives progress as lines of text.
    """
    if len(features) != len(boxes):
        raise InputError(f"{len(features)} images but {len(boxes)} lists of boxes")
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    detector = ObjectDetector(features.shape[1], len(kinds))
    optimizer = torch.optim.AdamW(detector.parameters(), rate, weight_decay=0.05)
    across = 2 * features.shape[2]
    total = 0.0
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * cosine_rate(step, steps, steps // 10)
        chosen = [int(k) for k in rng.integers(len(boxes), size=batch)]
        seen = torch.from_numpy(features[chosen].astype(np.float32))
        goals = [detection_target(boxes[k], kinds, across) for k in chosen]
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            scores, sides = detector(seen, pixels(chosen))
        loss = detection_loss(scores, sides, goals)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(detector.parameters(), 5.0)
        optimizer.step()
        total += float(loss.detach())
        if (step + 1) % 50 == 0 or step + 1 == steps:
            report(f"things: step {step + 1} of {steps}, loss {total / (step % 50 + 1):.3f}")
            total = 0.0
    return detector.eval().requires_grad_(False)


def detection_loss(scores: Tensor, sides: Tensor, goals: Sequence[DetectionTarget]) -> Tensor:
    """Return the focal loss of the scores per object plus the relative error of the box sides.

    Args:
        scores: (N, K, R, C) logits.
        sides: (N, 4, R, C) predicted distances of the sides, in cells.
        goals: N targets.
    """
    heat, wanted, counts = (_stack(goals, name) for name in ("heat", "sides", "counts"))
    there = heat == 1
    sure, unsure = F.logsigmoid(scores.float()), F.logsigmoid(-scores.float())
    hits = (1 - sure.exp()) ** _HARD * sure * there
    misses = (1 - heat) ** _FAR * sure.exp() ** _HARD * unsure * ~there
    things = there.sum().clamp(min=1)
    # Errors of the sides grow with the size of the object, so they are divided by it.
    size = (wanted[:, :2] + wanted[:, 2:]).clamp(min=2).repeat(1, 2, 1, 1)
    off = ((sides.float() - wanted).abs() / size * counts[:, None]).sum()
    return -(hits + misses).sum() / things + _SIDES * off / counts.sum().clamp(min=1)


def _area(box: tuple[float, float, float, float]) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def _stack(goals: Sequence[DetectionTarget], name: str) -> Tensor:
    found: list[Any] = [getattr(goal, name) for goal in goals]
    return torch.from_numpy(np.stack(found))
