"""People as evidence of scale: the ground at their feet, or else their surface.

Metric from Human reads relative disparity on people. Networks separate people from their surroundings
by varying amounts, so disparity on a person is unreliable; the ground is one surface, near and far. So
the ground at the feet is used where feet are visible.
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
from sightline.metric.body.fit import FittedBody, fit_body
from sightline.metric.body.render import pseudo_depth
from sightline.metric.body.stature import HeightPrior
from sightline.metric.evidence import DepthEvidence, condense
from sightline.metric.people.types import LANDMARKS, BodyMesh, Person
from sightline.types import BoolArray, Camera, FloatArray

#: Lowest part of a body, as a share of its extent in the image.
LOWEST = 0.015
#: Largest distance of the lowest part from the mask, as a share of the extent.
CLOSE = 0.03
#: Smallest visibility of a foot.
SEEN = 0.5
_FEET = tuple(
    tuple(LANDMARKS.index(f"{part}.{side}") for part in ("ankle", "heel", "toe")) for side in "LR"
)


@dataclass(frozen=True, slots=True, eq=False)
class Footing:
    """Ground contact of a person.

    Attributes:
        rows: (N,) rows of the pixels at the lowest part of the body.
        columns: (N,) columns of the same pixels.
        depth: of that part along the optical axis, in [m].
    """

    rows: NDArray[np.intp]
    columns: NDArray[np.intp]
    depth: float


def footing(mesh: BodyMesh, person: Person, camera: Camera) -> Footing | None:
    """Find where a person's feet touch the ground; None if that is not visible.

    Feet are not visible if their landmarks are hidden, or, for a mesh without landmarks, if the mask
    ends above them. A mask that is only the outline of the mesh does not show it.

    Args:
        mesh: surface of the person in [m].
        person: the person.
        camera: of the image.
    """
    if person.outlined:
        return None
    if person.mesh is None and not any(
        float(np.nan_to_num(person.visibility[list(foot)]).min()) >= SEEN for foot in _FEET
    ):
        return None
    ahead = mesh.vertices[mesh.vertices[:, 2] > 0]
    if not len(ahead):
        return None
    flat = ahead @ camera.K.T
    columns, rows = flat[:, 0] / flat[:, 2], flat[:, 1] / flat[:, 2]
    extent = float(rows.max() - rows.min())
    low = rows > rows.max() - LOWEST * extent
    places = np.rint(np.column_stack([rows[low], columns[low]])).astype(np.intp)
    inside = (places >= 1) & (places < np.array([camera.height, camera.width]) - 1)
    if not inside.all() or not _meets(person, places, extent):
        return None
    places = np.unique(places, axis=0)
    return Footing(places[:, 0], places[:, 1], float(np.median(ahead[low, 2])))


def _meets(person: Person, places: NDArray[np.intp], extent: float) -> bool:
    """Whether the mask reaches the lowest part of the body."""
    reach = max(1, round(CLOSE * extent))
    top, left = np.maximum(places.min(0) - reach, 0)
    bottom, right = places.max(0) + reach + 1
    part = np.asarray(person.mask[top:bottom, left:right], np.uint8)
    wide = cv2.dilate(part, np.ones((2 * reach + 1, 2 * reach + 1), np.uint8))
    rows, columns = (places - (top, left)).T
    return bool(wide[rows, columns].mean() > 0.5)


#: Relative error of a person's distance from a mesh alone: the spread of height among adults.
MESH_SIGMA = 0.07
#: Relative error of relative disparity on a person, and the part of it common to all people of an
#: image. Measured with `small` in rendered scenes (docs/lab-log.md).
PERSON_READING, COMMON_READING = 0.15, 0.12
#: The same for the ground at the feet. The common part was chosen so that the intervals have the right
#: coverage in thirty rendered scenes other than those of the benchmark.
FEET_READING, COMMON_FEET = 0.05, 0.1
#: Probability of a false detection above which a warning is given, and the relative error at certainty.
DOUBT, DOUBTFUL = 0.2, 0.5
#: Smallest disparity difference to the surroundings, as a share of the range in the image, and the
#: relative error added to a person who has less.
RELIEF, FLAT_SIGMA = 0.03, 0.5
#: Smallest number of pixels of a person that can be used.
FEWEST_PIXELS = 30


@dataclass(frozen=True, slots=True)
class PeopleEvidence:
    """Evidence from people.

    Attributes:
        evidence: one piece per usable person.
        warnings: about people who cannot be used, and about those who can.
    """

    evidence: tuple[DepthEvidence, ...]
    warnings: tuple[str, ...]


def people_evidence(
    people: Sequence[Person],
    disparity: FloatArray | NDArray[np.float64],
    camera: Camera,
    *,
    ground: FloatArray | NDArray[np.float64] | None = None,
    where: str = "",
) -> PeopleEvidence:
    """Fit a body to every person and read relative disparity at its feet, or on its surface.

    Args:
        people: of one image.
        disparity: (H, W) relative disparity of the image.
        camera: of the image; distances are proportional to its focal length.
        ground: (H, W) relative disparity before people were painted in, in the same units; None for
            `disparity`.
        where: text appended to their names.
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
    evidence = []
    for number, one in enumerate(measured):
        pixels = (who == number) & np.isfinite(disparity)
        if int(pixels.sum()) < FEWEST_PIXELS:
            warnings.append(f"{one.name}: its body meets too few of its pixels to measure with")
            continue
        item = _feet_evidence(one, disparity if ground is None else ground, camera)
        if item is None:
            item = surface_evidence(one.name, disparity[pixels], depth[pixels], one.sigma)
        evidence.append(item)
    return PeopleEvidence(tuple(evidence), tuple(warnings))


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """Person, fitted body, and the relative error of its distance."""

    name: str
    person: Person
    body: FittedBody | BodyMesh
    sigma: float


def _feet_evidence(
    one: _Measured, ground: FloatArray | NDArray[np.float64], camera: Camera
) -> DepthEvidence | None:
    """Return the evidence of the ground at a person's feet, if visible."""
    mesh = one.body.mesh if isinstance(one.body, FittedBody) else one.body
    found = footing(mesh, one.person, camera)
    if found is None:
        return None
    value = float(np.median(ground[found.rows, found.columns]))
    if not math.isfinite(value):
        return None
    return ground_evidence(one.name, value, found.depth, one.sigma)


def surface_evidence(
    name: str, disparity: NDArray[Any], depth: NDArray[Any], distance_sigma: float
) -> DepthEvidence:
    """Return the evidence of the surface of a person's body.

    Args:
        name: of the person.
        disparity: (N,) relative disparity at pixels of the person.
        depth: (N,) depth of the body there in [m].
        distance_sigma: relative error of the body's distance.
    """
    sigma = math.hypot(distance_sigma, PERSON_READING)
    return DepthEvidence(name, "person", *condense(disparity, depth), sigma, focal_power=1.0)


def ground_evidence(
    name: str, disparity: float, depth: float, distance_sigma: float
) -> DepthEvidence:
    """Return the evidence of the ground at a person's feet.

    Args:
        name: of the person.
        disparity: relative disparity of the ground.
        depth: of the feet in [m].
        distance_sigma: relative error of the body's distance.
    """
    sigma = math.hypot(distance_sigma, FEET_READING)
    return DepthEvidence(
        f"feet of {name}", "feet", np.array([disparity]), np.array([depth]), sigma, focal_power=1.0
    )


def stands_out(disparity: FloatArray | NDArray[np.float64], mask: BoolArray) -> bool:
    """Whether a person is nearer than the surroundings of their upper half.

    A person on a poster is as far away as the wall, and one in a mirror as the mirror. The lower
    half is not compared, because feet are as far away as the ground.

    Args:
        disparity: (H, W) relative disparity.
        mask: (H, W) bool, pixels of the person.
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
        return True  # the person fills the image
    values = disparity[upper, left:right]
    far, near = np.quantile(disparity, [0.02, 0.98])
    return bool(np.median(values[inside]) - np.median(values[beside]) > RELIEF * (near - far))


def _body(person: Person, camera: Camera) -> FittedBody | BodyMesh:
    return person.mesh if person.mesh is not None else fit_body(person, camera)


def shared_sigmas(prior: HeightPrior | None = None) -> dict[str, float]:
    """Return the relative error that all people of an image share, by kind of evidence."""
    height = (prior or HeightPrior()).shared
    return {
        "person": math.hypot(height, COMMON_READING),
        "feet": math.hypot(height, COMMON_FEET),
    }
