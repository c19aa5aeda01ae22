import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.scenes.indoor import cabinets, lamps_decor
from sightline.scenes.indoor.room_shell import Wall, build_room, place_at_wall
from sightline.scenes.indoor.windows_doors import reveal, wall_sheet
from sightline.scenes.layout import PropLayout
from sightline.scenes.world import Light


def area(shape):
    a, b, c = (shape.vertices[shape.faces[:, k]] for k in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


@given(st.floats(-1.8, 0.0), st.floats(0.3, 1.5), st.floats(0.0, 1.0), st.floats(0.2, 1.0))
def test_wall_spares_its_openings(left, wide, low, high):
    spot = (left, left + wide, low, low + high)
    other = (1.6, 1.9, 0.0, 2.0)
    sheet = wall_sheet(4.0, 2.5, [spot, other])
    assert area(sheet) == pytest.approx(4.0 * 2.5 - wide * high - 0.6)
    middle = sheet.vertices[sheet.faces].mean(1)
    inside = (middle[:, 0] > spot[0]) & (middle[:, 0] < spot[1])
    inside &= (-middle[:, 1] > spot[2]) & (-middle[:, 1] < spot[3])
    assert not inside.any()


def test_pattern_runs_on_over_the_sheets_of_a_wall():
    sheet = wall_sheet(4.0, 2.5, [(-0.5, 0.5, 1.0, 2.0)])
    np.testing.assert_allclose(sheet.uv, sheet.vertices[:, :2] * [1, -1])


def test_reveal_lines_the_opening():
    assert area(reveal((0.0, 2.0, 1.0, 2.5), 0.2)) == pytest.approx(2 * (2.0 + 1.5) * 0.2)


@pytest.mark.parametrize("seed", range(12))
def test_room_without_openings_is_closed(seed):
    layout = PropLayout()
    room = build_room(layout, np.random.default_rng(seed), 4.0, 5.0, 2.5, windows=0, doors=0)
    assert not room.sky
    world = layout.builder.finish(Light())
    low, high = world.vertices.min(0), world.vertices.max(0)
    np.testing.assert_allclose(low, [-2, -2.5, -2.5], atol=1e-9)
    np.testing.assert_allclose(high, [2, 0, 2.5], atol=1e-9)


def test_walls_face_the_room():
    layout = PropLayout()
    room = build_room(layout, np.random.default_rng(0), 4.0, 6.0, 2.5, windows=0, doors=0)
    for wall in room.walls:
        x, z = wall.at(0.0, 1.0)
        assert abs(x) <= 2.0
        assert abs(z) <= 3.0
        assert np.hypot(x - wall.x, z - wall.z) == pytest.approx(1.0)
        assert np.hypot(x, z) < np.hypot(wall.x, wall.z)


@pytest.mark.parametrize("seed", range(10))
def test_furniture_stands_back_to_the_wall(seed):
    rng = np.random.default_rng(seed)
    layout = PropLayout()
    wall = Wall(2.0, 0.0, 90.0, 5.0)
    chest = cabinets.chest(rng)
    put = place_at_wall(layout, rng, wall, chest)
    assert put is not None
    # The back (+z of the piece) is at the wall, the front toward the room.
    back, front = (put.point(0.0, 0.0, side * chest.size[2] / 2) for side in (1, -1))
    assert 0.0 < 2.0 - back[0] < 0.1
    assert front[0] < back[0]
    assert (put.bounds[1] <= [2.0, 1e-9, 2.5]).all()


def test_a_wall_that_is_full_takes_no_more():
    rng = np.random.default_rng(0)
    layout = PropLayout()
    wall = Wall(0.0, 2.0, 0.0, 1.5)
    assert place_at_wall(layout, rng, wall, cabinets.cabinet(rng, width=(1.4, 1.45))) is not None
    assert place_at_wall(layout, rng, wall, cabinets.cabinet(rng, width=(1.4, 1.45))) is None
    high = place_at_wall(layout, rng, wall, lamps_decor.picture(rng), height=1.8, tries=20)
    assert high is not None
