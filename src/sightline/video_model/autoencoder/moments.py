"""A codec of one small vector per frame, for CPUs: where bodies are, how they go, and of what shape.

After the deep spatial autoencoder (Finn et al. 2016, arXiv 1509.06113, §IV): a latent holds places as
numbers. Beside each place stands the step from the frame before: a speed is no small difference of two
large numbers then, and a body that moves evenly has the same step in all frames. A latent is as large
as the picture: a token is a whole frame, or several.

* What is dark in red light is blue, what is dark in blue light is red, and what is dark in both has two
  places. Of the darkness in each light: its mean place, its spread about it, the side of a square as
  large, how much longer than high it is, and how much rather a square than a ball. Nothing is learnt.
* Where nothing is dark any more, the last place is kept. No latent knows of later frames.
* Pictures are made from the first place and the steps after it.
* The decoder learns. It asks, for every place of the picture, how far it lies from each mean place (a
  spatial broadcast decoder does so from the middle: Watters et al. 2019, arXiv 1901.07017). So a
  picture can be shifted by any part of a pixel.

It is made for pictures with one body of a colour. Two of them would share one place.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from functools import lru_cache
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.errors import InputError
from sightline.video_model.autoencoder.codec import COLOURS
from sightline.video_model.autoencoder.normalised import NormalisedCodec
from sightline.video_model.autoencoder.options import MomentOptions

#: Lights whose darkness is described: red and blue, the colours of our bodies.
LIGHTS = (0, 2)
#: Numbers of a light in a frame: x, y, spread, size, how long, how square; then the steps of x and y.
NUMBERS, STEPS = 6, 2
#: Pixels along each side of a cell that is looked at and painted as one.
CELL = 2
#: Networks learn first what is smooth: distances in these units let them draw an edge soon.
SHARP = 8.0

#: How square balls of few pixels may come out at most, and squares at least.
_ROUND, _SQUARE = -0.15, -0.5
#: Powers of x and y whose means are taken.
_POWERS = [(a, b) for a in range(5) for b in range(5 - a)]
#: Darkness, in cells, that is nothing: half a pixel. Rims of red bodies are not quite red.
_LEAST = 0.125
#: Spread, squared, of next to nothing.
_SMALL = 1e-4


class MomentCodec(NormalisedCodec):
    """Codes every frame by itself, as one vector.

    Args:
        side: width and height of a frame in [px].
        options: its build.
    """

    kind: ClassVar[str] = "moments"

    def __init__(self, side: int = 64, options: MomentOptions | None = None) -> None:
        if side < 2 * CELL or side % CELL:
            raise InputError(f"frames of {side} px cannot be cut into cells of {CELL} px")
        self.options = options or MomentOptions()
        drawn, count = self.options.drawn, len(LIGHTS)
        super().__init__((NUMBERS + STEPS) * count, side, side=side)
        self.place = nn.Linear(4 * count, drawn, bias=False)
        self.tell = nn.Linear(NUMBERS * count, drawn)
        self.paint = nn.Sequential(
            nn.SiLU(),
            nn.Linear(drawn, drawn),
            nn.SiLU(),
            nn.Linear(drawn, COLOURS * CELL**2),
        )

    def to_raw(self, video: Tensor) -> Tensor:
        """(N, 3, T, S, S) in [−1, 1] → (N, C, T, 1, 1)."""
        found = moments(darkness(video.transpose(1, 2).flatten(0, 1)))
        seen = found.view(len(video), -1, len(LIGHTS), NUMBERS)
        places = hold(seen[..., :2], seen[..., 3] > 0)
        steps = F.pad(places.diff(dim=1), (0, 0, 0, 0, 1, 0))
        return _as_latents(torch.cat([places, seen[..., 2:], steps], dim=3))

    def from_raw(self, raw: Tensor) -> Tensor:
        """(N, C, T, 1, 1) → (N, 3, T, S, S)."""
        told = raw[..., 0, 0].transpose(1, 2).reshape(len(raw), -1, len(LIGHTS), NUMBERS + STEPS)
        steps = F.pad(told[:, 1:, :, NUMBERS:], (0, 0, 0, 0, 1, 0))
        places = told[:, :1, :, :2] + steps.cumsum(1)
        bodies = torch.cat([places, told[..., 2:NUMBERS]], dim=3).flatten(0, 1)
        picture = self.draw(bodies)
        return picture.view(len(raw), -1, *picture.shape[1:]).transpose(1, 2)

    def measure(self, videos: Iterable[Tensor]) -> None:
        """Take mean and spread of the latents of videos, which have some frames in a row.

        Places share the largest spread of them, and so do steps: in a world where nothing moves up or
        down, the trembling of pixels is no motion.
        """
        super().measure(videos)
        spread = self.spread.view(len(LIGHTS), -1)
        for some in (slice(0, 2), slice(NUMBERS, None)):
            found = spread[:, some]
            moving = found[found != 1]  # what is the same everywhere keeps 1
            spread[:, some] = moving.max() if len(moving) else 1.0

    def draw(self, bodies: Tensor) -> Tensor:
        """(B, lights, 6) → (B, 3, S, S)."""
        cells = self.stride // CELL
        away = centres(cells, bodies)[:, None] - bodies[:, None, :, :2]
        far = from_body(away, bodies[:, None, :, 5])
        # In spreads, too: the rim of a body lies at √2 of them, whatever its size.
        ratio = (far / bodies[:, None, :, 2].clamp(min=_SMALL**0.5)).clamp(max=4.0)
        near = torch.cat([away.flatten(2) * SHARP, far * SHARP, ratio], dim=2)
        placed = self.place(near)
        painted = self.paint(placed + self.tell(bodies.flatten(1) * SHARP)[:, None])
        return F.pixel_shuffle(painted.transpose(1, 2).unflatten(2, (cells, cells)), CELL)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `from_dict` builds the same codec from, but for its weights."""
        return {"side": self.stride, **asdict(self.options)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> MomentCodec:
        """Build an untrained codec from what `to_dict` gave."""
        build = dict(values)
        return cls(build.pop("side"), MomentOptions(**build))


def from_body(away: Tensor, square: Tensor) -> Tensor:
    """Return distances such that the rim of a ball, or of a square, lies at √2 of its spread.

    Args:
        away: (…, 2) from the middle of a body.
        square: (…) how square it is, see `moments`.
    """
    ball = (away.square().sum(-1) + _SMALL).sqrt()
    share = ((_ROUND - square) / (_ROUND - _SQUARE)).clamp(0, 1)
    # Half the side of a square is √1.5 of its spread.
    return ball + share * (away.abs().amax(-1) * (2 / 1.5**0.5 / 2**0.5) - ball)


def hold(places: Tensor, there: Tensor) -> Tensor:
    """Keep the last place of what is not there any more; before it comes, the middle.

    Args:
        places: (N, T, lights, 2).
        there: (N, T, lights) bool.
    """
    kept = [places[:, 0] * there[:, 0, :, None]]
    for place, seen in zip(places[:, 1:].unbind(1), there[:, 1:].unbind(1), strict=True):
        kept.append(torch.where(seen[..., None], place, kept[-1]))
    return torch.stack(kept, dim=1)


def darkness(frames: Tensor) -> Tensor:
    """(B, 3, S, S) in [−1, 1] → (B, lights, cells) from 0 to 1: what of each light is missing."""
    return F.avg_pool2d((1 - frames[:, LIGHTS]) / 2, CELL).flatten(2)


def moments(dark: Tensor) -> Tensor:
    """Describe darkness: (B, lights, cells) → (B, lights, 6), cells row by row, of a square.

    x and y lie in −1 to 1, spread and size are in the same units; how long and how square have none: a
    ball has 0 of both, an upright square −0.6 of the latter. Nothing has 0 of all.
    """
    # In double precision: middles are taken off powers that are far larger.
    whole = (dark.double() @ _powers(round(dark.shape[2] ** 0.5)).to(dark.device)).unbind(2)
    total = whole[0]
    some = total.clamp(min=_LEAST)
    m = {power: value / some for power, value in zip(_POWERS, whole, strict=True)}
    u, v = m[1, 0], m[0, 1]
    wide, high = m[2, 0] - u**2, m[0, 2] - v**2
    round_ = (wide + high).clamp(min=0) + _SMALL
    across = m[4, 0] - 4 * m[3, 0] * u + 6 * m[2, 0] * u**2 - 3 * u**4
    along = m[0, 4] - 4 * m[0, 3] * v + 6 * m[0, 2] * v**2 - 3 * v**4
    both = m[2, 2] - 2 * m[2, 1] * v - 2 * m[1, 2] * u + m[2, 0] * v**2 + m[0, 2] * u**2
    both = both + 4 * m[1, 1] * u * v - 3 * u**2 * v**2
    square = (across + along - 6 * both) / round_**2
    size = (total * (4 / dark.shape[2])).sqrt()
    values = [u, v, round_.sqrt(), size, (wide - high) / round_, square.clamp(-2, 2)]
    return (torch.stack(values, dim=2) * (total > _LEAST)[..., None]).to(dark)


@lru_cache(maxsize=4)
def _powers(cells: int) -> Tensor:
    """Return the powers of where cells are: (cells², 15) float64."""
    x, y = centres(cells, torch.zeros((), dtype=torch.float64)).T
    return torch.stack([x**a * y**b for a, b in _POWERS], dim=1)


def _as_latents(values: Tensor) -> Tensor:
    """(N, T, lights, numbers) → (N, C, T, 1, 1)."""
    return values.flatten(2).transpose(1, 2)[..., None, None]


def centres(cells: int, like: Tensor) -> Tensor:
    """Return where the centres of cells are, row by row, in −1 to 1: (cells², 2) as (x, y)."""
    along = (torch.arange(cells, device=like.device, dtype=like.dtype) + 0.5) * (2 / cells) - 1
    y, x = torch.meshgrid(along, along, indexing="ij")
    return torch.stack([x.flatten(), y.flatten()], dim=1)
