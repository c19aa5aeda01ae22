"""Annotations in LVIS's and COCO's layout."""

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from sightline.errors import InputError
from sightline.perception.questions.counting import kind_to_ask
from sightline.perception.questions.lvis import read_annotations

CATEGORIES = [{"id": 3, "name": "street_sign"}, {"id": 7, "name": "bus_(vehicle)"}]


def write(tmp_path, images, annotations):
    path = tmp_path / "marks.json"
    found = {"images": images, "annotations": annotations, "categories": CATEGORIES}
    path.write_text(json.dumps(found))
    return path


def test_lvis(tmp_path, rng):
    images = [
        {
            "id": 1,
            "width": 100,
            "height": 80,
            "coco_url": "http://images.cocodataset.org/train2017/000001.jpg",
            "not_exhaustive_category_ids": [7],
            "neg_category_ids": [],
        }
    ]
    annotations = [
        {"image_id": 1, "category_id": 3, "bbox": [10, 20, 30, 40]},
        {"image_id": 1, "category_id": 3, "bbox": [90, 70, 30, 40]},
        {"image_id": 1, "category_id": 7, "bbox": [0, 0, 5, 5]},
        {"image_id": 1, "category_id": 3, "bbox": [0, 0, 0, 5]},
    ]
    found = read_annotations(write(tmp_path, images, annotations))
    assert found.kinds == ("bus (vehicle)", "street sign")
    ((name, things),) = found.pictures
    assert name == "train2017/000001.jpg"
    assert things.boxes["street sign"] == [(10, 20, 40, 60), (90, 70, 100, 80)]
    assert things.partial == {"bus (vehicle)"}
    assert things.absent == frozenset()
    nothing = replace(things, boxes={})
    assert kind_to_ask(nothing, ["lamp"], rng) is None, "nobody looked for a lamp there"
    assert kind_to_ask(replace(nothing, absent={"lamp"}), ["lamp"], rng) == ("lamp", 0)
    (tmp_path / "train2017").mkdir()
    pixels = np.zeros((80, 100, 3), np.uint8)
    Image.fromarray(pixels).save(tmp_path / "train2017" / "000001.jpg")
    (one,) = found.counted(tmp_path)
    (again,) = found.counted(tmp_path / "train2017")
    assert one.name == again.name == "000001"
    with pytest.raises(InputError, match="no such picture"):
        list(found.counted(tmp_path / "nowhere"))


def test_crowds_of_coco_are_not_counted(tmp_path):
    images = [{"id": 5, "width": 50, "height": 50, "file_name": "5.jpg"}]
    annotations = [
        {"image_id": 5, "category_id": 3, "bbox": [1, 1, 9, 9], "iscrowd": 0},
        {"image_id": 5, "category_id": 7, "bbox": [1, 1, 9, 9], "iscrowd": 1},
    ]
    ((_, things),) = read_annotations(write(tmp_path, images, annotations)).pictures
    assert set(things.boxes) == {"street sign"}
    assert things.partial == {"bus (vehicle)"}


def test_other_files_and_hostile_names_are_refused(tmp_path):
    for text in ("[]", "{}", "{oops", '{"images": [], "annotations": [], "categories": []}'):
        (tmp_path / "x.json").write_text(text)
        with pytest.raises(InputError):
            read_annotations(tmp_path / "x.json")
    images = [{"id": 5, "width": 50, "height": 50, "file_name": "../../../etc/passwd"}]
    found = read_annotations(write(tmp_path, images, []))
    with pytest.raises(InputError, match="outside"):
        list(found.counted(tmp_path))
