"""What is taken for a floor, and what is not."""

import contextlib
from dataclasses import replace

import numpy as np
import pytest

import sightline
from sightline.errors import InputError
from sightline.examples import example_person, example_photograph
from sightline.io.images import read_picture
from sightline.metric.evidence import CONTRAST
from sightline.metric.floor import camera_height_evidence, find_floor
from sightline.metric.known_sizes import CameraHeight
from sightline.metric.measurement import measure_between
from sightline.types import Camera, DepthMap, Kind

CAMERA = Camera.from_focal(120.0, 160, 120)
V, U = np.mgrid[:120, :160]
RAYS = np.stack([(U - 79.5) / 120, (V - 59.5) / 120, np.ones_like(U, float)], axis=-1)


def seen(*inverse):
    """Relative disparity of the nearest of some surfaces, with the contrast that is usual."""
    near = np.maximum.reduce(inverse)
    far, close = np.quantile(near, [0.05, 0.95])
    shift = far - (close - far) / np.expm1(CONTRAST[0])  # so that the usual line is the true one
    return DepthMap((near - shift).astype(np.float32), Kind.RELATIVE_DISPARITY)


def plane(down, height=1.0):
    """Inverse depth of a plane under a camera that looks down on it by some degrees."""
    angle = np.radians(down)
    return RAYS @ np.array([0.0, np.cos(angle), np.sin(angle)]) / height


@pytest.mark.parametrize("down", [-10, 0, 15, 35, 50])
def test_floors_and_table_tops_are_found(down):
    far_wall = np.full(U.shape, 1 / 20)
    depth = 1 / np.maximum(plane(down), far_wall)
    inverse = DepthMap((1 / depth).astype(np.float32), Kind.RELATIVE_DISPARITY)
    found = find_floor(inverse, CAMERA, shift=0.0)
    normal = found.plane / np.linalg.norm(found.plane)
    assert np.degrees(np.arctan2(normal[2], normal[1])) == pytest.approx(down, abs=1.0)


@pytest.mark.parametrize("down", [65, 75, 90])
def test_what_faces_the_camera_is_no_floor(down):
    inverse = DepthMap(np.maximum(plane(down), 0.05).astype(np.float32), Kind.RELATIVE_DISPARITY)
    with pytest.raises(InputError, match="no floor was found"):
        find_floor(inverse, CAMERA, shift=0.0)


def test_a_chest_is_no_floor_though_a_part_of_it_has_the_slope_of_one():
    chest = 1.6 - 0.5 * (RAYS[..., 0] ** 2 + (RAYS[..., 1] - 0.6) ** 2) + 0.2 * RAYS[..., 1]
    behind = np.full(U.shape, 0.4)
    body = np.where(np.abs(RAYS[..., 0]) < 0.5, chest, 0.0)
    relative = seen(np.where(V > 40, body, 0.0), behind)
    for seed in range(5):
        with pytest.raises(InputError, match="no floor was found"):
            camera_height_evidence(relative, CAMERA, CameraHeight(1.2), seed)


@pytest.mark.parametrize(("picture", "share"), [(example_person, 0.0), (example_photograph, 1.0)])
def test_a_portrait_has_no_floor_and_a_cup_stands_on_a_table(picture, share):
    """Whatever the samples, and whatever the contrast of far and near things."""
    camera = read_picture(picture()).camera
    relative = sightline.load("tiny", threads=1).infer(picture())
    far, near = np.quantile(relative.values, [0.05, 0.95])
    found = []
    for contrast in (0.8, CONTRAST[0], 2.5):
        shift = (near - far) / np.expm1(contrast) - far
        for seed in range(12):
            with contextlib.suppress(InputError):
                found.append(find_floor(relative, camera, seed, shift))
    assert len(found) == share * 36


def test_nobody_sees_through_a_floor():
    """A board that leans as a floor does, in front of a wall, is none; a floor with a hole is one."""
    board = np.where(np.abs(RAYS[..., 0]) < 0.3, plane(30), 0.0)
    wall = np.full(U.shape, 0.15)
    with pytest.raises(InputError, match="hides what is behind it"):
        find_floor(seen(board, wall), CAMERA)
    holed = np.where((np.abs(RAYS[..., 0]) < 0.08) & (V > 80), 0.0, plane(30))
    assert find_floor(seen(holed, wall), CAMERA).inside[110, :20].all()


def test_a_floor_behind_something_that_faces_the_camera_is_found():
    board = np.where((np.abs(RAYS[..., 0]) < 0.35) & (V > 20), 1.2, 0.0)
    floor = plane(15)
    found = find_floor(seen(floor, board, np.full(U.shape, 1 / 6)), CAMERA)
    assert found.inside[110, :20].all()
    assert not found.inside[70, 75:85].any()


def test_a_ceiling_is_no_floor():
    ceiling = RAYS @ np.array([0.0, -np.cos(0.5), np.sin(0.5)])  # seen in the whole picture
    inverse = DepthMap(np.maximum(ceiling, 0.02).astype(np.float32), Kind.RELATIVE_DISPARITY)
    with pytest.raises(InputError, match="no floor was found"):
        find_floor(inverse, CAMERA, shift=0.0)


def test_a_corner_of_floor_is_too_little():
    corner = np.where((V > 100) & (U < 50), plane(15), 0.0)
    rough = np.random.default_rng(0).uniform(0.1, 0.4, U.shape)
    with pytest.raises(InputError, match="no floor was found"):
        find_floor(seen(corner, rough), CAMERA)


def test_a_flat_map_has_no_floor():
    flat = DepthMap(np.full(U.shape, 0.3, np.float32), Kind.RELATIVE_DISPARITY)
    with pytest.raises(InputError, match="no floor was found"):
        find_floor(flat, CAMERA)


def test_no_heights_over_what_faces_the_camera():
    depth = (1 / np.maximum(plane(75), 0.05)).astype(np.float32)
    meters = DepthMap(depth, Kind.METRIC_DEPTH, camera=CAMERA)
    assert measure_between(meters, (40, 90), (120, 60)).heights is None
    floor = replace(meters, values=(1 / np.maximum(plane(20), 0.05)).astype(np.float32))
    assert measure_between(floor, (40, 90), (120, 60)).heights is not None
