"""Annotations in LVIS's and COCO's layout."""

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from sightline.errors import InputError
from sightline.perception.questions.count_sets import read_annotations
from sightline.perception.questions.counting import kind_to_ask
from sightline.perception.tokens import box_to_text

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


def counted(tmp_path, images, annotations):
    """Write pictures that the list names, read them all; return their names and what was left out."""
    left = []
    found = read_annotations(write(tmp_path, images, annotations))
    return [one.name for one in found.counted(tmp_path, left.append)], [str(one) for one in left]


def save(path, width, height):
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(np.zeros((height, width, 3), np.uint8)).save(path)


def test_pictures_with_the_same_stem_get_names_of_their_own(tmp_path):
    names = ("a/1.jpg", "b/1.jpg", "1.png", "1-2.jpg")
    for name in names:
        save(tmp_path / name, 20, 10)
    images = [{"id": k, "width": 20, "height": 10, "file_name": n} for k, n in enumerate(names)]
    found, _ = counted(tmp_path, images, [])
    assert len(set(found)) == 4
    assert found[0] == "1"


def test_bad_pictures_are_left_out(tmp_path):
    save(tmp_path / "good.png", 20, 10)
    (tmp_path / "torn.png").write_bytes(b"\x89PNG no")
    names = ("torn.png", "gone.png", "nul\0.png", "x" * 5000, "good.png", "good.png")
    images = [{"id": k, "width": 20, "height": 10, "file_name": n} for k, n in enumerate(names)]
    images[-1]["width"] = 21
    found, left = counted(tmp_path, images, [])
    assert found == ["good"]
    assert len(left) == 5
    assert "good.png: is 20 × 10 px, and its annotations are of 21 × 10" in left[-1]


@pytest.mark.parametrize("width", ["1e400", "0", "-3", "NaN", '"wide"', "null"])
def test_sizes_that_make_no_sense(tmp_path, width):
    path = write(tmp_path, [{"id": 5, "width": 20, "height": 10, "file_name": "a.jpg"}], [])
    path.write_text(path.read_text().replace('"width": 20', f'"width": {width}'))
    with pytest.raises(InputError, match="not an annotation file") as caught:
        read_annotations(path)
    assert "Error" not in str(caught.value)


def test_tiny_and_endless_boxes_are_dropped(tmp_path):
    images = [{"id": 5, "width": 50, "height": 50, "file_name": "5.jpg"}]
    rows = ([1, 1, 1e-300, 1e-300], [49.99, 1, 0.001, 3], [0, 0, 1e999, 9], [float("nan"), 0, 1, 1])
    annotations = [{"image_id": 5, "category_id": 3, "bbox": row} for row in rows]
    ((_, things),) = read_annotations(write(tmp_path, images, annotations)).pictures
    boxes = things.boxes["street sign"]
    assert len(boxes) == 1
    assert all(box_to_text(box, 50, 50) for box in boxes)


def test_messages_are_words(tmp_path):
    images = [{"id": 5, "width": 50, "height": 50, "file_name": "5.jpg"}]
    unknown = {"image_id": 5, "category_id": 77, "bbox": [0, 0, 1, 1]}
    with pytest.raises(InputError, match=r"\(there is no category 77\)"):
        read_annotations(write(tmp_path, images, [unknown]))
    with pytest.raises(InputError, match=r"\(bbox is missing\)"):
        read_annotations(write(tmp_path, images, [{"image_id": 5, "category_id": 3}]))
