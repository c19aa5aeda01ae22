"""Sets of questions about how many."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from sightline.errors import InputError
from sightline.perception.questions.count_sets import (
    AnnotatedImage,
    ask_counts,
    counted_scenes,
    shares_of,
    things_of_scene,
    write_count_sets,
)
from sightline.perception.questions.counting import Things, read_listing, read_number
from sightline.perception.questions.records import read_llava

KINDS = ("chair", "cup", "tree")


def picture(number, cups):
    boxes = {"cup": [(10.0 * k, 5.0, 10.0 * k + 8, 20.0) for k in range(cups)]} if cups else {}
    return AnnotatedImage(
        f"{number:03d}", np.full((40, 200, 3), number, np.uint8), Things(200, 40, boxes)
    )


def test_counts_are_limited_and_some_are_none():
    chosen = list(ask_counts([picture(k, k % 4) for k in range(200)], KINDS, most_of_a_count=30))
    counts = Counter(len(one.things.boxes.get(kind, ())) for one, kind in chosen)
    assert set(counts) == {0, 1, 2, 3}
    assert max(counts.values()) <= 30
    again = list(ask_counts([picture(k, k % 4) for k in range(200)], KINDS, most_of_a_count=30))
    assert [(one.name, kind) for one, kind in again] == [(one.name, kind) for one, kind in chosen]


def test_any_kind_that_is_there_may_be_asked_about():
    boxes = {
        "cup": [(0.0, 0.0, 8.0, 8.0)],
        "tree": [(10.0 * k, 0.0, 10.0 * k + 8, 9.0) for k in range(3)],
    }
    one = AnnotatedImage("a", np.zeros((40, 200, 3), np.uint8), Things(200, 40, boxes))
    pictures = [replace(one, name=str(k)) for k in range(40)]
    most = {kind for _, kind in ask_counts(pictures, KINDS, none_share=0)}
    assert most == {"tree"}
    kinds = {kind for _, kind in ask_counts(pictures, KINDS, none_share=0, any_kind=True)}
    assert kinds == {"cup", "tree"}
    several = list(ask_counts(pictures, KINDS, none_share=0, any_kind=True, rounds=6))
    asked = Counter((one.name, kind) for one, kind in several)
    assert max(asked.values()) == 1, "another kind each time"
    assert len(several) > 1.8 * len(pictures)


def test_lists_and_pictures_are_written(tmp_path):
    made = write_count_sets(
        [picture(k, 1 + k % 3) for k in range(20)], KINDS, tmp_path, asked_share=0.5
    )
    assert len(made.boxes) == 20
    assert len(made.reasoning) == 20
    assert read_llava(tmp_path / "boxes.json") == list(made.boxes)
    direct, chain = read_llava(tmp_path / "counting.json")[:2]
    assert direct.image == chain.image
    assert read_number(direct.answer) == read_number(chain.answer)
    assert (tmp_path / direct.image).is_file()


def test_nothing_to_count(tmp_path):
    with pytest.raises(InputError, match="nothing to count"):
        write_count_sets([], KINDS, tmp_path)
    with pytest.raises(InputError, match="share"):
        write_count_sets([picture(0, 1)], KINDS, tmp_path, asked_share=0)


def test_things_of_a_scene(tmp_path):
    path = tmp_path / "scene.json"
    row = {"kind": "cup", "box": [1, 2, 30, 40], "pixels": 500}
    small = {"kind": "pen", "box": [1, 2, 3, 4], "pixels": 2}
    path.write_text(json.dumps({"width": 100, "height": 80, "instances": [row, small]}))
    things = things_of_scene(path)
    assert things.boxes == {"cup": [(1.0, 2.0, 30.0, 40.0)]}
    assert things.partial == {"pen"}
    for wrong in ("[]", "{}", '{"width": 1, "height": 1, "instances": [{}]}'):
        path.write_text(wrong)
        with pytest.raises(InputError, match="does not describe a scene"):
            things_of_scene(path)


def test_answers_may_go_through_all_that_a_model_sees(tmp_path):
    tree = (0.6, 0.0, 0.9, 1.0)

    def seen(path):
        cups = int(path.removeprefix("images/").removesuffix(".jpg")) % 3
        return [*shares_of(picture(0, cups).things, "cup"), tree]

    some = [picture(k, 1 + k % 3) for k in range(12)]
    made = write_count_sets(some, KINDS, tmp_path, asked_share=1.0, seen=seen)
    chains = [record for record in made.reasoning if record.task == "chain"]
    asked = [record for record in chains if "cups" in record.question]
    assert asked
    for record in asked:
        number = int(record.image.removeprefix("images/").removesuffix(".jpg"))
        # One cup less is seen than there is: what was seen is what is counted.
        assert read_number(record.answer) == number % 3
        named = [kind for kind, _ in read_listing(record.answer)]
        assert named == ["cups"] * (number % 3) + ["things"]
    assert all(record.answer.startswith("Things:") for record in made.boxes)


def test_of_few_pictures_one_is_asked_about(tmp_path):
    made = write_count_sets([picture(k, 2) for k in range(3)], KINDS, tmp_path / "a")
    assert (len(made.boxes), len(made.reasoning)) == (3, 2)
    with pytest.raises(InputError, match="most-of-a-count"):
        write_count_sets([picture(0, 1)], KINDS, tmp_path / "b", most_of_a_count=0)
    with pytest.raises(InputError, match="nothing to count"):
        write_count_sets([picture(0, 0)], (), tmp_path / "b")
    assert not (tmp_path / "b").exists()


def test_a_scene_without_its_picture_is_left_out(tmp_path):
    thing = {"kind": "cup", "box": [1, 1, 20, 20], "pixels": 300}
    for number in range(2):
        scene = {"width": 40, "height": 30, "instances": [thing]}
        (tmp_path / f"{number:06d}.json").write_text(json.dumps(scene))
    Image.fromarray(np.zeros((30, 40, 3), np.uint8)).save(tmp_path / "000001.jpg")
    left = []
    kinds, pictures = counted_scenes(tmp_path, skip=left.append)
    assert kinds == ["cup"]
    assert [one.name for one in pictures] == ["000001"]
    assert "000000.jpg" in str(left[0])
    with pytest.raises(InputError, match=r"000000\.jpg"):
        list(counted_scenes(tmp_path)[1])
