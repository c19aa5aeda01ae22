"""Depth maps as text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sightline.errors import InputError
from sightline.perception.tokens import END, START, from_text, to_text

MAPS = arrays(np.int64, (10, 10), elements=st.integers(0, 127))


@given(MAPS)
def test_there_and_back(codes):
    text = to_text(codes)
    assert text.count("<") == 102
    np.testing.assert_array_equal(from_text(text), codes)
    spaced = f"The map: {text.replace('><', '> <')}\nso A is nearer"
    np.testing.assert_array_equal(from_text(spaced), codes)


def test_rows_from_the_top_left():
    text = to_text(np.arange(100).reshape(10, 10))
    assert text.startswith(f"{START}<DEPTH_0><DEPTH_1>")
    assert text.endswith(f"<DEPTH_99>{END}")


WHOLE = to_text(np.zeros((10, 10), np.int64))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nothing here", "no depth map"),
        (END + START, "no depth map"),
        (START, "no depth map"),
        (WHOLE + WHOLE, "several depth maps"),
        (START + "<DEPTH_1>" * 99 + END, "100 codes, this one 99"),
        (START + "<DEPTH_1>" * 101 + END, "this one 101"),
        (START + "<DEPTH_128>" * 100 + END, "0 to 127, got 128"),
        (START + "<DEPTH_1>" * 50 + "sky" + "<DEPTH_1>" * 50 + END, "'sky'"),
        (START + "<DEPTH_9999999999>" * 100 + END, "unexpected text"),
    ],
)
def test_what_is_no_map(text, message):
    with pytest.raises(InputError, match=message):
        from_text(text)


def test_codes_that_are_none():
    with pytest.raises(InputError, match="10 × 10"):
        to_text(np.zeros(100, np.int64))
    with pytest.raises(InputError, match="got -1"):
        to_text(np.full((10, 10), -1))
