"""Scores of turned queries and keys depend on distances alone, along every axis."""

import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sightline.video_model.transformer import rotary_angles, rotate_pairs

sides = st.integers(1, 4)


def scores_of(grid, channels, seed):
    """Score of one and the same query and key at every two places."""
    q, k = torch.randn(2, 1, channels, generator=torch.Generator().manual_seed(seed))
    turns = rotary_angles(grid, channels)
    return (
        rotate_pairs(q.expand(len(turns), -1), turns)
        @ rotate_pairs(k.expand(len(turns), -1), turns).T
    )


@given(st.tuples(sides, sides, sides), st.sampled_from([4, 32, 64, 72]), st.integers(0, 99))
def test_scores_depend_on_differences_alone(grid, channels, seed):
    scores = scores_of(grid, channels, seed)
    places = list(itertools.product(*map(range, grid)))
    by_difference = {}
    for i, here in enumerate(places):
        for j, there in enumerate(places):
            difference = tuple(a - b for a, b in zip(here, there, strict=True))
            by_difference.setdefault(difference, []).append(float(scores[i, j]))
    for values in by_difference.values():
        assert max(values) - min(values) < 1e-4


@pytest.mark.parametrize("axis", range(3))
def test_every_axis_counts(axis):
    grid = [1, 1, 1]
    grid[axis] = 8
    first = scores_of(tuple(grid), 32, 0)[0]
    assert len(set(first.round(decimals=4).tolist())) == 8


def test_axes_are_told_apart():
    turns = rotary_angles((2, 2, 2), 64)
    after_time, after_row, after_column = turns[4], turns[2], turns[1]
    assert not torch.equal(after_row, after_column)
    assert not torch.equal(after_time, after_row)
    moved = [
        set((t[:, 1] != 0).nonzero()[:, 0].tolist()) for t in (after_time, after_row, after_column)
    ]
    assert [len(pairs) for pairs in moved] == [12, 10, 10]
    assert set.union(*moved) == set(range(32))


def test_turning_keeps_lengths_and_the_first_token():
    x = torch.randn(2, 12, 3, 16, generator=torch.Generator().manual_seed(1))
    turned = rotate_pairs(x, rotary_angles((3, 2, 2), 16)[:, None])
    assert torch.allclose(turned.norm(dim=-1), x.norm(dim=-1), atol=1e-5)
    assert torch.equal(turned[:, 0], x[:, 0])
    assert not torch.allclose(turned[:, 1], x[:, 1])


def test_types():
    turns = rotary_angles((2, 1, 1), 4)
    for given_type, wanted in (
        (torch.bfloat16, torch.float32),
        (torch.float32, torch.float32),
        (torch.float64, torch.float64),
    ):
        assert rotate_pairs(torch.ones(2, 4, dtype=given_type), turns).dtype == wanted


def test_single_products_turn_as_the_complex_one_does(monkeypatch):
    x = torch.randn(2, 12, 3, 16, generator=torch.Generator().manual_seed(2))
    turns = rotary_angles((3, 2, 2), 16)[:, None]
    complex_product = rotate_pairs(x, turns)
    monkeypatch.setattr(torch.compiler, "is_compiling", lambda: True)
    assert torch.allclose(rotate_pairs(x, turns), complex_product, atol=1e-6)
    assert not torch.allclose(rotate_pairs(x, -turns), complex_product, atol=1e-6)
