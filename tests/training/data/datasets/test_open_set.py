"""What a user writes, and the set that is found."""

import os

import cv2
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.training.data.datasets import READERS, open_set
from sightline.training.data.items import is_held_out


@pytest.fixture
def pairs(tmp_path):
    """A folder with an index of two pairs."""
    folder = tmp_path / "pairs"
    folder.mkdir()
    (folder / "index.csv").write_text("id,kind\n0,depth_mm\n1,depth_mm\n")
    for name in "01":
        cv2.imwrite(str(folder / f"{name}.jpg"), np.zeros((20, 30, 3), np.uint8))
        cv2.imwrite(str(folder / f"{name}.png"), np.full((20, 30), 2000, np.uint16))
    return folder


def test_a_folder_with_an_index_tells(pairs):
    for where in (pairs, str(pairs), f"pairs:{pairs}"):
        found = open_set(where)
        assert (found.name, len(found.items)) == ("pairs", 2)
        assert found.read(found.items[0], 20).unit == 0.5


def test_photographs_come_with_their_labels(tmp_path):
    name = next(f"p{i}" for i in range(99) if not is_held_out(f"p{i}.jpg"))
    for folder in ("photos", "one", "two"):
        (tmp_path / folder).mkdir()
    cv2.imwrite(str(tmp_path / "photos" / f"{name}.jpg"), np.zeros((20, 30, 3), np.uint8))
    for folder in ("one", "two"):
        cv2.imwrite(str(tmp_path / folder / f"{name}.png"), np.zeros((20, 30), np.uint8))
    folders = os.pathsep.join(str(tmp_path / folder) for folder in ("photos", "one", "two"))
    (item,) = open_set(f"photos:{folders}").items
    assert item.label.parent.name == "one"
    assert [label.parent.name for label in item.labels] == ["two"]


def test_every_reader_says_what_it_looks_for(tmp_path):
    assert set(READERS) == {
        "hypersim",
        "vkitti2",
        "tartanair",
        "blendedmvs",
        "irs",
        "pairs",
        "photos",
    }
    for name in set(READERS) - {"pairs", "photos"}:
        with pytest.raises(InputError, match="has no picture of this set; expected"):
            open_set(f"{name}:{tmp_path}")


def test_what_is_no_set(tmp_path):
    with pytest.raises(InputError, match="does not tell which set it is"):
        open_set(tmp_path)
    with pytest.raises(InputError, match="neither a folder nor a set"):
        open_set("kitti:somewhere")
    with pytest.raises(InputError, match="names no folder; write hypersim:DIR"):
        open_set("hypersim:")
