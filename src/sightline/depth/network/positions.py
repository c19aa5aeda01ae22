"""Stretch the learnt grid of position vectors over a picture of another size.

The interpolation is bicubic without antialiasing. It is written as two small matrix products, one per
axis, instead of a call to `interpolate`, for three reasons: the sizes may be traced values, so an
exported graph really is dynamic; no runtime has to agree with torch about what a scale factor means;
and the same few lines serve training, inference and export.

Two conventions exist, and they give different depth:

* `authors`: a grid of n cells is sampled in steps of 37 / (n + 0.1), the scale factor that DINOv2 and
  Depth Anything hand to torch. The last cell is not centred on the edge. A 37 × 37 grid is untouched.
* `size`: steps of 37 / n, as Hugging Face transformers does.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

PositionResize = Literal["authors", "size"]

#: What the authors add to the number of cells before dividing (to dodge rounding down by one).
AUTHORS_OFFSET = 0.1

#: Sharpness of the cubic kernel, as in torch and OpenCV (ONNX calls it `cubic_coeff_a`).
CUBIC_A = -0.75


def resize_positions(grid: Tensor, rows: int, columns: int, mode: PositionResize) -> Tensor:
    """Resample a square grid of vectors to `rows` × `columns`.

    Args:
        grid: (n, n, D) vectors, first axis down the picture, second across.
        rows: cells down; a traced value while exporting.
        columns: cells across; likewise.
        mode: see the module's docstring.

    Returns:
        (rows, columns, D) in the dtype of `grid`.
    """
    side = grid.shape[0]
    down, across = _count(rows, grid), _count(columns, grid)
    offset = torch.zeros_like(down)
    if mode == "authors":
        # A tensor, not a Python branch: a branch would tie an exported graph to the traced size.
        offset = torch.where((down == side) & (across == side), offset, offset + AUTHORS_OFFSET)
    vertical = _cubic_weights(rows, side, side / (down + offset))
    horizontal = _cubic_weights(columns, side, side / (across + offset))
    stretched = torch.einsum("ij,jkd->ikd", vertical, grid.float())
    return torch.einsum("lk,ikd->ild", horizontal, stretched).to(grid.dtype)


def _count(cells: int, like: Tensor) -> Tensor:
    return torch.scalar_tensor(cells, dtype=torch.float32, device=like.device)


def _cubic_weights(cells: int, side: int, step: Tensor) -> Tensor:
    """Return the (cells, side) matrix that samples a line of `side` values every `step` cells."""
    centres = (torch.arange(cells, device=step.device) + 0.5) * step - 0.5
    first = torch.floor(centres)
    fraction = (centres - first)[:, None]
    taps = torch.arange(-1, 3, device=step.device)
    weights = _cubic_kernel(torch.abs(fraction - taps))
    # Taps beyond the border repeat the border value.
    sources = torch.clamp(first[:, None] + taps, 0, side - 1)
    hit = sources[:, :, None] == torch.arange(side, device=step.device)
    return (hit * weights[:, :, None]).sum(dim=1)


def _cubic_kernel(distance: Tensor) -> Tensor:
    """Keys' cubic convolution kernel at `distance` ≥ 0 from a sample, zero from 2 on."""
    near = ((CUBIC_A + 2) * distance - (CUBIC_A + 3)) * distance**2 + 1
    far = CUBIC_A * (((distance - 5) * distance + 8) * distance - 4)
    return torch.where(distance <= 1, near, far)
