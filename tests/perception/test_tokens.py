"""Perception tokens in a tokenizer, and boxes as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from sightline.errors import InputError
from sightline.perception.tokens import (
    PIXELS,
    box_to_text,
    boxes_from_text,
    extend,
    find,
    in_picture,
)


def tokenizer(words=32_000):
    """One with as many words as LLaVA-1.5's."""
    vocabulary = {"<unk>": 0} | {f"word{k}": k for k in range(1, words)}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(tokenizer_object=inner, unk_token="<unk>")


def test_numbers_are_the_papers():
    one = tokenizer()
    depth = extend(one)
    assert (depth.start, depth.end, depth.codes) == (32000, 32001, tuple(range(32002, 32130)))
    both = extend(one, pixels=True)
    assert both.pixels == tuple(range(32130, 32466))
    assert both.codes == depth.codes
    assert len(one) == 32466
    alone = extend(tokenizer(), depth=False, pixels=True)
    assert alone.pixels == tuple(range(32000, 32336))
    assert alone.start is None
    assert alone.all == alone.pixels


def test_tokens_are_never_split():
    one = tokenizer()
    depth = extend(one)
    ids = one("word5 <DEPTH_START><DEPTH_7><DEPTH_127><DEPTH_END>word6")["input_ids"]
    assert ids == [5, depth.start, depth.codes[7], depth.codes[127], depth.end, 6]


def test_they_outlive_saving(tmp_path):
    one = tokenizer()
    depth = extend(one)
    one.save_pretrained(tmp_path)
    assert find(PreTrainedTokenizerFast.from_pretrained(tmp_path)) == depth


def test_a_model_without_them():
    with pytest.raises(InputError, match="none of the 130 perception tokens"):
        find(tokenizer())
    one = tokenizer()
    extend(one)
    with pytest.raises(InputError, match="130 of the 466"):
        find(one, pixels=True)
    with pytest.raises(InputError, match="neither"):
        extend(one, depth=False)


SIDES = st.integers(1, 2000)


@given(SIDES, SIDES, st.data())
def test_boxes_there_and_back(width, height, data):
    left = data.draw(st.floats(0, width * 0.99))
    right = data.draw(st.floats(left, width).filter(lambda v: v > left))
    top = data.draw(st.floats(0, height * 0.99))
    bottom = data.draw(st.floats(top, height).filter(lambda v: v > top))
    (read,) = boxes_from_text(f"Box 1: ({box_to_text((left, top, right, bottom), width, height)})")
    back = in_picture(read, width, height)
    for sent, got, side in zip((left, top, right, bottom), back, (width, height) * 2, strict=True):
        assert abs(sent - got) <= 1.001 * side / PIXELS


def test_several_boxes_and_none():
    text = "\n".join(f"Box {k}: ({box_to_text((k, 0, k + 10, 20), 336, 336)})" for k in range(3))
    assert boxes_from_text(text) == [(0, 0, 10, 20), (1, 0, 11, 20), (2, 0, 12, 20)]
    assert boxes_from_text("There are none.") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<PIXEL_1><PIXEL_2><PIXEL_3>", "this one 3"),
        ("<PIXEL_1>" * 5, "this one 5"),
        ("<PIXEL_1><PIXEL_2><PIXEL_3><PIXEL_400>", "got 400"),
        ("<PIXEL_9><PIXEL_2><PIXEL_3><PIXEL_4>", "sides swapped"),
    ],
)
def test_broken_boxes(text, message):
    with pytest.raises(InputError, match=message):
        boxes_from_text(text)


@pytest.mark.parametrize(
    "box", [(5, 5, 5, 9), (-1, 0, 5, 5), (0, 0, 11, 5), (0, 0, float("nan"), 5)]
)
def test_boxes_that_are_none(box):
    with pytest.raises(InputError, match="does not lie"):
        box_to_text(box, 10, 10)
