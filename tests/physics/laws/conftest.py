"""Tracks made by hand: known motions, so that every figure is known."""

from __future__ import annotations

import numpy as np
import pytest

from sightline.physics.tracking.states import difference, slopes
from sightline.physics.tracking.tracks import State, Tracks
from sightline.physics.types import BLUE, RED, Motion


@pytest.fixture(scope="session")
def tracks_of():
    """Make tracks from (T, N, 2) positions and (N,) sizes; states are by the border of the world."""

    def make(positions, sizes, *, states=None, radii=None, sigma=1e-5):
        positions = np.asarray(positions, np.float64)
        sizes = np.asarray(sizes, np.float64)
        frames, bodies = positions.shape[:2]
        if states is None:
            far = np.maximum(-positions, positions - 10).max(axis=2)
            states = np.where(far > sizes, State.OUTSIDE, State.SEEN)
            states = np.where((far <= sizes) & (far > -sizes), State.PARTLY_OUTSIDE, states)
        states = np.asarray(states, np.uint8)
        colors = np.array([RED, BLUE, (0, 160, 0)], np.uint8)[:bodies]
        measured = (states != State.OUTSIDE) & (states != State.LOST)
        return Tracks(
            positions,
            np.full((frames, bodies, 2), sigma),
            np.tile(sizes, (frames, 1)) if radii is None else np.asarray(radii, np.float64),
            np.full((frames, bodies), sigma),
            difference(positions, 0.1),
            slopes(positions, measured, 0.1),
            np.tile(colors, (frames, 1, 1)),
            np.zeros((frames, bodies), np.uint8),
            states,
            sizes,
            colors,
            np.zeros(bodies, np.uint8),
            10 / 127,
            0.1,
        )

    return make


@pytest.fixture(scope="session")
def motion_of():
    """Make a motion from (T, N, 2) positions and velocities and (N,) sizes."""

    def make(positions, velocities, sizes):
        positions = np.asarray(positions, np.float64)
        bodies = positions.shape[1]
        return Motion(
            positions,
            np.broadcast_to(np.asarray(velocities, np.float64), positions.shape).copy(),
            np.asarray(sizes, np.float64),
            np.array([RED, BLUE], np.uint8)[:bodies],
            np.zeros(bodies, np.uint8),
        )

    return make


def line(start, velocity, frames=32):
    """(T, 2) a straight path."""
    return np.asarray(start) + np.arange(frames)[:, None] * 0.1 * np.asarray(velocity)


@pytest.fixture(scope="session")
def straight():
    """One ball on a straight path that stays in the picture; copy before writing."""
    path = line((2, 5), (1.5, 0))[:, None]
    path.flags.writeable = False
    return path


@pytest.fixture(scope="session")
def bounce():
    """Make a head-on collision: `bounce(restitution)` gives (T, 2, 2) positions and (2,) sizes."""

    def make(restitution=1.0, sizes=(0.9, 0.6), speeds=(1.6, -1.2), impact=1.55):
        m1, m2 = np.square(sizes)
        u1, u2 = speeds
        center = (m1 * u1 + m2 * u2) / (m1 + m2)
        after = [
            center - restitution * m2 * (u1 - u2) / (m1 + m2),
            center + restitution * m1 * (u1 - u2) / (m1 + m2),
        ]
        time = np.arange(32) * 0.1 - impact
        positions = np.zeros((32, 2, 2))
        positions[..., 1] = 5
        for body in range(2):
            velocity = np.where(time < 0, speeds[body], after[body])
            contact = 5 + (-sizes[0], sizes[1])[body]
            positions[:, body, 0] = contact + velocity * time
        return positions, np.array(sizes)

    return make
