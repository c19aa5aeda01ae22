"""A body in metres from the landmarks of a person.

Pose and proportions follow from the landmarks, size does not: a tall person far off and a short one
near by look alike. So distance = stature × (distance in statures): the first from what is known of
people's heights, the second from the fit. Both have an error, and `FittedBody` gives their sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.bodies.cautions import Caution, cautions
from sightline.metric.bodies.evidence import gather, with_size
from sightline.metric.bodies.kinematics import changes, rig, skin
from sightline.metric.bodies.problem import DEPTH, SHAPE, TURNS, Problem, State
from sightline.metric.bodies.solve import solve
from sightline.metric.bodies.space import Space, body_space
from sightline.metric.bodies.start import begin
from sightline.metric.bodies.stature import HeightPrior, Kind, half_width, kinds, mixed, shares
from sightline.metric.people.types import LANDMARKS, Mesh, Person
from sightline.scenes.bodies import topology
from sightline.types import Camera

Array = NDArray[np.float64]

#: Relative spread of distance that no landmark shows: where joints lie in a body, cloth, posture.
_FLOOR = 0.015
#: What tells a child's legs from an adult's.
_LEGS = tuple(LANDMARKS.index(f"{part}.{side}") for part in ("knee", "ankle") for side in "LR")


@dataclass(frozen=True, slots=True, eq=False)
class FittedBody:
    """A body where a person is.

    Attributes:
        mesh: its surface in [m] in the camera's frame.
        height: stature, barefoot and upright, [m].
        height_sigma: one standard deviation of it, [m].
        distance: depth along the optical axis of the middle of the landmarks that are seen, [m]. It is
            proportional to the camera's focal length, whose error is not part of the spread below.
        distance_sigma: one standard deviation of it as a share of it: from the height, the pose, and
            how well they fit.
        residual: root mean square over the seen landmarks of the distance in the picture, [px].
        child: how probable it is that this is a child, 0 to 1.
        female: how probable it is that an adult of this shape is a woman, 0 to 1.
        warnings: what to beware of, a line each.
    """

    mesh: Mesh
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
    space: Space | None = None,
) -> FittedBody:
    """Fit a body to a person's landmarks.

    Args:
        person: landmarks in the picture, their visibility, and world landmarks (may be NaN).
        camera: that saw it.
        prior: what is known of the height; None for that of people in general.
        space: of bodies; None for that of the whole library.

    Raises:
        InputError: fewer than five landmarks are finite and visible.
    """
    space = body_space() if space is None else space
    found = kinds(space, HeightPrior() if prior is None else prior)
    evidence = gather(person, camera)
    anybody = mixed([(1.0, kind.prior) for kind in found.values()])
    start = begin(rig(space), person, evidence, anybody.mean)
    problem = Problem(rig(space), with_size(evidence, np.exp(-start.place[2])), anybody)
    state = solve(problem, start)
    spread = np.asarray(np.linalg.inv(problem.normal(state)[1]), np.float64)
    trust = _trust(person)
    chances = shares(found, anybody, state.shape, spread[SHAPE, SHAPE], trust)
    names = ("child",) if chances["child"] > 0.5 else ("man", "woman")
    own = mixed([(chances[name], found[name].prior) for name in names])
    problem = Problem(rig(space), with_size(evidence, np.exp(-state.place[2])), own)
    fit = _Fit(space, problem, solve(problem, state), found, chances, names)
    return _measured(fit, person, camera)


def _trust(person: Person) -> float:
    """How far the proportions of what is seen tell a child from an adult: little without legs."""
    seen = np.nan_to_num([person.visibility[index] for index in _LEGS])
    return 0.2 + 0.8 * min(1.0, float(np.mean(seen)) / 0.6)


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    """A solved problem: the state, the groups, how probable each is, and those it is taken for."""

    space: Space
    problem: Problem
    state: State
    kinds: dict[str, Kind]
    chances: dict[str, float]
    names: tuple[str, ...]


def _measured(fit: _Fit, person: Person, camera: Camera) -> FittedBody:
    """Turn a fit into metres."""
    problem, state, evidence = fit.problem, fit.state, fit.problem.evidence
    stance, misfit = problem.stance(state), problem.misfit(state)
    weight = evidence.seen / evidence.seen.sum()
    # Worse fits than the spreads promise make everything less certain.
    whitened = evidence.ray_weight[:, None] * misfit
    stress = max(1.0, float(np.sqrt((weight[:, None] * np.minimum(whitened**2, 25)).sum() / 2)))
    spread = np.asarray(np.linalg.inv(problem.normal(state)[1]) * stress**2, np.float64)
    heights = [
        (fit.chances[name], *kind.height(state.shape, spread[SHAPE, SHAPE]))
        for name, kind in fit.kinds.items()
    ]
    own = [part for part, name in zip(heights, fit.kinds, strict=True) if name in fit.names]
    middle = sum(share * mean for share, mean, _ in own) / sum(share for share, _, _ in own)
    height = float(np.exp(middle))
    reach = float(weight @ stance.landmarks[:, 2] + state.pelvis[2])
    notes = [
        *cautions(person, camera, evidence, stance, state, misfit),
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
        mesh=Mesh(vertices, topology().faces["near"]),
        height=height,
        height_sigma=height * half_width(heights, middle),
        distance=height * reach,
        distance_sigma=half_width(wider, middle),
        residual=float(np.sqrt((weight[:, None] * misfit**2).sum())) * evidence.focal,
        child=fit.chances["child"],
        female=women / max(women + men, 1e-12),
        warnings=tuple(note.text for note in notes),
    )


def _pose_spread(
    problem: Problem, state: State, spread: Array, weight: Array, reach: float
) -> float:
    """Relative standard deviation of the distance in statures."""
    by_turn, by_shape = changes(problem.rig, problem.stance(state))
    slope = np.zeros(len(spread))
    slope[:TURNS] = np.tensordot(weight, by_turn[:, 2], 1).ravel()
    slope[SHAPE] = weight @ by_shape[:, 2]
    slope[DEPTH] = state.pelvis[2]
    return float(np.sqrt(slope @ spread @ slope)) / reach


def _age_cautions(child: float) -> list[Caution]:
    """Say so where it is, or may be, a child."""
    if child > 0.5:
        return [Caution(f"has the proportions of a child ({child:.0%}): height is uncertain")]
    if child > 0.15:
        return [Caution(f"may be a child ({child:.0%}), taken for an adult")]
    return []
