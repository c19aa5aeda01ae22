"""Fit a body in meters to the landmarks of a person.

Pose and proportions follow from the landmarks, size does not: a tall person far away and a short one
nearby look alike. So distance = stature × (distance in statures), the first from the distribution of
human heights, the second from the fit. Both have an error; `FittedBody` combines them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.body.initialize import initial_state
from sightline.metric.body.model import (
    PosedSkeleton,
    ShapeSpace,
    body_space,
    landmark_jacobians,
    skeleton,
    skin,
)
from sightline.metric.body.observations import LEAST_VISIBLE, BodyObservations, observe, with_size
from sightline.metric.body.problem import DEPTH, SHAPE, TURNS, BodyProblem, BodyState, solve
from sightline.metric.body.stature import (
    HeightPrior,
    StatureGroup,
    group_probabilities,
    half_width,
    mixture_prior,
    stature_groups,
)
from sightline.metric.people.types import LANDMARKS, BodyMesh, Person
from sightline.scenes.people.bodies import JOINTS, topology
from sightline.types import Camera

Array = NDArray[np.float64]

_JOINT = {name: place for place, name in enumerate(JOINTS)}

#: Parts of a body and the landmarks of which one must be visible.
PARTS = {
    "head": ("nose", "ear.L", "ear.R", "eye_middle.L", "eye_middle.R"),
    "shoulders": ("shoulder.L", "shoulder.R"),
    "hips": ("hip.L", "hip.R"),
    "knees": ("knee.L", "knee.R"),
    "feet": ("ankle.L", "ankle.R"),
}

#: Smallest visible extent in [px] without a warning.
SMALL = 60.0


@dataclass(frozen=True, slots=True)
class BodyWarning:
    """Warning, and what it adds to the relative standard deviation of the distance."""

    text: str
    spread: float = 0.0


def body_warnings(
    person: Person,
    camera: Camera,
    observed: BodyObservations,
    stance: PosedSkeleton,
    state: BodyState,
    misfit: Array,
) -> list[BodyWarning]:
    """Return reasons why a fitted body is less certain than its residuals suggest.

    Args:
        person: the person.
        camera: of the image.
        observed: landmark observations of the person.
        stance: posed skeleton.
        state: of the fit.
        misfit: (33, 2) residuals of the landmarks at depth 1.
    """
    notes = [*_parts(observed), *_border(person, camera), *_posture(stance)]
    shown = person.landmarks[observed.seen >= LEAST_VISIBLE]
    extent = float(np.ptp(shown, axis=0).max())
    if extent < SMALL:
        notes.append(BodyWarning(f"only {extent:.0f} pixels large", 0.02))
    notes += _misfit(observed, extent, float(np.exp(-state.place[2])), misfit)
    if not observed.bone_weight.any():
        notes.append(BodyWarning("without world landmarks, how the body is bent is a guess", 0.05))
    return notes


def _misfit(
    observed: BodyObservations, extent: float, size: float, misfit: Array
) -> list[BodyWarning]:
    """Warn if the body is far from its landmarks, relative to its stature or its visible extent."""
    weight = observed.seen / observed.seen.sum()
    off = float(np.sqrt((weight[:, None] * misfit**2).sum()))
    pixels = off * observed.focal
    if off / size < 0.04 and pixels / extent < 0.1:
        return []
    return [
        BodyWarning(
            f"the body fits badly: {pixels:.0f} pixels off", max(off / size, pixels / extent)
        )
    ]


def _parts(observed: BodyObservations) -> list[BodyWarning]:
    """Warn about hidden parts; the added error grows with their number."""
    visible = {LANDMARKS[k] for k in np.flatnonzero(observed.seen >= LEAST_VISIBLE)}
    there = [part for part, marks in PARTS.items() if visible.intersection(marks)]
    missing = [part for part in PARTS if part not in there]
    if not missing:
        return []
    spread = {1: 0.01, 2: 0.03}.get(len(missing), 0.06)
    words = ", ".join(there) if there else "hands"
    return [BodyWarning(f"only part of the person is seen ({words})", spread)]


def _border(person: Person, camera: Camera) -> list[BodyWarning]:
    """Warn if the person is cut off by the image border."""
    if person.mask.shape != (camera.height, camera.width) or not person.mask.any():
        return []
    rows, columns = np.flatnonzero(person.mask.any(1)), np.flatnonzero(person.mask.any(0))
    sides = [
        name
        for name, cut in (
            ("left", columns[0] == 0),
            ("top", rows[0] == 0),
            ("right", columns[-1] == camera.width - 1),
            ("bottom", rows[-1] == camera.height - 1),
        )
        if cut
    ]
    if not sides:
        return []
    return [BodyWarning(f"cut off at the {' and '.join(sides)} of the picture", 0.01)]


def _posture(stance: PosedSkeleton) -> list[BodyWarning]:
    """Warn if the person sits, crouches, lies or is upside down."""
    notes = []
    trunk = stance.joints[_JOINT["neck"]] - stance.joints[_JOINT["pelvis"]]
    trunk = trunk / np.linalg.norm(trunk)
    bent = []
    for side in "LR":
        hip, knee = (stance.joints[_JOINT[f"{name}.{side}"]] for name in ("thigh", "shin"))
        thigh = (knee - hip) / np.linalg.norm(knee - hip)
        bent.append(float(np.degrees(np.arccos(np.clip(-thigh @ trunk, -1, 1)))))
    if min(bent) > 50:
        notes.append(BodyWarning("sits, crouches or bends down", 0.02))
    up = -float(trunk[1])
    if up < -0.5:
        notes.append(BodyWarning("is upside down", 0.03))
    elif up < 0.5:
        notes.append(BodyWarning("lies or leans far over", 0.03))
    return notes


#: Relative error of the distance that landmarks do not show: position of joints, clothes, posture.
_FLOOR = 0.015
#: Landmarks of the legs, which tell children from adults.
_LEGS = tuple(LANDMARKS.index(f"{part}.{side}") for part in ("knee", "ankle") for side in "LR")


@dataclass(frozen=True, slots=True, eq=False)
class FittedBody:
    """Body fitted to a person.

    Attributes:
        mesh: surface in [m] in the camera frame.
        height: stature, barefoot and upright, in [m].
        height_sigma: standard deviation of the height in [m].
        distance: mean depth of the visible landmarks along the optical axis, in [m]. Proportional
            to the focal length, whose error is not included in `distance_sigma`.
        distance_sigma: relative standard deviation of the distance, from height, pose and residuals.
        residual: root mean square of the landmark residuals in [px].
        child: probability that this is a child, 0 to 1.
        female: probability that an adult of this shape is a woman, 0 to 1.
        warnings: reasons for caution, one line each.
    """

    mesh: BodyMesh
    height: float
    height_sigma: float
    distance: float
    distance_sigma: float
    residual: float
    child: float
    female: float
    warnings: tuple[str, ...]


def fit_body(
    person: Person,
    camera: Camera,
    prior: HeightPrior | None = None,
    *,
    space: ShapeSpace | None = None,
) -> FittedBody:
    """Fit a body to a person's landmarks.

    Args:
        person: landmarks in the image, their visibility, and world landmarks (may be NaN).
        camera: of the image.
        prior: distribution of the height; None for that of people in general.
        space: shape space; None for that of the whole body library.

    Raises:
        InputError: fewer than five landmarks are finite and visible.
    """
    space = body_space() if space is None else space
    found = stature_groups(space, HeightPrior() if prior is None else prior)
    observed = observe(person, camera)
    anybody = mixture_prior([(1.0, kind.prior) for kind in found.values()])
    start = initial_state(skeleton(space), person, observed, anybody.mean)
    problem = BodyProblem(skeleton(space), with_size(observed, np.exp(-start.place[2])), anybody)
    state = solve(problem, start)
    spread = np.asarray(np.linalg.inv(problem.normal(state)[1]), np.float64)
    trust = _trust(person)
    chances = group_probabilities(found, anybody, state.shape, spread[SHAPE, SHAPE], trust)
    names = ("child",) if chances["child"] > 0.5 else ("man", "woman")
    own = mixture_prior([(chances[name], found[name].prior) for name in names])
    problem = BodyProblem(skeleton(space), with_size(observed, np.exp(-state.place[2])), own)
    fit = _Fit(space, problem, solve(problem, state), found, chances, names)
    return _measured(fit, person, camera)


def _trust(person: Person) -> float:
    """Return how well the visible proportions tell a child from an adult: little without legs."""
    seen = np.nan_to_num([person.visibility[index] for index in _LEGS])
    return 0.2 + 0.8 * min(1.0, float(np.mean(seen)) / 0.6)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """Solved problem: state, stature groups, their probabilities, and the groups of the estimate."""

    space: ShapeSpace
    problem: BodyProblem
    state: BodyState
    stature_groups: dict[str, StatureGroup]
    chances: dict[str, float]
    names: tuple[str, ...]


def _measured(fit: _Fit, person: Person, camera: Camera) -> FittedBody:
    """Convert a fit to meters."""
    problem, state, observed = fit.problem, fit.state, fit.problem.observed
    stance, misfit = problem.stance(state), problem.misfit(state)
    weight = observed.seen / observed.seen.sum()
    # Residuals larger than their standard deviations widen all uncertainties.
    whitened = observed.ray_weight[:, None] * misfit
    stress = max(1.0, float(np.sqrt((weight[:, None] * np.minimum(whitened**2, 25)).sum() / 2)))
    spread = np.asarray(np.linalg.inv(problem.normal(state)[1]) * stress**2, np.float64)
    heights = [
        (fit.chances[name], *kind.height(state.shape, spread[SHAPE, SHAPE]))
        for name, kind in fit.stature_groups.items()
    ]
    own = [
        part for part, name in zip(heights, fit.stature_groups, strict=True) if name in fit.names
    ]
    middle = sum(share * mean for share, mean, _ in own) / sum(share for share, _, _ in own)
    height = float(np.exp(middle))
    reach = float(weight @ stance.landmarks[:, 2] + state.pelvis[2])
    notes = [
        *body_warnings(person, camera, observed, stance, state, misfit),
        *_age_cautions(fit.chances["child"]),
    ]
    other = np.sqrt(
        _pose_spread(problem, state, spread, weight, reach) ** 2
        + _FLOOR**2
        + sum(note.spread**2 for note in notes)
    )
    wider = [(share, mean, float(np.hypot(wide, other))) for share, mean, wide in heights]
    women, men = fit.chances["woman"], fit.chances["man"]
    vertices = height * (skin(fit.space, stance, state.shape) + state.pelvis)
    return FittedBody(
        mesh=BodyMesh(vertices, topology().faces["near"]),
        height=height,
        height_sigma=height * half_width(heights, middle),
        distance=height * reach,
        distance_sigma=half_width(wider, middle),
        residual=float(np.sqrt((weight[:, None] * misfit**2).sum())) * observed.focal,
        child=fit.chances["child"],
        female=women / max(women + men, 1e-12),
        warnings=tuple(note.text for note in notes),
    )


def _pose_spread(
    problem: BodyProblem, state: BodyState, spread: Array, weight: Array, reach: float
) -> float:
    """Return the relative standard deviation of the distance in statures, by linear propagation."""
    by_turn, by_shape = landmark_jacobians(problem.skeleton, problem.stance(state))
    slope = np.zeros(len(spread))
    slope[:TURNS] = np.tensordot(weight, by_turn[:, 2], 1).ravel()
    slope[SHAPE] = weight @ by_shape[:, 2]
    slope[DEPTH] = state.pelvis[2]
    return float(np.sqrt(slope @ spread @ slope)) / reach


def _age_cautions(child: float) -> list[BodyWarning]:
    """Warn if the person is, or may be, a child."""
    if child > 0.5:
        return [BodyWarning(f"has the proportions of a child ({child:.0%}): height is uncertain")]
    if child > 0.15:
        return [BodyWarning(f"may be a child ({child:.0%}), taken for an adult")]
    return []
