"""DINOv2 vision transformer, with tensor names as in the official checkpoints (`pretrained.*`).

Pre-norm transformer with LayerScale, patches of 14 px, one class token, no register tokens,
LayerNorm epsilon 1e-6; the final LayerNorm is applied to each tapped output (`R-DAv2` dinov2.py).

Position embeddings are interpolated bicubically without antialiasing, written as two small matrix
products so that an exported graph has truly dynamic sizes and no runtime has to agree with torch on
the meaning of a scale factor. Two conventions exist and give different depth:

* `authors`: a grid of n cells is sampled in steps of 37 / (n + 0.1), the scale factor that DINOv2
  and Depth Anything pass to torch. A 37 × 37 grid is unchanged.
* `size`: steps of 37 / n, as in Hugging Face transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sightline.errors import InputError

#: Side of a patch in [px]: every input side is a multiple of it.
PATCH = 14

#: Side in patches of the learned position grid: 518 px.
GRID = 37


@dataclass(frozen=True, slots=True)
class ViTSize:
    """Widths and depths of one encoder and its head.

    Attributes:
        width: channels of a token.
        depth: transformer blocks.
        heads: attention heads per block.
        taps: the four blocks (from 0) whose outputs feed the head, shallow to deep.
        head_width: channels inside the head's fusion blocks.
        tap_widths: channels of the four tapped maps after their 1 × 1 projection.
        swiglu: True when the feed-forward part is gated (giant only).
    """

    width: int
    depth: int
    heads: int
    taps: tuple[int, int, int, int]
    head_width: int
    tap_widths: tuple[int, int, int, int]
    swiglu: bool = False

    def tapped(self, version: Literal["v1", "v2"]) -> tuple[int, ...]:
        """Return the tapped blocks: spread over the depth in V2, the last four in V1."""
        return self.taps if version == "v2" else tuple(range(self.depth - 4, self.depth))


SIZES: dict[str, ViTSize] = {
    "vits": ViTSize(384, 12, 6, (2, 5, 8, 11), 64, (48, 96, 192, 384)),
    "vitb": ViTSize(768, 12, 12, (2, 5, 8, 11), 128, (96, 192, 384, 768)),
    "vitl": ViTSize(1024, 24, 16, (4, 11, 17, 23), 256, (256, 512, 1024, 1024)),
    "vitg": ViTSize(1536, 40, 24, (9, 19, 29, 39), 384, (1536, 1536, 1536, 1536), swiglu=True),
}


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
    centers = (torch.arange(cells, device=step.device) + 0.5) * step - 0.5
    first = torch.floor(centers)
    fraction = (centers - first)[:, None]
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
    """A learned gain per channel on a residual branch; starts at 1."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gamma = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """(N, T, D) → (N, T, D)."""
        return x * self.gamma


class ViTBlock(nn.Module):
    """Attention, then feed-forward, each on a scaled residual branch."""

    def __init__(self, size: ViTSize) -> None:
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

    def __init__(self, size: ViTSize, position_resize: PositionResize = "authors") -> None:
        super().__init__()
        self.position_resize: PositionResize = position_resize
        self.cls_token = nn.Parameter(torch.zeros(1, 1, size.width))
        self.pos_embed = nn.Parameter(torch.zeros(1, 1 + GRID * GRID, size.width))
        # Only DINOv2's own training masks patches. The official files carry the token, so we do;
        # without gradient, or distributed training would wait for one that never comes.
        self.mask_token = nn.Parameter(torch.zeros(1, size.width), requires_grad=False)
        self.patch_embed = PatchEmbed(size.width)
        self.blocks = nn.ModuleList(ViTBlock(size) for _ in range(size.depth))
        self.norm = nn.LayerNorm(size.width, eps=EPSILON)
        self._initialize()

    def _initialize(self) -> None:
        """Start as DINOv2 does: small normal weights, no biases."""
        nn.init.trunc_normal_(self.pos_embed, std=0.02)
        nn.init.normal_(self.cls_token, std=1e-6)
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.trunc_normal_(module.weight, std=0.02)
                nn.init.zeros_(module.bias)

    def freeze(self, blocks: int) -> None:
        """Exclude the first `blocks` blocks and the embeddings from training; 0 excludes nothing."""
        if blocks > 0:
            for part in (self.patch_embed, *self.blocks[:blocks]):
                part.requires_grad_(False)
            self.cls_token.requires_grad_(False)
            self.pos_embed.requires_grad_(False)

    def positions(self, rows: int, columns: int) -> Tensor:
        """Return the position vectors of a grid of patches: (1, 1 + rows · columns, D), class first."""
        width = self.pos_embed.shape[-1]
        grid = self.pos_embed[0, 1:].reshape(GRID, GRID, width)
        patches = resize_positions(grid, rows, columns, self.position_resize)
        return torch.cat([self.pos_embed[:, :1], patches.reshape(1, rows * columns, width)], dim=1)

    def forward(self, image: Tensor, taps: Sequence[int]) -> tuple[Tensor, ...]:
        """Run the blocks and return what the tapped ones give.

        Args:
            image: (N, 3, H, W) normalized RGB, H and W multiples of 14.
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


#: Root mean square of a row of a matrix at DINOv2's initialization, and about that after its training.
ROW_RMS = 0.02


@torch.no_grad()
def split_scales(encoder: VisionTransformer) -> None:
    """Undo `merge_scales` in place, so that the network can be trained further.

    The output does not change. Merged rows differ in size by a factor of a thousand, and Adam, whose
    steps are equally large for all weights, would destroy the small ones. The original gains are lost,
    so each row is scaled to `ROW_RMS` and LayerScale takes the rest.
    """
    for module in encoder.blocks:
        block = cast(ViTBlock, module)
        for linear, scale in ((block.attn.proj, block.ls1), (block.mlp.last, block.ls2)):
            gamma = cast(LayerScale, scale).gamma
            gain = linear.weight.square().mean(1).sqrt().clamp(min=1e-8) / ROW_RMS
            linear.weight.div_(gain[:, None])
            linear.bias.div_(gain)
            gamma.mul_(gain)


@torch.no_grad()
def merge_scales(encoder: VisionTransformer) -> None:
    """Merge LayerScale, and the scale of attention, into the matrices beside them, in place.

    The function stays the same; what is saved are several passes over the tokens per block. For
    inference only: the checkpoints' names are gone afterwards.
    """
    for module in encoder.blocks:
        block = cast(ViTBlock, module)
        for linear, scale in ((block.attn.proj, block.ls1), (block.mlp.last, block.ls2)):
            gamma = cast(LayerScale, scale).gamma
            linear.weight.mul_(gamma[:, None])
            linear.bias.mul_(gamma)
        block.ls1, block.ls2 = nn.Identity(), nn.Identity()
        attention, width = block.attn, block.attn.qkv.in_features
        attention.qkv.weight[:width] *= (width // attention.heads) ** -0.5
        attention.qkv.bias[:width] *= (width // attention.heads) ** -0.5
        attention.scale = 1.0
