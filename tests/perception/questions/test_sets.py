"""Whole sets of questions: balanced, the same again, and right."""

import json
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from sightline.errors import InputError
from sightline.perception.questions.depth import read_answer, read_places, read_readings
from sightline.perception.questions.hardblink import HARD, SIDE
from sightline.perception.questions.records import read_llava
from sightline.perception.questions.sets import (
    ask_points,
    depth_image,
    depth_image_of_pair,
    write_depth_sets,
    write_hard_blink,
)
from sightline.perception.tokens import from_text, to_text
from sightline.training.data.pairs import Pair
from sightline.types import DepthMap, Kind


def pictures(count=12, kind=Kind.RELATIVE_DISPARITY):
    """Slopes that lean in different directions; color says nothing."""
    row, column = np.mgrid[:60, :80] / 80
    for number in range(count):
        angle = 0.5 * number
        near = 1 + np.cos(angle) * column + np.sin(angle) * row
        near = near - near.min() + 0.2
        values = near if kind.larger_is_nearer else 1 / near
        pixels = np.full((60, 80, 3), 5 * number, np.uint8)
        yield depth_image(f"p{number:02d}", pixels, DepthMap(values.astype(np.float32), kind))


def encode(values):
    """Stand-in for the codebook: the mean of each of 10 × 10 fields, in 128 steps."""
    fields = values[:330, :330].reshape(10, 33, 10, 33).mean((1, 3))
    return to_text((fields / 2).astype(np.int64))


def test_numbers_and_letters_take_turns():
    asked = list(ask_points(pictures(40), [2, 4]))
    assert Counter(len(one.points) for one in asked) == {2: 20, 4: 20}
    for count in (2, 4):
        letters = Counter(one.answer for one in asked if len(one.points) == count)
        assert set(letters.values()) == {20 // count}


def test_meters_and_disparity_give_the_same_questions():
    one, two = (
        list(ask_points(pictures(5, kind), [3]))
        for kind in (Kind.RELATIVE_DISPARITY, Kind.METRIC_DEPTH)
    )
    assert [list(a.points) for a in one] == [list(b.points) for b in two]
    for a, b in zip(one, two, strict=True):
        assert {k: (p.x, p.y) for k, p in a.points.items()} == {
            k: (p.x, p.y) for k, p in b.points.items()
        }


def test_the_papers_sets(tmp_path):
    made = write_depth_sets(pictures(), tmp_path / "a", encode, asked_share=0.5)
    assert len(made.generation) == 12
    assert len(made.reasoning) == 12
    assert read_llava(tmp_path / "a" / "reasoning.json") == list(made.reasoning)
    assert read_llava(tmp_path / "a" / "pointing.json") == list(made.pointing)
    for pointing, chain in zip(made.pointing, made.reasoning[1::2], strict=True):
        assert (pointing.task, pointing.image) == ("points", chain.image)
        assert read_places(pointing.answer) == read_places(chain.answer)
        assert read_readings(pointing.answer) == read_readings(chain.answer)
    for direct, chain in zip(made.reasoning[::2], made.reasoning[1::2], strict=True):
        assert (direct.task, chain.task) == ("direct", "chain")
        assert direct.image == chain.image
        assert read_answer(direct.answer) == read_answer(chain.answer)
        places = read_places(chain.answer)
        codes = from_text(chain.answer)
        at = {k: codes[min(9, y // 33), min(9, x // 33)] for k, (x, y) in places.items()}
        assert max(at, key=at.get) == read_answer(chain.answer)
        with Image.open(tmp_path / "a" / chain.image) as picture:
            assert picture.size == (SIDE, SIDE)
    write_depth_sets(pictures(), tmp_path / "b", encode, asked_share=0.5)
    for path in sorted((tmp_path / "a").rglob("*.*")):
        assert path.read_bytes() == (tmp_path / "b" / path.relative_to(tmp_path / "a")).read_bytes()


def test_a_hard_blink_of_ones_own(tmp_path):
    asked = write_hard_blink(list(pictures(6)), tmp_path)
    assert Counter(len(one.points) for one in asked) == {3: 6, 4: 6, 5: 6}
    rows = [json.loads(line) for line in (tmp_path / "questions.jsonl").read_text().splitlines()]
    assert len(rows) == 18
    assert len({row["question_id"] for row in rows}) == 18
    for row, one in zip(rows, asked, strict=True):
        assert row["answer"] == f"({one.answer})"
        assert (tmp_path / row["image"]).is_file()
        low, high = HARD.bands[len(row["points"])]
        assert all(low <= y <= high for _, y in row["points"].values())


def test_pictures_without_depth_have_no_questions(tmp_path):
    flat = [
        depth_image(
            "flat",
            np.zeros((9, 9, 3), np.uint8),
            DepthMap(np.ones((9, 9), np.float32), Kind.METRIC_DEPTH),
        )
    ]
    with pytest.raises(InputError, match="no picture has room"):
        write_hard_blink(flat, tmp_path)
    with pytest.raises(InputError, match="no picture has room"):
        write_depth_sets(flat, tmp_path, encode, asked_share=1.0)
    with pytest.raises(InputError, match="share"):
        write_depth_sets(flat, tmp_path, encode, asked_share=0.0)


def test_a_third_question_goes_by_the_map_alone(tmp_path):
    made = write_depth_sets(
        pictures(4),
        tmp_path,
        encode,
        asked_share=1.0,
        map_first=True,
    )
    assert len(made.reasoning) == 12
    direct, chain, by_map = made.reasoning[:3]
    assert direct.image == chain.image == by_map.image
    assert "letter=x,y" in chain.question
    assert "letter=x,y" not in by_map.question
    assert not read_places(by_map.answer)
    assert by_map.answer.index("<DEPTH_START>") == chain.answer.index("<DEPTH_START>")
    assert read_answer(by_map.answer) == read_answer(direct.answer)


def test_pairs_of_depth_training_can_be_asked_about():
    disparity = np.linspace(0, 1, 60, dtype=np.float16)[None].repeat(40, 0)
    known = np.ones((40, 60), bool)
    known[:, 50:] = False
    seen = depth_image_of_pair("p", Pair(np.zeros((40, 60, 3), np.uint8), disparity, known))
    assert seen.values.shape == (336, 336)
    assert seen.values[0, 270] > seen.values[0, 10]
    assert not seen.known[0, 330]
    assert seen.values[0, 330] == 0
