"""What can be set for a training stage: one field, one flag of `sightline train`.

Kept free of heavy imports, because the help is generated from it. Defaults are those of the CPU
recipes (`recipes/cpu`); `recipes/paper` has the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sightline.errors import InputError
from sightline.running.checks import at_least_one, not_negative, shares

#: Longest shorter side of a picture that a network may see, in [px].
MOST_PIXELS = 4096

Network = Literal["compact", "vits", "vitb", "vitl", "vitg"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainOptions:
    """What every stage has in common.

    Attributes:
        network: `compact` is the student of 4.0 M parameters; the others are Depth Anything V2's.
        start: what the network starts from: a name of the registry (`dinov2-s`, `efficientnet-lite0`),
            a weight file, or `nothing`.
        steps: steps in all; each is one batch.
        short_side: shorter side of what the network sees while training, in pixels.
        size: shorter side of what it is to see later; default: as in training.
        encoder_rate: peak learning rate of the pretrained encoder.
        rate: peak learning rate of the rest.
        warmup: steps over which the rates rise.
        decay: share of the steps, at the end, over which they fall to zero.
        power: of that fall; 1 is linear.
        weight_decay: AdamW's.
        average: decay of the running average of the weights, which is what the stage gives.
        gradient_weight: of the gradient matching loss.
        trim: share of the largest differences ignored on pseudo-labelled pictures.
        feature_weight: of the alignment with the frozen encoder's features (ViT only).
        anchor_weight: of the plain difference that keeps all pictures in one range.
        guide: a ViT depth model whose features a compact network learns as well: a name of the
            registry or a weight file.
        guide_weight: of that.
        cutmix: chance that a pseudo-labelled picture has a piece of another one pasted in.
        save_every: steps between checkpoints.
        validate_every: steps between validations.
        seed: of weights, order and augmentation.
        threads: processor threads of the network; default: torch's choice.
        device: cpu, cuda, cuda:1 or mps; default: the best here.
        bfloat16: compute a ViT encoder in bfloat16; `auto`: where the processor has it.
    """

    network: Network = "vits"
    start: str = "dinov2-s"
    steps: int = 2000
    short_side: int = 224
    size: int | None = None
    encoder_rate: float = 5e-5
    rate: float = 5e-4
    warmup: int = 150
    decay: float = 0.5
    power: float = 1.0
    weight_decay: float = 0.02
    average: float = 0.99
    gradient_weight: float = 2.0
    trim: float = 0.1
    feature_weight: float = 0.0
    anchor_weight: float = 0.2
    guide: str | None = None
    guide_weight: float = 2.0
    cutmix: float = 0.0
    save_every: int = 50
    validate_every: int = 200
    seed: int = 0
    threads: int | None = None
    device: str | None = None
    bfloat16: Literal["auto", "on", "off"] = "auto"

    def __post_init__(self) -> None:
        at_least_one(self, "steps", "short_side", "save_every", "validate_every")
        shares(self, "trim", "decay", "average", "cutmix")
        not_negative(self, "encoder_rate", "rate", "gradient_weight", "feature_weight")
        not_negative(self, "anchor_weight", "guide_weight", "seed", "warmup", "power")
        not_negative(self, "weight_decay")
        if max(self.short_side, self.size or 0) > MOST_PIXELS:
            raise InputError(f"short_side and size are at most {MOST_PIXELS} pixels")
        if self.threads is not None:
            at_least_one(self, "threads")
        if self.feature_weight and self.network == "compact":
            raise InputError(
                "features are held to a ViT's frozen encoder; a compact network has none",
                remedy="leave out feature_weight, or let it have a guide",
            )
        if self.guide is not None and self.network != "compact":
            raise InputError(f"a guide is for the compact network, not for {self.network}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentOptions(TrainOptions):
    """A student learns from pseudo-labels: small network, strong augmentation."""

    network: Network = "compact"
    start: str = "efficientnet-lite0"
    short_side: int = 256
    encoder_rate: float = 3e-4
    rate: float = 1e-3
    warmup: int = 100
    decay: float = 0.6
    average: float = 0.995
    cutmix: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricOptions(TrainOptions):
    """A metric network: sigmoid head, SiLog, metres.

    Attributes:
        max_depth: what the last sigmoid is scaled by, in [m]: 20 indoors, 80 outdoors. It belongs to
            the weights; another value means another model.
        variance_focus: SiLog's λ; 1 forgives a wrong scale, 0 does not.
        focal: of the camera that the network learns metres for, in pixels of what it sees; other
            lenses are brought to it. 0: metres as they are, whatever the lens, as in the paper.
        smallest_crop: least share of a picture, by side, that a sample shows. What is enlarged looks
            nearer than it is: without cameras there is little room to zoom.
    """

    network: Network = "compact"
    start: str = "tiny"
    steps: int = 1000
    short_side: int = 256
    encoder_rate: float = 1e-4
    rate: float = 5e-4
    power: float = 0.9
    decay: float = 0.9
    weight_decay: float = 0.01
    average: float = 0.995
    max_depth: float = 20.0
    variance_focus: float = 0.5
    focal: float = 280.0
    smallest_crop: float = 0.9

    def __post_init__(self) -> None:
        TrainOptions.__post_init__(self)
        if not 0 < self.max_depth < float("inf"):
            raise InputError(f"max_depth must be a positive number, got {self.max_depth}")
        shares(self, "variance_focus")
        shares(self, "smallest_crop", zero=False)
        if not 0 <= self.focal < float("inf"):
            raise InputError(f"focal must be 0 or a positive number, got {self.focal}")
