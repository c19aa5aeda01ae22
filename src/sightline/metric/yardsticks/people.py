"""People as yardsticks: the surface of each one's fitted body, under the pixels that show them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.bodies.depth import pseudo_depth
from sightline.metric.bodies.fit import FittedBody, fit_body
from sightline.metric.bodies.stature import HeightPrior
from sightline.metric.head.clues import DepthClue, condense
from sightline.metric.people.types import Mesh, Person
from sightline.types import BoolArray, Camera, FloatArray

#: Relative error of a person's distance where only a mesh says it: the spread of human height among
#: adults, since a mesh tool knows no more of it than we do.
MESH_SIGMA = 0.07
#: Relative error of one person's relative depth beside the line of the picture, and the part of it
#: that everybody in a picture shares: networks set people off from what is around them. With `small`,
#: in the first ten scenes of benchmarks/metres.py; the others of it judge what comes of them.
PERSON_READING, COMMON_READING = 0.15, 0.2
#: From this chance on that somebody is a thing, say so; and what certainty of that adds to the error.
DOUBT, DOUBTFUL = 0.2, 0.5
#: How far somebody must stand out from what is beside them, as a share of the picture's range of
#: disparity, and what it adds to the error when they do not.
RELIEF, FLAT_SIGMA = 0.03, 0.5
#: Fewest pixels of a person that say anything.
FEWEST_PIXELS = 30


@dataclass(frozen=True, slots=True)
class PeopleClues:
    """What people say about a picture.

    Attributes:
        clues: one per person that can be used.
        warnings: about those that cannot, and about those that can.
    """

    clues: tuple[DepthClue, ...]
    warnings: tuple[str, ...]


def people_clues(
    people: Sequence[Person],
    disparity: FloatArray | NDArray[np.float64],
    camera: Camera,
    *,
    first: int = 1,
) -> PeopleClues:
    """Fit a body to every person and read relative disparity under it.

    Args:
        people: of one picture.
        disparity: (H, W) its relative disparity.
        camera: of it; distances are proportional to its focal length.
        first: number of the first person, for their names.
    """
    names, bodies, masks, sigmas, warnings = [], [], [], [], []
    for number, person in enumerate(people, first):
        name = f"person {number}"
        try:
            body = _body(person, camera)
        except InputError as error:
            warnings.append(f"{name}: {error}")
            continue
        names.append(name)
        bodies.append(body)
        masks.append(person.mask)
        doubt = 1 - person.confidence
        own = body.distance_sigma if isinstance(body, FittedBody) else MESH_SIGMA
        flat = not stands_out(disparity, person.mask)
        sigmas.append(math.hypot(own, doubt * DOUBTFUL, FLAT_SIGMA if flat else 0.0))
        if flat:
            warnings.append(
                f"{name}: is as far away as what is beside it: on a poster, or in a mirror?"
            )
        if doubt > DOUBT:
            warnings.append(f"{name}: may not be a person ({doubt:.0%}); look at the picture")
        if isinstance(body, FittedBody):
            warnings += [f"{name}: {line}" for line in body.warnings]
    depth, who = pseudo_depth(bodies, masks, camera)
    clues = []
    for number, (name, sigma) in enumerate(zip(names, sigmas, strict=True)):
        pixels = (who == number) & np.isfinite(disparity)
        if int(pixels.sum()) < FEWEST_PIXELS:
            warnings.append(f"{name}: its body meets too few of its pixels to measure with")
            continue
        values, depths = condense(disparity[pixels], depth[pixels])
        clues.append(
            DepthClue(name, "person", values, depths, person_sigma(sigma), focal_power=1.0)
        )
    return PeopleClues(tuple(clues), tuple(warnings))


def stands_out(disparity: FloatArray | NDArray[np.float64], mask: BoolArray) -> bool:
    """Whether a person is nearer than what is beside the upper half of them, as people are.

    Feet are as far away as the ground that they stand on; a person on a poster is as far away as the
    wall all around, and one in a mirror as the mirror to whoever takes glass for what it is.

    Args:
        disparity: (H, W) relative disparity.
        mask: (H, W) of the person.
    """
    rows, columns = np.nonzero(mask)
    if not len(rows):
        return False
    top, bottom = int(rows.min()), int(rows.max())
    upper = slice(top, max(top + 1, (top + bottom) // 2))
    reach = max(3, (bottom - top) // 8)
    left, right = max(0, int(columns.min()) - 2 * reach), int(columns.max()) + 2 * reach + 1
    part = np.asarray(mask[upper, left:right], np.uint8)
    wide = cv2.dilate(part, np.ones((1, 2 * reach + 1), np.uint8))
    rim = cv2.dilate(part, np.ones((3, 5), np.uint8))
    beside = (wide > 0) & (rim == 0)
    inside = cv2.erode(part, np.ones((3, 3), np.uint8)) > 0
    if not (beside.any() and inside.any()):
        return True  # fills the picture: nothing to compare with
    values = disparity[upper, left:right]
    far, near = np.quantile(disparity, [0.02, 0.98])
    return bool(np.median(values[inside]) - np.median(values[beside]) > RELIEF * (near - far))


def _body(person: Person, camera: Camera) -> FittedBody | Mesh:
    return person.mesh if person.mesh is not None else fit_body(person, camera)


def person_sigma(distance_sigma: float) -> float:
    """Relative error of what one person says: of the distance, and of reading disparity there."""
    return math.hypot(distance_sigma, PERSON_READING)


def shared_sigma(prior: HeightPrior | None = None) -> float:
    """Relative error that all people of a picture share: more of them do not average it away."""
    return math.hypot((prior or HeightPrior()).shared, COMMON_READING)
