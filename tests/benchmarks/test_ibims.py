import numpy as np
import pytest
from scipy.io import savemat

from sightline.benchmarks.ibims import BENCHMARK, items
from sightline.errors import InputError


def write(folder, name, photo, ramp, **changes):
    masks = {"mask_invalid": np.ones(ramp.shape, np.uint8), "mask_transp": np.ones(ramp.shape)}
    masks["mask_invalid"][0] = 0
    masks["mask_transp"][:, 0] = 0
    depth = ramp.copy()
    depth[-1] = 0
    data = {"rgb": photo[:12, :20], "depth": depth, "calib": np.eye(3), **masks, **changes}
    savemat(folder / f"{name}.mat", {"data": data})


@pytest.fixture
def folder(tmp_path, photo, ramp):
    names = ["corridor_01", "kitchen_02"]
    (tmp_path / "imagelist.txt").write_text("\n".join(names) + "\n")
    for name in names:
        write(tmp_path, name, photo, ramp)
    return tmp_path


def test_both_masks_and_a_depth_are_needed(folder, photo, ramp):
    found = items(folder)
    assert [item.name for item in found] == ["corridor_01", "kitchen_02"]
    truth = found[0].load()
    assert np.array_equal(truth.pixels, photo[:12, :20])
    assert np.array_equal(truth.known[1:-1, 1:], np.ones((10, 19), bool))
    assert truth.known.sum() == 190
    assert np.allclose(1 / truth.disparity[1:-1, 1:], ramp[1:-1, 1:])


def test_the_list_may_lie_in_the_archives_folder(folder):
    assert len(items(folder)) == 2
    inner = folder / "deeper" / "ibims1_core_mat"
    inner.mkdir(parents=True)
    (inner / "imagelist.txt").write_text("corridor_01")
    assert len(items(folder / "deeper")) == 1


def test_damage_is_named(folder, photo, ramp):
    first, second = items(folder)
    first.files[0].write_bytes(b"x" * 300)
    with pytest.raises(InputError, match=r"corridor_01\.mat: is not a MATLAB file"):
        first.load()
    write(folder, "kitchen_02", photo, ramp, depth=np.ones((3, 3)))
    with pytest.raises(InputError, match="of one size"):
        second.load()
    with pytest.raises(InputError, match=r"imagelist\.txt: no such file"):
        items(folder / "gone")


def test_scored_by_the_sets_own_protocol(folder, perfect_run):
    perfect_run(BENCHMARK, folder, 2)
