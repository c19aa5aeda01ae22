"""The DINOv2 encoder, named as in the official checkpoints (`pretrained.*`).

Pre-norm transformer with LayerScale, patches of 14 px, one class token, no register tokens; LayerNorm
epsilon 1e-6; the final LayerNorm is applied to each tapped output (`R-DAv2` dinov2.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sightline.depth.network.positions import PositionResize, resize_positions
from sightline.depth.network.sizes import GRID, PATCH, Size
from sightline.errors import InputError

EPSILON = 1e-6


class Attention(nn.Module):
    """Multi-head self-attention with one fused projection to queries, keys and values."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.scale: float | None = None  # of queries times keys; None for the usual 1/√width
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, D) → (N, T, D)."""
        batch, tokens, width = x.shape
        parts = self.qkv(x).reshape(batch, tokens, 3, self.heads, width // self.heads)
        q, k, v = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = F.scaled_dot_product_attention(q, k, v, scale=self.scale)
        return self.proj(mixed.transpose(1, 2).reshape(batch, tokens, width))


class Mlp(nn.Module):
    """Two linear layers with GELU between, four times as wide inside."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, 4 * width)
        self.fc2 = nn.Linear(4 * width, width)

    @property
    def last(self) -> nn.Linear:
        """The layer whose output leaves the branch."""
        return self.fc2

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, D) → (N, T, D)."""
        return self.fc2(F.gelu(self.fc1(x)))


class SwiGlu(nn.Module):
    """The giant's gated feed-forward part; `w12` holds gate and value in one matrix."""

    def __init__(self, width: int) -> None:
        super().__init__()
        # Two thirds of the usual hidden width keep the parameter count; rounded up to 8.
        hidden = (int(4 * width * 2 / 3) + 7) // 8 * 8
        self.w12 = nn.Linear(width, 2 * hidden)
        self.w3 = nn.Linear(hidden, width)

    @property
    def last(self) -> nn.Linear:
        """The layer whose output leaves the branch."""
        return self.w3

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, D) → (N, T, D)."""
        gate, value = self.w12(x).chunk(2, dim=-1)
        return self.w3(F.silu(gate) * value)


class LayerScale(nn.Module):
    """A learnt gain per channel on a residual branch; starts at 1."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, D) → (N, T, D)."""
        return x * self.gamma


class Block(nn.Module):
    """Attention, then feed-forward, each on a scaled residual branch."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(size.width, eps=EPSILON)
        self.attn = Attention(size.width, size.heads)
        self.ls1: nn.Module = LayerScale(size.width)
        self.norm2 = nn.LayerNorm(size.width, eps=EPSILON)
        self.mlp: Mlp | SwiGlu = SwiGlu(size.width) if size.swiglu else Mlp(size.width)
        self.ls2: nn.Module = LayerScale(size.width)

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, D) → (N, T, D)."""
        x = x + self.ls1(self.attn(self.norm1(x)))
        return x + self.ls2(self.mlp(self.norm2(x)))


class PatchEmbed(nn.Module):
    """One linear map per patch of 14 × 14 pixels."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.proj = nn.Conv2d(3, width, kernel_size=PATCH, stride=PATCH)

    def forward(self, image: Tensor) -> Tensor:
        """(N, 3, H, W) → (N, D, H/14, W/14)."""
        return self.proj(image)


class VisionTransformer(nn.Module):
    """Encoder from pixels to feature maps at 1/14 of the picture.

    Args:
        size: widths and depths.
        position_resize: how the position grid is stretched, see `positions`.
    """

    def __init__(self, size: Size, position_resize: PositionResize = "authors") -> None:
        super().__init__()
        self.position_resize: PositionResize = position_resize
        self.cls_token = nn.Parameter(torch.zeros(1, 1, size.width))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + GRID * GRID, size.width))
        # Only DINOv2's own training masks patches. The official files carry the token, so we do;
        # without gradient, or distributed training would wait for one that never comes.
        self.mask_token = nn.Parameter(torch.zeros(1, size.width), requires_grad=False)
        self.patch_embed = PatchEmbed(size.width)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.depth))
        self.norm = nn.LayerNorm(size.width, eps=EPSILON)
        self._initialise()

    def _initialise(self) -> None:
        """Start as DINOv2 does: small normal weights, no biases."""
        nn.init.trunc_normal_(self.pos_embed, std=0.02)
        nn.init.normal_(self.cls_token, std=1e-6)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)

    def positions(self, rows: int, columns: int) -> Tensor:
        """Return the position vectors of a grid of patches: (1, 1 + rows · columns, D), class first."""
        width = self.pos_embed.shape[-1]
        grid = self.pos_embed[0, 1:].reshape(GRID, GRID, width)
        patches = resize_positions(grid, rows, columns, self.position_resize)
        return torch.cat([self.pos_embed[:, :1], patches.reshape(1, rows * columns, width)], dim=1)

    def forward(self, image: Tensor, taps: Sequence[int]) -> tuple[Tensor, ...]:
        """Run the blocks and return what the tapped ones give.

        Args:
            image: (N, 3, H, W) normalised RGB, H and W multiples of 14.
            taps: ascending block indices, from 0. Blocks after the last tap are not run.

        Returns:
            For each tap (N, D, H/14, W/14), after the final LayerNorm, without the class token.
        """
        height, width = image.shape[-2:]
        # Traced sizes are tensors, and asking for their value would fix it in the exported graph.
        if not isinstance(height, Tensor) and (height % PATCH or width % PATCH):
            raise InputError(f"network input {width}×{height} is not a multiple of {PATCH}")
        rows, columns = height // PATCH, width // PATCH
        patches = self.patch_embed(image).flatten(2).transpose(1, 2)
        first = self.cls_token.expand(image.shape[0], -1, -1)
        x = torch.cat([first, patches], dim=1) + self.positions(rows, columns)
        maps = []
        for index, block in enumerate(self.blocks):
            x = block(x)
            if index in taps:
                tokens = self.norm(x)[:, 1:].transpose(1, 2)
                maps.append(tokens.reshape(image.shape[0], -1, rows, columns))
            if index == taps[-1]:
                break
        return tuple(maps)


@torch.no_grad()
def merge_scales(encoder: VisionTransformer) -> None:
    """Merge LayerScale, and the scale of attention, into the matrices beside them, in place.

    The function stays the same; what is saved are several passes over the tokens per block. For
    inference only: the checkpoints' names are gone afterwards.
    """
    for module in encoder.blocks:
        block = cast(Block, module)
        for linear, scale in ((block.attn.proj, block.ls1), (block.mlp.last, block.ls2)):
            gamma = cast(LayerScale, scale).gamma
            linear.weight.mul_(gamma[:, None])
            linear.bias.mul_(gamma)
        block.ls1, block.ls2 = nn.Identity(), nn.Identity()
        attention, width = block.attn, block.attn.qkv.in_features
        attention.qkv.weight[:width] *= (width // attention.heads) ** -0.5
        attention.qkv.bias[:width] *= (width // attention.heads) ** -0.5
        attention.scale = 1.0
