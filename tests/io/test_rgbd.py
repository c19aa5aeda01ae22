import numpy as np
import pytest

from sightline.errors import InputError
from sightline.io.rgbd import read_rgbd


def test_truth_comes_as_disparity_with_holes_unknown(rgbd_folder):
    first, second, third = read_rgbd(rgbd_folder)
    assert first.known.sum() == 57
    assert first.disparity[0, 0] == 0
    assert first.disparity[5, 9] == pytest.approx(0.2)
    assert (first.dense, second.dense, third.group) == (True, False, "b")
    np.testing.assert_allclose(third.disparity, second.disparity, rtol=1e-6)


def test_a_folder_without_index_is_named(tmp_path):
    with pytest.raises(InputError, match=r"index\.json"):
        list(read_rgbd(tmp_path))


def test_truth_of_another_size_is_named(rgbd_folder):
    np.savez(rgbd_folder / "a0" / "truth.npz", depth=np.ones((3, 3), np.float32))
    with pytest.raises(InputError, match="a0"):
        list(read_rgbd(rgbd_folder))


@pytest.mark.parametrize("content", [b"no archive", b""], ids=["text", "empty"])
def test_a_truth_file_that_is_none_is_named(rgbd_folder, content):
    (rgbd_folder / "a0" / "truth.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"truth\.npz: is not a truth file"):
        list(read_rgbd(rgbd_folder))


def test_an_index_that_is_none_is_named(rgbd_folder):
    (rgbd_folder / "index.json").write_text("{}}")
    with pytest.raises(InputError, match="not a list of samples"):
        list(read_rgbd(rgbd_folder))
