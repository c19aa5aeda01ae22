import numpy as np
import pytest

from sightline.benchmarks.eth3d import BENCHMARK, items
from sightline.errors import InputError


@pytest.fixture
def folder(tmp_path, save_picture, ramp):
    root = tmp_path / "multi_view_training_dslr_jpg"
    for scene in ("courtyard", "pipes"):
        save_picture(root / scene / "images/dslr_images/DSC_0286.JPG")
        truth = root / scene / "ground_truth_depth/dslr_images/DSC_0286.JPG"
        truth.parent.mkdir(parents=True)
        depth = ramp.copy()
        depth[0] = np.inf
        truth.write_bytes(depth.astype("<f4").tobytes())
    return root


def test_raw_floats_with_infinity_for_unknown(folder, ramp):
    found = items(folder)
    assert [item.group for item in found] == ["courtyard", "pipes"]
    truth = found[0].load()
    assert not truth.known[0].any()
    assert np.allclose(1 / truth.disparity[1:], ramp[1:])
    assert not truth.dense


def test_scenes_may_lie_one_folder_deeper(folder):
    assert len(items(folder.parent)) == 2


def test_an_undistorted_picture_does_not_fit(folder, save_picture):
    save_picture(folder / "pipes/images/dslr_images/DSC_0286.JPG", 13, 20)
    with pytest.raises(InputError, match="distorted"):
        items(folder)[1].load()


def test_scored_by_the_sets_own_protocol(folder, perfect_run):
    report = perfect_run(BENCHMARK, folder, 2)
    assert np.isnan(report.overall["boundary_f1"])
