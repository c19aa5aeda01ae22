import h5py
import numpy as np
import pytest
from scipy.io import savemat

from sightline.benchmarks.nyu import BENCHMARK, items
from sightline.errors import InputError


@pytest.fixture
def folder(tmp_path, photo):
    """Four labeled pictures, two of them test, stored as MATLAB 7.3 does: axes in reverse."""
    depth = np.full((4, 48, 64), 2.0, np.float32)
    depth[1, :, 32:] = 5.0
    depth[1, 0, :] = 0
    with h5py.File(tmp_path / "nyu_depth_v2_labeled.mat", "w", userblock_size=512) as file:
        images = np.stack([photo[i : i + 48, :64] for i in range(4)])
        file["images"] = images.transpose(0, 3, 2, 1)
        file["rawDepths"] = depth.transpose(0, 2, 1)
        file["depths"] = np.full((4, 64, 48), 9.0, np.float32)
    savemat(tmp_path / "splits.mat", {"testNdxs": [[2], [4]], "trainNdxs": [[1], [3]]})
    return tmp_path


def test_the_test_split_counts_from_one_and_takes_raw_depth(folder, photo):
    found = items(folder)
    assert [item.name for item in found] == ["00002", "00004"]
    truth = found[0].load()
    assert np.array_equal(truth.pixels, photo[1:49, :64])
    assert not truth.known[0].any()
    assert 1 / truth.disparity[5, 40] == pytest.approx(5)
    assert 1 / truth.disparity[5, 10] == pytest.approx(2)
    assert truth.dense


def test_without_the_split_there_is_no_test_set(folder):
    (folder / "splits.mat").unlink()
    with pytest.raises(InputError, match=r"splits\.mat"):
        items(folder)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"no matlab file", "not a MATLAB file"),
        (b"x" * 400, "not a MATLAB file"),
        (b"", "is empty"),
    ],
)
def test_a_damaged_split(folder, content, problem):
    (folder / "splits.mat").write_bytes(content)
    with pytest.raises(InputError, match=problem):
        items(folder)


def test_a_damaged_file_is_named(folder):
    found = items(folder)
    (folder / "nyu_depth_v2_labeled.mat").write_bytes(b"not HDF5")
    with pytest.raises(InputError, match=r"labeled\.mat: is not a MATLAB 7\.3 file"):
        found[0].load()


def test_a_number_that_the_file_has_not(folder):
    savemat(folder / "splits.mat", {"testNdxs": [[77]]})
    with pytest.raises(InputError, match="has no picture 77"):
        items(folder)[0].load()


def test_scored_by_the_sets_own_protocol(folder, perfect_run):
    report = perfect_run(BENCHMARK, folder, 2)
    assert "Eigen crop" in report.line
