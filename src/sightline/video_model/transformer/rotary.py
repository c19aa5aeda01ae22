"""Rotary positions in three dimensions: time, row, column (RoFormer, arXiv 2104.09864; PhyWorld §2.2).

Channels of a head are taken in pairs, as complex numbers; a third of the pairs is turned by the token's
time, a third by its row, a third by its column, each pair at its own rate. The product of a query and a
key then depends on the distance between their tokens, not on where they are.
"""

from __future__ import annotations

import torch
from torch import Tensor

#: The slowest rates are about 1 / BASE of the fastest. Videos are tens of tokens long where texts are
#: thousands, so 100 and not 10,000 (as Heo et al. 2024, arXiv 2403.13298, for pictures).
BASE = 100.0


def make_turns(
    grid: tuple[int, int, int], channels: int, device: torch.device | None = None
) -> Tensor:
    """Return the turn of each pair of channels for each token of a grid.

    Args:
        grid: tokens along time, rows and columns.
        channels: of a head, an even number.
        device: of the result.

    Returns:
        (T · rows · columns, channels / 2) complex64 of length 1, tokens in the order of the grid.
    """
    pairs = channels // 2
    third = pairs // 3
    parts = []
    for axis, share in enumerate((pairs - 2 * third, third, third)):
        rates = BASE ** -(torch.arange(share, device=device) / share)
        angles = torch.outer(torch.arange(grid[axis], device=device), rates)
        shape = [1, 1, 1, share]
        shape[axis] = grid[axis]
        parts.append(angles.view(shape).expand(*grid, share))
    angles = torch.cat(parts, dim=-1).flatten(0, 2)
    return torch.polar(torch.ones_like(angles), angles)


def turn(x: Tensor, turns: Tensor) -> Tensor:
    """Turn each pair of channels, in float32: one complex product, a fourth of the time of cos and sin.

    Args:
        x: (…, channels) queries or keys.
        turns: complex, broadcasting to (…, channels / 2).

    Returns:
        (…, channels) float32, or float64 if `x` is.
    """
    wide = x if x.dtype == torch.float64 else x.float()
    turned = torch.view_as_complex(wide.reshape(*x.shape[:-1], -1, 2)) * turns
    return torch.view_as_real(turned).flatten(-2)
