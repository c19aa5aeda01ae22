"""LPIPS of a video against the true one: the mean over frames of the learned distance of pictures."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sightline.errors import InputError
from sightline.physics.types import Frames
from sightline.physics.video_metrics.frame_metrics import NotAvailable, channels_first, check_pair
from sightline.physics.video_metrics.weights import fetched, lacking, read_arrays

if TYPE_CHECKING:
    from torch import Tensor

    from sightline.physics.video_metrics.networks import Lpips, NetName

#: Least side of a frame in [px]: below it AlexNet's last layers have no pixel left.
LEAST_SIDE = 32

#: How the figure comes about, for the protocol line; `{net}` is `alex` or `vgg`.
LPIPS_WORDS = "LPIPS v0.1 ({net}, linear heads), frames at their own size, mean over frames"

#: Frames that are worked on at a time, so that the length of a video does not matter for memory.
_CHUNK = 8


def load_lpips(net: NetName = "alex") -> Lpips | NotAvailable:
    """Return the network with its fetched weights, or what is missing. Later calls cost nothing.

    Args:
        net: `alex`, the one usually reported, or `vgg`, about ten times the work.
    """
    if net not in ("alex", "vgg"):
        raise InputError(f"LPIPS has no network {net!r}", remedy="use alex or vgg")
    metric = f"LPIPS ({net})"
    if missing := lacking(metric, "torch"):
        return missing
    path = fetched(metric, f"lpips-{net}")
    return path if isinstance(path, NotAvailable) else _loaded(path, net)


def lpips(video: Frames, truth: Frames, net: NetName = "alex") -> float | NotAvailable:
    """Learned perceptual distance, 0 for the same, rarely above 1; mean over frames.

    Args:
        video: (T, H, W, 3) uint8, at least `LEAST_SIDE` pixels a side.
        truth: (T, H, W, 3) uint8.
        net: `alex` or `vgg`.
    """
    check_pair(video, truth, least=LEAST_SIDE)
    network = load_lpips(net)
    if isinstance(network, NotAvailable):
        return network
    import torch

    total = 0.0
    with torch.inference_mode():
        for start in range(0, len(video), _CHUNK):
            part = slice(start, start + _CHUNK)
            distances = network(_pictures(video[part]), _pictures(truth[part]))
            total += float(distances.double().sum())
    return total / len(video)


def _pictures(frames: Frames) -> Tensor:
    """(N, H, W, 3) uint8 → (N, 3, H, W) float32 from −1 to 1."""
    import torch

    return torch.from_numpy(channels_first(frames, np.float32)) / 127.5 - 1


@lru_cache(maxsize=2)
def _loaded(path: Path, net: NetName) -> Lpips:
    from sightline.physics.video_metrics.networks import Lpips

    network = Lpips(net)
    network.load(read_arrays(path))
    return network
