"""Configuration of video models: network sizes, transformer, build and training options.

The sizes are the paper's four (PhyWorld, Table 1: 22.5, 89.5, 310 and 456 M parameters) and four for
machines without a GPU. A block of width D has about 12·D² parameters besides its modulation. A
modulation per block as in DiT (6·D² more) would give 33, 130, 458 and 675 M; one modulation shared by
all blocks plus a learned vector per block (`adaLN-single`, PixArt-α, arXiv 2310.00426, §2.3) gives the
paper's numbers.

This module has no heavy imports, because the command-line help is generated from it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from sightline.config import check_ranges
from sightline.errors import InputError
from sightline.training.checks import (
    at_least_one,
    check_seed,
    learning_rate,
    not_negative,
    shares,
)
from sightline.training.config import TrainConfig


@dataclass(frozen=True, slots=True)
class TransformerSize:
    """Depth and width of a transformer.

    Attributes:
        depth: blocks; an even number, so that attention can alternate between space and time.
        width: channels of a token.
        heads: attention heads of a block.
    """

    depth: int
    width: int
    heads: int


SIZES: dict[str, TransformerSize] = {
    "nano": TransformerSize(2, 32, 1),
    "micro": TransformerSize(2, 96, 3),
    "tiny": TransformerSize(4, 160, 5),
    "mini": TransformerSize(6, 256, 4),
    "S": TransformerSize(12, 384, 6),
    "B": TransformerSize(12, 768, 12),
    "L": TransformerSize(24, 1024, 16),
    "XL": TransformerSize(28, 1152, 16),
}


Attention = Literal["full", "factorized"]


@dataclass(frozen=True, slots=True)
class TransformerOptions:
    """Video shape and architecture of a transformer.

    Attributes:
        frames: frames of a video, in latents or pixels.
        height: rows of a frame.
        width: columns of a frame.
        channels: channels of a latent, or 3 for pixels.
        patch: frames, rows and columns of one token.
        size: name of a size in `SIZES`.
        attention: `full`: every token attends to the whole video, as in the paper; `factorized`: blocks
            alternate between attention within a frame and over time.
        numbers: number of physical quantities given as condition; 0 for none.
        text: channels of the text embedding (4096 for T5-XXL); 0 for none.
        vocabulary: number of words that the network embeds itself; 0 if text comes embedded.
        gain: factor on the given frames.
        hold: fill frames that are not given with the last given frame instead of zeros.
    """

    frames: int
    height: int
    width: int
    channels: int
    patch: tuple[int, int, int] = (1, 2, 2)
    size: str = "tiny"
    attention: Attention = "full"
    numbers: int = 0
    text: int = 0
    gain: float = 1.0
    hold: bool = False
    vocabulary: int = 0

    def __post_init__(self) -> None:
        at_least_one(self, "frames", "height", "width", "channels")
        not_negative(self, "numbers", "text", "vocabulary")
        if not 0 < self.gain < math.inf:
            raise InputError(f"gain must be a number above 0, got {self.gain}")
        object.__setattr__(self, "patch", tuple(self.patch))
        if len(self.patch) != 3 or min(self.patch) < 1:
            raise InputError(
                f"patch is three numbers from 1 up (frames, rows, columns), got {self.patch}"
            )
        for name, side, step in zip(
            ("frames", "height", "width"), self.shape[1:], self.patch, strict=True
        ):
            if side % step:
                raise InputError(
                    f"{name} {side} is not a multiple of the patch's {step}",
                    remedy="give another --patch, or none for one that fits",
                )
        if self.vocabulary and not self.text:
            raise InputError("a network that reads words needs channels for them")
        if self.size not in SIZES:
            raise InputError(
                f"no size is called {self.size!r}", remedy=f"give one of {', '.join(SIZES)}"
            )
        if self.attention not in get_args(Attention):
            raise InputError(f"attention is full or factorized, got {self.attention!r}")

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Channels, frames, rows and columns of a video."""
        return self.channels, self.frames, self.height, self.width

    @property
    def grid(self) -> tuple[int, int, int]:
        """Tokens along time, rows and columns."""
        time, row, column = self.patch
        return self.frames // time, self.height // row, self.width // column

    @property
    def build(self) -> TransformerSize:
        """Depth and widths of the network."""
        return SIZES[self.size]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a checkpoint; read by `from_dict`."""
        return asdict(self) | {"patch": list(self.patch)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TransformerOptions:
        """Build options from the result of `to_dict`.

        Raises:
            InputError: a name is unknown or missing.
        """
        try:
            return cls(**values)
        except TypeError as error:
            raise InputError(f"not a description of a transformer ({error})") from error


#: Maximum steps of a schedule; more is a typing error or a damaged file.
MOST_STEPS = 100_000

#: Default patch: pixels along a side of a token, and maximum latents along a side.
_TOKEN, _LARGEST = 32, 16


#: Source of text embeddings: none, a vocabulary of the network, or an external encoder.
Text = Literal["none", "words", "encoder"]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """Network and diffusion options; the video shape follows from data and codec.

    Attributes:
        network: network size: nano, micro, tiny, mini, S, B, L or XL.
        patch: size of a token in latents: frames, rows and columns. Default: chosen by the codec.
        attention: attention over all tokens (full), or factorized into space and time.
        numbers: condition on radii and speeds.
        text: condition on a sentence about the motion (PhyWorld, Fig. 12): `words` embeds it in the
            network, `encoder` takes the embedding of the given text encoder.
        condition: number of given first frames; the paper uses 3, and 1 for combinatorial worlds.
        schedule: noise schedule.
        noise_steps: steps of the schedule.
        says: target that the last layer predicts: `velocity` as in the paper; `video` where a token has
            more values than the network has channels and cannot pass on their noise. The loss is the
            velocity error in both cases.
        gain: factor on the given frames: small differences between them are learned sooner.
        hold: show the last given frame in place of all later ones, where the paper has zeros.
    """

    network: str = "tiny"
    patch: tuple[int, int, int] | None = None
    attention: Attention = "full"
    numbers: bool = False
    condition: int = 3
    schedule: Literal["cosine", "linear"] = "cosine"
    noise_steps: int = 1000
    says: Literal["velocity", "video"] = "velocity"
    gain: float = 1.0
    hold: bool = False
    text: Text = "none"

    def __post_init__(self) -> None:
        at_least_one(self, "condition")
        if self.patch is not None:
            object.__setattr__(self, "patch", tuple(self.patch))
        if not 0 < self.gain < math.inf:
            raise InputError(f"gain must be a number above 0, got {self.gain}")
        if self.says not in ("velocity", "video"):
            raise InputError(f"says is velocity or video, got {self.says!r}")
        if self.text not in get_args(Text):
            raise InputError(f"text is none, words or encoder, got {self.text!r}")
        if not 2 <= self.noise_steps <= MOST_STEPS:
            raise InputError(f"noise_steps must be 2 to {MOST_STEPS:,}, got {self.noise_steps}")


def fitting_patch(frames: int, height: int, width: int, stride: int) -> tuple[int, int, int]:
    """Choose the frames, rows and columns of a token for latents.

    One vector per frame: four frames, or as many as fit. Maps of latents: one frame, and a square of 32
    pixels or 16 latents, whichever is smaller, halved until it fits.

    Args:
        frames: frames of a latent video.
        height: rows of latents.
        width: columns of latents.
        stride: pixels along each side of a latent.

    >>> fitting_patch(32, 1, 1, 64), fitting_patch(32, 8, 8, 8), fitting_patch(32, 64, 64, 1)
    ((4, 1, 1), (1, 4, 4), (1, 16, 16))
    """
    if height == width == 1:
        return math.gcd(frames, 4), 1, 1
    side = min(_LARGEST, max(1, 2 ** int(math.log2(max(1, _TOKEN // stride)))))
    side = math.gcd(side, math.gcd(height, width))
    return 1, side, side


@dataclass(frozen=True, slots=True)
class VideoTraining(TrainConfig):
    """Training options of a video model.

    Attributes:
        steps: number of optimizer steps.
        batch: videos of a step, over all processes and parts.
        rate: peak learning rate.
        warm_up: warm-up steps; then the rate falls to 0 along a cosine.
        decay: weight decay (AdamW).
        largest: maximum gradient norm.
        mean_decay: decay of the moving average of the weights, which is what is saved.
        flip: mirror videos left to right at random.
        compile: compile a step with torch.compile where there is a C++ compiler: a start of 15 s or
            more, then faster steps.
        keep: maximum number of videos whose latents are cached in memory, up to 1 GB; endless
            worlds are not cached.
        sampling: sampling steps, for film strips and in the finished model.
        shown: videos on a film strip.
    """

    steps: int = 20_000
    batch: int = 64
    rate: float = 1e-3
    warm_up: int = 200
    decay: float = 0.01
    largest: float = 1.0
    mean_decay: float = 0.999
    flip: bool = False
    compile: bool = False
    keep: int = 20_000
    sampling: int = 20
    shown: int = 3
    save_every: int = 500
    validate_every: int = 1000

    def __post_init__(self) -> None:
        TrainConfig.__post_init__(self)
        at_least_one(self, "batch", "sampling")
        not_negative(self, "warm_up", "largest", "keep", "shown")
        learning_rate(self)
        shares(self, "mean_decay", "decay")
        if self.mean_decay == 1:
            raise InputError("mean_decay must be below 1: the mean would never move")
        if self.largest == 0:
            raise InputError("largest must be above 0: gradients would be cut down to nothing")
        if self.accumulate > self.batch:
            raise InputError(f"a batch of {self.batch} has no {self.accumulate} parts")


#: Registry name of the embedded model.
EMBEDDED = "video"


@dataclass(frozen=True, slots=True)
class SampleConfig:
    """Settings of `sample_videos`.

    Attributes:
        model: registry name, or a file or run folder of `sightline video train`.
        batch: videos per forward pass.
        steps: sampling steps. Default: those of the model.
        seed: random seed of the noise, combined with the index of a sample.
        text_encoder: folder of the text encoder that the model was trained with, if any.
        device: cpu, cuda, cuda:1 or mps. Default: the best available.
    """

    model: str = EMBEDDED
    batch: int = 16
    steps: int | None = None
    seed: int = 0
    text_encoder: Path | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        check_ranges(None, batch=self.batch)
        check_seed(self.seed)
