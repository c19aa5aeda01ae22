"""Picture metrics by their names."""

from __future__ import annotations

from typing import Literal

from sightline.physics.pictures.psnr_ssim import psnr, ssim
from sightline.physics.pictures.values import NotAvailable
from sightline.physics.types import Frames

Picture = Literal["psnr", "ssim", "lpips"]


def picture_metrics(
    frames: Frames, truth: Frames, names: tuple[Picture, ...]
) -> dict[str, float | NotAvailable]:
    """Compare a video with the true one as pictures, where both are of the same size.

    Args:
        frames: (T, H, W, 3) uint8 RGB.
        truth: (T or more, H, W, 3) uint8 RGB.
        names: of the metrics.
    """
    if truth.shape[1:] != frames.shape[1:]:
        sides = f"{frames.shape[1]} px against {truth.shape[1]} px of the truth"
        return {name: NotAvailable(name, sides, "sightline physics make --size") for name in names}
    truth = truth[: len(frames)]
    found: dict[str, float | NotAvailable] = {}
    for name in names:
        if name == "lpips":
            from sightline.physics.pictures.lpips import lpips

            found[name] = lpips(frames, truth)
        else:
            found[name] = psnr(frames, truth) if name == "psnr" else ssim(frames, truth)
    return found
