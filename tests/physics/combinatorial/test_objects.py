"""Outlines: sizes of PHYRE, centers of mass, and rows of features."""

import math

import numpy as np
import pymunk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.physics.combinatorial.objects import (
    PALETTE,
    THICK,
    Body,
    Outline,
    colors,
    diameter_of,
    is_static,
    outlines,
    parts_of,
    track,
    turned,
)
from sightline.physics.combinatorial.simulation import METERS

from .energy import inertia

SCALES = {
    Outline.BALL: (0.04, 0.12),
    Outline.BAR: (0.15, 0.5),
    Outline.JAR: (0.08, 0.3),
    Outline.STICKS: (0.3, 0.6),
}
OF_SCALE = st.sampled_from(list(Outline)).flatmap(
    lambda outline: st.tuples(st.just(outline), st.floats(*SCALES[outline]))
)


@given(OF_SCALE)
def test_the_origin_is_the_center_of_mass_and_corners_go_round(case):
    parts = parts_of(case[0], diameter_of(*case))
    if case[0] is Outline.BALL:
        return
    after = np.roll(parts.corners, -1, axis=1)
    cross = parts.corners[..., 0] * after[..., 1] - parts.corners[..., 1] * after[..., 0]
    assert (cross.sum(1) > 0).all()  # counter-clockwise
    sides = after - parts.corners
    following = np.roll(sides, -1, axis=1)
    assert (sides[..., 0] * following[..., 1] > sides[..., 1] * following[..., 0]).all()  # convex
    moment = ((parts.corners + after) * cross[..., None]).sum((0, 1))
    np.testing.assert_allclose(moment, 0, atol=1e-12)


@given(OF_SCALE)
def test_mass_and_inertia_are_those_of_chipmunk(case):
    """An independent implementation: what pymunk derives from the density of shapes."""
    outline, diameter = case[0], diameter_of(*case)
    parts = parts_of(outline, diameter)
    body = pymunk.Body()
    space = pymunk.Space()
    space.add(body)
    for corners, radius in zip(parts.corners * METERS, parts.radii * METERS, strict=True):
        shape = pymunk.Circle(body, radius) if radius else pymunk.Poly(body, corners.tolist())
        shape.density = 0.25
        space.add(shape)
    np.testing.assert_allclose(inertia(outline, diameter), (body.mass, body.moment), rtol=1e-9)
    np.testing.assert_allclose(body.center_of_gravity, 0, atol=1e-9)


def test_sizes_of_phyre():
    """By the formulas of PHYRE's creator, at 256 px: see `outlines`."""
    assert diameter_of(Outline.BALL, 0.1) * 256 == 2 * (int(12.8) + 0.5)
    bar = parts_of(Outline.BAR, diameter_of(Outline.BAR, 0.4)).corners[0]
    np.testing.assert_allclose(np.ptp(bar, axis=0), (0.4, THICK))
    jar = parts_of(Outline.JAR, diameter_of(Outline.JAR, 0.3)).corners
    np.testing.assert_allclose(np.ptp(jar.reshape(-1, 2), axis=0), (0.25, 0.3))
    np.testing.assert_allclose(np.ptp(jar[0], axis=0), (0.2, THICK))  # the base
    sticks = parts_of(Outline.STICKS, diameter_of(Outline.STICKS, 0.6)).corners
    lengths = np.linalg.norm(sticks[:, 0] - sticks[:, 1], axis=1)
    np.testing.assert_allclose(lengths, 0.4)
    assert diameter_of(Outline.JAR, 0.2) == pytest.approx(math.hypot(0.9 * 0.2 / 1.2, 0.2))


@given(st.floats(-7, 7), st.floats(0, 1), st.floats(0, 1))
def test_turning_keeps_lengths(angle, x, y):
    corners = parts_of(Outline.JAR, 0.3).corners
    there = turned(corners, *(np.array([value]) for value in (x, y, angle)))[0]
    np.testing.assert_allclose(
        np.linalg.norm(there - (x, y), axis=-1), np.linalg.norm(corners, axis=-1), atol=1e-12
    )
    back = turned(there - (x, y), np.zeros(1), np.zeros(1), np.array([-angle]))[0]
    np.testing.assert_allclose(back, corners, atol=1e-12)


def test_rows_say_what_an_object_is():
    bodies = (
        Body(Outline.JAR, 0.25, 0.5, 0.6, -0.1),
        Body(Outline.BAR, 0.3, 0.2, 0.3, math.pi / 2, static=True),
        Body(Outline.BALL, 0.1, 0.7, 0.9, action=True),
    )
    row = bodies[0].row
    assert row.tolist()[:2] == [0.5, 0.6]
    assert row[2] == pytest.approx(1 - 0.1 / (2 * math.pi))
    assert row[3:].tolist() == [0.25, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0]
    states = np.array([[(b.x, b.y, b.angle + 20) for b in bodies]])
    objects = track(bodies, states)
    assert outlines(objects) == [Outline.JAR, Outline.BAR, Outline.BALL]
    assert is_static(objects).tolist() == [False, True, False]
    assert colors(objects).tolist() == [PALETTE[4].tolist(), [0, 0, 0], [243, 79, 70]]
    assert ((objects >= 0) & (objects <= 1)).all()
    assert (objects[..., 2] < 1).all()


def test_the_least_negative_angle_is_no_whole_turn():
    assert Body(Outline.BALL, 0.1, 0.5, 0.5, -1e-20).row[2] == 0


def test_what_is_no_feature():
    good = Body(Outline.BAR, 0.3, 0.2, 0.3).row[None, None]
    for column, value in ((4, 1.0), (5, 0.5), (5, 0.0), (8, 1.0)):
        bad = good.copy()
        bad[..., column] = value
        with pytest.raises(InputError, match="exactly one"):
            outlines(bad), colors(bad)
    with pytest.raises(InputError, match="expected"):
        outlines(good[..., :13])
    for outline in Outline:
        for diameter in (0.0, -1.0, 2.0, math.nan):
            with pytest.raises(InputError, match="has the diameter"):
                parts_of(outline, diameter)
