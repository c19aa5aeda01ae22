import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.types import Camera, CameraSource, DepthMap, Kind, Measurement, PointCloud

sizes = st.tuples(st.integers(1, 5000), st.integers(1, 5000))


def test_kind_says_unit_and_direction():
    assert [kind.unit for kind in Kind] == ["", "m", "1/m"]
    assert Kind.RELATIVE_DISPARITY.larger_is_nearer
    assert Kind.METRIC_DISPARITY.larger_is_nearer
    assert not Kind.METRIC_DEPTH.larger_is_nearer
    assert Kind.METRIC_DEPTH.direction == "larger is farther"


@given(st.floats(1, 175), sizes)
def test_field_of_view_survives(fov, size):
    assert Camera.from_fov(fov, *size).fov == pytest.approx(fov, rel=1e-9)


@given(sizes, sizes)
def test_resizing_keeps_the_field_of_view_and_the_corners(size, other):
    camera = Camera.assumed(*size)
    resized = camera.resized(*other)
    assert resized.fov == pytest.approx(camera.fov, rel=1e-9)
    # The left edge of the picture is x = -0.5 before and after; its ray must not move.
    ray = (-0.5 - camera.K[0, 2]) / camera.K[0, 0]
    assert (-0.5 - resized.K[0, 2]) / resized.K[0, 0] == pytest.approx(ray, rel=1e-9)
    assert resized.source is CameraSource.ASSUMED


def test_35mm_focal_length_is_measured_on_the_diagonal():
    camera = Camera.from_focal_35mm(50, 3600, 2400)
    assert camera.focal == pytest.approx(5000)
    assert 2 * math.degrees(math.atan(18 / 50)) == pytest.approx(camera.fov)


@pytest.mark.parametrize(
    "K",
    [np.eye(2), np.diag([0.0, 1, 1]), np.diag([1.0, 1, 2]), np.full((3, 3), np.nan)],
    ids=["2x2", "zero focal", "last row", "nan"],
)
def test_bad_camera_matrix_is_refused(K):
    with pytest.raises(InputError, match="camera matrix"):
        Camera(K, 4, 4)


@pytest.mark.parametrize("fov", [0.0, 180.0, math.nan])
def test_bad_field_of_view_is_refused(fov):
    with pytest.raises(InputError, match="field of view"):
        Camera.from_fov(fov, 4, 4)


def test_what_is_not_finite_is_not_valid_and_reads_zero():
    values = np.array([[1.0, np.nan], [np.inf, -2.0]])
    depth = DepthMap(values, Kind.RELATIVE_DISPARITY)
    assert depth.valid.tolist() == [[True, False], [False, True]]
    assert depth.values.tolist() == [[1.0, 0.0], [0.0, -2.0]]


def test_metric_depth_needs_positive_values():
    depth = DepthMap(np.array([[1.0, 0.0, -1.0]]), Kind.METRIC_DEPTH)
    assert depth.valid.tolist() == [[True, False, False]]


def test_arrays_are_read_only_but_the_callers_own_is_not():
    mine = np.ones((2, 2), np.float32)
    depth = DepthMap(mine, Kind.METRIC_DEPTH)
    with pytest.raises(ValueError, match="read-only"):
        depth.values[0, 0] = 3
    mine[0, 0] = 3
    assert depth.values[0, 0] == 1


@pytest.mark.parametrize(
    "bad",
    [
        {"values": np.ones(3)},
        {"values": np.ones((0, 3))},
        {"valid": np.ones((1, 2), bool)},
        {"sigma": np.ones((1, 2), np.float32)},
        {"sigma": np.full((2, 2), -1.0, np.float32)},
        {"sigma": np.full((2, 2), np.nan, np.float32)},
        {"camera": Camera.assumed(3, 2)},
    ],
    ids=lambda bad: next(iter(bad)),
)
def test_wrong_shapes_and_values_are_refused(bad):
    good = {"values": np.ones((2, 2)), "kind": Kind.METRIC_DEPTH}
    with pytest.raises(InputError):
        DepthMap(**(good | bad))


def test_metric_disparity_becomes_meters_with_its_sigma():
    depth = DepthMap(
        np.array([[0.5, 0.0]]), Kind.METRIC_DISPARITY, sigma=np.array([[0.05, 0.0]], np.float32)
    ).to_metric_depth()
    assert depth.kind is Kind.METRIC_DEPTH
    assert depth.unit == "m"
    assert depth.values[0, 0] == pytest.approx(2.0)
    assert depth.sigma[0, 0] == pytest.approx(0.2)
    assert depth.valid.tolist() == [[True, False]]


def test_relative_disparity_refuses_to_become_meters():
    with pytest.raises(InputError, match="no unit"):
        DepthMap(np.ones((2, 2)), Kind.RELATIVE_DISPARITY).to_metric_depth()


def test_points_are_checked():
    with pytest.raises(InputError, match="N×3"):
        PointCloud(np.ones((2, 2)))
    with pytest.raises(InputError, match="finite"):
        PointCloud(np.full((2, 3), np.nan))
    with pytest.raises(InputError, match="colors"):
        PointCloud(np.ones((2, 3)), rgb=np.zeros((1, 3), np.uint8))
    with pytest.raises(InputError, match="faces"):
        PointCloud(np.ones((2, 3)), faces=np.array([[0, 1, 2]]))
    with pytest.raises(InputError, match="unit"):
        PointCloud(np.ones((2, 3)), unit="feet")
    assert len(PointCloud(np.ones((2, 3)), faces=np.zeros((0, 3)))) == 2


def test_input_error_is_one_line_and_survives_a_pickle():
    error = pickle.loads(
        pickle.dumps(InputError("is empty", path="a.jpg", remedy="fetch it again"))
    )
    assert str(error) == "a.jpg: is empty; fetch it again"
    assert error.exit_code == 2


@pytest.mark.parametrize(
    "make",
    [
        lambda: DepthMap("a", Kind.METRIC_DEPTH),
        lambda: DepthMap(np.ones((2, 2)), "zz"),
        lambda: DepthMap([[1, 2], [3]], Kind.METRIC_DEPTH),
        lambda: PointCloud("a"),
        lambda: PointCloud(np.ones((1, 3)), rgb=[["x", 1, 2]]),
    ],
)
def test_what_is_no_array_or_kind_is_the_callers_mistake(make):
    with pytest.raises(InputError, match=r"must be an array|not a valid Kind"):
        make()


def test_maps_and_points_introduce_themselves_in_one_line():
    depth = DepthMap(np.array([[1.0, np.nan]]), Kind.METRIC_DEPTH, source="tiny@1")
    assert repr(depth) == "<DepthMap 2×1 metric_depth [m], 50% valid by tiny@1>"
    assert repr(PointCloud(np.ones((2, 3)))) == "<PointCloud 2, unit none>"


def test_points_do_not_change_with_the_callers_array():
    mine = np.ones((2, 3), np.float32)
    points = PointCloud(mine)
    mine[0, 0] = 5
    assert points.xyz[0, 0] == 1


@pytest.mark.parametrize("suffix", [".npz", ".png", ".exr"])
def test_a_saved_map_is_loaded_again(tmp_path, suffix):
    depth = DepthMap(np.linspace(1, 3, 12).reshape(3, 4), Kind.METRIC_DEPTH, source="tiny@1")
    depth.save(tmp_path / f"a{suffix}")
    loaded = DepthMap.load(tmp_path / f"a{suffix}")
    np.testing.assert_allclose(loaded.values, depth.values, rtol=1e-4)
    assert (loaded.kind, loaded.source) == (depth.kind, depth.source)
    with pytest.raises(InputError, match="depth files end in"):
        depth.save(tmp_path / "a.glb")


def test_a_map_is_plotted_and_becomes_points(tmp_path):
    depth = DepthMap(np.linspace(1, 1.2, 64 * 48).reshape(48, 64), Kind.METRIC_DEPTH)
    assert depth.plot(legend=False).shape == (48, 64, 3)
    drawn = depth.plot(tmp_path / "a.png")
    assert drawn.shape[0] > 48
    depth.plot(tmp_path / "a.jpg", palette="turbo")
    assert (tmp_path / "a.jpg").read_bytes().startswith(b"\xff\xd8")
    cloud = depth.to_pointcloud(depth.plot(legend=False), mesh=True, max_points=100)
    cloud.save(tmp_path / "a.glb")
    assert np.array_equal(PointCloud.load(tmp_path / "a.glb").rgb, cloud.rgb)


def test_a_measurement_shows_two_digits_of_its_error():
    assert str(Measurement(2.3449, 0.0312)) == "2.345 ± 0.031 m"
    assert str(Measurement(-0.001, 1.2, "deg")) == "0.0 ± 1.2 deg"
    assert str(Measurement(7, 0, "")) == "7.00 ± 0.00"
