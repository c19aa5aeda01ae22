"""Splits draw from the parts of the ranges that their names say."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.worlds.simulation import sample
from sightline.physics.worlds.splits import (
    HIGH,
    ID,
    LOW,
    OUT,
    PRESETS,
    SPLITS,
    eval_size,
    levels,
    ranges,
)

CASES = [(scenario, split) for scenario, splits in SPLITS.items() for split in splits]


def sides(values, known, kind):
    """0 in distribution, 1 below, 2 above, −1 in none of them."""
    parts = [getattr(known, kind + suffix) for suffix in ("", "_low", "_high")]
    result = np.full(values.shape, -1)
    for side in (HIGH, LOW, ID):  # the paper's ranges touch: in distribution wins
        low, high = parts[side]
        result[(values >= low) & (values <= high)] = side
    return result


def sides_of(scenario, init, preset):
    known = ranges(scenario, preset)
    half = init.shape[1] // 2
    return np.hstack(
        [sides(init[:, :half], known, "radius"), sides(init[:, half:], known, "speed")]
    )


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(("scenario", "split"), CASES)
def test_every_sample_is_of_one_of_the_levels(scenario, split, preset):
    init = sample(scenario, 400, split=split, preset=preset).init
    found = sides_of(scenario, init, preset)
    assert (found >= 0).all()
    allowed = levels(scenario, split, preset)
    matches = (found[:, None] == allowed) | ((allowed == OUT) & (found[:, None] != ID))
    assert matches.all(2).any(1).all()
    assert matches.all(2).any(0).all()  # and every level occurs


def test_single_ball_levels_have_even_shares_and_both_sides():
    found = sides_of("uniform", sample("uniform", 6000, split="ood").init, "code")
    out = found != ID
    for pattern in ((True, False), (False, True), (True, True)):
        assert (out == pattern).all(1).mean() == pytest.approx(1 / 3, abs=0.03)
    assert (found[out[:, 0], 0] == LOW).mean() == pytest.approx(0.5, abs=0.03)


def test_values_are_even_within_a_range():
    init = sample("uniform", 20000).init
    for column, (low, high) in enumerate([(0.7, 1.4), (1.0, 4.0)]):
        counts, _ = np.histogram(init[:, column], 10, (low, high))
        assert counts.sum() == 20000
        assert np.abs(counts - 2000).max() < 5 * np.sqrt(2000)
    assert abs(np.corrcoef(init.T)[0, 1]) < 0.03


def test_some_of_the_slow_are_at_rest():
    speeds = sample("parabola", 6000, split="ood-v").init[:, 1]
    assert (speeds[speeds < 1] == 0).mean() == pytest.approx(1 / 16, abs=0.02)
    assert (sample("parabola", 6000).init[:, 1] > 0).all()


def test_what_no_picture_has_room_for_is_left_out():
    assert len(SPLITS["collision"]["xl"]) == 6
    assert len(levels("collision", "xl", "code")) == 5
    assert len(levels("collision", "xl", "paper")) == 4


def test_presets_differ_where_paper_and_code_do():
    assert ranges("uniform").radius == (0.7, 1.4)
    assert ranges("collision").radius_low == (0.3, 0.4)
    assert ranges("collision", "paper") == ranges("uniform", "paper")
    assert eval_size("uniform", "id") == 1050
    assert eval_size("parabola", "ood-rv") == 2500


@pytest.mark.parametrize(
    ("scenario", "options"),
    [
        ("pendulum", {}),
        ("uniform", {"split": "ood-r1"}),
        ("collision", {"split": "ood-rv"}),
        ("uniform", {"preset": "mine"}),
    ],
)
def test_unknown_names_are_refused_with_the_known_ones(scenario, options):
    with pytest.raises(InputError, match="use"):
        sample(scenario, 1, **options)
