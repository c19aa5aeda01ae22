"""What a video model is made from and how it is trained; run records and model files carry it.

Kept free of heavy imports, because the help is generated from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from sightline.errors import InputError
from sightline.running.checks import (
    at_least_one,
    learning_rate,
    not_negative,
    seed_and_threads,
    shares,
)
from sightline.video_model.transformer.options import Attention

#: Steps of a schedule at most: more are a slip of the finger, or a damaged file.
MOST_STEPS = 100_000

#: Pixels along a side of a token, and latents at most, where no patch is given.
_TOKEN, _LARGEST = 32, 16


#: How a network is told what happens in words.
Text = Literal["none", "words", "encoder"]


@dataclass(frozen=True, slots=True)
class BuildOptions:
    """The network; the shape of its videos follows from data and codec.

    Attributes:
        network: its size: nano, micro, tiny, mini, S, B, L or XL.
        patch: latents of a token: frames, rows and columns; default: what fits the codec, see
            `fitting_patch`.
        attention: full, or factorised into space and time.
        numbers: tell the network radii and speeds, too.
        text: tell it a sentence of what happens (PhyWorld, Fig. 12): words, which it learns to read by
            itself, or the embedding of a text encoder that is given.
        condition: first frames of a video that are given; the paper's is 3, for combinatorial worlds 1.
        schedule: of the noise.
        noise_steps: steps of that schedule.
        says: what the network's last layer says of a noisy video. `velocity` as in the paper; `video`
            where a token has more numbers than the network has channels: it cannot hand on their noise.
            The velocity follows from either, and its error is what is learnt.
        gain: how many times larger than they are the network sees given frames: what differs little
            in them, such as a ball that begins to fall from one that does not, is learnt sooner.
        hold: show the last given frame beside all that come after it, where the paper has zeros: what
            does not move need not be looked up.
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

    A vector for each frame: four frames, or as many as fit. Maps of latents: one frame, and a square of
    32 pixels or of 16 latents, whichever is smaller; half as large until it fits.

    Args:
        frames: of a video of latents.
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
class VideoTraining:
    """How a video model is trained.

    Attributes:
        steps: in all; each is one batch.
        batch: videos of a step, over all processes and parts.
        accumulate: parts that a step's batch is worked through in, to save memory.
        rate: of learning, at its highest.
        warm_up: steps until it is reached; then it falls to 0 along a cosine.
        decay: of weights (AdamW).
        largest: norm that gradients are cut down to.
        mean_decay: of the moving mean of the weights, which is what is kept in the end.
        flip: mirror every other video left to right, at random.
        bfloat16: compute in half precision where that is safe.
        compile: make one program of a step, where there is a C++ compiler (see `compiling`): a start
            of a quarter of a minute or more, then quicker steps; for trainings of thousands of steps.
        keep: latents of so many videos are kept in memory instead of being made again, but no more
            than fill 1 GB; those of worlds without end are not.
        sampling: steps from noise to a video, for film strips and in the finished model.
        shown: videos on a film strip.
        seed: of weights, noise, order and flips; worlds have their own.
        save_every: steps between checkpoints.
        validate_every: steps between rows of the log, and film strips.
        threads: of the processor; None for torch's choice.
        device: cpu, cuda, cuda:1 or mps; None for the best here.
    """

    steps: int = 20_000
    batch: int = 64
    accumulate: int = 1
    rate: float = 1e-3
    warm_up: int = 200
    decay: float = 0.01
    largest: float = 1.0
    mean_decay: float = 0.999
    flip: bool = False
    bfloat16: bool = False
    compile: bool = False
    keep: int = 20_000
    sampling: int = 20
    shown: int = 3
    seed: int = 0
    save_every: int = 500
    validate_every: int = 1000
    threads: int | None = None
    device: str | None = None

    def __post_init__(self) -> None:
        at_least_one(self, "steps", "batch", "accumulate", "sampling", "save_every")
        at_least_one(self, "validate_every")
        not_negative(self, "warm_up", "largest", "keep", "shown")
        seed_and_threads(self)
        learning_rate(self)
        shares(self, "mean_decay", "decay")
        if self.mean_decay == 1:
            raise InputError("mean_decay must be below 1: the mean would never move")
        if self.largest == 0:
            raise InputError("largest must be above 0: gradients would be cut down to nothing")
        if self.accumulate > self.batch:
            raise InputError(f"a batch of {self.batch} has no {self.accumulate} parts")
