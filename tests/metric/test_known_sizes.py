import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.floor import camera_height_evidence, find_floor
from sightline.metric.known_sizes import (
    CameraHeight,
    KnownBox,
    KnownDepth,
    Length,
    measured_evidence,
    point_evidence,
)
from sightline.metric.solver import ScalePrior, fit, span_of
from sightline.types import Camera, DepthMap, Kind

SCALE, SHIFT = 0.4, 0.05
PRIOR = ScalePrior(1.3, 0.9)
CAMERA = Camera.from_focal(120.0, 160, 120)
HEIGHT, TILT = 1.4, np.radians(15)


@pytest.fixture(scope="module")
def room():
    """A floor 1.4 m below a camera that looks down by 15 degrees, and a wall 6 m away."""
    v, u = np.mgrid[:120, :160]
    rays = np.stack([(u - 79.5) / 120, (v - 59.5) / 120, np.ones_like(u, float)], axis=-1)
    floor = rays @ np.array([0, np.cos(TILT), np.sin(TILT)]) / HEIGHT
    inverse = np.maximum(floor, 1 / 6.0)
    relative = DepthMap(((inverse - SHIFT) / SCALE).astype(np.float32), Kind.RELATIVE_DISPARITY)
    return relative, 1 / inverse


def said(found, relative):
    return 1 / (found.scale * relative.values + found.shift)


def test_the_floor_is_found_and_the_height_of_the_camera_gives_meters(room):
    relative, depth = room
    item, floor = camera_height_evidence(relative, CAMERA, CameraHeight(HEIGHT))
    assert floor.inside[110].all()
    assert not floor.inside[:20].any()
    point = KnownDepth((80, 10), 6.0).evidence(relative)
    found = fit([item, point], span_of(relative.values), PRIOR)
    assert said(found, relative) == pytest.approx(depth, rel=0.03)
    assert all(abs(report.off) < 0.02 for report in found.evidence)


def test_no_floor():
    rng = np.random.default_rng(0)
    wall = DepthMap(rng.uniform(0.2, 1.0, (120, 160)).astype(np.float32), Kind.RELATIVE_DISPARITY)
    with pytest.raises(InputError, match="no floor was found"):
        find_floor(wall, CAMERA)


def test_a_length_on_the_wall(room):
    relative, depth = room
    meters = 60 / 120 * 6.0
    item = Length((50, 10), (110, 10), meters).evidence(relative, CAMERA)
    found = fit([item], span_of(relative.values), PRIOR)
    assert said(found, relative)[10, 80] == pytest.approx(6.0, rel=0.03)
    bar = found.relative_sigma(relative.values)
    off = np.abs(np.log(said(found, relative) / depth))
    assert (off < 3 * bar).mean() > 0.9


def test_measured_depth_gives_the_line(room):
    relative, depth = room
    some = np.zeros(depth.shape, bool)
    some[::7, ::5] = True
    measured = DepthMap(np.where(some, depth, 0).astype(np.float32), Kind.METRIC_DEPTH, some)
    evidence = measured_evidence(relative, measured)
    assert len(evidence) == 8
    found = fit(evidence, span_of(relative.values), PRIOR)
    assert said(found, relative) == pytest.approx(depth, rel=0.02)
    other = DepthMap(np.ones((3, 3), np.float32), Kind.METRIC_DEPTH)
    with pytest.raises(InputError, match="measured depth is 3×3"):
        measured_evidence(relative, other)
    nothing = DepthMap(depth.astype(np.float32), Kind.METRIC_DEPTH, np.zeros(depth.shape, bool))
    with pytest.raises(InputError, match="share no known pixel"):
        measured_evidence(relative, nothing)


@pytest.mark.parametrize("count", [16, 200])
def test_each_point_of_a_table_has_its_own_error(room, count):
    relative, depth = room
    rng = np.random.default_rng(1)
    places = np.column_stack([rng.integers(5, 155, count), rng.integers(70, 115, count)])
    wrong = np.arange(count) % 2 == 0
    points = [
        KnownDepth((float(x), float(y)), depth[y, x] * (1.8 if bad else 1.0), 0.5 if bad else 0.005)
        for (x, y), bad in zip(places, wrong, strict=True)
    ]
    found = fit(point_evidence(relative, points), span_of(relative.values), PRIOR)
    off = np.abs(said(found, relative)[70:115] / depth[70:115] - 1)
    assert np.median(off) < 0.05


def test_measured_depth_beyond_what_can_be_used(room):
    relative, depth = room
    far = DepthMap(np.full(depth.shape, 1e9, np.float32), Kind.METRIC_DEPTH)
    with pytest.raises(InputError, match="at most 100 km"):
        measured_evidence(relative, far)


def test_a_door_in_a_box(room):
    relative, _ = room
    item = KnownBox((60, 2, 80, 42), 2.0).evidence(relative, CAMERA)
    assert item.depth[0] == pytest.approx(6.0)
    assert item.focal_power == 1.0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda r: Length((5, 5), (5, 5), 1.0).evidence(r, CAMERA), "0.0 pixels apart"),
        (lambda r: Length((5, 5), (500, 5), 1.0).evidence(r, CAMERA), "500,5 is outside"),
        (lambda r: KnownDepth((-3, 5), 1.0).evidence(r), "-3,5 is outside"),
        (lambda r: KnownBox((50, 5, 40, 50), 1.0).evidence(r, CAMERA), "left < right"),
        (lambda r: KnownBox((50, 5, 60, 500), 1.0).evidence(r, CAMERA), "outside"),
    ],
)
def test_bad_places(room, make, message):
    with pytest.raises(InputError, match=message):
        make(room[0])
