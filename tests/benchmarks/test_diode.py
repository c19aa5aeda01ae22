import numpy as np
import pytest

from sightline.benchmarks.diode import BENCHMARK, items
from sightline.errors import InputError


@pytest.fixture
def folder(tmp_path, save_picture, ramp):
    for place, number in (("indoors", 19), ("outdoor", 22)):
        scan = tmp_path / f"val/{place}/scene_{number:05d}/scan_00183"
        picture = save_picture(scan / f"{number:05d}_00183_{place}_000_010.png")
        mask = np.ones(ramp.shape)
        mask[:, :3] = 0
        np.save(picture.with_name(f"{picture.stem}_depth.npy"), ramp[..., None])
        np.save(picture.with_name(f"{picture.stem}_depth_mask.npy"), mask)
    return tmp_path


def test_masked_meters_by_place(folder, ramp):
    found = items(folder)
    assert [item.group for item in found] == ["indoors", "outdoor"]
    assert found[0].name == "val/indoors/scene_00019/scan_00183/00019_00183_indoors_000_010"
    truth = found[0].load()
    assert not truth.known[:, :3].any()
    assert np.allclose(1 / truth.disparity[:, 3:], ramp[:, 3:])


def test_another_size_is_named(folder, ramp):
    item = items(folder / "val")[1]
    np.save(item.files[2], np.ones((3, 3)))
    with pytest.raises(InputError, match=r"_depth_mask\.npy: is"):
        item.load()


def test_pickles_are_not_read(folder):
    item = items(folder)[0]
    np.save(item.files[1], np.array([{"a": 1}]), allow_pickle=True)
    with pytest.raises(InputError, match=r"not an \.npy file"):
        item.load()


def test_scored_by_the_sets_own_protocol(folder, perfect_run):
    report = perfect_run(BENCHMARK, folder, 2)
    assert set(report.rows) == {"indoors", "outdoor"}
