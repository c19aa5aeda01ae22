"""What stands outdoors: trees, vehicles, buildings, street things, terrain, weather, and the site."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sightline.scenes.lighting import MOST_LAMPS, Weather, sample_weather
from sightline.scenes.outdoor import (
    buildings,
    fences,
    street_furniture,
    terrain,
    vegetation,
    vehicles,
)
from sightline.scenes.outdoor.facades import pierced
from sightline.scenes.outdoor.site import Site, view_from_angles
from sightline.scenes.world import Light, Material, Sky, WorldBuilder

SORTS_OF_TREES = ("broadleaf", "bare", "conifer", "palm", "poplar", "shrub")


def sound(shape):
    assert np.isfinite(shape.vertices).all()
    assert np.isfinite(shape.uv).all()
    assert np.abs(np.linalg.norm(shape.normals, axis=1) - 1).max() < 1e-6
    assert 0 <= shape.faces.min() <= shape.faces.max() < len(shape.vertices)


def height_of(shape):
    return float(-shape.vertices[:, 1].min())


@pytest.mark.parametrize("sort", SORTS_OF_TREES)
def test_trees_are_a_meter_high_and_lighter_far_away(sort):
    for variant in range(vegetation.TREE_VARIANTS):
        counts = []
        for detail in range(4):
            shape = vegetation.tree_model(sort, variant, detail).shape
            sound(shape)
            counts.append(len(shape.faces))
            assert height_of(shape) == pytest.approx(1.0)
            assert shape.vertices[:, 1].max() < 0.35, "nothing grows far into the ground"
        assert counts == sorted(counts, reverse=True)
        assert counts[0] < 4500
        assert counts[3] < 150


@pytest.mark.parametrize("sort", list(vehicles._VEHICLE_SIZES))
def test_vehicles_have_their_sizes_and_stand_on_wheels(sort):
    (low_l, high_l), (low_w, high_w), (low_h, high_h) = vehicles._VEHICLE_SIZES[sort]
    for variant in range(vehicles.VEHICLE_VARIANTS):
        for detail in range(4):
            made = vehicles.vehicle(sort, variant, detail)
            sound(made.shape)
            width, _, length = np.ptp(made.shape.vertices, axis=0)
            assert low_l - 0.1 < length < high_l + 0.4
            assert low_w - 0.1 < width < high_w + 0.45
            assert low_h - 0.45 < height_of(made.shape) < high_h + 0.3
            assert made.shape.vertices[:, 1].max() < 0.02, "no wheel sinks into the road"
            assert set(made.roles) <= set(vehicles.vehicle_materials(np.random.default_rng(0)))
        assert len(vehicles.vehicle(sort, variant, 3).shape.faces) < 500


@pytest.mark.parametrize("sort", buildings.BUILDING_TYPES)
def test_buildings_keep_their_plot_at_every_detail(sort):
    roles = set(buildings.building_materials(np.random.default_rng(0)))
    for variant in range(buildings.BUILDING_VARIANTS):
        sizes = set()
        for detail in range(4):
            made, width, depth, height = buildings.building_model(sort, variant, detail)
            sound(made.shape)
            sizes.add((width, depth, height))
            assert set(made.roles) <= roles
            assert height_of(made.shape) >= height
            # Eaves and awnings may reach over the edge of the plot, walls may not.
            assert np.abs(made.shape.vertices[:, 0]).max() < width / 2 + 1.2
        assert len(sizes) == 1


def test_a_pierced_wall_has_holes_of_the_right_size():
    across, up = np.array([[1.0, 2.0], [3.0, 3.5]]), np.array([[0.5, 1.5], [2.5, 3.0]])
    wall, openings = pierced(5.0, 0.0, 4.0, across, up, 0.2)
    sound(wall)
    flat = np.abs(wall.normals[wall.faces[:, 0], 2]) > 0.99
    a, b, c = (wall.vertices[wall.faces[flat, k]] for k in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    holes = ((openings[:, 1] - openings[:, 0]) * (openings[:, 3] - openings[:, 2])).sum()
    assert holes == pytest.approx(1.5 * 1.5)
    assert area == pytest.approx(5.0 * 4.0 - holes)
    whole, none = pierced(5.0, 0.0, 4.0, across[:0], up, 0.2)
    assert len(none) == 0
    assert len(whole.faces) == 2


@pytest.mark.parametrize("sort", street_furniture.STREET_OBJECTS)
def test_street_things_are_built_in_every_variant(sort):
    for variant in range(street_furniture.STREET_VARIANTS):
        sound(street_furniture.street_object(sort, variant).shape)
    builder, rng = WorldBuilder(), np.random.default_rng(1)
    high = street_furniture.add_street_object(builder, rng, sort, (1.0, 0.0, 2.0), 30.0, dark=True)
    assert 0.3 < high < 11
    assert len(builder.finish(Light()).kinds) == 1


def test_cycles_have_thin_spokes():
    for variant in range(vehicles.CYCLE_VARIANTS):
        sound(vehicles.bicycle(variant).shape)
        sound(vehicles.motorcycle(variant).shape)
        assert len(vehicles.bicycle(variant, True).shape.faces) < len(
            vehicles.bicycle(variant).shape.faces
        )
        assert 1.4 < np.ptp(vehicles.bicycle(variant).shape.vertices[:, 2]) < 2.1


@pytest.mark.parametrize("sort", fences.FENCES)
def test_fences_run_from_start_to_end(sort):
    builder = WorldBuilder()
    start, end = np.array([1.0, 0.0, 2.0]), np.array([4.0, 0.0, 6.0])
    fences.add_fence(builder, np.random.default_rng(2), start, end, sort=sort)
    world = builder.finish(Light())
    sound(world)
    way = (end - start) / 5.0
    along = (world.vertices - start) @ way
    assert -1.2 < along.min() < 0.3
    assert 4.4 < along.max() < 6.2
    side = np.abs((world.vertices - start) @ np.array([way[2], 0, -way[0]]))
    assert side.max() < 0.35


def test_a_hanging_wire_ends_where_it_is_fixed():
    a, b = np.array([0.0, -5.0, 0.0]), np.array([10.0, -5.0, 0.0])
    line = fences.wire(a, b, 0.6, 0.01)
    sound(line)
    assert line.vertices[:, 1].max() == pytest.approx(-4.4, abs=0.02)
    assert np.ptp(line.vertices[:, 0]) == pytest.approx(10, abs=0.05)


def test_hedges_flowers_grass_and_branches_stay_in_place():
    rng, builder = np.random.default_rng(3), WorldBuilder()
    leaf = vegetation.foliage(rng)
    vegetation.add_hedge(
        builder, rng, np.zeros(3), np.array([0, 0, 4.0]), 1.2, leaf=leaf, fine=True
    )
    vegetation.add_flowers(builder, rng, rng.uniform(0, 1, (9, 3)) * [1, 0, 1], 0.4, fine=True)
    vegetation.add_branch(builder, rng, np.array([0, -2.0, 0]), np.array([1, -2.0, 0]), leafy=True)
    builder.add(vegetation.grass(rng, np.zeros((5, 3)), 0.3), leaf)
    world = builder.finish(Light())
    sound(world)
    assert set(world.kinds) == {"hedge", "flower", "branch"}
    assert np.abs(world.vertices).max() < 6


def test_rocks_are_closed_lumps():
    for variant in range(terrain.ROCK_VARIANTS):
        shape = terrain.rock_shape(variant)
        sound(shape)
        assert len(shape.faces) == 320
        radius = np.linalg.norm(shape.vertices, axis=1)
        assert 0.3 < radius.min() < radius.max() < 1.7
        edges = np.sort(
            np.concatenate(
                [shape.faces[:, [0, 1]], shape.faces[:, [1, 2]], shape.faces[:, [2, 0]]]
            ),
            1,
        )
        assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()


def test_the_land_follows_its_height_and_faces_up():
    height = terrain.fractal(np.random.default_rng(4), 20.0, 1.5)
    ground = terrain.landscape(height, center=(3.0, -2.0), yaw=70.0)
    sound(ground)
    x, y, z = ground.vertices.T
    assert -y == pytest.approx(height(x, z))
    assert (ground.normals[:, 1] < 0).all(), "up is −y"
    assert np.hypot(x - 3, z + 2).max() == pytest.approx(600)

    def flat(x, z):
        return np.zeros(np.broadcast(x, z).shape)

    level = terrain.landscape(flat)
    assert level.normals == pytest.approx(np.tile([0.0, -1.0, 0.0], (len(level.normals), 1)))
    strip = terrain.path(np.array([[0.0, 0], [1, 5], [0, 10]]), 2.0, flat)
    sound(strip)
    assert (strip.vertices[:, 1] < 0).all(), "a path lies on the land, not under it"


def test_reliefs_combine():
    x, z = np.random.default_rng(5).uniform(-400, 400, (2, 50))
    base = terrain.fractal(np.random.default_rng(6), 30.0, 1.0)
    assert terrain.total(base, base)(x, z) == pytest.approx(2 * base(x, z))
    far = terrain.beyond(100.0, 200.0, lambda a, b: np.ones_like(a))
    away = np.hypot(x, z)
    assert (far(x, z)[away < 100] == 0).all()
    assert far(x, z)[away > 200] == pytest.approx(1)
    assert terrain.ridged(base, 50.0)(x, z).max() <= 50.0
    assert np.array_equal(base(x, z), terrain.fractal(np.random.default_rng(6), 30.0, 1.0)(x, z))


def test_weather_is_physical():
    dark = 0
    for seed in range(200):
        day = sample_weather(np.random.default_rng(seed))
        light = day.light
        assert light.fog >= 0
        if light.to_sun is not None:
            assert np.linalg.norm(light.to_sun) == pytest.approx(1)
            assert light.to_sun[1] < 0, "the sun is above the horizon"
            assert not day.dark
        assert 0 <= day.sky.clouds <= 1
        assert min(light.above) > 0
        dark += day.dark
    assert 5 < dark < 45


def test_lamps_are_lit_at_night_only_and_the_nearest_count():
    places = np.array([[float(k), -6.0, 10.0 * k] for k in range(9)])
    day = Weather(Light(), Sky())
    assert day.with_lamps(places, (0, -1.5, 0)) is day
    night = replace(day, dark=True).with_lamps(places, (0, -1.5, 0)).light
    assert len(night.lamps) == MOST_LAMPS
    assert np.array_equal(night.lamps[:, 2], 10.0 * np.arange(MOST_LAMPS))
    assert night.lamp_power.shape == (MOST_LAMPS, 3)
    assert (night.lamp_power > 0).all()


def make_site(pitch=0.0, fov=60.0, high=1.5):
    view = view_from_angles((0.0, -high, 0.0), 90.0, pitch, fov=fov)
    return Site(WorldBuilder(), np.random.default_rng(0), view, Weather(Light(), Sky()))


def test_a_site_knows_what_is_in_view_and_what_is_taken():
    site = make_site()
    assert site.yaw == pytest.approx(90)
    assert site.sees(40.0, 0.0)
    assert not site.sees(-40.0, 0.0)
    assert site.sees(-3.0, 0.0), "close behind the camera things still throw shadows"
    assert make_site(-85, high=90).sees(-40.0, 0.0), "straight down all sides are in view"
    assert not make_site(-30, high=90).sees(-40.0, 0.0)
    assert site.claim(10.0, 0.0, 1.0)
    assert not site.claim(11.0, 0.0, 0.5)
    assert site.claim(13.0, 0.0, 0.5)
    assert not site.claim(0.8, 0.0, 0.5), "nothing is put into the lens"
    near = site.scatter(200, 2.0, 50.0)
    away = np.hypot(near[:, 0], near[:, 1])
    assert (np.diff(away) >= 0).all()
    assert (near[:, 0] > 0).all()
    assert 2 <= away.min() < away.max() <= 50


def test_detail_falls_with_distance_and_money():
    site = make_site()
    assert [site.detail(x, 0.0) for x in (3, 20, 50, 200)] == [0, 1, 2, 3]
    assert make_site(fov=35.0).detail(16.0, 0.0) < make_site(fov=95.0).detail(16.0, 0.0)
    site.budget["plant"], site.budget["car"] = [1, 1, 1], [1, 1, 1]
    assert [site.grade(3.0, 0.0) for _ in range(3)] == [0, 1, -1]
    assert [site.grade(3.0, 0.0, "car") for _ in range(5)] == [0, 1, 2, 3, 3]


def test_views_point_where_they_are_told():
    view = view_from_angles((1.0, -2.0, 3.0), 90.0, 30.0, roll=2.0, fov=50.0)
    way = np.subtract(view.target, view.eye)
    way = way / np.linalg.norm(way)
    assert way == pytest.approx([np.cos(np.pi / 6), -0.5, 0.0], abs=1e-9)
    assert (view.roll, view.fov) == (2.0, 50.0)


def test_a_tree_that_cannot_be_afforded_is_left_out():
    builder = WorldBuilder()
    vegetation.add_tree(builder, np.random.default_rng(0), (0, 0, 0), 5.0, detail=-1)
    builder.add(terrain.plane(0.0), Material())
    assert builder.finish(Light()).kinds == ()
