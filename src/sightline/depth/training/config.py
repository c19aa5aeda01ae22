"""Configuration of depth training: one field per flag of `sightline train teacher|student|metric`.

Free of heavy imports, because the command line generates its flags from these classes. Defaults are
those of the CPU recipes (`recipes/cpu`); `recipes/paper` has the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sightline.errors import InputError
from sightline.training.checks import above_zero, at_least_one, not_negative, shares
from sightline.training.config import Precision, TrainConfig

#: Largest shorter side of a network input in [px].
MAX_PIXELS = 4096

Network = Literal["compact", "vits", "vitb", "vitl", "vitg"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DepthTrainConfig(TrainConfig):
    """Configuration of a teacher, and the fields that all depth networks share.

    Attributes:
        network: architecture: compact (4.0 M parameters) or a ViT of Depth Anything V2.
        start: Initial weights: a registry name (dinov2-s, efficientnet-lite0), a weight file, or
            nothing for random weights.
        steps: Number of optimizer steps; each consumes one batch.
        short_side: Shorter side of training images in [px].
        size: Shorter side of images at inference in [px]; default: as in training.
        encoder_rate: Peak learning rate of the pretrained encoder.
        rate: Peak learning rate of the other weights.
        warmup: Warm-up steps of the learning rates.
        decay: Fraction of the steps, at the end, over which the rates decay to zero.
        power: Exponent of that decay; 1 is linear.
        weight_decay: Weight decay of AdamW.
        clip: Norm that gradients are clipped to.
        average: Decay of the exponential moving average of the weights, which is the result.
        gradient_weight: Weight of the gradient-matching loss.
        trim: Fraction of the largest residuals ignored on pseudo-labeled images.
        feature_weight: Weight of the alignment with the frozen encoder's features (ViT only).
        anchor_weight: Weight of the absolute difference, which keeps all images in one range.
        guide: ViT depth model whose features a compact network is trained to predict as well: a
            registry name or a weight file.
        guide_weight: Weight of that feature loss.
        cutmix: Probability that a patch of another image is pasted into a pseudo-labeled image.
        roll: Probability that an image is rotated about the optical axis, so that lower in the image
            is not always nearer.
        appearance: Probability that an image is shown in fog, under water, at night, in rain, drawn or
            painted.
        random_grids: Sample the shape of every batch between 9:21 and 21:9, instead of one of four.
        frozen_blocks: Number of first blocks of a ViT encoder that are not trained, nor are its
            embeddings.
        precision: Arithmetic of a ViT encoder; the head stays in float32. auto: bfloat16 where the
            processor supports it.
        bfloat16_head: Run the head of a ViT in bfloat16 too, except for its last convolutions, which
            takes a fifth less time.
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
    clip: float = 1.0
    average: float = 0.99
    gradient_weight: float = 2.0
    trim: float = 0.1
    feature_weight: float = 0.0
    anchor_weight: float = 0.2
    guide: str | None = None
    guide_weight: float = 2.0
    cutmix: float = 0.0
    roll: float = 0.0
    appearance: float = 0.0
    random_grids: bool = False
    frozen_blocks: int = 0
    save_every: int = 50
    validate_every: int = 200
    precision: Precision = "auto"
    bfloat16_head: bool = False

    def __post_init__(self) -> None:
        TrainConfig.__post_init__(self)
        at_least_one(self, "short_side")
        shares(self, "trim", "decay", "average", "cutmix", "roll", "appearance")
        not_negative(self, "encoder_rate", "rate", "gradient_weight", "feature_weight")
        not_negative(self, "anchor_weight", "guide_weight", "warmup", "power")
        not_negative(self, "weight_decay", "frozen_blocks")
        above_zero(self, "clip")
        if max(self.short_side, self.size or 0) > MAX_PIXELS:
            raise InputError(f"short_side and size must be at most {MAX_PIXELS} pixels")
        if self.feature_weight and self.network == "compact":
            raise InputError(
                "feature_weight compares with a frozen ViT encoder; a compact network has none",
                remedy="leave out feature_weight, or give a guide",
            )
        if self.guide is not None and self.network != "compact":
            raise InputError(f"a guide is only for the compact network, not for {self.network}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentTrainConfig(DepthTrainConfig):
    """Configuration of a student: a small network, trained on pseudo-labels."""

    network: Network = "compact"
    start: str = "efficientnet-lite0"
    short_side: int = 256
    encoder_rate: float = 3e-4
    rate: float = 1e-3
    warmup: int = 100
    decay: float = 0.6
    average: float = 0.995


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricTrainConfig(DepthTrainConfig):
    """Configuration of a metric network: sigmoid head, SiLog loss, depth in [m].

    Attributes:
        max_depth: Scale of the last sigmoid in [m]: 20 indoors, 80 outdoors. It is part of the model.
        variance_focus: weight λ of SiLog; 1 ignores a wrong scale, 0 does not.
        focal: Focal length of the canonical camera in pixels of the network input; images of other
            cameras are converted to it. 0: depth as it is, whatever the camera, as in the paper.
        smallest_crop: Smallest crop of an image, as a fraction of its sides. Enlarged objects look
            nearer than they are, so there is little room to zoom without known cameras.
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
        DepthTrainConfig.__post_init__(self)
        if not 0 < self.max_depth < float("inf"):
            raise InputError(f"max_depth must be a positive number, got {self.max_depth}")
        shares(self, "variance_focus")
        shares(self, "smallest_crop", zero=False)
        if not 0 <= self.focal < float("inf"):
            raise InputError(f"focal must be 0 or a positive number, got {self.focal}")
