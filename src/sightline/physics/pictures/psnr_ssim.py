"""PSNR and SSIM of a video against the true one: means over frames, on RGB values from 0 to 255.

Both give what torchmetrics 1.9 gives in double precision (the tests compare, with scikit-image as a
third opinion), without its cost. In single precision, its default, SSIM is off by up to 1e-3 on such
pictures: over flat white, most of them, a variance is the difference of two large equal numbers, and a
white frame is only 0.9992 like itself. In double precision it takes five seconds for a video of 32
frames of 128 px, because its window is not taken apart into rows and columns; here it takes 0.1.
"""

from __future__ import annotations

import math
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.physics.pictures.frames import check_pair
from sightline.physics.types import Doubles, Frames

#: Figure of a frame without any difference, and the most a frame can have, in [dB]. Without it one
#: frame copied to the bit, such as a condition frame, would make a video's mean infinite.
PSNR_CAP = 100.0

#: The Gaussian window of SSIM (Wang et al. 2004): its standard deviation in [px], and its side. Frames
#: are mirrored at their edges, so that every pixel counts.
SSIM_SIGMA = 1.5
SSIM_WINDOW = 11

PSNR_WORDS = f"PSNR in dB of 8-bit RGB, at most {PSNR_CAP:.0f} a frame, mean over frames"
SSIM_WORDS = f"SSIM of RGB, Gaussian window {SSIM_WINDOW} px, sigma {SSIM_SIGMA}, mean over frames"

#: K₁ and K₂ of the paper, times the range of values, squared: they keep flat patches finite.
_C1 = (0.01 * 255) ** 2
_C2 = (0.03 * 255) ** 2


def psnr(video: Frames, truth: Frames) -> float:
    """Peak signal-to-noise ratio in [dB], 0 to `PSNR_CAP`, higher is closer; mean over frames.

    Args:
        video: (T, H, W, 3) uint8.
        truth: (T, H, W, 3) uint8.
    """
    check_pair(video, truth, least=1)
    return float(np.mean([_psnr(*pair) for pair in zip(video, truth, strict=True)]))


def ssim(video: Frames, truth: Frames) -> float:
    """Structural similarity, −1 to 1, 1 for the same; mean over frames.

    Args:
        video: (T, H, W, 3) uint8, at least `SSIM_WINDOW` pixels a side.
        truth: (T, H, W, 3) uint8.
    """
    check_pair(video, truth, least=SSIM_WINDOW)
    return float(np.mean([_ssim(*pair) for pair in zip(video, truth, strict=True)]))


def _psnr(frame: Frames, true: Frames) -> float:
    error = np.square(frame.astype(np.float64) - true).mean()
    if error == 0:
        return PSNR_CAP
    return min(PSNR_CAP, 10 * math.log10(255**2 / error))


def _ssim(frame: Frames, true: Frames) -> float:
    one, two = frame.astype(np.float64), true.astype(np.float64)
    mean_one, mean_two = _blurred(one), _blurred(two)
    product = mean_one * mean_two
    squares = mean_one**2 + mean_two**2
    covariance = _blurred(one * two) - product
    # A variance below zero is rounding.
    variances = np.maximum(_blurred(one * one) - mean_one**2, 0)
    variances += np.maximum(_blurred(two * two) - mean_two**2, 0)
    similar = (2 * product + _C1) * (2 * covariance + _C2)
    return float(np.mean(similar / ((squares + _C1) * (variances + _C2))))


def _blurred(values: Doubles) -> NDArray[Any]:
    window = (SSIM_WINDOW, SSIM_WINDOW)
    return cv2.GaussianBlur(values, window, SSIM_SIGMA, borderType=cv2.BORDER_REFLECT_101)
