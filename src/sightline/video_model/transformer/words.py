"""Text as a condition: tokens of the video look at words (PhyWorld, Fig. 12: T5, cross-attention)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.video_model.transformer.sizes import Size

#: Words that tokens look at, (N, 1 + L, D), and (N, 1, 1, 1 + L) bool, True where there is one.
Words = tuple[Tensor, Tensor]


class WordReader(nn.Module):
    """Embeds words by itself: a table, places in the sentence, and one look of each word at the others.

    Args:
        vocabulary: words there are.
        channels: of the embedding.
        longest: words of a sentence at most.
    """

    def __init__(self, vocabulary: int, channels: int, longest: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, channels)
        self.places = nn.Embedding(longest, channels)
        self.looks = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, text: Tensor, there: Tensor) -> Tensor:
        """(N, L) numbers of words, (N, L) bool → (N, L, E)."""
        x = self.table(text) + self.places.weight[: text.shape[1]]
        inside = F.layer_norm(x, x.shape[-1:])
        q, k, v = self.looks(inside).chunk(3, dim=-1)
        # Each sees itself at least: where no word is, there is none to look at.
        itself = torch.eye(text.shape[1], dtype=torch.bool, device=text.device)
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=there[:, None] | itself)
        return x + self.out(seen)


class WordEntry(nn.Module):
    """Brings the embedding of words to the width of tokens.

    Before the words stands a learnt one that is always there, so that a video without a word is no
    special case.

    Args:
        channels: of the embedding.
        width: of tokens.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(channels, width)
        self.out = nn.Linear(width, width)
        self.silence = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, text: Tensor, there: Tensor) -> Words:
        """(N, L, E) embedding, (N, L) bool → words."""
        words = self.out(F.gelu(self.inner(text)))
        first = self.silence.to(words.dtype).expand(len(words), -1, -1)
        return torch.cat([first, words], dim=1), F.pad(there, (1, 0), value=True)[:, None, None]


class WordAttention(nn.Module):
    """Multi-head attention of tokens to words."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.query = nn.Linear(size.width, size.width)
        self.keys_values = nn.Linear(size.width, 2 * size.width)
        self.out = nn.Linear(size.width, size.width)

    def forward(self, x: Tensor, words: Words) -> Tensor:
        """(N, L, D), words → (N, L, D)."""
        q = self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        parts = self.keys_values(words[0]).unflatten(-1, (2, self.heads, -1))
        k, v = parts.transpose(1, 3).unbind(2)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=words[1])
        return self.out(mixed.transpose(1, 2).flatten(2))
