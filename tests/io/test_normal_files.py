"""Surface normals as PNG."""

import numpy as np
import pytest
from PIL import Image

from sightline import geometry, io
from sightline.errors import InputError
from sightline.io.normal_files import CODING
from sightline.types import Camera, DepthMap, Kind


def test_round_trip(tmp_path):
    camera = Camera.from_fov(70, 48, 32)
    rays = geometry.unproject(np.ones((32, 48)), camera).astype(np.float64)
    normal = np.array([0.3, -0.5, -0.8]) / np.linalg.norm([0.3, -0.5, -0.8])
    z = (-3 / (rays @ normal)).astype(np.float32)
    z[:4] = 0
    io.write_normals(tmp_path / "n.png", DepthMap(z, Kind.METRIC_DEPTH, camera=camera))
    found = io.read_normals(tmp_path / "n.png")
    assert not found[:4].any()
    angle = np.degrees(np.arccos(np.clip(found[4:] @ normal, -1, 1)))
    assert angle.max() < 0.5
    with Image.open(tmp_path / "n.png") as image:
        assert image.text["normals"] == CODING
        assert image.text["shape"] == "metric"


def test_a_wall_is_blue_and_a_floor_green(tmp_path):
    io.write_normals(tmp_path / "wall.png", DepthMap(np.full((20, 20), 2.0), Kind.METRIC_DEPTH))
    assert np.asarray(Image.open(tmp_path / "wall.png"))[10, 10].tolist() == [128, 128, 255]
    camera = Camera.from_fov(60, 40, 40)
    rays = geometry.unproject(np.ones((40, 40)), camera)
    z = np.where(rays[..., 1] > 0.1, 1.5 / np.maximum(rays[..., 1], 0.1), 0)
    io.write_normals(tmp_path / "floor.png", DepthMap(z, Kind.METRIC_DEPTH, camera=camera))
    red, green, blue = np.asarray(Image.open(tmp_path / "floor.png"))[35, 20].tolist()
    assert (abs(red - 128), green, abs(blue - 128)) <= (1, 255, 1)
    assert green > 253


def test_relative_maps_say_that_their_shape_is_assumed(tmp_path):
    values = np.linspace(0, 1, 400, dtype=np.float32).reshape(20, 20)
    io.write_normals(tmp_path / "n.png", DepthMap(values, Kind.RELATIVE_DISPARITY))
    with Image.open(tmp_path / "n.png") as image:
        assert image.text["shape"] == "assumed"


def test_other_pictures_and_suffixes_are_refused(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "other.png")
    with pytest.raises(InputError, match="does not say how its normals are coded"):
        io.read_normals(tmp_path / "other.png")
    with pytest.raises(InputError, match=r"written as \.png"):
        io.write_normals(tmp_path / "n.jpg", DepthMap(np.ones((4, 4)), Kind.METRIC_DEPTH))
