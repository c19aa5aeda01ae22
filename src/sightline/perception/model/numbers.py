"""Numbers between 0 and 1 as channels that a network can read digits from: waves of falling length.

A single channel would have to be known to a thousandth; of a wave of a hundredth, a rough value is
enough. The longest wave is as long as the picture, the shortest five of its 336 pixels.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

#: Waves over the picture.
WAVES = (1, 2, 4, 8, 16, 32, 64)
#: Channels of a number: itself, and sine and cosine of every wave.
NUMBER = 1 + 2 * len(WAVES)


def number_code(values: Tensor) -> Tensor:
    """(…,) numbers in 0 to 1 → (…, 15), between −1 and 1."""
    waves = torch.tensor(WAVES, dtype=torch.float32, device=values.device)
    phase = 2 * math.pi * values.float()[..., None] * waves
    return torch.cat([2 * values.float()[..., None] - 1, phase.sin(), phase.cos()], dim=-1)
