"""`sightline.metric` is a package and a function; `sightline.measure` takes results and maps."""

import subprocess
import sys

import numpy as np
import pytest

import sightline as sl
from sightline.errors import InputError
from sightline.metric.estimation import MetricResult
from sightline.metric.evidence import LengthEvidence
from sightline.metric.known_sizes import KnownSizes
from sightline.metric.solver import ScalePrior, fit

CAMERA = sl.Camera.from_focal(100.0, 201, 101)
VALUES = np.full((101, 201), 4.0, np.float32)


@pytest.mark.parametrize(
    "lines",
    [
        "import sightline as sl; import sightline.metric.options; assert callable(sl.metric)",
        "import sightline.metric.known_sizes; import sightline as sl; assert callable(sl.metric)",
        "import sightline; f = sightline.metric; import sightline.metric.api; assert callable(f)",
        "from sightline.metric import metric, measure, MetricResult; assert callable(metric)",
        "import sys, sightline; assert not {'numpy', 'torch', 'openvino'} & set(sys.modules)",
        "import sys, sightline.metric; assert not {'numpy', 'torch', 'openvino'} & set(sys.modules)",
    ],
)
def test_every_order_of_import(lines):
    subprocess.run([sys.executable, "-c", lines], check=True)


def test_the_package_lists_what_it_has():
    for name in sl.metric.__all__:
        assert getattr(sl.metric, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'yardstick'"):
        sl.metric.yardstick  # noqa: B018


def test_known_sizes_are_sorted_by_type():
    known = [sl.Length((1, 2), (3, 4), 1.0), sl.KnownDepth((5, 6), 2.0), sl.CameraHeight(1.5)]
    found = KnownSizes.of([*known, sl.KnownBox((1, 2, 30, 40), 2.0)])
    assert (found.lengths, found.depths, found.camera_height) == (
        (known[0],),
        (known[1],),
        known[2],
    )
    with pytest.raises(InputError, match="at most one camera height"):
        KnownSizes.of([sl.CameraHeight(1.0), sl.CameraHeight(2.0)])
    with pytest.raises(InputError, match="is not a known size"):
        KnownSizes.of(["200,200,330,200=8cm"])
    with pytest.raises(InputError, match="must be metric"):
        KnownSizes.of([sl.DepthMap(VALUES, sl.Kind.RELATIVE_DISPARITY)])


def test_measure_takes_maps_and_results():
    depth = sl.DepthMap(VALUES, sl.Kind.METRIC_DEPTH, camera=CAMERA, sigma=0.1 * VALUES)
    alone = sl.measure(depth, (50, 50), (150, 50))
    assert alone.value == pytest.approx(4.0)
    assert (alone.unit, str(alone)) == ("m", str(alone.distance))
    rays = np.array([[-0.5, 0.0], [0.5, 0.0]])
    given = LengthEvidence("wall", rays, np.array([0.5, 0.5]), 4.0, 0.01)
    found = fit([given], np.array([0.1, 1.5]), ScalePrior(1.3, 0.9, focal_sigma=0.3))
    result = MetricResult(depth, found)
    assert sl.measure(result, (50, 50), (150, 50)).value == pytest.approx(4.0)
    assert (result.evidence, result.people, result.camera) == (found.evidence, [], CAMERA)
    with pytest.raises(InputError, match="not a pixel"):
        sl.measure(depth, (1, 2, 3), (4, 5))
    with pytest.raises(InputError, match="has no camera"):
        sl.measure(sl.DepthMap(VALUES, sl.Kind.METRIC_DEPTH), (1, 2), (3, 4))


def test_metric_of_an_image_by_a_known_length():
    from sightline.examples import example_photograph

    known = [sl.Length((200, 200), (330, 200), 0.08)]
    result = sl.metric(example_photograph(), known, people=False, model="tiny", sigma=False)
    cup = sl.measure(result, (200, 200), (330, 200))
    assert cup.value == pytest.approx(0.08, rel=0.1)
    assert [item.kind for item in result.evidence] == ["length"]
    wide = sl.metric(example_photograph(), known, fov=90, people=False, model="tiny", sigma=False)
    assert wide.camera.fov == pytest.approx(90)
