import numpy as np
import pytest

from sightline.benchmarks.rgbd import evaluate
from sightline.files.rgbd import read_rgbd


def test_truth_comes_as_disparity_with_holes_unknown(rgbd_folder):
    first, second, third = read_rgbd(rgbd_folder)
    assert first.known.sum() == 57
    assert first.disparity[0, 0] == 0
    assert first.disparity[5, 9] == pytest.approx(0.2)
    assert (first.dense, second.dense, third.group) == (True, False, "b")
    np.testing.assert_allclose(third.disparity, second.disparity, rtol=1e-6)


def test_sets_count_the_same_whatever_their_size(rgbd_folder):
    good = np.linspace(5, 1, 60, dtype=np.float32).reshape(6, 10)
    calls = []

    def predict(pixels):
        calls.append(pixels.shape)
        return good if len(calls) < 3 else -good

    table = evaluate(predict, rgbd_folder)
    assert table["a"].spearman == pytest.approx(1)
    assert table["b"].spearman == pytest.approx(-1)
    assert table["mean"].spearman == pytest.approx(0)


def test_every_other_picture_may_be_taken(rgbd_folder):
    calls = []

    def predict(pixels):
        calls.append(1)
        return np.linspace(5, 1, 60, dtype=np.float32).reshape(6, 10)

    evaluate(predict, rgbd_folder, every={"a": 2})
    assert len(calls) == 2
