from __future__ import annotations

import numpy as np
import pytest

from sightline.metric.people.ssd import ssd_anchors


@pytest.mark.parametrize(
    ("size", "strides", "per_layer", "count"),
    [
        (224, (8, 16, 32, 32, 32), 2, 2254),  # people
        (128, (8, 16, 16, 16), 2, 896),  # faces, near
        (192, (4,), 1, 2304),  # faces
    ],
)
def test_as_many_as_the_networks_have_outputs(size, strides, per_layer, count):
    anchors = ssd_anchors(size, strides, per_layer)
    assert anchors.shape == (count, 2)
    assert anchors.min() > 0
    assert anchors.max() < 1


def test_cells_run_row_by_row_and_layers_of_one_stride_share_them():
    anchors = ssd_anchors(32, (16, 32, 32)) * 32
    fine = [(8, 8), (8, 8), (24, 8), (24, 8), (8, 24), (8, 24), (24, 24), (24, 24)]
    np.testing.assert_allclose(anchors, [*fine, *[(16, 16)] * 4])
