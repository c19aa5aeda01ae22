import json

import numpy as np
import pytest

from sightline.metric.evidence import LengthEvidence
from sightline.metric.metric_fit import from_record, to_record
from sightline.metric.solver import ScalePrior, fit


def some_fit():
    rays, seen = np.array([[-0.2, 0.0], [0.3, 0.1]]), np.array([0.5, 0.9])
    return fit(
        [LengthEvidence("desk", rays, seen, 0.8, 0.05)],
        np.array([0.1, 1.5]),
        ScalePrior(1.3, 0.9, 0.3),
    )


def test_it_comes_back_with_what_its_errors_have_in_common():
    one = some_fit()
    two = from_record(json.loads(json.dumps(to_record(one), allow_nan=False)))
    places = np.array([0.2, 0.5, 1.4])
    assert (two.scale, two.shift) == pytest.approx((one.scale, one.shift))
    assert two.relative_sigma(places) == pytest.approx(one.relative_sigma(places), rel=1e-4)
    assert two.varied(places)[1] == pytest.approx(one.varied(places)[1], rel=1e-4)
    assert two.focal_sigma == one.focal_sigma


@pytest.mark.parametrize(
    "change",
    [
        {"variants": [[1, 2]]},
        {"variants": [[float("nan")] * 3] * 4},
        {"variants": "many"},
        {"disparities": [2, 1]},
        {"logs": None},
    ],
)
def test_what_is_no_record(change):
    with pytest.raises((ValueError, TypeError, KeyError)):
        from_record({**to_record(some_fit()), **change})
    with pytest.raises(KeyError):
        from_record({})
