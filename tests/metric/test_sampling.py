"""Edges: a length from rim to rim is read on what is in front."""

import numpy as np
import pytest

from sightline.metric.known_sizes import KnownSizes, Length
from sightline.metric.measurement import measure_between
from sightline.metric.sampling import sample
from sightline.metric.solver import ScalePrior, fit, span_of
from sightline.metric.warnings import known_warnings
from sightline.types import Camera, DepthMap, Kind

CAMERA = Camera.from_focal(200.0, 240, 180)
#: A board 1 m away in columns 80 to 159, before a wall 5 m away that is nearer at the bottom.
FRONT = np.zeros((180, 240), bool)
FRONT[40:140, 80:160] = True
DEPTH = np.where(FRONT, 1.0, np.linspace(6, 4, 180)[:, None])
RELATIVE = DepthMap((2 / DEPTH - 0.1).astype(np.float32), Kind.RELATIVE_DISPARITY)
WIDE = 80 / 200


@pytest.mark.parametrize("off", [-3, -1, 0, 2])
def test_rims_are_read_on_the_nearer_side(off):
    ends = (80.0 - 1 + off, 90.0), (160.0 + off, 90.0)
    item = Length(*ends, WIDE).evidence(RELATIVE, CAMERA)
    assert item.disparity == pytest.approx(1.9)
    found = fit([item], span_of(RELATIVE.values), ScalePrior(1.3, 0.9))
    assert 1 / (found.scale * 1.9 + found.shift) == pytest.approx(1.0, rel=0.03)


def test_it_is_said_where_an_end_lies_on_an_edge():
    on_edge = Length((79.0, 90.0), (120.0, 90.0), 0.2)
    inside = Length((100.0, 90.0), (140.0, 90.0), 0.2)
    assert known_warnings(RELATIVE, KnownSizes((inside,))) == []
    assert known_warnings(RELATIVE, KnownSizes((on_edge, on_edge))) == [
        "79,90 lies on an edge: its nearer side was read"
    ]


def test_a_slope_is_no_edge():
    steep = DepthMap(np.linspace(0, 1, 60)[:, None].repeat(80, 1), Kind.RELATIVE_DISPARITY)
    assert not sample(steep, 40, 30).edge  # 15 % of the range in the window, and no step


def test_measuring_reads_the_same_side_and_says_so():
    meters = DepthMap(DEPTH.astype(np.float32), Kind.METRIC_DEPTH, camera=CAMERA)
    found = measure_between(meters, (78, 90), (161, 90))
    assert found.depths[0].value == pytest.approx(1.0)
    assert found.distance.value == pytest.approx(83 / 200)
    assert found.notes == tuple(
        f"{x},90 lies on an edge: its nearer side was read" for x in (78, 161)
    )
    assert measure_between(meters, (90, 90), (150, 90)).notes == ()
