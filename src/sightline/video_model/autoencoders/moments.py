"""Codec of one small vector per frame from image moments, for CPUs.

After the deep spatial autoencoder (Finn et al. 2016, arXiv 1509.06113, §IV), a latent holds
positions as numbers. Beside each position stands its step from the previous frame, so that speed is
not a small difference of large numbers. A latent covers the whole frame: a token is one frame or
several.

* The encoder has no parameters. The darkness in red light shows blue bodies, that in blue light red
  ones, and bodies dark in both have two positions. Of each light it takes the mean position, the
  spread, the size, the elongation and the squareness.
* Where nothing is dark, the last position is held. No latent depends on later frames.
* Frames are decoded from the first position and the steps after it.
* The decoder is learned. It takes the offset of every pixel from each mean position (a spatial
  broadcast decoder takes that from the center: Watters et al. 2019, arXiv 1901.07017), so an image
  can be shifted by any part of a pixel.

The codec is made for images with one body per color; two would share one position.
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
from sightline.video_model.autoencoders.codec import COLORS, NormalizedCodec
from sightline.video_model.autoencoders.options import MomentOptions

#: Color channels whose darkness is described: red and blue, the colors of our bodies.
LIGHTS = (0, 2)
#: Values of a light in a frame (x, y, spread, size, elongation, squareness), and steps of x and y.
NUMBERS, STEPS = 6, 2
#: Pixels along each side of a cell that is encoded and decoded as one.
CELL = 2
#: Scale of distances: networks learn smooth functions first, and a larger scale sharpens edges sooner.
SHARP = 8.0

#: Squareness of balls of few pixels at most, and of squares at least.
_ROUND, _SQUARE = -0.15, -0.5
#: Exponents of x and y whose moments are taken.
_POWERS = [(a, b) for a in range(5) for b in range(5 - a)]
#: Total darkness, in cells, below which there is no body: half a pixel. Rims of red bodies are not
#: pure.
_LEAST = 0.125
#: Lower bound of the squared spread.
_SMALL = 1e-4


class MomentCodec(NormalizedCodec):
    """Codec of one vector per frame.

    Args:
        side: width and height of a frame in [px].
        options: architecture.
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
            nn.Linear(drawn, COLORS * CELL**2),
        )

    def to_raw(self, video: Tensor) -> Tensor:
        """Map (N, 3, T, S, S) in [−1, 1] to (N, C, T, 1, 1)."""
        found = moments(darkness(video.transpose(1, 2).flatten(0, 1)))
        seen = found.view(len(video), -1, len(LIGHTS), NUMBERS)
        places = hold(seen[..., :2], seen[..., 3] > 0)
        steps = F.pad(places.diff(dim=1), (0, 0, 0, 0, 1, 0))
        return _as_latents(torch.cat([places, seen[..., 2:], steps], dim=3))

    def from_raw(self, raw: Tensor) -> Tensor:
        """Map (N, C, T, 1, 1) to (N, 3, T, S, S)."""
        told = raw[..., 0, 0].transpose(1, 2).reshape(len(raw), -1, len(LIGHTS), NUMBERS + STEPS)
        steps = F.pad(told[:, 1:, :, NUMBERS:], (0, 0, 0, 0, 1, 0))
        places = told[:, :1, :, :2] + steps.cumsum(1)
        bodies = torch.cat([places, told[..., 2:NUMBERS]], dim=3).flatten(0, 1)
        picture = self.draw(bodies)
        return picture.view(len(raw), -1, *picture.shape[1:]).transpose(1, 2)

    def measure(self, videos: Iterable[Tensor]) -> None:
        """Set mean and standard deviation from the latents of clips.

        Positions share the largest of their standard deviations, and so do steps: where nothing moves
        vertically, pixel noise must not be scaled up to motion.
        """
        super().measure(videos)
        spread = self.spread.view(len(LIGHTS), -1)
        for some in (slice(0, 2), slice(NUMBERS, None)):
            found = spread[:, some]
            moving = found[found != 1]  # what is the same everywhere keeps 1
            spread[:, some] = moving.max() if len(moving) else 1.0

    def draw(self, bodies: Tensor) -> Tensor:
        """Render bodies: (B, lights, 6) → (B, 3, S, S)."""
        cells = self.stride // CELL
        away = centers(cells, bodies)[:, None] - bodies[:, None, :, :2]
        far = from_body(away, bodies[:, None, :, 5])
        # Distance in units of the spread: the rim of a disk lies at √2, whatever its size.
        ratio = (far / bodies[:, None, :, 2].clamp(min=_SMALL**0.5)).clamp(max=4.0)
        near = torch.cat([away.flatten(2) * SHARP, far * SHARP, ratio], dim=2)
        placed = self.place(near)
        painted = self.paint(placed + self.tell(bodies.flatten(1) * SHARP)[:, None])
        return F.pixel_shuffle(painted.transpose(1, 2).unflatten(2, (cells, cells)), CELL)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as plain values, without weights; read by `from_dict`."""
        return {"side": self.stride, **asdict(self.options)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> MomentCodec:
        """Build an untrained codec from the result of `to_dict`."""
        build = dict(values)
        return cls(build.pop("side"), MomentOptions(**build))


def from_body(away: Tensor, square: Tensor) -> Tensor:
    """Return distances at which the rim of a ball, or of a square, lies at √2 of its spread.

    Args:
        away: (…, 2) offset from the center of a body.
        square: (…) squareness, see `moments`.
    """
    ball = (away.square().sum(-1) + _SMALL).sqrt()
    share = ((_ROUND - square) / (_ROUND - _SQUARE)).clamp(0, 1)
    # Half the side of a square is √1.5 of its spread.
    return ball + share * (away.abs().amax(-1) * (2 / 1.5**0.5 / 2**0.5) - ball)


def hold(places: Tensor, there: Tensor) -> Tensor:
    """Hold the last position of a body that disappeared; the center before it appears.

    Args:
        places: (N, T, lights, 2) positions.
        there: (N, T, lights) bool.
    """
    kept = [places[:, 0] * there[:, 0, :, None]]
    for place, seen in zip(places[:, 1:].unbind(1), there[:, 1:].unbind(1), strict=True):
        kept.append(torch.where(seen[..., None], place, kept[-1]))
    return torch.stack(kept, dim=1)


def darkness(frames: Tensor) -> Tensor:
    """Return the missing share of each light, (B, lights, cells), of frames (B, 3, S, S) in [−1, 1]."""
    return F.avg_pool2d((1 - frames[:, LIGHTS]) / 2, CELL).flatten(2)


def moments(dark: Tensor) -> Tensor:
    """Return moments (B, lights, 6) of the darkness (B, lights, cells) of a square grid.

    x and y lie in [−1, 1]; spread and size have the same unit; elongation and squareness have none.
    A ball has 0 of both, an upright square a squareness of −0.6. All are 0 without darkness.
    """
    # Double precision: central moments are small differences of large raw moments.
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
    """Return the monomials of the cell centers: (cells², 15) float64."""
    x, y = centers(cells, torch.zeros((), dtype=torch.float64)).T
    return torch.stack([x**a * y**b for a, b in _POWERS], dim=1)


def _as_latents(values: Tensor) -> Tensor:
    """Reshape (N, T, lights, numbers) to (N, C, T, 1, 1)."""
    return values.flatten(2).transpose(1, 2)[..., None, None]


def centers(cells: int, like: Tensor) -> Tensor:
    """Return the cell centers row by row, in [−1, 1]: (cells², 2) as (x, y)."""
    along = (torch.arange(cells, device=like.device, dtype=like.dtype) + 0.5) * (2 / cells) - 1
    y, x = torch.meshgrid(along, along, indexing="ij")
    return torch.stack([x.flatten(), y.flatten()], dim=1)
