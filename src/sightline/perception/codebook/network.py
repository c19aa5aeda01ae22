"""The VQ-VAE that makes depth tokens (AURORA; its code calls it AiT): 32 times smaller, 128 codes.

Depth goes in as disparity in [−1, 1], near is 1. Five convolutions of stride 2, two residual blocks and
a projection give one vector for every 32 × 32 pixels; the nearest of 128 codes stands for it; the
mirror image of the encoder turns codes back into depth.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

#: Side of the depth map in [px], of the grid of codes, and how many codes there are.
SIDE, GRID, CODES = 320, 10, 128
#: Codes of a map.
LENGTH = GRID * GRID
#: Channels of the encoder's stages, and of a code.
STAGES, WIDTH = (16, 32, 64, 128, 256), 512


class Residual(nn.Module):
    """Two 3 × 3 convolutions and a 1 × 1, added to what comes in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1),
            nn.ReLU(),
            nn.Conv2d(channels, channels, 1),
        )

    def forward(self, x: Tensor) -> Tensor:
        """(B, C, H, W) → (B, C, H, W)."""
        return x + self.body(x)


def make_encoder() -> nn.Sequential:
    """(B, 1, 320, 320) → (B, 512, 10, 10)."""
    layers: list[nn.Module] = []
    for before, after in zip((1, *STAGES[:-1]), STAGES, strict=True):
        layers += [nn.Conv2d(before, after, 4, stride=2, padding=1), nn.ReLU()]
    top = STAGES[-1]
    return nn.Sequential(*layers, Residual(top), Residual(top), nn.Conv2d(top, WIDTH, 1))


def make_decoder() -> nn.Sequential:
    """(B, 512, 10, 10) → (B, 1, 320, 320)."""
    top = STAGES[-1]
    layers: list[nn.Module] = [nn.Conv2d(WIDTH, top, 1), Residual(top), Residual(top)]
    for before, after in zip((top, *STAGES[::-1]), STAGES[::-1], strict=False):
        layers += [nn.ConvTranspose2d(before, after, 4, stride=2, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.Conv2d(STAGES[0], 1, 1))


class Quantiser(nn.Module):
    """Codes that follow the mean of the vectors they stand for.

    Codes are not trained by gradients: each is the exponential mean of what it was chosen for (decay
    0.99, counts smoothed by 1e-5). All begin where vectors of the first batch are; a code that nothing
    chooses any more is put where one of the present batch is, or it would be dead for ever.

    Attributes:
        codes: (128, 512).
        count: (128,) exponential mean of how often each is chosen in a batch.
        total: (128, 512) of the sum of what it was chosen for.
    """

    codes: Tensor
    count: Tensor
    total: Tensor

    def __init__(self, decay: float = 0.99, smoothing: float = 1e-5, alive: float = 0.05) -> None:
        super().__init__()
        self.decay, self.smoothing, self.alive = decay, smoothing, alive
        start = torch.randn(CODES, WIDTH)
        self.register_buffer("codes", start)
        self.register_buffer("count", torch.zeros(CODES))
        self.register_buffer("total", start.clone())

    def nearest(self, vectors: Tensor) -> Tensor:
        """(N, 512) → (N,) number of the nearest code."""
        squares = self.codes.square().sum(1)
        return (squares - 2 * vectors @ self.codes.T).argmin(1)

    @torch.no_grad()
    def begin(self, vectors: Tensor) -> None:
        """Put all codes where vectors of the first batch are; later batches change nothing here."""
        if not bool(self.count.any()):
            self._place(vectors, torch.arange(CODES, device=vectors.device))

    @torch.no_grad()
    def learn(self, vectors: Tensor, chosen: Tensor) -> None:
        """Move the codes towards what they were chosen for.

        Args:
            vectors: (N, 512) of a batch.
            chosen: (N,) of `nearest`.
        """
        hits = F.one_hot(chosen, CODES).to(vectors.dtype)
        self.count.lerp_(hits.sum(0), 1 - self.decay)
        self.total.lerp_(hits.T @ vectors, 1 - self.decay)
        everything = self.count.sum()
        smooth = (self.count + self.smoothing) / (everything + CODES * self.smoothing) * everything
        self.codes.copy_(self.total / smooth[:, None])
        dead = (self.count < self.alive).nonzero()[:, 0]
        if len(dead):
            self._place(vectors, dead)

    def _place(self, vectors: Tensor, which: Tensor) -> None:
        """Put codes where random vectors are."""
        new = vectors[torch.randint(len(vectors), (len(which),))]
        self.codes[which], self.total[which], self.count[which] = new, new, 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Passed:
    """What one pass through the codebook gives.

    Attributes:
        decoded: (B, 1, 320, 320).
        chosen: (B, 10, 10) codes.
        commitment: how far the encoder's vectors are from their codes, mean square.
    """

    decoded: Tensor
    chosen: Tensor
    commitment: Tensor


class DepthCodebook(nn.Module):
    """Encoder, codes, decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = make_encoder()
        self.quantiser = Quantiser()
        self.decoder = make_decoder()

    def encode(self, depth: Tensor) -> Tensor:
        """(B, 1, 320, 320) in [−1, 1] → (B, 10, 10) codes."""
        vectors = self.encoder(depth).permute(0, 2, 3, 1)
        return self.quantiser.nearest(vectors.flatten(0, 2)).view(vectors.shape[:3])

    def decode(self, chosen: Tensor) -> Tensor:
        """(B, 10, 10) codes → (B, 1, 320, 320)."""
        out: Tensor = self.decoder(self.quantiser.codes[chosen].permute(0, 3, 1, 2))
        return out

    def decode_soft(self, shares: Tensor) -> Tensor:
        """(B, 100, 128) probabilities of codes → (B, 1, 320, 320), with a gradient to them.

        The mean code under the probabilities is decoded: the soft tokens of the paper's optional
        reconstruction loss.
        """
        mean = (shares @ self.quantiser.codes).view(-1, GRID, GRID, WIDTH)
        out: Tensor = self.decoder(mean.permute(0, 3, 1, 2))
        return out

    def forward(self, depth: Tensor) -> Passed:
        """Encode, choose, decode; gradients pass by the choice. In training, codes learn too."""
        vectors = self.encoder(depth).permute(0, 2, 3, 1)
        flat = vectors.flatten(0, 2)
        if self.training:
            self.quantiser.begin(flat.detach())
        chosen = self.quantiser.nearest(flat)
        if self.training:
            self.quantiser.learn(flat.detach(), chosen)
        codes = self.quantiser.codes[chosen].view_as(vectors)
        commitment = F.mse_loss(vectors, codes.detach())
        through = vectors + (codes - vectors).detach()
        decoded = self.decoder(through.permute(0, 3, 1, 2))
        return Passed(decoded, chosen.view(vectors.shape[:3]), commitment)
