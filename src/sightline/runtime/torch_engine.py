"""Run a network with torch: CUDA, Apple GPU, or CPU."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from sightline.errors import InputError, SightlineError
from sightline.types import FloatArray


class TorchEngine:
    """A torch network on one device.

    Args:
        network: maps (N, 3, h, w) to (N, h, w); it is moved to the device and set to eval mode.
        device: `"cpu"`, `"cuda"`, `"cuda:1"`, `"mps"`; None for the best one here.
        half: float16 on CUDA: about twice as fast, differences in the third digit.
    """

    name = "torch"
    fixed_hw: tuple[int, int] | None = None

    def __init__(self, network: nn.Module, device: str | None = None, half: bool = False) -> None:
        place = pick_device(device)
        if half and place.type != "cuda":
            raise InputError(f"half precision is for CUDA, not for {place}")
        self.device = str(place)
        self._dtype = torch.float16 if half else torch.float32
        self._network = network.to(place, self._dtype).eval()

    def run(self, batch: FloatArray) -> FloatArray:
        """Map (N, 3, h, w) float32 normalized pixels to (N, h, w) float32 depth or disparity."""
        with torch.inference_mode():
            try:
                images = torch.from_numpy(np.ascontiguousarray(batch, np.float32))
                output = self._network(images.to(self.device, self._dtype))
            except torch.OutOfMemoryError as error:
                height, width = batch.shape[2:]
                raise SightlineError(
                    f"{self.device} has too little memory for {len(batch)} inputs of "
                    f"{width}×{height}; give a smaller --size"
                ) from error
            values: FloatArray = output.float().cpu().numpy()
        return values


def pick_device(wanted: str | None = None) -> torch.device:
    """Return the device asked for (`InputError` if absent), or the best one of this machine."""
    if wanted is None:
        return torch.device(best_accelerator() or "cpu")
    try:
        place = torch.device(wanted)
    except RuntimeError as error:
        raise InputError(
            f"torch knows no device {wanted!r}", remedy="use cpu, cuda, cuda:N or mps"
        ) from error
    if place.type == "cuda" and (place.index or 0) >= torch.cuda.device_count():
        raise InputError(
            f"{wanted} was asked for, but torch {torch.__version__} sees "
            f"{torch.cuda.device_count()} CUDA devices",
            remedy="use --device cpu, or install a CUDA build of torch and its driver",
        )
    if place.type == "mps" and not torch.backends.mps.is_available():
        raise InputError("mps was asked for, but torch sees no Apple GPU", remedy="use cpu")
    return place


def best_accelerator() -> str | None:
    """Return `"cuda"` or `"mps"` when torch can use one, else None."""
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else None
