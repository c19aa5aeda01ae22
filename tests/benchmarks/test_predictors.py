import numpy as np
import pytest

from sightline.benchmarks.predictors import FolderPredictor
from sightline.benchmarks.samples import Item
from sightline.errors import InputError
from sightline.io.depth_files import write_depth
from sightline.types import DepthMap, Kind

PIXELS = np.zeros((2, 3, 3), np.uint8)
DEPTH = DepthMap(np.arange(1, 7, dtype=np.float32).reshape(2, 3), Kind.METRIC_DEPTH)


def item(name, *aliases):
    return Item(name, "all", (), lambda: None, aliases)


@pytest.mark.parametrize("suffix", [".npz", ".exr", ".png"])
def test_maps_that_say_what_they_are(tmp_path, suffix):
    write_depth(tmp_path / f"final/alley_1/frame_0001{suffix}", DEPTH)
    found = FolderPredictor(tmp_path).predict(item("final/alley_1/frame_0001"), PIXELS)
    assert found.kind is Kind.METRIC_DEPTH
    assert np.allclose(found.values, DEPTH.values, atol=1e-4)


def test_another_name_is_tried_too(tmp_path):
    write_depth(tmp_path / "alley_1/frame_0001.npz", DEPTH)
    found = FolderPredictor(tmp_path).predict(
        item("x/alley_1/frame_0001", "alley_1/frame_0001"), PIXELS
    )
    assert np.array_equal(found.values, DEPTH.values)


@pytest.mark.parametrize(
    ("numbers", "kind"), [("depth", Kind.METRIC_DEPTH), ("disparity", Kind.RELATIVE_DISPARITY)]
)
def test_plain_arrays_need_a_word(tmp_path, numbers, kind):
    np.save(tmp_path / "a.npy", DEPTH.values[None].astype(np.float64))
    assert FolderPredictor(tmp_path, numbers).predict(item("a"), PIXELS).kind is kind
    with pytest.raises(InputError, match="--predictions-kind"):
        FolderPredictor(tmp_path).predict(item("a"), PIXELS)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(InputError, match="no prediction of this picture"):
        FolderPredictor(tmp_path).predict(item("a"), PIXELS)
    with pytest.raises(InputError, match="no such folder"):
        FolderPredictor(tmp_path / "gone")


def test_the_checksum_is_that_of_what_was_read(tmp_path):
    folder = tmp_path / "mine"
    write_depth(folder / "a.npz", DEPTH)
    one = FolderPredictor(folder).source([item("a")])
    assert FolderPredictor(folder).source([item("a")]) == one
    assert one.startswith("mine@")
    assert FolderPredictor(folder).source([]) != one
    write_depth(folder / "a.npz", DepthMap(DEPTH.values + 1, Kind.METRIC_DEPTH))
    assert FolderPredictor(folder).source([item("a")]) != one
