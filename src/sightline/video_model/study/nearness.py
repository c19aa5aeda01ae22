"""How near videos are to true ones, frame by frame: PSNR, SSIM and LPIPS."""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline.physics.pictures.lpips import LEAST_SIDE, lpips
from sightline.physics.pictures.psnr_ssim import psnr, ssim
from sightline.physics.pictures.values import NotAvailable, as_json
from sightline.physics.types import Frames


class Nearness:
    """Means over the videos that were added.

    Args:
        size: width and height of frames in [px].
    """

    def __init__(self, size: int) -> None:
        self._near: list[tuple[float, float]] = []
        self._apart: list[float] = []
        self._lacking: NotAvailable | None = None
        if size < LEAST_SIDE:
            self._lacking = NotAvailable(
                "LPIPS", f"frames of {size} px", "a study of larger frames"
            )

    def add(self, made: Frames, truth: Frames) -> None:
        """Compare a video with the true one, both (T, S, S, 3) uint8 RGB."""
        self._near.append((psnr(made, truth), ssim(made, truth)))
        if self._lacking is None:
            distance = lpips(made, truth)
            if isinstance(distance, NotAvailable):
                self._lacking = distance
            else:
                self._apart.append(distance)

    def means(self) -> dict[str, Any]:
        """Return plain values by name: `psnr` in [dB], `ssim`, and `lpips` or why there is none."""
        means = np.array(self._near, np.float64).mean(axis=0)
        apart = self._lacking if self._lacking is not None else float(np.mean(self._apart))
        return {"psnr": float(means[0]), "ssim": float(means[1]), "lpips": as_json(apart)}
