"""The Fréchet distance of two sets of feature vectors, taken for Gaussians (Heusel et al. 2017).

|m₁ − m₂|² + tr(C₁ + C₂ − 2 (C₁ C₂)^½), with the means and covariances of the two sets. Parts of a
set may be computed apart and merged, in constant memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sightline.errors import InputError
from sightline.physics.types import Doubles


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
