"""Warnings about a result: contradictory evidence, an uncertain focal length, pixels without depth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.spatial import cKDTree

from sightline.metric.known_sizes import MEASURED, KnownBox, KnownDepth, KnownSizes, Length
from sightline.metric.metric_fit import EvidenceReport, MetricFit
from sightline.metric.sampling import WINDOW, edge_warning, read, sample
from sightline.metric.solver import LEAST_CONTRAST
from sightline.types import Camera, DepthMap

#: Relative standard deviation of a focal length above which a warning is given.
UNSURE = 0.1
#: Share of pixels without depth above which a warning is given.
CUT = 0.05
#: Mean focal power above which distances scale with the focal length; below one minus it, sizes do.
MOSTLY = 0.75
#: Number of their own standard deviations above which two known sizes contradict each other.
TOO_FAR = 3.0
#: Readings that differ by less than this share of the range of disparity show the same object.
SAME = 0.02
#: Largest number of contradictions that are listed.
MOST = 3

Statement = Length | KnownDepth | KnownBox


def fit_warnings(fit: MetricFit, depth: DepthMap, camera: Camera) -> list[str]:
    """Return the warnings about a fit.

    Args:
        fit: of the evidence.
        depth: metric depth with the fitted camera.
        camera: camera before the fit.
    """
    warnings = [line for item in fit.evidence for line in _evidence_warnings(item)]
    if fit.focal_sigma > UNSURE:
        warnings.append(_focal_warning(fit, depth, camera))
    cut = 1 - float(depth.valid.mean())
    if cut >= CUT:
        warnings.append(
            f"{cut:.0%} of the picture is too far to measure (beyond {1 / fit.least:.3g} m) and has "
            f"no depth: its range describes the other {1 - cut:.0%}"
        )
    if float(fit.logs[1] - fit.logs[0]) < 2 * LEAST_CONTRAST:
        warnings.append(
            "the known sizes make the picture almost flat: check them for a mistake, or add one "
            "farther away"
        )
    return warnings


def _evidence_warnings(item: EvidenceReport) -> list[str]:
    if item.contradicts:
        return [
            f"{item.name} contradicts the others and counts little: alone it would make all "
            f"distances {item.factor:.2f} times as long"
        ]
    if item.too_far:
        return [f"{item.name} is too far to measure by: give something nearer"]
    return []


def _focal_warning(fit: MetricFit, depth: DepthMap, camera: Camera) -> str:
    """Describe which distances an uncertain focal length makes uncertain.

    A size across the image determines sizes across, and distances in proportion to the focal
    length; a depth determines depths, and sizes across in inverse proportion. The mean power is
    weighted by the precision of the evidence.
    """
    assert depth.camera is not None
    wide, sigma = depth.camera.fov, fit.focal_sigma
    if fit.changes_camera:
        said = "follows from the evidence"
        known = f"{wide:.0f}° wide, ± {sigma:.0%}, and not {camera.fov:.0f}°"
    else:
        said, known = "is a guess", f"{wide:.0f}° wide, ± {sigma:.0%}"
    precision = [item.weight / item.sigma**2 for item in fit.evidence]
    power = float(np.average([item.focal_power for item in fit.evidence], weights=precision))
    if power >= MOSTLY:
        unsure = (
            "distances from the camera are as uncertain as it is, sizes across the picture are not"
        )
    elif power <= 1 - MOSTLY:
        unsure = "sizes across the picture are as uncertain as it is, depths are not"
    else:
        unsure = "distances from the camera and sizes across the picture both depend on it in part"
    return f"the lens {said} ({known}): {unsure}; set it with --fov"


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two known sizes that contradict each other.

    Attributes:
        names: of both.
        gap: difference of their logarithms.
        allowed: largest difference that their own errors explain.
    """

    names: tuple[str, str]
    gap: float
    allowed: float

    def __str__(self) -> str:
        return (
            f"{self.names[0]} and {self.names[1]} contradict each other: they differ by "
            f"{math.expm1(self.gap):.1%}, their own errors explain {math.expm1(self.allowed):.1%}; "
            "the result is a compromise, correct one of them"
        )


def known_warnings(relative: DepthMap, known: KnownSizes) -> list[str]:
    """Return the warnings about known sizes: ends on depth edges, and contradictions.

    Args:
        relative: relative disparity of the image.
        known: known sizes.
    """
    ends = dict.fromkeys(end for length in known.lengths for end in (length.start, length.end))
    edges = [edge_warning(x, y) for x, y in ends if sample(relative, x, y).edge]
    return edges + conflict_warnings(find_conflicts(relative, known))


def conflict_warnings(conflicts: Sequence[Conflict]) -> list[str]:
    """List the worst contradictions and count the others."""
    more = len(conflicts) - MOST
    warnings = [str(one) for one in conflicts[:MOST]]
    return warnings + ([f"{more} more contradict each other like that"] if more > 0 else [])


def find_conflicts(relative: DepthMap, known: KnownSizes) -> list[Conflict]:
    """Find contradictions between known sizes at the same pixels, the worst first.

    An error of relative disparity at a place affects both alike, so it explains no difference
    between them; only their own errors count.

    Args:
        relative: relative disparity of the image.
        known: known sizes.
    """
    conflicts = [] if known.measured is None else _against_map(known.depths, known.measured)
    groups: tuple[Sequence[Statement], ...] = (known.lengths, known.depths, known.boxes)
    for statements in groups:
        for one, other in _at_same_place(statements, relative):
            conflict = _compare(one, other)
            if conflict.gap > conflict.allowed:
                conflicts.append(conflict)
    return sorted(conflicts, key=lambda conflict: conflict.allowed / conflict.gap)


def _against_map(depths: Sequence[KnownDepth], measured: DepthMap) -> list[Conflict]:
    """Find known depths that the measured map contradicts at the same pixel."""
    meters, found = measured.to_metric_depth(), []
    for known in depths:
        row, column = round(known.point[1]), round(known.point[0])
        inside = 0 <= row < meters.height and 0 <= column < meters.width
        if not inside or not meters.valid[row, column]:
            continue
        gap = abs(math.log(known.meters / float(meters.values[row, column])))
        allowed = TOO_FAR * math.hypot(known.relative_sigma, MEASURED)
        if gap > allowed:
            name = f"measured depth {meters.values[row, column]:.3g} m there"
            found.append(Conflict((known.name, name), gap, allowed))
    return found


def _at_same_place(
    statements: Sequence[Statement], relative: DepthMap
) -> list[tuple[Statement, Statement]]:
    """Return the pairs whose pixels coincide and show the same object."""
    if len(statements) < 2:
        return []
    tree = cKDTree([_ordered(one.pixels) for one in statements])
    pairs = sorted(tree.query_pairs(WINDOW, p=np.inf))
    found = [(statements[first], statements[second]) for first, second in pairs]
    return [pair for pair in found if _shows_same(relative, pair[0].pixels, pair[1].pixels)]


def _shows_same(relative: DepthMap, one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    """Whether relative disparity is the same at two places, so that no edge lies between."""
    if len(one) > 2 or one == other:  # ends of lengths and boxes are read on the nearer side
        return True
    far, near = np.quantile(relative.values[relative.valid], [0.05, 0.95])
    readings = [read(relative, x, y) for x, y in (one, other)]
    return abs(readings[0] - readings[1]) <= SAME * float(near - far)


def _compare(one: Statement, other: Statement) -> Conflict:
    """Compare two sizes at one place, whose pixels may differ by a few."""
    moved = float(np.abs(np.subtract(_ordered(one.pixels), _ordered(other.pixels))).sum())
    errors = math.hypot(one.relative_sigma, other.relative_sigma, moved / one.pixel_size)
    gap = abs(math.log(one.meters / other.meters))
    return Conflict((one.name, other.name), gap, TOO_FAR * errors)


def _ordered(place: tuple[float, ...]) -> tuple[float, ...]:
    """Sort the pixels of a place, so that it does not matter which was named first."""
    return tuple(np.ravel(sorted(zip(place[::2], place[1::2], strict=True))).tolist())
