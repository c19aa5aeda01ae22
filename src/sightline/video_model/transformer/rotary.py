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
        (T · rows · columns, channels / 2, 2) float32, cosine and sine, tokens in the order of the grid.
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
    return torch.stack([angles.cos(), angles.sin()], dim=-1)


def turn(x: Tensor, turns: Tensor) -> Tensor:
    """Turn each pair of channels, in float32.

    As one complex product it takes a fourth of the time of single products; a compiler, which knows no
    complex numbers, makes one loop of the single ones.

    Args:
        x: (…, channels) queries or keys.
        turns: (…, channels / 2, 2) cosine and sine, broadcasting to those of `x`.

    Returns:
        (…, channels) float32, or float64 if `x` is.
    """
    wide = x if x.dtype == torch.float64 else x.float()
    pairs = wide.reshape(*x.shape[:-1], -1, 2)
    if torch.compiler.is_compiling():
        (real, imaginary), (cosine, sine) = pairs.unbind(-1), turns.unbind(-1)
        parts = [real * cosine - imaginary * sine, real * sine + imaginary * cosine]
        return torch.stack(parts, dim=-1).flatten(-2)
    turned = torch.view_as_complex(pairs) * torch.view_as_complex(turns)
    return torch.view_as_real(turned).flatten(-2)
