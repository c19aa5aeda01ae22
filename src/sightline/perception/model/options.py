"""What can be set when a speaker is adapted and trained: each field a flag of `train speaker`.

Kept free of heavy imports, because the help is generated from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from sightline.errors import InputError
from sightline.running.checks import above_zero, at_least_one, not_negative, shares


@dataclass(frozen=True, slots=True)
class AdaptOptions:
    """What of a model learns.

    Attributes:
        rank: of LoRA.
        alpha: of LoRA.
        dropout: of LoRA.
        tokens: `rows`: only those of the new tokens; `whole`: the whole embedding and output, as the
            paper does.
        depth: give it depth tokens.
        pixels: give it pixel tokens.
        checkpointing: compute what lies between the layers again instead of keeping it: a fraction of
            the memory, for a third more time.
    """

    rank: int = 128
    alpha: int = 256
    dropout: float = 0.05
    tokens: Literal["rows", "whole"] = "rows"
    depth: Annotated[bool, Parameter(negative="--no-depth")] = True
    pixels: bool = False
    checkpointing: bool = False

    def __post_init__(self) -> None:
        if not (self.depth or self.pixels):
            raise InputError("neither depth nor pixel tokens are wanted", remedy="add --pixels")
        at_least_one(self, "rank", "alpha")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout lies in 0 to 1, got {self.dropout}")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeakerOptions:
    """How a speaker is trained; defaults are the paper's.

    Attributes:
        batch: samples of a step, over all processes.
        rate: peak learning rate.
        projector_rate: of the projector between eye and language.
        warmup: share of the steps over which rates rise.
        weight_decay: AdamW's.
        clip: largest norm of the gradient.
        longest: tokens of a conversation, at most.
        conclusion: how often that counts which an answer concludes from its map or boxes; the paper's
            is 1, and the hundred tokens of a map then count a hundred times as much as the letter they
            lead to.
        focus: steps at the beginning in which a compact speaker sees only what an answer is about:
            cells for a map, points for what is said of them, things to be counted.
        reconstruction: weight of the decoded map's mean square error; 0 for none.
        save_every: steps between checkpoints.
        bfloat16: multiply in bfloat16; weights and their gradients stay as they are.
        seed: of dropout.
        threads: of the processor; None for torch's choice.
    """

    batch: int = 16
    rate: float = 2e-4
    projector_rate: float = 2e-5
    warmup: float = 0.03
    weight_decay: float = 0.0
    clip: float = 1.0
    longest: int = 2048
    conclusion: float = 1.0
    focus: int = 0
    reconstruction: float = 0.0
    save_every: int = 100
    bfloat16: bool = False
    seed: int = 0
    threads: int | None = None

    def __post_init__(self) -> None:
        at_least_one(self, "batch", "longest", "save_every")
        not_negative(self, "rate", "projector_rate", "weight_decay", "reconstruction")
        above_zero(self, "clip", "conclusion")
        not_negative(self, "seed", "focus")
        if self.threads is not None:
            at_least_one(self, "threads")
        shares(self, "warmup")
