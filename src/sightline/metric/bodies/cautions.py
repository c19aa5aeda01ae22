"""What makes a fitted body less certain than its residuals say: half seen, bent, upside down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.metric.bodies.evidence import LEAST_VISIBLE, Evidence
from sightline.metric.bodies.kinematics import Stance
from sightline.metric.bodies.problem import State
from sightline.metric.people.types import LANDMARKS, Person
from sightline.scenes.bodies import JOINTS
from sightline.types import Camera

Array = NDArray[np.float64]

_JOINT = {name: place for place, name in enumerate(JOINTS)}

#: Parts of a body that can be seen, and landmarks of which one must be.
PARTS = {
    "head": ("nose", "ear.L", "ear.R", "eye_middle.L", "eye_middle.R"),
    "shoulders": ("shoulder.L", "shoulder.R"),
    "hips": ("hip.L", "hip.R"),
    "knees": ("knee.L", "knee.R"),
    "feet": ("ankle.L", "ankle.R"),
}

#: People smaller than this, by the extent of what is seen, are measured badly, [px].
SMALL = 60.0


@dataclass(frozen=True, slots=True)
class Caution:
    """A warning, and what it adds to the relative standard deviation of distance."""

    text: str
    spread: float = 0.0


def cautions(
    person: Person,
    camera: Camera,
    evidence: Evidence,
    stance: Stance,
    state: State,
    misfit: Array,
) -> list[Caution]:
    """Look at a fitted body with suspicion.

    Args:
        person: who was to be fitted.
        camera: that saw it.
        evidence: what was looked at.
        stance: how the body is bent.
        state: of the fit.
        misfit: (33, 2) from landmarks to the body's, at depth 1.
    """
    notes = [*_parts(evidence), *_border(person, camera), *_posture(stance)]
    shown = person.landmarks[evidence.seen >= LEAST_VISIBLE]
    extent = float(np.ptp(shown, axis=0).max())
    if extent < SMALL:
        notes.append(Caution(f"only {extent:.0f} pixels large", 0.02))
    notes += _misfit(evidence, extent, float(np.exp(-state.place[2])), misfit)
    if not evidence.bone_weight.any():
        notes.append(Caution("without world landmarks, how the body is bent is a guess", 0.05))
    return notes


def _misfit(evidence: Evidence, extent: float, size: float, misfit: Array) -> list[Caution]:
    """Say if the body is far from its landmarks, by its stature or by the extent of what is seen."""
    weight = evidence.seen / evidence.seen.sum()
    off = float(np.sqrt((weight[:, None] * misfit**2).sum()))
    pixels = off * evidence.focal
    if off / size < 0.04 and pixels / extent < 0.1:
        return []
    return [
        Caution(f"the body fits badly: {pixels:.0f} pixels off", max(off / size, pixels / extent))
    ]


def _parts(evidence: Evidence) -> list[Caution]:
    """Say which parts are not seen; the spread grows with how little is."""
    visible = {LANDMARKS[k] for k in np.flatnonzero(evidence.seen >= LEAST_VISIBLE)}
    there = [part for part, marks in PARTS.items() if visible.intersection(marks)]
    missing = [part for part in PARTS if part not in there]
    if not missing:
        return []
    spread = {1: 0.01, 2: 0.03}.get(len(missing), 0.06)
    words = ", ".join(there) if there else "hands"
    return [Caution(f"only part of the person is seen ({words})", spread)]


def _border(person: Person, camera: Camera) -> list[Caution]:
    """Say if the person runs out of the picture."""
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
    return [Caution(f"cut off at the {' and '.join(sides)} of the picture", 0.01)]


def _posture(stance: Stance) -> list[Caution]:
    """Say if somebody sits or crouches, lies, or is upside down."""
    notes = []
    trunk = stance.joints[_JOINT["neck"]] - stance.joints[_JOINT["pelvis"]]
    trunk = trunk / np.linalg.norm(trunk)
    bent = []
    for side in "LR":
        hip, knee = (stance.joints[_JOINT[f"{name}.{side}"]] for name in ("thigh", "shin"))
        thigh = (knee - hip) / np.linalg.norm(knee - hip)
        bent.append(float(np.degrees(np.arccos(np.clip(-thigh @ trunk, -1, 1)))))
    if min(bent) > 50:
        notes.append(Caution("sits, crouches or bends down", 0.02))
    up = -float(trunk[1])
    if up < -0.5:
        notes.append(Caution("is upside down", 0.03))
    elif up < 0.5:
        notes.append(Caution("lies or leans far over", 0.03))
    return notes
