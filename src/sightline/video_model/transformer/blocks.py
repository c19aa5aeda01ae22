"""The transformer's block: attention, a look at words on request, feed-forward, modulated by the step.

The modulation is shared by all blocks and comes from outside; a block adds a learnt vector to it
(`adaLN-single`, PixArt-α §2.3). All gates begin at 0, so an untrained block changes nothing.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.video_model.transformer.rotary import turn
from sightline.video_model.transformer.sizes import Size
from sightline.video_model.transformer.words import WordAttention, Words

EPSILON = 1e-6


def modulated_norm(x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    """Normalise tokens, then scale by 1 + `scale` and shift."""
    return torch.addcmul(shift, F.layer_norm(x, x.shape[-1:], eps=EPSILON), 1 + scale)


class SelfAttention(nn.Module):
    """Multi-head attention with rotary positions, one projection to queries, keys and values."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.qkv = nn.Linear(size.width, 3 * size.width)
        self.out = nn.Linear(size.width, size.width)

    def forward(self, x: Tensor, turns: Tensor) -> Tensor:
        """(N, L, D), (L, D / heads / 2, 2) → (N, L, D)."""
        parts = self.qkv(x).unflatten(-1, (3, self.heads, -1))
        # Not slices: the gradient of a split is one copy, that of each slice is padded with zeros.
        queries_keys, values = parts.split([2, 1], dim=2)
        q, k = turn(queries_keys, turns[:, None, None]).transpose(1, 3).unbind(2)
        values = values.squeeze(2).transpose(1, 2).to(q.dtype)
        # Without autocast: on a processor the gradient of attention is far slower in bfloat16.
        with torch.autocast("cpu", enabled=False):
            mixed = F.scaled_dot_product_attention(q, k, values)
        return self.out(mixed.transpose(1, 2).flatten(2).to(x.dtype))


class FeedForward(nn.Module):
    """Two linear layers with GELU between, four times as wide inside.

    GELU is exact: on a processor its approximation by tanh, as in DiT, takes twice as long.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, 4 * width)
        self.out = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """(…, D) → (…, D)."""
        return self.out(F.gelu(self.inner(x)))


class Block(nn.Module):
    """Attention and feed-forward part on gated residual branches.

    Tokens come in groups, and attention is within a group.

    Args:
        size: widths.
        text: True when there are words to look at.
    """

    def __init__(self, size: Size, *, text: bool) -> None:
        super().__init__()
        self.own = nn.Parameter(torch.zeros(6, size.width))
        self.attention = SelfAttention(size)
        self.word_attention = WordAttention(size) if text else None
        self.feed_forward = FeedForward(size.width)

    def forward(
        self, x: Tensor, modulation: Tensor, turns: Tensor, words: Words | None = None
    ) -> Tensor:
        """Return the tokens after this block.

        Args:
            x: (N, groups, L, D) tokens.
            modulation: (N, 6, D): shift, scale and gate of attention, then of the feed-forward part.
            turns: (L, D / heads / 2, 2), see `rotary`.
            words: for a block that looks at them.
        """
        ours = (self.own + modulation)[:, :, None, None]
        shift, scale, gate, late_shift, late_scale, late_gate = ours.unbind(1)
        inside = modulated_norm(x, shift, scale).flatten(0, 1)
        x = torch.addcmul(x, gate, self.attention(inside, turns).view_as(x))
        if self.word_attention is not None and words is not None:
            x = x + self.word_attention(x.flatten(1, 2), words).view_as(x)
        inside = modulated_norm(x, late_shift, late_scale)
        return torch.addcmul(x, late_gate, self.feed_forward(inside))
