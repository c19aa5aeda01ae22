"""The video diffusion transformer: noisy video, step and condition in; velocity out (PhyWorld §2.2).

* Condition frames are concatenated with the noisy video along the channels, together with a mask.
* Tokens are patches of time, rows and columns, with three-dimensional rotary positions.
* The diffusion step (and numbers, if given) modulates all blocks by one shared adaLN layer; text enters
  by cross-attention (PhyWorld, Fig. 12).
* All gates and the last layer are initialized to zero, so an untrained network predicts zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.errors import InputError
from sightline.video_model.options import TransformerOptions, TransformerSize


def to_patches(video: Tensor, patch: tuple[int, int, int]) -> Tensor:
    """Cut videos into patches.

    Args:
        video: (N, C, T, H, W).
        patch: frames, rows and columns of a patch; they divide those of the video.

    Returns:
        (N, frames, places, C · patch): tokens along time, and row by row within a frame.
    """
    count, channels, frames, height, width = video.shape
    time, row, column = patch
    grid = (frames // time, height // row, width // column)
    parts = video.reshape(count, channels, grid[0], time, grid[1], row, grid[2], column)
    ordered = parts.permute(0, 2, 4, 6, 1, 3, 5, 7)
    return ordered.reshape(count, grid[0], grid[1] * grid[2], channels * time * row * column)


def from_patches(
    tokens: Tensor, patch: tuple[int, int, int], shape: tuple[int, int, int, int]
) -> Tensor:
    """Assemble videos from patches, the inverse of `to_patches`.

    Args:
        tokens: (N, frames, places, C · patch).
        patch: frames, rows and columns of a patch.
        shape: channels, frames, rows and columns of a video.

    Returns:
        (N, C, T, H, W).
    """
    channels, frames, height, width = shape
    time, row, column = patch
    grid = (frames // time, height // row, width // column)
    parts = tokens.reshape(len(tokens), *grid, channels, time, row, column)
    return parts.permute(0, 4, 1, 5, 2, 6, 3, 7).reshape(len(tokens), *shape)


#: Ratio of the fastest to the slowest rotary frequency. Videos are tens of tokens long where texts are
#: thousands, so 100 instead of 10,000 (Heo et al. 2024, arXiv 2403.13298, for images).
BASE = 100.0


def rotary_angles(
    grid: tuple[int, int, int], channels: int, device: torch.device | None = None
) -> Tensor:
    """Return the rotation of each channel pair for each token (RoFormer, arXiv 2104.09864).

    A third of the channel pairs is rotated by the token's time, a third by its row and a third by its
    column. The product of a query and a key then depends on the offset of their tokens only.

    Args:
        grid: tokens along time, rows and columns.
        channels: channels of an attention head, an even number.
        device: device of the result.

    Returns:
        (T · rows · columns, channels / 2, 2) float32: cosine and sine, tokens in the order of the grid.
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


def rotate_pairs(x: Tensor, turns: Tensor) -> Tensor:
    """Rotate each pair of channels, in float32.

    Args:
        x: (…, channels) queries or keys.
        turns: (…, channels / 2, 2) cosine and sine, broadcasting to the pairs of `x`.

    Returns:
        (…, channels) float32, or float64 if `x` is.
    """
    wide = x if x.dtype == torch.float64 else x.float()
    # (a + ib)·(cos φ + i sin φ). One complex product takes a quarter of the time of real products;
    # torch.compile has no complex numbers, but fuses the real products into one loop.
    pairs = wide.reshape(*x.shape[:-1], -1, 2)
    if torch.compiler.is_compiling():
        (real, imaginary), (cosine, sine) = pairs.unbind(-1), turns.unbind(-1)
        parts = [real * cosine - imaginary * sine, real * sine + imaginary * cosine]
        return torch.stack(parts, dim=-1).flatten(-2)
    turned = torch.view_as_complex(pairs) * torch.view_as_complex(turns)
    return torch.view_as_real(turned).flatten(-2)


#: Text tokens (N, 1 + L, D) and their mask (N, 1, 1, 1 + L), True where there is a word.
Words = tuple[Tensor, Tensor]


class WordEmbedding(nn.Module):
    """Embed words: a table, learned positions in the sentence, and one self-attention layer.

    Args:
        vocabulary: number of words.
        channels: channels of the embedding.
        longest: maximum words of a sentence.
    """

    def __init__(self, vocabulary: int, channels: int, longest: int) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, channels)
        self.places = nn.Embedding(longest, channels)
        self.looks = nn.Linear(channels, 3 * channels)
        self.out = nn.Linear(channels, channels)

    def forward(self, text: Tensor, there: Tensor) -> Tensor:
        """Map (N, L) word indices and (N, L) bool masks to (N, L, E) embeddings."""
        x = self.table(text) + self.places.weight[: text.shape[1]]
        inside = F.layer_norm(x, x.shape[-1:])
        q, k, v = self.looks(inside).chunk(3, dim=-1)
        # A word always attends to itself, so a row without words has something to attend to.
        itself = torch.eye(text.shape[1], dtype=torch.bool, device=text.device)
        seen = F.scaled_dot_product_attention(q, k, v, attn_mask=there[:, None] | itself)
        return x + self.out(seen)


class TextProjection(nn.Module):
    """Project text embeddings to the width of the tokens.

    A learned token that is always present is placed before the words, so that empty text is no special
    case.

    Args:
        channels: channels of the text embedding.
        width: channels of a token.
    """

    def __init__(self, channels: int, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(channels, width)
        self.out = nn.Linear(width, width)
        self.silence = nn.Parameter(torch.zeros(1, 1, width))

    def forward(self, text: Tensor, there: Tensor) -> Words:
        """Map (N, L, E) embeddings and (N, L) bool masks to keys for cross-attention and their mask."""
        words = self.out(F.gelu(self.inner(text)))
        first = self.silence.to(words.dtype).expand(len(words), -1, -1)
        return torch.cat([first, words], dim=1), F.pad(there, (1, 0), value=True)[:, None, None]


class CrossAttention(nn.Module):
    """Multi-head attention of video tokens to text."""

    def __init__(self, size: TransformerSize) -> None:
        super().__init__()
        self.heads = size.heads
        self.query = nn.Linear(size.width, size.width)
        self.keys_values = nn.Linear(size.width, 2 * size.width)
        self.out = nn.Linear(size.width, size.width)

    def forward(self, x: Tensor, words: Words) -> Tensor:
        """Map tokens (N, L, D) and words to (N, L, D)."""
        q = self.query(x).unflatten(-1, (self.heads, -1)).transpose(1, 2)
        parts = self.keys_values(words[0]).unflatten(-1, (2, self.heads, -1))
        k, v = parts.transpose(1, 3).unbind(2)
        mixed = F.scaled_dot_product_attention(q, k, v, attn_mask=words[1])
        return self.out(mixed.transpose(1, 2).flatten(2))


@dataclass(frozen=True, slots=True, eq=False)
class VideoCondition:
    """Conditioning input of N videos.

    Attributes:
        video: (N, C, T, H, W), zero in frames that are not given.
        given: (N, T) bool, True for given frames.
        numbers: (N, K) physical quantities such as radii and speeds.
        text: (N, L, E) text embedding, for example of T5; or (N, L) word indices for a network with a
            vocabulary.
        words: (N, L) bool, True for words, False for padding.
    """

    video: Tensor
    given: Tensor
    numbers: Tensor | None = None
    text: Tensor | None = None
    words: Tensor | None = None

    def __post_init__(self) -> None:
        for name in ("given", "words"):
            mask: Tensor | None = getattr(self, name)
            if mask is not None and mask.dtype != torch.bool:
                raise InputError(f"{name}: expected torch.bool, got {mask.dtype}")

    @property
    def keep(self) -> tuple[Tensor, Tensor]:
        """Given frames and their mask, in the form `diffusion.sample` takes."""
        return self.video, self.given[:, None, :, None, None]


def first_frames(
    video: Tensor,
    count: int,
    *,
    numbers: Tensor | None = None,
    text: Tensor | None = None,
    words: Tensor | None = None,
) -> VideoCondition:
    """Build the condition that gives the first frames of videos.

    Args:
        video: (N, C, T, H, W); only its first frames are used.
        count: number of given frames, 1 to T − 1; the paper gives 3, and 1 for combinatorial videos.
        numbers: see `VideoCondition`.
        text: see `VideoCondition`.
        words: see `VideoCondition`.
    """
    frames = video.shape[2]
    if not 1 <= count < frames:
        raise InputError(f"{count} condition frames of {frames}", remedy=f"give 1 to {frames - 1}")
    shown = torch.zeros_like(video)
    shown[:, :, :count] = video[:, :, :count]
    given = (torch.arange(frames, device=video.device) < count).expand(len(video), -1)
    return VideoCondition(shown, given, numbers, text, words)


def held(condition: VideoCondition) -> Tensor:
    """Return the given frames, followed by copies of the last given one: (N, C, T, H, W).

    Args:
        condition: condition with at least one given frame; given frames come first.
    """
    last = condition.given.sum(1) - 1
    where = torch.arange(condition.given.shape[1], device=last.device).clamp(max=last[:, None])
    index = where[:, None, :, None, None].expand(condition.video.shape)
    return condition.video.gather(2, index)


EPSILON = 1e-6


def modulated_norm(x: Tensor, shift: Tensor, scale: Tensor) -> Tensor:
    """Normalize tokens, then scale by 1 + `scale` and shift (adaLN)."""
    return torch.addcmul(shift, F.layer_norm(x, x.shape[-1:], eps=EPSILON), 1 + scale)


class SelfAttention(nn.Module):
    """Multi-head self-attention with rotary positions."""

    def __init__(self, size: TransformerSize) -> None:
        super().__init__()
        self.heads = size.heads
        self.qkv = nn.Linear(size.width, 3 * size.width)
        self.out = nn.Linear(size.width, size.width)

    def forward(self, x: Tensor, turns: Tensor) -> Tensor:
        """Map tokens (N, L, D) and rotations (L, D / heads / 2, 2) to (N, L, D)."""
        parts = self.qkv(x).unflatten(-1, (3, self.heads, -1))
        # Split, not slices: the gradient of a split is one copy, that of each slice is padded with
        # zeros.
        queries_keys, values = parts.split([2, 1], dim=2)
        q, k = rotate_pairs(queries_keys, turns[:, None, None]).transpose(1, 3).unbind(2)
        values = values.squeeze(2).transpose(1, 2).to(q.dtype)
        # No autocast: on a CPU the backward pass of attention is far slower in bfloat16.
        with torch.autocast("cpu", enabled=False):
            mixed = F.scaled_dot_product_attention(q, k, values)
        return self.out(mixed.transpose(1, 2).flatten(2).to(x.dtype))


class FeedForward(nn.Module):
    """Two linear layers with GELU between, four times as wide inside.

    The exact GELU is used: on a CPU its tanh approximation, as in DiT, takes twice as long.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(width, 4 * width)
        self.out = nn.Linear(4 * width, width)

    def forward(self, x: Tensor) -> Tensor:
        """Map (…, D) to (…, D)."""
        return self.out(F.gelu(self.inner(x)))


class DiTBlock(nn.Module):
    """Transformer block: self-attention, optional cross-attention, feed-forward, modulated by the step.

    The modulation is shared by all blocks; each block adds a learned vector to it (`adaLN-single`,
    PixArt-α, arXiv 2310.00426, §2.3). Tokens come in groups, and attention is within a group.

    Args:
        size: depth and widths.
        text: whether the block has cross-attention to text.
    """

    def __init__(self, size: TransformerSize, *, text: bool) -> None:
        super().__init__()
        self.own = nn.Parameter(torch.zeros(6, size.width))
        self.attention = SelfAttention(size)
        self.word_attention = CrossAttention(size) if text else None
        self.feed_forward = FeedForward(size.width)

    def forward(
        self, x: Tensor, modulation: Tensor, turns: Tensor, words: Words | None = None
    ) -> Tensor:
        """Return the tokens after this block.

        Args:
            x: (N, groups, L, D) tokens.
            modulation: (N, 6, D): shift, scale and gate of attention, then of the feed-forward part.
            turns: (L, D / heads / 2, 2), see `rotary_angles`.
            words: text tokens and mask, for a block with cross-attention.
        """
        # x ← x + g₁·Attn((1 + s₁)·LN(x) + b₁), then the same for the feed-forward part.
        ours = (self.own + modulation)[:, :, None, None]
        shift, scale, gate, late_shift, late_scale, late_gate = ours.unbind(1)
        inside = modulated_norm(x, shift, scale).flatten(0, 1)
        x = torch.addcmul(x, gate, self.attention(inside, turns).view_as(x))
        if self.word_attention is not None and words is not None:
            x = x + self.word_attention(x.flatten(1, 2), words).view_as(x)
        inside = modulated_norm(x, late_shift, late_scale)
        return torch.addcmul(x, late_gate, self.feed_forward(inside))


#: Channels of the sinusoidal embedding of a diffusion step, as in DiT.
WAVES = 256

#: Maximum words of a sentence, for a network with a vocabulary.
LONGEST = 64


class VideoTransformer(nn.Module):
    """Predict the velocity (or the clean video) of noisy videos.

    Args:
        options: architecture.
    """

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.options = options
        size, patch = options.build, math.prod(options.patch)
        self.embed = nn.Linear(patch * (2 * options.channels + 1), size.width)
        self.step = _two_layers(WAVES, size.width)
        self.numbers = _two_layers(options.numbers, size.width) if options.numbers else None
        self.text = TextProjection(options.text, size.width) if options.text else None
        self.reader = (
            WordEmbedding(options.vocabulary, options.text, LONGEST) if options.vocabulary else None
        )
        self.modulation = nn.Linear(size.width, 6 * size.width)
        self.blocks = nn.ModuleList(
            DiTBlock(size, text=options.text > 0) for _ in range(size.depth)
        )
        self.last_own = nn.Parameter(torch.zeros(2, size.width))
        self.last = nn.Linear(size.width, patch * options.channels)
        self._initialize()

    def _initialize(self) -> None:
        """Initialize as DiT (arXiv 2212.09748, §3.2); cross-attention outputs start at zero, too."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        looks = [module.out for module in self.modules() if isinstance(module, CrossAttention)]
        for layer in (self.modulation, self.last, *looks):
            nn.init.zeros_(layer.weight)

    def forward(self, noisy: Tensor, t: Tensor, condition: VideoCondition) -> Tensor:
        """Return the velocity.

        Args:
            noisy: (N, C, T, H, W), of the dtype of the weights.
            t: (N,) diffusion steps, from 0.
            condition: condition of the same videos.

        Returns:
            (N, C, T, H, W), of the dtype of `noisy`.
        """
        check_inputs(self.options, noisy, t, condition)
        patch, shape = self.options.patch, self.options.shape
        given = condition.given[:, None, :, None, None].to(noisy).expand(-1, 1, *shape[1:])
        known = held(condition) if self.options.hold else condition.video
        seen = torch.cat([noisy, self.options.gain * known.to(noisy), given], dim=1)
        state = self.step(waves(t).to(noisy))
        if self.numbers is not None and condition.numbers is not None:
            state = state + self.numbers(condition.numbers.to(noisy))
        words: Words | None = None
        if self.text is not None and condition.text is not None and condition.words is not None:
            text = condition.text
            read = text.to(noisy) if self.reader is None else self.reader(text, condition.words)
            words = self.text(read, condition.words)
        modulation = self.modulation(F.silu(state)).unflatten(-1, (6, -1))
        x = self._run_blocks(self.embed(to_patches(seen, patch)), modulation, words)
        shift, scale = (self.last_own + state[:, None])[:, :, None, None].unbind(1)
        said = self.last(modulated_norm(x, shift, scale))
        return from_patches(said.to(noisy.dtype), patch, shape)

    def _run_blocks(self, x: Tensor, modulation: Tensor, words: Words | None) -> Tensor:
        """Map tokens (N, frames, places, D) to (N, frames, places, D)."""
        (frames, rows, columns), size = self.options.grid, self.options.build
        shape, channels = x.shape, size.width // size.heads
        if self.options.attention == "full":
            turns = rotary_angles(self.options.grid, channels, x.device)
            x = x.flatten(1, 2)[:, None]
            for block in self.blocks:
                x = block(x, modulation, turns, words)
            return x.view(shape)
        # Rotary positions encode offsets only: none in time within a frame, none in space at one place.
        in_frame = rotary_angles((1, rows, columns), channels, x.device)
        in_time = rotary_angles((frames, 1, 1), channels, x.device)
        for number, block in enumerate(self.blocks):
            x = block(x, modulation, in_time if number % 2 else in_frame, words)
            x = x.transpose(1, 2).contiguous()
        return x


def waves(t: Tensor) -> Tensor:
    """Embed diffusion steps by sines and cosines of 1 to 1/10,000 radian per step: (N,) → (N, 256)."""
    rates = 10_000.0 ** -(torch.arange(WAVES // 2, device=t.device) / (WAVES // 2))
    angles = t.float()[:, None] * rates
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


def check_inputs(
    options: TransformerOptions, noisy: Tensor, t: Tensor, condition: VideoCondition
) -> None:
    """Check the shapes of the network's inputs.

    Raises:
        InputError: a shape differs from the expected one.
    """
    count, text = len(noisy), condition.text
    inner = () if options.vocabulary else (options.text,)
    length = text.shape[1] if text is not None and text.ndim == 2 + len(inner) else 0
    wanted: list[tuple[str, Tensor | None, tuple[int, ...] | None]] = [
        ("noisy video", noisy, (count, *options.shape)),
        ("steps", t, (count,)),
        ("condition video", condition.video, (count, *options.shape)),
        ("given frames", condition.given, (count, options.frames)),
        ("numbers", condition.numbers, (count, options.numbers) if options.numbers else None),
        ("text", text, (count, length, *inner) if options.text else None),
        ("words", condition.words, (count, length) if options.text else None),
    ]
    for name, value, expected in wanted:
        got = None if value is None else tuple(value.shape)
        if got != expected:
            raise InputError(f"{name}: expected {expected or 'none'}, got {got or 'none'}")
    if options.vocabulary and length > LONGEST:
        raise InputError(f"text: {length} words, at most {LONGEST}")


def _two_layers(before: int, width: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(before, width), nn.SiLU(), nn.Linear(width, width))
