import dataclasses

import numpy as np
import pytest

from sightline.physics.laws.table import check_laws
from sightline.physics.tracking.tracks import State
from sightline.physics.types import Shape


def test_all_well(tracks_of, straight):
    scores = check_laws(tracks_of(straight, [1.0]), None, "uniform")
    assert scores.violations == ()
    assert scores.coverage == 1
    for law in ("radius", "presence", "color", "shape"):
        assert scores.values[law] == 0


def test_radius(tracks_of, straight):
    radii = np.ones((32, 1))
    radii[20] = 1.15
    radii[5] = 0.97
    scores = check_laws(tracks_of(straight, [1.0], radii=radii), None, "uniform")
    assert scores.values["radius"] == pytest.approx(0.18)
    (found,) = [v for v in scores.violations if v.law == "radius"]
    assert (found.frame, found.body, found.unit) == (20, 0, "1")
    assert found.size == pytest.approx(0.15)


def test_radii_nobody_knows_are_no_change(tracks_of, straight):
    radii = np.ones((32, 1))
    radii[20] = 1.3
    tracks = tracks_of(straight, [1.0], radii=radii)
    tracks.radius_sigma[20] = 0.2
    assert not check_laws(tracks, None, "uniform").violates("radius")


@pytest.mark.parametrize("state", [State.LOST, State.SPLIT])
def test_presence(tracks_of, straight, state):
    states = np.zeros((32, 1))
    states[9:12] = state
    scores = check_laws(tracks_of(straight, [1.0], states=states), None, "uniform")
    assert scores.values["presence"] == 3
    (found,) = [v for v in scores.violations if v.law == "presence"]
    assert (found.frame, found.body, found.size, found.unit) == (9, 0, 3, "frames")
    assert scores.coverage == (1 if state == State.SPLIT else pytest.approx(29 / 32))


def test_leaving_is_no_absence(tracks_of):
    path = np.stack([5 + 0.4 * np.arange(32), np.full(32, 5.0)], axis=-1)[:, None]
    scores = check_laws(tracks_of(path, [1.0]), None, "uniform")
    assert scores.values["presence"] == 0
    assert scores.coverage == 1


def test_color_and_shape(tracks_of, straight):
    tracks = tracks_of(straight, [1.0])
    colors, shapes = tracks.colors.copy(), tracks.shapes.copy()
    colors[12:15] = (0, 160, 0)
    shapes[20:] = Shape.SQUARE
    tracks = dataclasses.replace(tracks, colors=colors, shapes=shapes)
    scores = check_laws(tracks, None, "uniform")
    assert scores.values["color"] == 3
    assert scores.values["shape"] == 12
    found = {v.law: v for v in scores.violations}
    assert found["color"].frame == 12
    assert found["shape"].frame == 20
