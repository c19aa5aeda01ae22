"""People as yardsticks: where each one's fitted body meets the ground, or else its surface.

The paper reads disparity on people. On the ground at their feet it is a better reading (see
`bodies.feet`), so where feet are seen, that is what is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.metric.bodies.depth import pseudo_depth
from sightline.metric.bodies.feet import footing
from sightline.metric.bodies.fit import FittedBody, fit_body
from sightline.metric.bodies.stature import HeightPrior
from sightline.metric.head.clues import DepthClue, condense
from sightline.metric.people.types import Mesh, Person
from sightline.types import BoolArray, Camera, FloatArray

#: Relative error of a person's distance where only a mesh says it: the spread of human height among
#: adults, since a mesh tool knows no more of it than we do.
MESH_SIGMA = 0.07
#: Relative error of one person's relative depth beside the line of the picture, and the part of it
#: that everybody in a picture shares: networks set people off from what is around them. Measured with
#: `small` in rendered scenes (docs/lab-log.md).
PERSON_READING, COMMON_READING = 0.15, 0.12
#: The same for the ground at a person's feet; the common part was chosen so that error bars hold in
#: thirty rendered scenes other than those of the table, since the ground is not the whole picture.
FEET_READING, COMMON_FEET = 0.05, 0.1
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
    ground: FloatArray | NDArray[np.float64] | None = None,
    where: str = "",
) -> PeopleClues:
    """Fit a body to every person and read relative disparity at its feet, or under it.

    Args:
        people: of one picture.
        disparity: (H, W) its relative disparity.
        camera: of it; distances are proportional to its focal length.
        ground: (H, W) relative disparity of the picture before people were painted into it, in the
            same units; None for `disparity`.
        where: they are, behind their names.
    """
    measured: list[_Measured] = []
    warnings: list[str] = []
    for number, person in enumerate(people, 1):
        name = f"person {number}{where}"
        try:
            body = _body(person, camera)
        except InputError as error:
            warnings.append(f"{name}: {error}")
            continue
        doubt = 1 - person.confidence
        own = body.distance_sigma if isinstance(body, FittedBody) else MESH_SIGMA
        flat = not stands_out(disparity, person.mask)
        sigma = math.hypot(own, doubt * DOUBTFUL, FLAT_SIGMA if flat else 0.0)
        measured.append(_Measured(name, person, body, sigma))
        if flat:
            warnings.append(
                f"{name}: is as far away as what is beside it: on a poster, or in a mirror?"
            )
        if doubt > DOUBT:
            warnings.append(f"{name}: may not be a person ({doubt:.0%}); look at the picture")
        if isinstance(body, FittedBody):
            warnings += [f"{name}: {line}" for line in body.warnings]
    bodies, masks = [one.body for one in measured], [one.person.mask for one in measured]
    depth, who = pseudo_depth(bodies, masks, camera)
    clues = []
    for number, one in enumerate(measured):
        pixels = (who == number) & np.isfinite(disparity)
        if int(pixels.sum()) < FEWEST_PIXELS:
            warnings.append(f"{one.name}: its body meets too few of its pixels to measure with")
            continue
        clue = _feet_clue(one, disparity if ground is None else ground, camera)
        if clue is None:
            clue = surface_clue(one.name, disparity[pixels], depth[pixels], one.sigma)
        clues.append(clue)
    return PeopleClues(tuple(clues), tuple(warnings))


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """A person, their body, and the relative error of its distance."""

    name: str
    person: Person
    body: FittedBody | Mesh
    sigma: float


def _feet_clue(
    one: _Measured, ground: FloatArray | NDArray[np.float64], camera: Camera
) -> DepthClue | None:
    """Return what the ground at somebody's feet says, if they are seen to stand on it."""
    mesh = one.body.mesh if isinstance(one.body, FittedBody) else one.body
    found = footing(mesh, one.person, camera)
    if found is None:
        return None
    value = float(np.median(ground[found.rows, found.columns]))
    if not math.isfinite(value):
        return None
    return ground_clue(one.name, value, found.depth, one.sigma)


def surface_clue(
    name: str, disparity: NDArray[Any], depth: NDArray[Any], distance_sigma: float
) -> DepthClue:
    """Return what the surface of a person's body says.

    Args:
        name: of the person.
        disparity: (N,) relative disparity at pixels of the person.
        depth: (N,) of the body there, [m].
        distance_sigma: relative error of the body's distance.
    """
    sigma = math.hypot(distance_sigma, PERSON_READING)
    return DepthClue(name, "person", *condense(disparity, depth), sigma, focal_power=1.0)


def ground_clue(name: str, disparity: float, depth: float, distance_sigma: float) -> DepthClue:
    """Return what the ground at a person's feet says.

    Args:
        name: of the person.
        disparity: relative disparity of the ground.
        depth: of the feet, [m].
        distance_sigma: relative error of the body's distance.
    """
    sigma = math.hypot(distance_sigma, FEET_READING)
    return DepthClue(
        f"feet of {name}", "feet", np.array([disparity]), np.array([depth]), sigma, focal_power=1.0
    )


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


def shared_sigmas(prior: HeightPrior | None = None) -> dict[str, float]:
    """Relative errors that all clues of a kind share: more people do not average them away."""
    height = (prior or HeightPrior()).shared
    return {
        "person": math.hypot(height, COMMON_READING),
        "feet": math.hypot(height, COMMON_FEET),
    }
