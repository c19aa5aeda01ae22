"""What codecs and their training are made from; files and run records carry it.

Kept free of heavy imports, because the help is generated from it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sightline.errors import InputError
from sightline.running.checks import (
    at_least_one,
    learning_rate,
    not_negative,
    seed_and_threads,
    shares,
)


@dataclass(frozen=True, slots=True)
class FrameOptions:
    """The build of the codec of single frames.

    Attributes:
        channels: of a latent.
        widths: channels at a half, a quarter and an eighth of the picture's side.
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
    """The build of the codec of one vector per frame.

    Attributes:
        drawn: channels of the decoder.
    """

    drawn: int = 64

    def __post_init__(self) -> None:
        at_least_one(self, "drawn")


@dataclass(frozen=True, slots=True)
class InflatedOptions:
    """How an image autoencoder is inflated.

    Attributes:
        blocks: the encoder's last and the decoder's first blocks that get kernels over time, besides
            the middle ones. The paper says "last" and "first" and no number.
        frame_stride: frames that a latent stands for, 1 or 2. The paper gives none.
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
class CodecTraining:
    """How a codec is trained.

    Attributes:
        steps: in all; each is one batch.
        rate: of learning, at its highest.
        warm_up: steps until it is reached; then it falls to 0 along a cosine.
        decay: of weights (AdamW).
        largest: norm that gradients are cut down to.
        ink: how much more a pixel of a saturated colour counts than one of the white background: with
            20, a ball of mean size and its rim weigh about as much as all the background.
        noise: on latents, in units of their spread, so that near latents decode to near pictures.
        measure: batches from which mean and spread of the latents are taken in the end; 0: they stay as
            they are.
        seed: of weights and noise; the source of frames has its own.
        save_every: steps between checkpoints.
        validate_every: steps between rows of the log.
        threads: of the processor; None for torch's choice.
        device: cpu, cuda, cuda:1 or mps; None for the best here.
    """

    steps: int = 20_000
    rate: float = 2e-3
    warm_up: int = 200
    decay: float = 1e-4
    largest: float = 1.0
    ink: float = 20.0
    noise: float = 0.05
    measure: int = 32
    seed: int = 0
    save_every: int = 500
    validate_every: int = 500
    threads: int | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        at_least_one(self, "steps", "save_every", "validate_every")
        not_negative(self, "warm_up", "largest", "ink", "noise", "measure")
        seed_and_threads(self)
        learning_rate(self)
        shares(self, "decay")
        if self.largest == 0:
            raise InputError("largest must be above 0: gradients would be cut down to nothing")
