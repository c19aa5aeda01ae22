"""Result of the solver: scale, shift and focal length with uncertainties, and their application."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.evidence import LEAST, READING, Candidates, Doubles
from sightline.types import Camera, CameraSource, DepthMap, Kind

#: Evidence whose residual exceeds this many standard deviations contradicts the rest.
CONTRADICTS = 3.0
#: Change of ln(focal length) above which the camera is reported as estimated from the evidence.
MOVED = 0.02
#: Number of disparities at which the uncertainty of the fit is computed.
_GRID = 65
#: Decimals of logarithms in a record: one millionth of every distance.
_DECIMALS = 6
_SHAPES = {"disparities": (2,), "logs": (3,), "variants": (-1, 3), "widened": ()}


@dataclass(frozen=True, slots=True)
class EvidenceReport:
    """How one piece of evidence agrees with the fit.

    Attributes:
        name: of the evidence.
        kind: of the evidence.
        off: ln(fitted / known distance); 0.1 means the fit is 10 % farther or longer.
        sigma: relative standard deviation of the evidence by itself.
        weight: robust weight, 0 to 1.
        factor: factor by which this evidence alone would change all distances.
        focal_power: power of the focal length by which distances from this evidence scale: 1 for a
            size across the image, 0 for a depth.
        alone: True if there is no other evidence that it could contradict.
        too_far: True if the fit puts it beyond the range in which depth is known.
    """

    name: str
    kind: str
    off: float
    sigma: float
    weight: float
    factor: float
    focal_power: float = 0.0
    alone: bool = False
    too_far: bool = False

    @property
    def contradicts(self) -> bool:
        """Whether it disagrees with the rest by more than its uncertainty explains."""
        return not self.alone and abs(self.off) > CONTRADICTS * self.sigma


@dataclass(frozen=True, slots=True, eq=False)
class MetricFit:
    """Mapping from relative disparity to inverse depth, ρ = s·d + t, with its uncertainty.

    Attributes:
        scale: s.
        shift: t in [1/m].
        scale_sigma: standard deviation of s.
        shift_sigma: standard deviation of t in [1/m].
        span: (2,) far and near disparity at which the unknowns are defined.
        logs: (3,) ln ρ_far, ln ρ_near and ln(focal factor).
        variants: (B, 3) the same for perturbed problems; their spread is the uncertainty.
        widened: factor on that spread, at least 1, for evidence that disagrees (Birge ratio).
        focal_sigma: relative standard deviation of the fitted focal length.
        evidence: agreement of each piece of evidence.
    """

    scale: float
    shift: float
    scale_sigma: float
    shift_sigma: float
    span: Doubles
    logs: Doubles
    variants: Doubles
    widened: float
    focal_sigma: float
    evidence: tuple[EvidenceReport, ...]

    @classmethod
    def from_logs(
        cls,
        span: Doubles,
        logs: Doubles,
        variants: Doubles,
        widened: float,
        focal_sigma: float,
        evidence: tuple[EvidenceReport, ...] = (),
    ) -> MetricFit:
        """Build a fit from its logarithms and their variants; arguments as the attributes."""
        best, varied = Candidates.from_logs(logs[None], span), Candidates.from_logs(variants, span)
        return cls(
            float(best.scale[0]),
            float(best.shift[0]),
            float(widened * varied.scale.std(ddof=1)),
            float(widened * varied.shift.std(ddof=1)),
            span,
            logs,
            variants,
            widened,
            focal_sigma,
            evidence,
        )

    @property
    def focal_factor(self) -> float:
        """Fitted focal length divided by the given one."""
        return float(np.exp(self.logs[2]))

    @property
    def changes_camera(self) -> bool:
        """Whether the evidence moved the focal length noticeably."""
        return abs(float(self.logs[2])) > MOVED

    @property
    def least(self) -> float:
        """Inverse depth in [1/m] below which depth is unknown."""
        return float(LEAST * np.exp(self.logs[1]))

    def varied(self, disparity: Doubles) -> tuple[Doubles, Doubles]:
        """Evaluate the perturbed fits.

        Args:
            disparity: (N,) relative disparity.

        Returns:
            (B, N) changes of ln(depth), and (B,) focal lengths divided by the fitted one.
        """
        inverse = Candidates.from_logs(self.variants, self.span).inverse(disparity)
        best = np.maximum(self.scale * disparity + self.shift, self.least)
        focal = self.variants[:, 2] - self.logs[2]
        return self.widened * np.log(best / inverse), np.exp(self.widened * focal)

    def relative_sigma(self, disparity: NDArray[Any]) -> Doubles:
        """Return the standard deviation of ln(depth) due to the fit, for disparities of any shape.

        Half the width of the central 68 % of the variants, interpolated from a grid. The mappings
        cross at the evidence and diverge elsewhere; linear error propagation would not show that.
        """
        grid = np.linspace(float(disparity.min()), float(disparity.max()), _GRID)
        low, high = np.quantile(self.varied(grid)[0], [0.16, 0.84], axis=0)
        return np.interp(disparity, grid, (high - low) / 2)


def to_meters(relative: DepthMap, fit: MetricFit, camera: Camera | None = None) -> DepthMap:
    """Convert relative disparity to metric depth with a standard deviation for every pixel.

    Two variances add up: that of the fit, common to all pixels, and that of the relative map (its
    sigma, or `READING` if it has none). Pixels a thousand times as far as the near part of the image,
    such as sky, become invalid.

    Args:
        relative: (H, W) relative disparity, with sigma if known.
        fit: of the same map.
        camera: camera of the image; the result has the fitted focal length.

    Returns:
        Metric depth in [m] with sigma and camera.
    """
    if relative.kind is not Kind.RELATIVE_DISPARITY:
        raise InputError(f"expected relative disparity, got a map of kind {relative.kind}")
    disparity = relative.values.astype(np.float64)
    inverse = fit.scale * disparity + fit.shift
    valid = relative.valid & (inverse > fit.least)
    if not valid.any():
        raise InputError(
            "no pixel has a finite depth", remedy="check the known sizes for a mistake"
        )
    inverse = np.where(valid, inverse, 1.0)
    # σ(ln z) = σ(ln ρ) = σ(ρ) / ρ, with ρ = s·d + t; independent errors add in quadrature.
    variance = fit.relative_sigma(disparity) ** 2
    if relative.sigma is None:
        variance += READING**2
    else:
        variance += (fit.scale * relative.sigma.astype(np.float64) / inverse) ** 2
    depth = 1 / inverse
    camera = camera or relative.camera
    if camera is not None:
        camera = fitted_camera(camera, fit)
    return DepthMap(
        depth.astype(np.float32),
        Kind.METRIC_DEPTH,
        valid,
        camera,
        (depth * np.sqrt(variance)).astype(np.float32),
        relative.source,
    )


def fitted_camera(camera: Camera, fit: MetricFit) -> Camera:
    """Return the camera with the fitted focal length; its source is `ESTIMATED` if that changed."""
    K = camera.K.copy()
    K[:2, :2] *= fit.focal_factor
    source = CameraSource.ESTIMATED if fit.changes_camera else camera.source
    return Camera(K, camera.width, camera.height, source)


def to_record(fit: MetricFit) -> dict[str, Any]:
    """Return a fit as JSON-compatible numbers; measuring later needs its error correlations."""
    return {
        "disparities": fit.span.tolist(),
        "logs": fit.logs.tolist(),
        "variants": fit.variants.round(_DECIMALS).tolist(),
        "widened": fit.widened,
        "focal_sigma": fit.focal_sigma,
    }


def from_record(record: Any) -> MetricFit:
    """Restore a fit, without its evidence, from `to_record`.

    Raises:
        ValueError, TypeError, KeyError: the record is malformed.
    """
    span, logs, variants, widened = (
        np.array(record[name], np.float64).reshape(shape) for name, shape in _SHAPES.items()
    )
    finite = all(np.isfinite(part).all() for part in (span, logs, variants, widened))
    if not finite or len(variants) < 2 or span[1] <= span[0]:
        raise ValueError("malformed record of a fit")
    return MetricFit.from_logs(span, logs, variants, float(widened), float(record["focal_sigma"]))
