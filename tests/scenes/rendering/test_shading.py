"""Light falls where geometry says: shadows of sun and lamp, strength of lamps, corners."""

from __future__ import annotations

import numpy as np
import pytest

from sightline.io.pixels import srgb_to_linear
from sightline.scenes import meshes
from sightline.scenes.camera import look_at
from sightline.scenes.rendering.renderer import render
from sightline.scenes.world import Light, Material, Sky, WorldBuilder, unit_vector
from sightline.types import Camera

WHITE = Material(tint=(0.5, 0.5, 0.5))
DARK = {"above": (0.05, 0.05, 0.05), "below": (0.05, 0.05, 0.05)}


def above(light, *, size=256, box_at=(0.0, -1.0, 0.0), material=WHITE, shadows=True, roof=None):
    """A box in the air over wide ground, seen from high above; light in the ground's pixels."""
    b = WorldBuilder()
    b.add(meshes.quad([-20, 0, -20], [40, 0, 0], [0, 0, 40]), WHITE)
    with b.instance("box"):
        b.add(meshes.box(box_at, [1.0, 0.5, 1.0]), material)
    if roof:
        b.add(meshes.quad([-20, -30, -20], [40, 0, 0], [0, 0, 40]), roof)
    camera = Camera.from_fov(50, size, size)
    frame = render(
        b.finish(light, Sky(clouds=0.0)),
        camera,
        look_at([0, -12, 0], [0, 0, 0]),
        shadows=shadows,
        exposure=0.5,
    )
    rows, columns = np.mgrid[:size, :size]
    depth = frame.depth.values
    x = (columns - camera.K[0, 2]) / camera.focal * depth
    z = -(rows - camera.K[1, 2]) / camera.focal * depth  # the picture's down is the world's −z
    ground = frame.instance == 0
    return frame.pixels[..., 1].astype(float), x, z, ground


@pytest.mark.parametrize("direction", [(0.9, -0.5, 0.0), (1.0, -1.0, 0.0), (0.4, -0.9, -0.7)])
def test_the_sun_casts_the_shadow_of_a_box_where_geometry_says(direction):
    to_sun = unit_vector(direction)
    light, x, z, ground = above(Light(to_sun, (1, 1, 1), **DARK))
    # A point of the ground is dark if the way to the sun passes the box (slab test).
    way = np.where(np.abs(to_sun) < 1e-9, 1e-9, to_sun)
    start = np.stack([x, 0 * x, z], -1).reshape(-1, 3)
    low, high = np.array([-0.5, -1.25, -0.5]), np.array([0.5, -0.75, 0.5])
    t = np.sort(np.stack([(low - start) / way, (high - start) / way]), axis=0)
    dark = (t[0].max(1) < t[1].min(1)).reshape(x.shape) & ground
    found = light < 0.6 * np.median(light[ground])
    differ = (found != dark) & ground
    assert dark.any()
    assert (found & dark).sum() > 0.85 * dark.sum()
    assert differ.sum() < 0.2 * dark.sum(), "no more than the soft rim"


def test_without_shadows_the_ground_is_even():
    light, _, _, ground = above(Light(unit_vector([1, -1, 0]), (1, 1, 1), **DARK), shadows=False)
    assert light[ground].min() > 0.85 * np.median(light[ground])


def test_no_surface_shades_itself():
    for direction in ([1, -1, 0], [0.3, -0.2, 0.8], [-2, -0.3, 0.1]):
        light, x, z, ground = above(Light(unit_vector(direction), (1, 1, 1), **DARK))
        far_from_shadow = ground & (x * direction[0] + z * direction[2] > 1.5)
        lit = light[far_from_shadow]
        assert (lit > 0.8 * np.median(lit)).mean() > 0.999


def test_a_lamp_casts_a_shadow_that_grows_with_distance():
    lamps, power = np.array([[0.0, -3.0, 0.0]]), np.array([[4.0, 4.0, 4.0]])
    light, x, z, ground = above(Light(lamps=lamps, lamp_power=power, **DARK))
    # The upper rim of the box, 1.75 m beneath the lamp, is thrown 3 m down: half a meter → 0.857 m.
    half = 0.5 * 3.0 / 1.75
    from_middle = np.maximum(np.abs(x), np.abs(z))
    deep = ground & (from_middle > 0.65) & (from_middle < half - 0.1)
    clear = ground & (from_middle > half + 0.15) & (np.hypot(x, z) < 1.8)
    assert deep.sum() > 20
    assert light[deep].max() < 0.5 * light[clear].min()


@pytest.mark.parametrize("material", [Material(clear=0.8), Material(glow=1.0)])
def test_glass_and_lamps_cast_no_shadow(material):
    sun = Light(unit_vector([1, -1, 0]), (1, 1, 1), **DARK)
    light, _, _, ground = above(sun, material=material)
    # The ground may get a little dimmer beside the box, by ambient occlusion.
    assert light[ground].min() > 0.8 * np.median(light[ground])


def test_a_roof_shades_all():
    sun = Light(unit_vector([0, -1, 0]), (1, 1, 1), **DARK)
    open_air, *_ = above(sun)
    under_roof, *_, ground = above(sun, roof=WHITE)
    assert np.median(under_roof[ground]) < 0.5 * np.median(open_air[ground])


def brightness(light, normal_to):
    """Linear light of a white sheet one meter before the camera, which looks along `normal_to`."""
    b = WorldBuilder()
    b.add(meshes.quad([-5, -5, 1], [10, 0, 0], [0, 10, 0]), Material(tint=(0.5, 0.5, 0.5)))
    pose = look_at([0, 0, 0], normal_to)
    frame = render(b.finish(light), Camera.from_fov(20, 9, 9), pose, shadows=False, exposure=1.0)
    return float(srgb_to_linear(frame.pixels[4, 4, 1] / 255))


def test_a_lamp_gives_its_power_at_one_meter_and_less_with_the_square():
    def lamp(z, power):
        return Light(
            lamps=np.array([[0.0, 0.0, z]]),
            lamp_power=np.array([[power] * 3]),
            above=(0, 0, 0),
            below=(0, 0, 0),
        )

    one = brightness(lamp(0.0, 1.0), [0, 0, 1])
    assert one == pytest.approx(0.5, rel=0.12), "half of it: the sheet is gray; wear varies it"
    assert brightness(lamp(-2.0, 9.0), [0, 0, 1]) == pytest.approx(9 * one * 1.2 / 9.2, rel=0.05)
    assert brightness(lamp(2.0, 1.0), [0, 0, 1]) == 0, "a lamp behind the sheet lights its back"


def test_light_from_above_and_below_meets_half_way_on_a_wall():
    both = brightness(Light(above=(0.8,) * 3, below=(0.2,) * 3), [0, 0, 1])
    even = brightness(Light(above=(0.5,) * 3, below=(0.5,) * 3), [0, 0, 1])
    assert both == pytest.approx(even, rel=0.02)


def test_corners_are_dimmer_than_open_walls():
    b = WorldBuilder()
    for sheet in (
        meshes.quad([-2, 0, 0], [4, 0, 0], [0, 0, 4]),
        meshes.quad([-2, -3, 4], [4, 0, 0], [0, 3, 0]),
    ):
        b.add(sheet, WHITE)
    even = Light(above=(0.6,) * 3, below=(0.6,) * 3)
    frame = render(
        b.finish(even),
        Camera.from_fov(60, 64, 64),
        look_at([0, -1, 0.5], [0, -0.3, 4]),
        exposure=1.0,
    )
    column = frame.pixels[:, 32, 1].astype(float)
    corner = int(frame.depth.values[:, 32].argmax())
    corner = int(np.flatnonzero(frame.depth.values[:, 32] < 3.4)[0] - 1) if corner < 5 else corner
    open_wall = np.median(column[: corner - 15])
    assert column[corner - 2 : corner + 2].mean() < 0.93 * open_wall
