import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paper_fit import LOSSES, fit_paper
from sightline.errors import InputError
from sightline.metric.inpainting import to_original


def people(scale, shift, count=4, pixels=300, seed=0):
    """Relative disparity and meters of people at 2 to 9 m."""
    rng = np.random.default_rng(seed)
    depths = [rng.uniform(2, 9) + rng.uniform(-0.2, 0.2, pixels) for _ in range(count)]
    return [(1 / depth - shift) / scale for depth in depths], depths


@given(scale=st.floats(0.05, 20.0), shift=st.floats(-0.05, 0.05))
def test_exact_people_give_the_exact_line(scale, shift):
    values, depths = people(scale, shift)
    found = fit_paper(values, depths)
    assert found.scale == pytest.approx(scale, rel=1e-3)
    assert found.shift == pytest.approx(shift, abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_finds_it(loss):
    values, depths = people(0.5, 0.02)
    found = fit_paper(values, depths, loss=loss)
    assert found.scale == pytest.approx(0.5, rel=0.02)


def test_depth_space():
    _, depths = people(1.0, 0.0)
    found = fit_paper([(d - 0.5) / 3 for d in depths], depths, space="depth")
    assert (found.scale, found.shift) == (pytest.approx(3, rel=1e-3), pytest.approx(0.5, abs=5e-3))


def test_no_people():
    with pytest.raises(InputError, match="no pixel that shows a person"):
        fit_paper([], [])
    with pytest.raises(InputError, match="no pixel"):
        fit_paper([np.array([-1.0, np.nan])], [np.array([1.0, 2.0])])
    with pytest.raises(InputError, match="3 values for 2 depths"):
        fit_paper([np.ones(3)], [np.ones(2)])


def test_paintings_are_brought_to_the_original():
    rng = np.random.default_rng(3)
    original = rng.uniform(0.2, 1.0, (20, 30))
    strip = np.zeros((20, 30), bool)
    strip[:, 10:18] = True
    painted = (original - 0.1) / 1.7
    painted[strip] = rng.uniform(0.2, 2.0, int(strip.sum()))
    line = to_original(painted, original, strip)
    assert (line.scale, line.shift) == (pytest.approx(1.7), pytest.approx(0.1))
    with pytest.raises(InputError, match="leaves nothing"):
        to_original(painted, original, np.ones_like(strip))
