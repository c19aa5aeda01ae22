"""FVD, the Fréchet video distance of two sets of videos (Unterthiner et al. 2018, arXiv 1812.01717).

The variant of StyleGAN-V (Skorokhodov et al. 2022), as PhyWorld uses it: every frame of a clip is
resized to 224 × 224 bilinearly (pixel centers at halves, no antialiasing), values are −1 to 1, and the
features are the 400 logits of the TensorFlow hub's I3D, averaged over time, before the softmax. The
distance of the two Gaussians is |m₁ − m₂|² + tr(C₁ + C₂ − 2 (C₁ C₂)^½) (Heusel et al. 2017).

* Values are comparable only at the same number of videos and of frames: with few videos FVD is biased
  upwards. So both are part of the result. PhyWorld has 600 videos in template, 500 out of it.
* Checked once against the original: on the two sets of 128 random clips of
  `universome/fvd-comparison`, where TensorFlow gives 10.13809, these features give 10.13809 (with
  count − 1, as there).
* Videos go through the network one by one: memory is constant, and features do not depend on other
  videos. Statistics of parts of a set may be computed separately and merged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from sightline.errors import InputError
from sightline.physics.types import Doubles, Frames
from sightline.physics.video_metrics.frame_metrics import NotAvailable, channels_first, check_video
from sightline.physics.video_metrics.weights import fetched, lacking, read_arrays

if TYPE_CHECKING:
    from sightline.physics.video_metrics.networks import I3d


@dataclass(frozen=True, slots=True)
class Moments:
    """Count, mean and scatter of a set of vectors; float64.

    Attributes:
        count: how many vectors.
        mean: (D,).
        scatter: (D, D), the sum of the outer products of the differences from the mean. About the
            mean, not about zero: features of alike videos differ by little of their length.
    """

    count: int
    mean: Doubles
    scatter: Doubles

    @property
    def covariance(self) -> Doubles:
        """(D, D) scatter over the count, as StyleGAN-V divides; the original FVD has count − 1."""
        return self.scatter / self.count

    def merged(self, other: Moments) -> Moments:
        """Return the moments of both sets together (Chan, Golub & LeVeque 1983)."""
        count = self.count + other.count
        step = other.mean - self.mean
        return Moments(
            count,
            self.mean + step * (other.count / count),
            self.scatter
            + other.scatter
            + np.outer(step, step) * (self.count * other.count / count),
        )


def moments_of(vectors: ArrayLike) -> Moments:
    """Return the moments of (N, D) vectors, N ≥ 1."""
    values = np.asarray(vectors, np.float64)
    if values.ndim != 2 or len(values) == 0:
        raise InputError(f"features of shape {values.shape}, expected (count, features)")
    mean = values.mean(axis=0)
    return Moments(len(values), mean, (values - mean).T @ (values - mean))


def frechet_distance(one: Moments, other: Moments) -> float:
    """Return the squared Fréchet distance, ≥ 0, in squared units of the features."""
    return gaussian_distance(one.mean, one.covariance, other.mean, other.covariance)


def gaussian_distance(
    mean: Doubles, covariance: Doubles, other_mean: Doubles, other_covariance: Doubles
) -> float:
    """Return the squared Fréchet distance of two Gaussians, ≥ 0.

    The trace of (C₁ C₂)^½ is the sum of the singular values of C₁^½ C₂^½. Symmetric roots exist for any
    covariance, so fewer samples than features do no harm, and nothing turns complex, as it may when the
    root is taken of the product, which is not symmetric.

    Args:
        mean: (D,).
        covariance: (D, D), symmetric, without negative eigenvalues but for rounding.
        other_mean: (D,).
        other_covariance: (D, D).
    """
    cross = np.linalg.norm(_root(covariance) @ _root(other_covariance), "nuc")
    apart = np.square(mean - other_mean).sum()
    spread = np.trace(covariance) + np.trace(other_covariance)
    return max(0.0, float(apart + spread - 2 * cross))


def _root(matrix: Doubles) -> Doubles:
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.sqrt(np.clip(values, 0, None))) @ vectors.T


#: How the figure comes about, for the protocol line.
FVD_WORDS = (
    "FVD as in StyleGAN-V: I3D Kinetics-400 (TensorFlow hub), 400 logits, frames at 224 × 224"
)


@dataclass(frozen=True, slots=True)
class Fvd:
    """A distance with what it depends on.

    Attributes:
        value: the distance, ≥ 0.
        videos: how many videos were judged.
        truths: how many true videos they were compared with.
        frames: frames of each video.
    """

    value: float
    videos: int
    truths: int
    frames: int

    def __str__(self) -> str:
        """One line for people."""
        return (
            f"{self.value:.2f} ({self.videos} videos against {self.truths}, {self.frames} frames)"
        )


class FvdStatistics:
    """What FVD keeps of a set of videos: moments of their features, and their number of frames."""

    def __init__(self) -> None:
        self.frames: int | None = None
        self.moments: Moments | None = None

    @property
    def count(self) -> int:
        """How many videos were added."""
        return 0 if self.moments is None else self.moments.count

    def add(self, video: Frames, network: I3d) -> None:
        """Add one (T, H, W, 3) uint8 video; all of a set must have the same T."""
        self._merge(len(video), moments_of(video_features(video, network)[None]))

    def merge(self, other: FvdStatistics) -> None:
        """Add what another process or run has gathered."""
        if other.moments is not None and other.frames is not None:
            self._merge(other.frames, other.moments)

    def distance(self, other: FvdStatistics) -> Fvd:
        """Return the FVD between this set of videos and `other`, the true ones."""
        for statistics, what in ((self, "videos"), (other, "true videos")):
            if statistics.count < 2:
                raise InputError(f"FVD needs at least two {what}, got {statistics.count}")
        if self.frames != other.frames:
            raise InputError(
                f"videos of {self.frames} frames cannot be compared with true ones of {other.frames}",
                remedy="cut them to the same length",
            )
        assert self.moments is not None
        assert other.moments is not None
        assert self.frames is not None
        value = frechet_distance(self.moments, other.moments)
        return Fvd(value, self.count, other.count, self.frames)

    def _merge(self, frames: int, moments: Moments) -> None:
        if self.moments is None:
            self.frames, self.moments = frames, moments
        elif frames != self.frames:
            raise InputError(
                f"a video of {frames} frames among videos of {self.frames}",
                remedy="cut them to the same length",
            )
        else:
            self.moments = self.moments.merged(moments)


def load_i3d() -> I3d | NotAvailable:
    """Return the network with its fetched weights, or what is missing. Later calls cost nothing."""
    if missing := lacking("FVD", "torch"):
        return missing
    path = fetched("FVD", "i3d-kinetics400")
    return path if isinstance(path, NotAvailable) else _loaded(path)


def video_features(video: Frames, network: I3d) -> Doubles:
    """Return the (400,) features of a (T, H, W, 3) uint8 video of at least 9 frames."""
    import torch
    from torch.nn.functional import interpolate

    from sightline.physics.video_metrics.networks import LEAST_FRAMES, SIDE

    check_video(video)
    if len(video) < LEAST_FRAMES:
        raise InputError(f"a video of {len(video)} frames; FVD needs at least {LEAST_FRAMES}")
    with torch.inference_mode():
        frames = torch.from_numpy(channels_first(video, np.float32))
        frames = interpolate(frames, size=(SIDE, SIDE), mode="bilinear", align_corners=False)
        clip = (frames * (2 / 255) - 1).permute(1, 0, 2, 3)[None]
        features = network(clip)[0].double().numpy()
    return np.asarray(features, np.float64)


def fvd(videos: Iterable[Frames], truths: Iterable[Frames]) -> Fvd | NotAvailable:
    """Return the Fréchet video distance of a set of videos from the true ones.

    Both may be generators: one video is held at a time. They need not correspond, nor be equally many.

    Args:
        videos: (T, H, W, 3) uint8 each, the same T ≥ 9 for all, 16 or more as a rule.
        truths: (T, H, W, 3) uint8 each, of the same T.
    """
    network = load_i3d()
    if isinstance(network, NotAvailable):
        return network
    sets = FvdStatistics(), FvdStatistics()
    for statistics, source in zip(sets, (videos, truths), strict=True):
        for video in source:
            statistics.add(video, network)
    return sets[0].distance(sets[1])


@lru_cache(maxsize=1)
def _loaded(path: Path) -> I3d:
    from sightline.physics.video_metrics.networks import I3d

    network = I3d()
    network.load(read_arrays(path))
    return network
