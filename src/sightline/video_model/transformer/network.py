"""The diffusion transformer: noisy video, step and condition in; velocity out (PhyWorld §2.2).

* Given frames, behind them zeros or the last of them again, and a mask of which they are, stand beside
  the noise on the channels.
* Tokens are patches of time, rows and columns; their positions are rotary.
* The step, and numbers if there are, modulate all blocks; words are looked at.
* Untrained, it says 0 everywhere: its last layer, and every gate, begin at 0.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.errors import InputError
from sightline.video_model.transformer.blocks import Block, modulated_norm
from sightline.video_model.transformer.condition import Condition, held
from sightline.video_model.transformer.options import TransformerOptions
from sightline.video_model.transformer.patches import from_patches, to_patches
from sightline.video_model.transformer.rotary import make_turns
from sightline.video_model.transformer.words import WordAttention, WordEntry, WordReader, Words

#: Cosines and sines that describe a step, as in DiT.
WAVES = 256

#: Words of a sentence at most, for a network that reads by itself.
LONGEST = 64


class VideoTransformer(nn.Module):
    """Says the velocity of noisy videos.

    Args:
        options: what it is made from.
    """

    def __init__(self, options: TransformerOptions) -> None:
        super().__init__()
        self.options = options
        size, patch = options.build, math.prod(options.patch)
        self.embed = nn.Linear(patch * (2 * options.channels + 1), size.width)
        self.step = _two_layers(WAVES, size.width)
        self.numbers = _two_layers(options.numbers, size.width) if options.numbers else None
        self.text = WordEntry(options.text, size.width) if options.text else None
        self.reader = (
            WordReader(options.vocabulary, options.text, LONGEST) if options.vocabulary else None
        )
        self.modulation = nn.Linear(size.width, 6 * size.width)
        self.blocks = nn.ModuleList(Block(size, text=options.text > 0) for _ in range(size.depth))
        self.last_own = nn.Parameter(torch.zeros(2, size.width))
        self.last = nn.Linear(size.width, patch * options.channels)
        self._initialise()

    def _initialise(self) -> None:
        """Start as DiT does (arXiv 2212.09748, §3.2), looks at words silent like the rest."""
        for module in self.modules():
            if isinstance(module, nn.Linear):
                nn.init.xavier_uniform_(module.weight)
                nn.init.zeros_(module.bias)
        looks = [module.out for module in self.modules() if isinstance(module, WordAttention)]
        for layer in (self.modulation, self.last, *looks):
            nn.init.zeros_(layer.weight)

    def forward(self, noisy: Tensor, t: Tensor, condition: Condition) -> Tensor:
        """Return the velocity.

        Args:
            noisy: (N, C, T, H, W), of the type of the weights.
            t: (N,) steps of the schedule, from 0.
            condition: of the same videos.

        Returns:
            (N, C, T, H, W), of the type of `noisy`.
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
        """(N, frames, places, D) → (N, frames, places, D)."""
        (frames, rows, columns), size = self.options.grid, self.options.build
        shape, channels = x.shape, size.width // size.heads
        if self.options.attention == "full":
            turns = make_turns(self.options.grid, channels, x.device)
            x = x.flatten(1, 2)[:, None]
            for block in self.blocks:
                x = block(x, modulation, turns, words)
            return x.view(shape)
        # Only distances count: in a frame none in time, at one place none in space.
        in_frame = make_turns((1, rows, columns), channels, x.device)
        in_time = make_turns((frames, 1, 1), channels, x.device)
        for number, block in enumerate(self.blocks):
            x = block(x, modulation, in_time if number % 2 else in_frame, words)
            x = x.transpose(1, 2).contiguous()
        return x


def waves(t: Tensor) -> Tensor:
    """Describe steps by cosines and sines, of 1 to nearly 1/10,000 radian per step: (N,) → (N, 256)."""
    rates = 10_000.0 ** -(torch.arange(WAVES // 2, device=t.device) / (WAVES // 2))
    angles = t.float()[:, None] * rates
    return torch.cat([angles.cos(), angles.sin()], dim=-1)


def check_inputs(
    options: TransformerOptions, noisy: Tensor, t: Tensor, condition: Condition
) -> None:
    """Refuse what does not fit a network; say what, what was expected and what came."""
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
