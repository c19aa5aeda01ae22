import json

import numpy as np
import pytest
from PIL import Image

from sightline.errors import InputError
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


def test_a_folder_without_index_is_named(tmp_path):
    with pytest.raises(InputError, match=r"index\.json"):
        list(read_rgbd(tmp_path))


def test_truth_of_another_size_is_named(folder):
    np.savez(folder / "a0" / "truth.npz", depth=np.ones((3, 3), np.float32))
    with pytest.raises(InputError, match="a0"):
        list(read_rgbd(folder))


@pytest.mark.parametrize("content", [b"no archive", b""], ids=["text", "empty"])
def test_a_truth_file_that_is_none_is_named(folder, content):
    (folder / "a0" / "truth.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"truth\.npz: not a truth file"):
        list(read_rgbd(folder))


def test_an_index_that_is_none_is_named(folder):
    (folder / "index.json").write_text("{}}")
    with pytest.raises(InputError, match="not a list of samples"):
        list(read_rgbd(folder))
