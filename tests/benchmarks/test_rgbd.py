import json

import numpy as np
import pytest
from PIL import Image

from sightline.benchmarks.rgbd import evaluate
from sightline.files.rgbd import read_rgbd


def write_sample(folder, name, **truth):
    (folder / name).mkdir()
    height, width = next(iter(truth.values())).shape
    Image.fromarray(np.zeros((height, width, 3), np.uint8)).save(folder / name / "image.jpg")
    np.savez(folder / name / "truth.npz", **truth)


@pytest.fixture
def folder(tmp_path):
    ramp = np.linspace(1, 5, 60, dtype=np.float32).reshape(6, 10)
    holes = ramp.copy()
    holes[0, :3] = np.nan
    write_sample(tmp_path, "a0", depth=holes)
    write_sample(tmp_path, "a1", depth=ramp)
    write_sample(tmp_path, "b0", disparity=1 / ramp)
    rows = [
        {"sample": "a0", "set": "a", "kind": "dense"},
        {"sample": "a1", "set": "a", "kind": "sparse"},
        {"sample": "b0", "set": "b", "kind": "dense"},
    ]
    (tmp_path / "index.json").write_text(json.dumps(rows))
    return tmp_path


def test_truth_comes_as_disparity_with_holes_unknown(folder):
    first, second, third = read_rgbd(folder)
    assert first.known.sum() == 57
    assert first.disparity[0, 0] == 0
    assert first.disparity[5, 9] == pytest.approx(0.2)
    assert (first.dense, second.dense, third.group) == (True, False, "b")
    np.testing.assert_allclose(third.disparity, second.disparity, rtol=1e-6)


def test_sets_count_the_same_whatever_their_size(folder):
    good = np.linspace(5, 1, 60, dtype=np.float32).reshape(6, 10)
    calls = []

    def predict(pixels):
        calls.append(pixels.shape)
        return good if len(calls) < 3 else -good

    table = evaluate(predict, folder)
    assert table["a"].spearman == pytest.approx(1)
    assert table["b"].spearman == pytest.approx(-1)
    assert table["mean"].spearman == pytest.approx(0)


def test_every_other_picture_may_be_taken(folder):
    calls = []

    def predict(pixels):
        calls.append(1)
        return np.linspace(5, 1, 60, dtype=np.float32).reshape(6, 10)

    evaluate(predict, folder, every={"a": 2})
    assert len(calls) == 2
