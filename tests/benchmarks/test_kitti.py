import numpy as np
import pytest
from PIL import Image

from sightline.benchmarks.kitti import BENCHMARK, eigen_frames, items
from sightline.benchmarks.run import run
from sightline.benchmarks.samples import IncompleteError
from sightline.errors import InputError

DRIVE = "2011_09_26_drive_0048"


@pytest.fixture
def folder(tmp_path, save_picture):
    """One drive in the layout of the raw data and of the annotated depth maps."""
    for frame in range(5, 17):
        save_picture(
            tmp_path / f"raw/2011_09_26/{DRIVE}_sync/image_02/data/{frame:010d}.png", 40, 60
        )
        truth = tmp_path / f"val/{DRIVE}_sync/proj_depth/groundtruth/image_02/{frame:010d}.png"
        truth.parent.mkdir(parents=True, exist_ok=True)
        stored = np.zeros((40, 60), np.uint16)
        stored[20:30, 10:50] = np.arange(10, 50) * 256 + 128
        Image.fromarray(stored).save(truth)
    return tmp_path


def test_the_split_is_eigens():
    frames = eigen_frames(with_truth=False)
    assert len(frames) == len(set(frames)) == 697
    assert len({drive for drive, _ in frames}) == 28
    with_truth = eigen_frames()
    assert len(with_truth) == BENCHMARK.expected == 652
    assert min(frame for _, frame in with_truth) == 5
    # First entries of the published list, and some where its runs break.
    for frame in (69, 54, 42, 57, 30):
        assert ("2011_09_26_drive_0002", frame) in with_truth
    assert ("2011_09_26_drive_0002", 66) not in frames
    assert ("2011_09_26_drive_0093", 305) in with_truth
    assert ("2011_09_29_drive_0071", 1054) in frames
    assert ("2011_09_29_drive_0071", 1054) not in with_truth


def test_pixels_are_meters_times_256(folder):
    mine = [item for item in items(folder) if DRIVE in item.name]
    assert len(mine) == 12
    truth = mine[0].load()
    assert mine[0].name == f"2011_09_26/{DRIVE}_sync/image_02/data/0000000005"
    assert truth.known.sum() == 400
    assert (1 / truth.disparity[25, 10:50]).tolist() == pytest.approx(np.arange(10, 50) + 0.5)
    assert truth.metric
    assert not truth.dense


def test_what_is_not_there_is_named(folder):
    gone = next(item for item in items(folder) if "drive_0002" in item.name)
    assert not gone.files[0].exists()
    assert str(gone.files[1]).endswith("0000000006.png")


def test_what_is_not_there_fills_no_screen(folder, tmp_path, oracle):
    with pytest.raises(IncompleteError, match=r"^640 of 652 pictures of kitti") as caught:
        run(BENCHMARK, folder, oracle)
    assert len(caught.value.failures) == 6
    assert caught.value.failures[-1] == "… and 635 more"
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(IncompleteError, match="no picture of kitti") as caught:
        run(BENCHMARK, empty, oracle)
    assert caught.value.failures[-1] == "… and 647 more"
    assert oracle.asked == []


def test_eight_bits_are_no_depth(folder):
    item = next(item for item in items(folder) if DRIVE in item.name)
    Image.fromarray(np.zeros((40, 60), np.uint8)).save(item.files[1])
    with pytest.raises(InputError, match="16-bit"):
        item.load()


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(InputError, match="no such folder"):
        items(tmp_path / "gone")


def test_scored_by_the_sets_own_protocol(folder, perfect_run):
    report = perfect_run(BENCHMARK, folder, 12)
    assert "Garg crop" in report.line
    assert len(report.failures) == 640
