"""Metric depth of one image: collect the evidence, fit it, and convert relative to metric depth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.evidence import CONTRAST, Evidence
from sightline.metric.floor import camera_height_evidence
from sightline.metric.focal_length import focal_sigma
from sightline.metric.inpainting import (
    OnPainting,
    PaintConfig,
    PaintedEvidence,
    Painter,
    painted_evidence,
)
from sightline.metric.known_sizes import KnownSizes, measured_evidence, point_evidence
from sightline.metric.metric_fit import EvidenceReport, MetricFit, to_meters
from sightline.metric.people.evidence import people_evidence, shared_sigmas
from sightline.metric.people.iris import IrisFinder, iris_evidence
from sightline.metric.people.types import PeopleFinder, Person
from sightline.metric.solver import ScalePrior, fit, span_of
from sightline.metric.warnings import fit_warnings, known_warnings
from sightline.types import Camera, DepthMap

if TYPE_CHECKING:
    from sightline.metric.people.detected import DetectedPerson

Infer = Callable[[NDArray[np.uint8]], DepthMap]

NO_IRISES = "no face shows both irises well enough to measure by them"
#: Smallest range of gray values, of 255, in an image that is not blank: above noise and compression.
LEAST_TONES = 6
#: Every n-th pixel in each direction is checked.
_EVERY = 4


@dataclass(frozen=True, slots=True, eq=False)
class MetricResult:
    """Metric depth of an image, and the evidence that it is based on.

    Attributes:
        depth: metric depth in [m], with sigma and camera.
        fit: scale, shift and focal length with their uncertainty.
        warnings: reasons for caution, one line each.
        sources: names of the detectors and painters used, by role.
        painted: record of the inpainted people; None if none were painted.
        detections: people detected in the image.
    """

    depth: DepthMap
    fit: MetricFit
    warnings: tuple[str, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)
    painted: PaintedEvidence | None = None
    detections: tuple[Person, ...] = ()

    @property
    def evidence(self) -> tuple[EvidenceReport, ...]:
        """Evidence of scale and how well each piece agrees with the result."""
        return self.fit.evidence

    @property
    def camera(self) -> Camera:
        """Camera with the fitted focal length."""
        assert self.depth.camera is not None
        return self.depth.camera

    @property
    def people(self) -> list[DetectedPerson]:
        """People in the image with height and distance; body models are fitted on each access."""
        from sightline.metric.people.detected import describe_people

        return describe_people(self.detections, self.camera, self.fit.focal_sigma)

    @property
    def usual_sigma(self) -> float:
        """Median over the pixels of sigma / depth."""
        valid = self.depth.valid
        assert self.depth.sigma is not None
        return float(np.median(self.depth.sigma[valid] / self.depth.values[valid]))

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the map as JSON-compatible values."""
        return {
            "kind": str(self.depth.kind),
            "unit": self.depth.unit,
            "scale": self.fit.scale,
            "scale_sigma": self.fit.scale_sigma,
            "shift": self.fit.shift,
            "shift_sigma": self.fit.shift_sigma,
            "focal_px": self.camera.focal,
            "focal_source": str(self.camera.source),
            "focal_sigma": self.fit.focal_sigma,
            "median_depth_m": float(np.median(self.depth.values[self.depth.valid])),
            "median_sigma_share": self.usual_sigma,
            "evidence": [
                {
                    "name": item.name,
                    "kind": item.kind,
                    "alone_distances_times": item.factor,
                    "residual": item.off,
                    "sigma": item.sigma,
                    "weight": item.weight,
                    "contradicts": item.contradicts,
                }
                for item in self.evidence
            ],
            "warnings": list(self.warnings),
            "model": self.depth.source,
            **self.sources,
            **({} if self.painted is None else {"paintings": self.painted.to_dict()}),
        }


def estimate(
    pixels: NDArray[np.uint8],
    camera: Camera,
    relative: DepthMap,
    known: KnownSizes,
    *,
    finder: PeopleFinder | None = None,
    irises: IrisFinder | None = None,
    focal_error: float | None = None,
    painter: Painter | None = None,
    infer: Infer | None = None,
    paint: PaintConfig | None = None,
    on_painting: OnPainting | None = None,
    seed: int = 0,
) -> MetricResult:
    """Convert the relative disparity of an image to metric depth.

    Args:
        pixels: (H, W, 3) uint8 sRGB.
        camera: camera of the image.
        relative: (H, W) relative disparity, with sigma if that is to be propagated.
        known: known sizes.
        finder: detector of people; None to skip people.
        irises: detector of irises; None to skip them.
        focal_error: relative standard deviation of the focal length; None for the default of the
            camera's source.
        painter: inpainting model that adds people; None to paint none. Needs `finder` and `infer`.
        infer: relative disparity of a painted image.
        paint: number of paintings.
        on_painting: called after each painting with the numbers made and accepted.
        seed: random seed.

    Raises:
        InputError: there is no evidence of scale, or it is contradictory.
    """
    evidence = known_evidence(known, relative, camera, seed)
    warnings = known_warnings(relative, known)
    sources: dict[str, str] = {}
    missing: list[str] = []
    people: list[Person] = []
    painted = None
    if finder is not None:
        sources["people_found_by"] = finder.source
        people = finder.find(pixels, camera)
        found = people_evidence(people, relative.values, camera)
        evidence += found.evidence
        warnings += found.warnings
        missing += found.warnings or ["nobody was found"]
    if irises is not None:
        sources["irises_found_by"] = irises.source
        seen = iris_evidence(irises.find(pixels), relative, camera)
        evidence += seen
        if not seen:
            warnings.append(NO_IRISES)
            missing.append(NO_IRISES)
    if painter is not None:
        if finder is None or infer is None:
            raise InputError("painted people have to be found", remedy="give a finder and infer")
        sources["people_painted_by"] = painter.source
        config = paint or PaintConfig(seed=seed)
        painted = painted_evidence(
            pixels, camera, relative, painter, finder, infer, config, on_painting
        )
        evidence += painted.evidence
        warnings += painted.warnings
        if len(painted.accepted) < config.wanted:
            warnings.append(f"{config.wanted} paintings with people were wanted: {painted}")
        missing.append(f"the paintings have no people to measure by: {painted}")
    if not evidence:
        raise _no_evidence(missing, people=finder is not None, faces=irises is not None)
    error = focal_sigma(camera) if focal_error is None else focal_error
    prior = ScalePrior(*CONTRAST, error, shared_sigmas())
    result = fit(evidence, span_of(relative.values[relative.valid]), prior, seed=seed)
    depth = to_meters(relative, result, camera)
    warnings += fit_warnings(result, depth, camera)
    return MetricResult(depth, result, tuple(warnings), sources, painted, tuple(people))


def _no_evidence(missing: Sequence[str], *, people: bool, faces: bool) -> InputError:
    """Return the error that there is no evidence: what was searched, and what can be given.

    Args:
        missing: what was not found, one line each.
        people: True if people were searched.
        faces: True if irises were searched.
    """
    others = ["--length", "--depth-at", "--box", "--camera-height", "--measured"]
    others += [] if faces else ["--iris"]
    ways = f"give {', '.join(others[:-1])} or {others[-1]}"
    problem = "nothing of known size was given or found, so there are no meters"
    return InputError(
        f"{problem}: {'; '.join(missing)}" if missing else problem,
        remedy=ways if people else f"{ways}, or let people be detected",
    )


def known_evidence(
    known: KnownSizes, relative: DepthMap, camera: Camera, seed: int = 0
) -> list[Evidence]:
    """Return the evidence of known sizes.

    Args:
        known: known sizes.
        relative: (H, W) relative disparity.
        camera: camera of the image.
        seed: random seed of floor detection.
    """
    evidence: list[Evidence] = []
    evidence += [length.evidence(relative, camera) for length in known.lengths]
    evidence += point_evidence(relative, known.depths)
    evidence += [box.evidence(relative, camera) for box in known.boxes]
    if known.camera_height is not None:
        evidence.append(camera_height_evidence(relative, camera, known.camera_height, seed)[0])
    if known.measured is not None:
        evidence += measured_evidence(relative, known.measured)
    return evidence


def check_not_blank(pixels: NDArray[np.uint8], *, floor: bool = False) -> None:
    """Raise InputError for an image of a single tone; networks hallucinate depth, and a floor, in it.

    Args:
        pixels: (H, W, 3) uint8 sRGB.
        floor: True if a floor is to be detected, for the message.
    """
    some = pixels[::_EVERY, ::_EVERY].reshape(-1, pixels.shape[-1])
    low, high = np.quantile(some, [0.005, 0.995], axis=0)
    if float((high - low).max()) < LEAST_TONES:
        what = "no floor was found: " if floor else ""
        raise InputError(
            f"{what}the picture is blank, so its depth is undefined",
            remedy="give one that shows something",
        )
