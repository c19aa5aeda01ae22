"""What a reader of metres must know: contradictions, a lens that is a guess, what is too far."""

from __future__ import annotations

import numpy as np

from sightline.metric.head.apply import is_moved
from sightline.metric.head.fit import LEAST_CONTRAST, ClueReport, MetricFit
from sightline.types import Camera, DepthMap

#: Relative standard deviation of a focal length from which on it must be said.
UNSURE = 0.1
#: Share of a picture without depth from which on the range of the rest is not that of the picture.
CUT = 0.05
#: Distances go with the focal length from this power on, and not at all up to one less it.
MOSTLY = 0.75


def remarks_on(fit: MetricFit, depth: DepthMap, camera: Camera) -> list[str]:
    """Return a line for everything that makes a result less than it seems.

    Args:
        fit: of the yardsticks.
        depth: in [m], with the camera that the fit found.
        camera: before the fit.
    """
    remarks = [line for clue in fit.clues for line in _about(clue)]
    if fit.focal_sigma > UNSURE:
        remarks.append(_lens(fit, depth, camera))
    remarks += _too_far(fit, depth)
    if float(fit.logs[1] - fit.logs[0]) < 2 * LEAST_CONTRAST:
        remarks.append(
            "what is known makes the picture almost flat: look for a mistake in it, or give "
            "something that is farther away"
        )
    return remarks


def _about(clue: ClueReport) -> list[str]:
    """Say whether a yardstick counts little or not at all."""
    if clue.contradicts:
        return [
            f"{clue.name} contradicts the others and counts little: alone it would make all "
            f"distances {clue.factor:.2f} times as long"
        ]
    if clue.too_far:
        return [f"{clue.name} is too far to measure by: give something nearer"]
    return []


def _lens(fit: MetricFit, depth: DepthMap, camera: Camera) -> str:
    """Say how sure the lens is, and what that makes unsure with the yardsticks at hand.

    A size across the picture tells sizes across it, and distances in proportion to the focal length;
    a depth tells depths, and sizes across in inverse proportion. The sure yardsticks count more.
    """
    assert depth.camera is not None
    wide, sigma = depth.camera.fov, fit.focal_sigma
    if is_moved(fit):
        said = "follows from the yardsticks"
        known = f"{wide:.0f}° wide, ± {sigma:.0%}, and not {camera.fov:.0f}°"
    else:
        said, known = "is a guess", f"{wide:.0f}° wide, ± {sigma:.0%}"
    trust = [clue.weight / clue.sigma**2 for clue in fit.clues]
    power = float(np.average([clue.focal_power for clue in fit.clues], weights=trust))
    if power >= MOSTLY:
        unsure = (
            "distances from the camera are as uncertain as it is, sizes across the picture are not"
        )
    elif power <= 1 - MOSTLY:
        unsure = "sizes across the picture are as uncertain as it is, depths are not"
    else:
        unsure = "distances from the camera and sizes across the picture both go with it in part"
    return f"the lens {said} ({known}): {unsure}; --fov says better"


def _too_far(fit: MetricFit, depth: DepthMap) -> list[str]:
    """Say how much of the picture has no depth, where that is much."""
    cut = 1 - float(depth.valid.mean())
    if cut < CUT:
        return []
    return [
        f"{cut:.0%} of the picture is too far to measure (beyond {1 / fit.least:.3g} m) and has no "
        f"depth: what is said of its range is about the other {1 - cut:.0%}"
    ]
