"""Configuration of codecs and their training.

This module has no heavy imports, because the command-line help is generated from it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sightline.errors import InputError
from sightline.training.checks import (
    at_least_one,
    learning_rate,
    not_negative,
    shares,
)
from sightline.training.config import TrainConfig


@dataclass(frozen=True, slots=True)
class FrameOptions:
    """Architecture of the codec of single frames.

    Attributes:
        channels: channels of a latent.
        widths: channels at a half, a quarter and an eighth of the image side.
    """

    channels: int = 8
    widths: tuple[int, int, int] = (16, 32, 48)

    def __post_init__(self) -> None:
        at_least_one(self, "channels")
        object.__setattr__(self, "widths", tuple(self.widths))
        if len(self.widths) != 3 or min(self.widths) < 1:
            raise InputError(f"widths are three numbers from 1 up, got {self.widths}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return asdict(self) | {"widths": list(self.widths)}


@dataclass(frozen=True, slots=True)
class MomentOptions:
    """Architecture of the codec of one vector per frame.

    Attributes:
        drawn: channels of the decoder.
    """

    drawn: int = 64

    def __post_init__(self) -> None:
        at_least_one(self, "drawn")


@dataclass(frozen=True, slots=True)
class InflatedOptions:
    """Inflation of an image autoencoder.

    Attributes:
        blocks: number of the encoder's last and the decoder's first blocks that get kernels over time,
            besides the middle blocks. The paper names no number.
        frame_stride: frames per latent, 1 or 2. The paper names none.
    """

    blocks: int = 1
    frame_stride: int = 1

    def __post_init__(self) -> None:
        not_negative(self, "blocks")
        if self.frame_stride not in (1, 2):
            raise InputError(f"frame_stride is 1 or 2, got {self.frame_stride}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class CodecTraining(TrainConfig):
    """Training options of a codec.

    Attributes:
        steps: number of optimizer steps.
        rate: peak learning rate.
        warm_up: warm-up steps; then the rate falls to 0 along a cosine.
        decay: weight decay (AdamW).
        largest: maximum gradient norm.
        ink: additional weight of pixels of a saturated color: with 20, a ball of mean size and its rim
            weigh about as much as the background.
        noise: noise on latents in standard deviations, so that near latents decode to similar images.
        measure: batches used to measure mean and standard deviation of the latents at the end; 0 keeps
            them.
    """

    steps: int = 20_000
    rate: float = 2e-3
    warm_up: int = 200
    decay: float = 1e-4
    largest: float = 1.0
    ink: float = 20.0
    noise: float = 0.05
    measure: int = 32
    save_every: int = 500

    def __post_init__(self) -> None:
        TrainConfig.__post_init__(self)
        not_negative(self, "warm_up", "largest", "ink", "noise", "measure")
        learning_rate(self)
        shares(self, "decay")
        if self.largest == 0:
            raise InputError("largest must be above 0: gradients would be cut down to nothing")
