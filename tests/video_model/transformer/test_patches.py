"""Patches hold what lies together, in the order of the grid, and go back exactly."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from sightline.video_model.transformer import from_patches, to_patches

small = st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))


@given(small, small, st.integers(1, 3))
def test_there_and_back(grid, patch, channels):
    shape = (channels, *(g * p for g, p in zip(grid, patch, strict=True)))
    video = torch.randn(2, *shape, generator=torch.Generator().manual_seed(0))
    tokens = to_patches(video, patch)
    assert tokens.shape == (
        2,
        grid[0],
        grid[1] * grid[2],
        channels * patch[0] * patch[1] * patch[2],
    )
    assert torch.equal(from_patches(tokens, patch, shape), video)


def test_a_token_is_a_patch():
    video = torch.arange(2 * 3 * 4 * 6 * 8.0).view(2, 3, 4, 6, 8)
    tokens = to_patches(video, (2, 3, 2))
    # Second in time, second row, third column of a grid of 2 × 2 × 4.
    assert torch.equal(tokens[1, 1, 1 * 4 + 2], video[1, :, 2:4, 3:6, 4:6].flatten())
