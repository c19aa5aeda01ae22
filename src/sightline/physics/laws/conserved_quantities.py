"""Conserved quantities: momentum, kinetic energy and total energy.

Changes are relative to the initial value, so that one tolerance serves slow and fast bodies. The
initial value is that of the truth if there is one (the given frames do not count), else the median of
the first frames. Masses are r², as in the released evaluator. Values are taken where every body is
completely in the picture, except next to an impact. Velocities are the smoothed ones, which do not mix
both sides of an impact.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
from numba import njit
from numpy.typing import NDArray

from sightline.physics.laws.evidence import (
    ALL_BODIES,
    NOTHING_TO_SAY,
    Failure,
    LawEvidence,
    Outcome,
)
from sightline.physics.types import Doubles

#: Frames whose median is the beginning where no truth tells it; a system that shows for fewer than
#: twice as many is not judged.
BEGINNING = 5
#: Bodies slower than this, in units/s, are compared with a body of this speed: the share of nearly
#: nothing is noise.
SLOW = 1.0
_MEDIAN = 5


def momentum(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Mean change of the total momentum, as a share of Σ m |v| at the beginning.

    Under gravity only the part along x is kept.
    """
    tracks = evidence.tracks
    _, velocities, told = _true_start(evidence)
    change, frames = _momentum_change(
        tracks.smooth_velocities,
        tracks.masses,
        _free(evidence),
        evidence.gravity != 0,
        velocities,
        told,
    )
    return _outcome(change, frames, tolerance)


def kinetic_energy(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Mean change of ½ Σ m v², as a share of the beginning; under gravity it says nothing."""
    return NOTHING_TO_SAY if evidence.gravity else total_energy(evidence, tolerance)


def total_energy(evidence: LawEvidence, tolerance: float) -> Outcome:
    """Mean change of ½ Σ m v² + Σ m g y, as a share of the kinetic energy.

    Without gravity of that at the beginning, with gravity of its median: the zero of a height is
    arbitrary, so the potential energy is no scale.
    """
    tracks = evidence.tracks
    positions, velocities, told = _true_start(evidence)
    change, frames = _energy_change(
        tracks.positions,
        tracks.smooth_velocities,
        tracks.masses,
        _free(evidence),
        evidence.gravity,
        positions,
        velocities,
        told,
    )
    return _outcome(change, frames, tolerance)


def _true_start(evidence: LawEvidence) -> tuple[Doubles, Doubles, bool]:
    """Return the (N, 2) true initial positions and velocities, and whether there is a truth.

    Bodies that the truth does not have start with zeros.
    """
    begun = np.zeros((2, evidence.tracks.bodies, 2))
    if evidence.truth is None:
        return begun[0], begun[1], False
    bodies = len(evidence.truth.sizes)
    begun[:, :bodies] = evidence.truth.positions[0], evidence.truth.velocities[0]
    return begun[0], begun[1], True


def _free(evidence: LawEvidence) -> NDArray[np.bool_]:
    """Return (T, N) where a body is completely visible and not next to an impact."""
    free = evidence.whole
    if evidence.truth is not None:
        free = free.copy()
        free[: evidence.first] = False
    for index, (one, two) in enumerate(evidence.pairs):
        near = evidence.touched[:, one] & evidence.touched[:, two]
        near &= evidence.whole[:, one] & evidence.whole[:, two]
        if near.any():
            nearest = int(np.where(near, evidence.gap[:, index], np.inf).argmin())
            free = free.copy()
            free[max(nearest - 1, 0) : nearest + 2, [one, two]] = False
    return free


def _outcome(change: Doubles, frames: NDArray[np.int64], tolerance: float) -> Outcome:
    """Return the mean, and a failure where the running median over five frames is largest."""
    if len(frames) < 2 * BEGINNING:
        return NOTHING_TO_SAY
    mean, worst, size = _steadiest(change)
    if size <= tolerance:
        return Outcome(mean)
    return Outcome(mean, (Failure(int(frames[worst]), ALL_BODIES, size),))


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _all_whole(whole: NDArray[np.bool_]) -> NDArray[np.int64]:  # pragma: no cover (compiled)
    """Return the frames in which there are bodies and all are whole and free."""
    out = np.empty(len(whole), np.int64)
    count = 0
    for frame in range(len(whole)):
        if whole.shape[1] > 0 and whole[frame].all():
            out[count] = frame
            count += 1
    return out[:count]


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _momentum_change(
    velocities: Doubles,
    masses: Doubles,
    whole: NDArray[np.bool_],
    falling: bool,
    begun: Doubles,
    told: bool,
) -> tuple[Doubles, NDArray[np.int64]]:  # pragma: no cover
    """Return the relative change of momentum at each frame in which all bodies are whole."""
    frames = _all_whole(whole)
    count = len(frames)
    total = np.zeros((2, count))
    for index in range(count):
        for body in range(len(masses)):
            for axis in range(1 if falling else 2):
                total[axis, index] += masses[body] * velocities[frames[index], body, axis]
    change = np.zeros(count)
    if count == 0:
        return change, frames
    first = min(count, BEGINNING)
    scale, start = 0.0, np.zeros(2)
    for body in range(len(masses)):
        speeds = np.empty(first)
        for index in range(first):
            vx, vy = begun[body] if told else velocities[frames[index], body]
            speeds[index] = sqrt(vx * vx + vy * vy)
        scale += masses[body] * max(np.median(speeds), SLOW)
        for axis in range(1 if falling else 2):
            start[axis] += masses[body] * begun[body, axis]
    if not told:
        start[0], start[1] = np.median(total[0, :first]), np.median(total[1, :first])
    for index in range(count):
        x, y = total[0, index] - start[0], total[1, index] - start[1]
        change[index] = sqrt(x * x + y * y) / scale
    return change, frames


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _energy_change(
    positions: Doubles,
    velocities: Doubles,
    masses: Doubles,
    whole: NDArray[np.bool_],
    gravity: float,
    begun: Doubles,
    begun_velocities: Doubles,
    told: bool,
) -> tuple[Doubles, NDArray[np.int64]]:  # pragma: no cover
    """Return the relative change of energy at each frame in which all bodies are whole."""
    frames = _all_whole(whole)
    count = len(frames)
    kinetic, energy = np.zeros(count), np.zeros(count)
    for index in range(count):
        moving, raised = _energies(
            positions[frames[index]], velocities[frames[index]], masses, gravity
        )
        kinetic[index], energy[index] = moving, moving + raised
    if count == 0:
        return energy, frames
    first = min(count, BEGINNING)
    moving, start = np.median(kinetic[:first]), np.median(energy[:first])
    if told:
        moving, raised = _energies(begun, begun_velocities, masses, gravity)
        start = moving + raised
    usual = np.median(kinetic) if gravity != 0 else moving
    scale = max(usual, 0.5 * SLOW**2 * masses.sum())
    return np.abs(energy - start) / scale, frames


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _energies(
    positions: Doubles, velocities: Doubles, masses: Doubles, gravity: float
) -> tuple[float, float]:  # pragma: no cover
    """Return the kinetic and the potential energy of all bodies together."""
    kinetic, potential = 0.0, 0.0
    for body in range(len(masses)):
        vx, vy = velocities[body]
        kinetic += 0.5 * masses[body] * (vx * vx + vy * vy)
        potential += gravity * masses[body] * positions[body, 1]
    return kinetic, potential


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _steadiest(change: Doubles) -> tuple[float, int, float]:  # pragma: no cover
    """Return the mean, and where and how large the running median is at most."""
    worst, size = 0, -1.0
    half = _MEDIAN // 2
    for index in range(len(change)):
        begin = min(max(index - half, 0), len(change) - _MEDIAN)  # as many frames at both ends
        window = change[begin : begin + _MEDIAN]
        middle = np.sort(window)[half]
        if middle > size:
            worst, size = index, middle
    return change.mean(), worst, size
