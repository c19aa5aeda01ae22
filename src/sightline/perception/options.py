"""Options of training and adaptation; each field is a flag of `sightline tokens train` or `train vlm`.

This module has no heavy imports, because the command-line help is generated from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from sightline.errors import InputError
from sightline.training.checks import above_zero, at_least_one, not_negative, shares
from sightline.training.config import TrainConfig


@dataclass(frozen=True, slots=True)
class CodebookOptions(TrainConfig):
    """Training options of the codebook.

    Attributes:
        steps: number of optimizer steps.
        rate: initial learning rate.
        fall: factor on the learning rate after every `every` steps.
        every: steps between reductions of the learning rate.
        commitment: weight of the commitment loss.
        smallest_crop: minimum side of a random crop, as a share of the image.
    """

    steps: int = 4000
    rate: float = 3e-4
    fall: float = 0.98
    every: int = 500
    commitment: float = 0.25
    smallest_crop: float = 0.6

    def __post_init__(self) -> None:
        TrainConfig.__post_init__(self)
        at_least_one(self, "every")
        shares(self, "fall", "smallest_crop", zero=False)
        not_negative(self, "rate", "commitment")


@dataclass(frozen=True, slots=True)
class LoraOptions:
    """LoRA options and new tokens.

    Attributes:
        rank: rank of LoRA.
        alpha: alpha of LoRA.
        dropout: dropout of LoRA.
        tokens: trained part of the embedding and output matrices: the rows of new tokens, or the whole,
            as in the paper.
        depth: add depth tokens.
        pixels: add pixel tokens.
    """

    rank: int = 128
    alpha: int = 256
    dropout: float = 0.05
    tokens: Literal["rows", "whole"] = "rows"
    depth: Annotated[bool, Parameter(negative="--no-depth")] = True
    pixels: bool = False

    def __post_init__(self) -> None:
        if not (self.depth or self.pixels):
            raise InputError("neither depth nor pixel tokens are wanted", remedy="add --pixels")
        at_least_one(self, "rank", "alpha")
        if not 0 <= self.dropout < 1:
            raise InputError(f"dropout lies in 0 to 1, got {self.dropout}")


@dataclass(frozen=True, slots=True, kw_only=True)
class VLMTraining(TrainConfig):
    """Training options of a vision-language model; defaults are the paper's.

    Attributes:
        steps: number of optimizer steps; default: as many as there are batches.
        batch: samples of a step, over all processes.
        rate: peak learning rate.
        projector_rate: peak learning rate of the multimodal projector.
        warmup: warm-up steps as a share of all steps.
        weight_decay: weight decay of AdamW.
        clip: maximum gradient norm.
        longest: maximum tokens of a conversation.
        conclusion: loss weight of the conclusion of an answer; at the paper's 1, the hundred tokens
            of a map weigh a hundred times as much as the letter they lead to.
        focus: initial steps in which a compact VLM sees only the image tokens an answer is about: cells
            for a map, points for what is said of them, objects to be counted.
        reconstruction: weight of the mean squared error of the decoded map; 0 for none.
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
    validate_every: int = 100

    def __post_init__(self) -> None:
        TrainConfig.__post_init__(self)
        at_least_one(self, "batch", "longest")
        not_negative(self, "rate", "projector_rate", "weight_decay", "reconstruction")
        above_zero(self, "clip", "conclusion")
        not_negative(self, "focus")
        shares(self, "warmup")
