"""Two statements about one place: their own errors decide whether both can be true."""

import numpy as np
import pytest

from sightline.metric.estimation import estimate
from sightline.metric.known_sizes import KnownBox, KnownDepth, KnownSizes, Length
from sightline.metric.warnings import conflict_warnings, find_conflicts
from sightline.types import Camera, DepthMap, Kind

CAMERA = Camera.from_focal(120.0, 160, 120)
#: Near in the left half, far in the right one, and nearer to the bottom.
VALUES = np.linspace(0.2, 0.6, 120)[:, None] + np.where(np.arange(160) < 80, 0.5, 0.0)
RELATIVE = DepthMap(VALUES.astype(np.float32), Kind.RELATIVE_DISPARITY)


def depths(*texts):
    return find_conflicts(RELATIVE, KnownSizes(depths=tuple(map(KnownDepth.parse, texts))))


def test_own_errors_decide():
    (found,) = depths("30,60=2m±1mm", "30,60=2.9m±1mm")
    assert found.names == ("depth at 30,60 = 2 m", "depth at 30,60 = 2.9 m")
    assert "differ by 45.0%, their own errors explain 0.2%" in str(found)
    assert depths("30,60=2m±30cm", "30,60=2.9m±30cm") == []
    assert depths("30,60=2m", "30,60=2.02m") == []


def test_pixels_beside_each_other_are_one_place_unless_an_edge_is_between():
    assert len(depths("30,60=2m±1mm", "31,61=2.2m±1mm")) == 1
    assert depths("79,60=2m±1mm", "81,60=2.9m±1mm") == []
    assert depths("30,60=2m±1mm", "50,60=2.9m±1mm") == []


def test_one_length_said_twice_from_either_end():
    texts = ("20,30,60,30=0.50m±1mm", "60,30,20,30=0.60m±1mm")
    (found,) = find_conflicts(RELATIVE, KnownSizes(tuple(map(Length.parse, texts))))
    assert found.names[1].startswith("length 60,30 to 20,30")
    texts = ("20,30,60,30=0.50m±1mm", "20,30,61,30=0.51m±1mm")  # one pixel of forty
    assert find_conflicts(RELATIVE, KnownSizes(tuple(map(Length.parse, texts)))) == []


def test_boxes():
    boxes = tuple(map(KnownBox.parse, ("20,30,60,90=2m±1cm", "20,30,60,90=2.5m±1cm")))
    assert len(find_conflicts(RELATIVE, KnownSizes(boxes=boxes))) == 1


def test_many_are_counted():
    found = depths(*(f"30,60={1 + 0.1 * k}m±1mm" for k in range(4)))
    assert len(found) == 6
    assert found[0].gap > found[-1].gap
    notes = conflict_warnings(found)
    assert len(notes) == 4
    assert notes[-1].startswith("3 more")


def test_the_result_names_both_and_its_bar_holds_both():
    said = KnownSizes(depths=tuple(map(KnownDepth.parse, ("30,60=2m±1mm", "30,60=2.9m±1mm"))))
    found = estimate(np.zeros((120, 160, 3), np.uint8), CAMERA, RELATIVE, said)
    assert any("contradict each other" in line for line in found.warnings)
    value, sigma = found.depth.values[60, 30], found.depth.sigma[60, 30]
    assert value - sigma < 2.0
    assert value + sigma > 2.9


def test_a_table_of_many_depths_is_looked_at_too():
    places = [(x, y) for x in range(10, 70, 12) for y in range(10, 110, 20)]
    texts = [f"{x},{y}={1 / (VALUES[y, x]):.4f}m" for x, y in places]
    known = tuple(map(KnownDepth.parse, (*texts, "10,10=9m")))
    assert len(known) > 12
    found = estimate(np.zeros((120, 160, 3), np.uint8), CAMERA, RELATIVE, KnownSizes(depths=known))
    assert any("depth at 10,10 = 9 m contradict" in line for line in found.warnings)


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_compare(count):
    assert depths(*["30,60=2m"] * count) == []


def test_a_depth_that_the_measured_map_contradicts():
    """3 m at a pixel where the map has 4; next to it the map knows nothing."""
    values = np.zeros(RELATIVE.values.shape, np.float32)
    values[20, 30] = 4.0
    measured = DepthMap(values, Kind.METRIC_DEPTH, valid=values > 0)

    def found(*texts):
        depths = tuple(map(KnownDepth.parse, texts))
        return find_conflicts(RELATIVE, KnownSizes(depths=depths, measured=measured))

    (one,) = found("30,20=3m", "30,21=3m")
    assert "measured depth 4 m there contradict each other" in str(one)
    assert found("30,20=3.9m") == []
    assert found("30,20=3m±20%") == []
