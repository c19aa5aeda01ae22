"""Box2D-compatible stepping: what Box2D 2.3 does to one ball, or to two balls that meet head-on.

The order of operations in a sub-step of 0.01 s decides the result (b2World::Step):

1. Collide: a contact exists when the centers are at most r1 + r2 apart now, so balls overlap by up to
   one sub-step of motion before they react (there is no time-of-impact search between two dynamic
   bodies).
2. Velocities: gravity, then the impulse of the contact, which restores the approach speed times the
   restitution 1, or nothing when that speed is at most the velocity threshold (an inelastic
   collision).
3. Positions: Euler with the new velocities (semi-implicit).
4. Position correction: overlap beyond the slop is reduced by a fifth per iteration (Baumgarte), in up
   to 20 iterations, until no overlap is deeper than three slops.
5. Sleep: a body slower than 0.01 units/s for half a second stops until it is touched. The released
   generator disables sleep (`doSleep=False`), but pybox2d 2.3.10 puts bodies to sleep nevertheless.

All numbers are 32-bit floats as in the original. Friction and rotation (no sideways motion) and the
limit of 2 units per sub-step (no speed reaches 200 units/s) cannot act here and are left out. The
impulse of the previous sub-step is applied first (warm starting) and then corrected by the solver; it
is kept because it decides the last bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from sightline.physics.types import FRAMES, GRAVITY, SUB_STEP, Doubles

#: Least approach speed of an elastic collision in units/s: as the reference rebuilt Box2D, and as the
#: released wheel has it.
THRESHOLD = 0.01
WHEEL_THRESHOLD = 1.0

_F = np.float32
_H = _F(SUB_STEP)
_STRIDE = 10
_STEPS = (FRAMES - 1) * _STRIDE + 1
_PI = _F(3.14159265359)
_SLOP = _F(0.005)
_DEEP = _F(-3.0) * _SLOP
_BAUMGARTE = _F(0.2)
_MOST_CORRECTION = _F(-0.2)
_VELOCITY_ROUNDS, _POSITION_ROUNDS = 15, 20
_SLOW = _F(0.01) * _F(0.01)
_DROWSY = _F(0.5)
_ZERO, _ONE = _F(0.0), _F(1.0)


def free(starts: Doubles, velocities: Doubles, *, falling: bool) -> tuple[Doubles, Doubles]:
    """Step single balls.

    Args:
        starts: (M, 1, 2) centers (x, y) before the first sub-step.
        velocities: (M, 1, 2), in units/s.
        falling: whether there is gravity.

    Returns:
        Centers and velocities after sub-steps 1, 11, 21 …, each (M, 32, 1, 2).
    """
    positions = np.empty((len(starts), FRAMES, 1, 2))
    speeds = np.empty_like(positions)
    _free(starts, velocities, GRAVITY if falling else 0.0, positions, speeds)
    return positions, speeds


def pair(
    starts: Doubles, velocities: Doubles, radii: Doubles, *, threshold: float = THRESHOLD
) -> tuple[Doubles, Doubles]:
    """Step two balls at one height, the first on the left, moving toward each other.

    Args:
        starts: (M, 2, 2) centers (x, y) before the first sub-step; both y the same.
        velocities: (M, 2, 2), in units/s; along x.
        radii: (M, 2).
        threshold: approach speed up to which the collision is inelastic, in units/s.

    Returns:
        Centers and velocities after sub-steps 1, 11, 21 …, each (M, 32, 2, 2).
    """
    positions = np.empty((len(starts), FRAMES, 2, 2))
    speeds = np.empty_like(positions)
    _pair(starts, velocities, radii, threshold, positions, speeds)
    return positions, speeds


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _free(starts: Any, velocities: Any, gravity: float, positions: Any, speeds: Any) -> None:
    pull = _H * _F(-gravity)
    for m in range(len(starts)):
        x, y = _F(starts[m, 0, 0]), _F(starts[m, 0, 1])
        u, v = _F(velocities[m, 0, 0]), _F(velocities[m, 0, 1])
        idle = _ZERO
        for step in range(_STEPS):
            v += pull
            x += _H * u
            y += _H * v
            idle = _idle(idle, u * u + v * v)
            if idle >= _DROWSY:
                u, v, idle = _ZERO, _ZERO, _ZERO
            if step % _STRIDE == 0:
                _store(positions, m, step // _STRIDE, 0, x, y)
                _store(speeds, m, step // _STRIDE, 0, u, v)


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _pair(
    starts: Any, velocities: Any, radii: Any, threshold: float, positions: Any, speeds: Any
) -> None:
    for m in range(len(starts)):
        xa, xb = _F(starts[m, 0, 0]), _F(starts[m, 1, 0])
        ya, yb = _F(starts[m, 0, 1]), _F(starts[m, 1, 1])
        va, vb = _F(velocities[m, 0, 0]), _F(velocities[m, 1, 0])
        ra, rb = _F(radii[m, 0]), _F(radii[m, 1])
        wa, wb = _ONE / (_PI * ra * ra), _ONE / (_PI * rb * rb)
        impulse = _ZERO
        idle_a, idle_b = _ZERO, _ZERO
        for step in range(_STEPS):
            gap = xb - xa
            touching = gap * gap <= (ra + rb) * (ra + rb)
            if touching:
                va, vb, impulse = _bounce(gap, va, vb, wa, wb, impulse, _F(threshold))
            else:
                impulse = _ZERO
            xa += _H * va
            xb += _H * vb
            settled = True
            if touching:
                xa, xb, settled = _part(xa, xb, ra, rb, wa, wb)
            idle_a, idle_b = _idle(idle_a, va * va), _idle(idle_b, vb * vb)
            # Bodies in touch fall asleep together or not at all.
            both = min(idle_a, idle_b) >= _DROWSY
            if settled and (both if touching else idle_a >= _DROWSY):
                va, idle_a = _ZERO, _ZERO
            if settled and (both if touching else idle_b >= _DROWSY):
                vb, idle_b = _ZERO, _ZERO
            if step % _STRIDE == 0:
                frame = step // _STRIDE
                _store(positions, m, frame, 0, xa, ya)
                _store(positions, m, frame, 1, xb, yb)
                _store(speeds, m, frame, 0, va, _ZERO)
                _store(speeds, m, frame, 1, vb, _ZERO)


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _store(array: Any, m: int, frame: int, body: int, x: float, y: float) -> None:
    array[m, frame, body, 0] = x
    array[m, frame, body, 1] = y


@njit(cache=True, nogil=True, inline="always")  # type: ignore[untyped-decorator]
def _idle(idle: Any, squared: Any) -> Any:
    """Return how long a body has been slow, in [s], given its squared speed after this sub-step."""
    return _ZERO if squared > _SLOW else idle + _H


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _bounce(gap: Any, va: Any, vb: Any, wa: Any, wb: Any, impulse: Any, threshold: Any) -> Any:
    """Solve the contact for the velocities; `wa`, `wb` are one over the masses.

    Sequential impulses: each round asks for the impulse that would give the wanted speed along the
    normal, and the sum of all rounds never pulls.
    """
    normal = gap * (_ONE / np.sqrt(gap * gap))
    mass = _ONE / (wa + wb)
    approach = normal * (vb - va)
    wanted = -approach if approach < -threshold else _ZERO
    push = impulse * normal
    va -= wa * push
    vb += wb * push
    for _ in range(_VELOCITY_ROUNDS):
        along = (vb - va) * normal
        total = max(impulse - mass * (along - wanted), _ZERO)
        if total == impulse:
            break
        push = (total - impulse) * normal
        impulse = total
        va -= wa * push
        vb += wb * push
    return va, vb, impulse


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _part(xa: Any, xb: Any, ra: Any, rb: Any, wa: Any, wb: Any) -> Any:
    """Push overlapping balls apart (Baumgarte); return the positions and whether it converged."""
    for _ in range(_POSITION_ROUNDS):
        gap = xb - xa
        normal = gap * (_ONE / np.sqrt(gap * gap))
        separation = gap * normal - ra - rb
        correction = min(max(_BAUMGARTE * (separation + _SLOP), _MOST_CORRECTION), _ZERO)
        push = -correction / (wa + wb) * normal
        xa -= wa * push
        xb += wb * push
        if separation >= _DEEP:
            return xa, xb, True
    return xa, xb, False
