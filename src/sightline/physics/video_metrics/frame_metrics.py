"""PSNR and SSIM of a video against the true one: means over frames, on RGB values from 0 to 255.

Both agree with torchmetrics 1.9 in double precision (the tests compare, with scikit-image as a third
implementation) at a fraction of the cost. In single precision, its default, SSIM is off by up to 1e-3
on such pictures: over flat white, a variance is the difference of two large equal numbers. In double
precision torchmetrics takes five seconds for 32 frames of 128 px, because its window is not separated
into rows and columns; this takes 0.1.

A metric that cannot be computed on this machine is a `NotAvailable`: it appears in JSON, tables and
f-strings where a float would, with the reason and the command that helps, and cannot be averaged by
mistake.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import DTypeLike, NDArray

from sightline.errors import InputError
from sightline.physics.types import Doubles, Frames


@dataclass(frozen=True, slots=True)
class NotAvailable:
    """The place of a figure that was not computed.

    Attributes:
        metric: name for people, such as `LPIPS (alex)`.
        reason: what is missing, without a full stop.
        remedy: the command that gets it.
    """

    metric: str
    reason: str
    remedy: str

    def __str__(self) -> str:
        """One line with everything: for logs and for the note below a table."""
        return f"{self.metric}: not available ({self.reason}; run `{self.remedy}`)"

    def __format__(self, spec: str) -> str:
        """Two words whatever the format, so that a cell of a table may ask for `.3f` of either."""
        return "not available" if spec else str(self)

    def as_json(self) -> dict[str, str]:
        """Return what stands in JSON where the number would: the keys tell it from one."""
        return {"not_available": self.reason, "metric": self.metric, "remedy": self.remedy}


def as_json(value: float | NotAvailable) -> float | dict[str, Any] | None:
    """Return `value` as strict JSON can carry it: a finite number, `null` for NaN, or an object."""
    if isinstance(value, NotAvailable):
        return value.as_json()
    return float(value) if math.isfinite(value) else None


def check_video(video: Frames, what: str = "the video") -> None:
    """Raise an `InputError` unless `video` is (T, H, W, 3) uint8 with something in it."""
    if not isinstance(video, np.ndarray) or video.dtype != np.uint8:
        found = getattr(video, "dtype", type(video).__name__)
        raise InputError(f"{what} is {found}, expected uint8 frames with values from 0 to 255")
    if video.ndim != 4 or video.shape[3] != 3 or video.size == 0:
        raise InputError(f"{what} has shape {video.shape}, expected (frames, height, width, 3)")


def check_pair(video: Frames, truth: Frames, least: int) -> None:
    """Raise an `InputError` unless both are videos of the same shape, `least` pixels a side or more."""
    check_video(video)
    check_video(truth, "the true video")
    if video.shape != truth.shape:
        raise InputError(f"the video has shape {video.shape}, the true one {truth.shape}")
    if min(video.shape[1:3]) < least:
        raise InputError(
            f"frames of {video.shape[2]} × {video.shape[1]} px are too small, "
            f"at least {least} × {least} are needed"
        )


def channels_first(frames: Frames, kind: DTypeLike) -> NDArray[Any]:
    """Copy (N, H, W, 3) uint8 to (N, 3, H, W) floats 0 to 255, which torch may have for its own."""
    return np.ascontiguousarray(frames.transpose(0, 3, 1, 2), dtype=kind)


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
            from sightline.physics.video_metrics.lpips import lpips

            found[name] = lpips(frames, truth)
        else:
            found[name] = psnr(frames, truth) if name == "psnr" else ssim(frames, truth)
    return found
