import numpy as np
import pytest

from sightline.benchmarks.rgbd import evaluate


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
