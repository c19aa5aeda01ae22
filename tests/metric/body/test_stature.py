"""Heights: what is known before, what a known height changes, and what proportions tell."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.metric.body.model import COMPONENTS, body_space
from sightline.metric.body.problem import ShapePrior
from sightline.metric.body.stature import (
    HeightPrior,
    group_probabilities,
    half_width,
    mixture_prior,
    stature_groups,
)


def test_adults_are_as_tall_as_people_are():
    found = HeightPrior().groups()
    assert np.exp(found["man"][1]) == pytest.approx(1.747)
    assert np.exp(found["woman"][1]) == pytest.approx(1.618)
    assert found["child"][2] > 2.5 * found["man"][2]


def test_a_known_height_counts_and_makes_groups_less_probable():
    found = HeightPrior.of(1.20, 0.01).groups()
    for _, middle, width in found.values():
        assert np.exp(middle) == pytest.approx(1.20, abs=0.015)
        assert width < 0.01
    assert found["child"][0] > found["man"][0] + 10
    assert HeightPrior.of(1.85).groups()["man"][0] > HeightPrior.of(1.85).groups()["woman"][0]


@pytest.mark.parametrize(
    "wrong",
    [{"men": (175.0, 7.0)}, {"women": (1.6, 0.0)}, {"known": (0.1, 0.01)}, {"child_share": 1.5}],
)
def test_what_is_no_height_is_named(wrong):
    with pytest.raises(InputError, match=r"not plausible for a person|must lie in"):
        HeightPrior(**wrong)


@given(st.floats(-0.5, 0.5), st.floats(0.01, 0.3))
def test_half_width_of_one_normal_is_its_spread(mean, spread):
    assert half_width([(0.7, mean, spread)], mean) == pytest.approx(spread, rel=1e-3)


def test_half_width_holds_its_share_of_a_mixture():
    rng = np.random.default_rng(0)
    parts = [(0.8, 0.5, 0.05), (0.2, 0.2, 0.15)]
    chosen = rng.random(200_000) < 0.8
    drawn = np.where(chosen, rng.normal(0.5, 0.05, 200_000), rng.normal(0.2, 0.15, 200_000))
    reach = half_width(parts, 0.5)
    assert (np.abs(drawn - 0.5) < reach).mean() == pytest.approx(0.6827, abs=0.005)


def test_a_mixture_has_the_mean_and_spread_of_its_parts():
    rng = np.random.default_rng(0)
    a, b = ShapePrior(np.zeros(2), np.eye(2)), ShapePrior(np.array([3.0, 1.0]), 0.5 * np.eye(2))
    one = rng.multivariate_normal(a.mean, a.spread, 60_000)
    two = rng.multivariate_normal(b.mean, b.spread, 20_000)
    drawn = np.concatenate([one, two])
    both = mixture_prior([(3.0, a), (1.0, b)])
    np.testing.assert_allclose(both.mean, drawn.mean(0), atol=0.03)
    np.testing.assert_allclose(both.spread, np.cov(drawn.T), atol=0.05)


@pytest.mark.parametrize("name", ["man", "woman", "child"])
def test_a_shape_belongs_to_its_group_when_well_seen_and_to_nobody_when_not(name):
    space = body_space()
    found = stature_groups(space, HeightPrior(child_share=1 / 3))
    anybody = mixture_prior([(1.0, kind.prior) for kind in found.values()])
    sharp = 0.05 * np.eye(COMPONENTS)
    chances = group_probabilities(found, anybody, found[name].prior.mean, sharp)
    assert sum(chances.values()) == pytest.approx(1.0)
    assert max(chances, key=chances.__getitem__) == name
    blind = group_probabilities(found, anybody, anybody.mean, anybody.spread)
    assert all(share == pytest.approx(1 / 3, abs=0.01) for share in blind.values())


def test_shares_agree_with_a_count():
    """Draw shapes from the groups, blur them, and compare with how often each group gave them."""
    rng = np.random.default_rng(1)
    found = stature_groups(body_space(), HeightPrior(child_share=0.3))
    names, noise = list(found), 0.6 * np.eye(COMPONENTS)
    anybody = mixture_prior([(1.0, kind.prior) for kind in found.values()])
    weight = np.exp([found[n].log_share for n in names])
    right, promised = 0, 0.0
    for _ in range(600):
        name = names[rng.choice(3, p=weight / weight.sum())]
        prior = found[name].prior
        seen = rng.multivariate_normal(rng.multivariate_normal(prior.mean, prior.spread), noise)
        after = np.linalg.inv(np.linalg.inv(noise) + np.linalg.inv(anybody.spread))
        mean = after @ (
            np.linalg.solve(noise, seen) + np.linalg.solve(anybody.spread, anybody.mean)
        )
        chances = group_probabilities(found, anybody, mean, after)
        best = max(chances, key=chances.__getitem__)
        right += best == name
        promised += chances[best]
    assert right / 600 == pytest.approx(promised / 600, abs=0.05)


def test_proportions_tell_how_tall_a_child_is_and_nothing_of_an_adult():
    found = stature_groups(body_space(), HeightPrior())
    space, still = body_space(), np.zeros((COMPONENTS, COMPONENTS))
    child, group = found["child"], space.groups["child"]
    small, large = (
        child.height(group.mean + group.slope * (np.log(h) - group.at), still)[0]
        for h in (1.0, 1.5)
    )
    assert np.exp(large) > 1.1 * np.exp(small)
    man = found["man"]
    assert man.height(man.prior.mean + 2, still)[0] == pytest.approx(np.log(1.747))
