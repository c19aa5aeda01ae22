import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.metric.inpainting import StripConfig, draw_strip, working_size


@given(height=st.integers(8, 400), width=st.integers(8, 400), seed=st.integers(0, 1000))
def test_strips_are_full_height_and_leave_something(height, width, seed):
    mask, prompt = draw_strip(height, width, StripConfig(), np.random.default_rng(seed))
    columns = mask.all(axis=0)
    assert np.array_equal(mask.any(axis=0), columns)
    assert np.abs(np.diff(columns.astype(int))).sum() <= 2
    wide = int(columns.sum())
    assert 0 < wide < width
    assert wide <= 0.8 * min(height, width) + 1
    assert prompt in ("a man", "a woman")


def test_widths_are_spread_over_the_range():
    widths = [
        int(draw_strip(100, 200, StripConfig(), np.random.default_rng(k))[0][0].sum())
        for k in range(300)
    ]
    assert min(widths) in range(20, 26)
    assert max(widths) in range(75, 80)


@pytest.mark.parametrize(("size", "want"), [((480, 640), (512, 688)), ((1024, 768), (688, 512))])
def test_working_size(size, want):
    assert working_size(*size) == want


def test_bad_settings():
    with pytest.raises(InputError, match="strip widths must satisfy"):
        StripConfig(0.8, 0.2)
    with pytest.raises(InputError, match="at least one prompt"):
        StripConfig(prompts=())
