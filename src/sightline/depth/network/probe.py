"""Catch weights of the wrong kind by running them on a small drawn picture.

Relative and metric weights have the same names and shapes. In the wrong network they fail quietly:
a metric network's last layer gives mostly negative numbers (the logit of, say, 5 m out of 80),
which a relative network's ReLU turns into zero everywhere; a relative network's large disparities
drive the sigmoid of a metric one to its far end everywhere.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor, nn

from sightline.depth.network.depth_anything import DepthAnything
from sightline.depth.network.vit import PATCH
from sightline.errors import InputError
from sightline.models.entry import ModelSpec

#: Side of the test picture in patches: enough to see something, cheap even for the giant.
CELLS = 9

#: From this share of the range on, a sigmoid counts as driven to its end.
SATURATED = 0.98


def probe_picture(spec: ModelSpec) -> Tensor:
    """Draw a chequered floor under a bright sky with a box on it: (1, 3, 126, 126), normalized."""
    side = CELLS * PATCH
    y, x = torch.meshgrid(torch.linspace(0, 1, side), torch.linspace(-1, 1, side), indexing="ij")
    below = (y - 0.4).clamp(min=0.02)
    chequer = (torch.floor(x / below) + torch.floor(1 / below)) % 2
    floor = torch.stack([0.35 + 0.3 * chequer, 0.3 + 0.25 * chequer, 0.25 + 0.2 * chequer])
    sky = torch.stack([0.5 + 0.3 * y, 0.65 + 0.2 * y, 0.9 + 0.05 * y])
    picture = torch.where(y > 0.42, floor, sky)
    box = (x.abs() < 0.3) & (y > 0.3) & (y < 0.75)
    picture = torch.where(box, torch.stack([0.7 - 0.3 * x, 0.3 + 0.1 * x, 0.2 + 0.1 * y]), picture)
    mean, std = (torch.tensor(values)[:, None, None] for values in (spec.mean, spec.std))
    return ((picture - mean) / std)[None]


def check_kind(network: nn.Module, spec: ModelSpec, path: Path) -> None:
    """Raise `InputError` when the weights are clearly of the other kind than the network.

    Clear is: zero everywhere for a relative network, the far end (almost) everywhere for a metric
    one. What is not clear passes.
    """
    if not isinstance(network, DepthAnything):
        return
    with torch.inference_mode():
        raw = network.raw(probe_picture(spec))
    if not bool(torch.isfinite(raw).all()):
        raise InputError("the network gives infinities or NaN", path=path, remedy="check the file")
    if spec.max_depth is None and bool((raw <= 0).all()):
        raise InputError(
            "metric weights: as a relative network they give zero everywhere",
            path=path,
            remedy="give max_depth: 20 for indoor (Hypersim), 80 for outdoor (VKITTI) weights",
        )
    if spec.max_depth is not None and bool((torch.sigmoid(raw) > SATURATED).all()):
        raise InputError(
            "relative weights: as a metric network they give the largest distance everywhere",
            path=path,
            remedy="load them as a relative network",
        )
