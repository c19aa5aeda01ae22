"""Training objectives of depth networks.

Relative networks are trained with L_ssi + 2 · L_gm, trimmed on pseudo-labels, with features kept close
to those of the frozen encoder (V2 §5.2); metric networks with SiLog. A compact student can be trained
to predict a teacher's features as well.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sightline.depth import losses
from sightline.depth.compact import CompactDepth
from sightline.depth.network import DepthAnything
from sightline.models.entry import ModelSpec
from sightline.training.data.stream import Batch

#: Enlargement of the teacher's input, so that its patches are finer than the student's cells.
ENLARGE = 7 / 6

#: Smallest valid measured depth in [m] (Depth Anything V2, metric_depth/).
MIN_DEPTH = 0.001


@dataclass(frozen=True, slots=True)
class LossConfig:
    """Weights of the loss terms.

    Attributes:
        gradient_weight: Weight of gradient matching (V2 §7.1: 2).
        trim: Fraction of the largest residuals ignored per pseudo-labeled map (V2 §5.2: 0.1).
        feature_weight: Weight of feature alignment on pseudo-labeled images, for ViT encoders
            (V1 §3.3).
        anchor_weight: Weight of the absolute difference, which keeps all images in one range.
        guide_weight: Weight of the difference from a teacher's features.
        variance_focus: λ of SiLog, for metric networks.
    """

    gradient_weight: float = 2.0
    trim: float = 0.1
    feature_weight: float = 0.0
    anchor_weight: float = 0.2
    guide_weight: float = 0.0
    variance_focus: float = 0.5


class FeatureGuide(nn.Module):
    """Feature distillation: compare a student's maps with the last features of a frozen ViT teacher.

    A label is one number per pixel; the teacher's last features are hundreds of numbers per patch. The
    teacher is given the student's own crop, so that features need no storage and both see the same
    augmentation. The student's maps pass through 1 × 1 convolutions, trained along and discarded.

    Args:
        teacher: Depth Anything network; it is not trained.
        seen: Normalization of the student's images.
        shown: Normalization of the teacher's images.
        widths: Channels of the student's maps.
        dtype: Type of the teacher's arithmetic; None for float32.
    """

    scale: Tensor
    shift: Tensor

    def __init__(
        self,
        teacher: DepthAnything,
        seen: ModelSpec,
        shown: ModelSpec,
        widths: Sequence[int],
        *,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        self.dtype = dtype
        # In a list, so that the teacher is not a submodule and not saved.
        self._encoder = [teacher.encoder.requires_grad_(False).eval()]
        self.last = teacher.taps[-1:]
        self.patch = shown.multiple
        self.projections = nn.ModuleList(
            nn.Conv2d(width, teacher.encoder.norm.normalized_shape[0], 1) for width in widths
        )
        scale = torch.tensor(seen.std) / torch.tensor(shown.std)
        shift = (torch.tensor(seen.mean) - torch.tensor(shown.mean)) / torch.tensor(shown.std)
        self.register_buffer("scale", scale[:, None, None], persistent=False)
        self.register_buffer("shift", shift[:, None, None], persistent=False)

    def forward(self, image: Tensor, maps: Sequence[Tensor]) -> Tensor:
        """Return the mean of 1 − cosine over all positions and maps.

        The teacher's channels are standardized over the batch first: a few channels of a ViT are far
        larger than the rest and nearly constant, and would dominate the cosine.

        Args:
            image: (N, 3, H, W) input of the student.
            maps: (N, C, h, w) maps of the student, one per projection.
        """
        features = self.features(image)
        spread, mean = torch.std_mean(features, dim=(0, 2, 3), keepdim=True)
        features = (features - mean) / (spread + 1e-6)
        total = image.new_zeros(())
        for project, ours in zip(self.projections, maps, strict=True):
            theirs = F.interpolate(
                features, ours.shape[-2:], mode="bilinear", align_corners=False, antialias=True
            )
            total = total + (1 - F.cosine_similarity(project(ours), theirs, dim=1)).mean()
        return total / len(self.projections)

    @torch.no_grad()
    def features(self, image: Tensor) -> Tensor:
        """Return the teacher's features (N, D, h, w), float32, of the student's input (N, 3, H, W)."""
        encoder = self._encoder[0].to(image.device)
        sides = [
            max(1, round(side * ENLARGE / self.patch)) * self.patch for side in image.shape[-2:]
        ]
        shown = F.interpolate(image, sides, mode="bicubic", align_corners=False)
        with torch.autocast(image.device.type, self.dtype, enabled=self.dtype is not None):
            taps = encoder(shown * self.scale + self.shift, self.last)
        return taps[-1].float()


class DepthObjective(nn.Module):
    """A depth network and its loss.

    Args:
        network: `DepthAnything` or `CompactDepth`.
        spec: Description of the network; a metric one is trained with SiLog.
        config: Weights of the loss terms.
        dtype: Arithmetic of a ViT encoder's forward pass; None for float32. The head, whose small
            differences are the fine detail, stays in float32.
        bfloat16_head: Run the head of a ViT in bfloat16 too, except for its last convolutions.
        guide: Feature distillation for a compact network.
    """

    def __init__(
        self,
        network: nn.Module,
        spec: ModelSpec,
        config: LossConfig,
        *,
        dtype: torch.dtype | None = None,
        bfloat16_head: bool = False,
        guide: FeatureGuide | None = None,
    ) -> None:
        super().__init__()
        self.network = network
        self.guide = guide
        self.spec = spec
        self.config = config
        self.dtype, self.bfloat16_head = dtype, bfloat16_head
        self.frozen: nn.Module | None = None
        if config.feature_weight > 0 and isinstance(network, DepthAnything):
            self.frozen = copy.deepcopy(network.encoder).requires_grad_(False).eval()

    def forward(self, batch: Batch) -> Tensor:
        """Return the loss of one batch, a scalar."""
        if self.guide is not None and isinstance(self.network, CompactDepth):
            output, maps = self.network.depth_and_context(batch.image)
            drawn = self.config.guide_weight * self.guide(batch.image, maps)
            return self._depth_loss(output, batch) + drawn
        output, features = self.predict(batch.image)
        loss = self._depth_loss(output, batch)
        if self.frozen is not None and features is not None and bool(batch.pseudo.any()):
            loss = loss + self.config.feature_weight * self._drift(features, batch)
        return loss

    def _depth_loss(self, output: Tensor, batch: Batch) -> Tensor:
        """Compare the depth map only: SiLog for meters, L_ssi + 2 · L_gm for relative disparity."""
        if self.spec.max_depth is not None:
            return self._metric(output, batch)
        return losses.relative_loss(
            output,
            batch.disparity,
            batch.known,
            weight=batch.weight,
            pasted=batch.pasted,
            gradient_weight=self.config.gradient_weight,
            trim=self.config.trim * batch.pseudo,
            anchor_weight=self.config.anchor_weight,
        )

    def predict(self, image: Tensor) -> tuple[Tensor, Tensor | None]:
        """Return the output (N, H, W) and, for a ViT, its last features (N, D, h, w).

        The output of a relative ViT is taken before its last ReLU, which would block gradients.
        """
        if not isinstance(self.network, DepthAnything):
            return self.network(image), None
        with torch.autocast(image.device.type, self.dtype, enabled=self.dtype is not None):
            taps = self.network.encoder(image, self.network.taps)
        taps = tuple(tap.float() for tap in taps)
        return self.network.decode(taps, bfloat16=self.bfloat16_head), taps[-1]

    def _metric(self, meters: Tensor, batch: Batch) -> Tensor:
        inverse = batch.disparity * batch.unit[:, None, None]
        depth = 1.0 / inverse.clamp(min=1e-6)
        most = float(self.spec.max_depth or 0.0)
        known = batch.known & (depth >= MIN_DEPTH) & (depth <= most) & (inverse > 0)
        return losses.metric_loss(
            meters,
            torch.where(known, depth, torch.ones_like(depth)),
            known,
            variance_focus=self.config.variance_focus,
        )

    def _drift(self, features: Tensor, batch: Batch) -> Tensor:
        assert self.frozen is not None
        image = batch.image[batch.pseudo]
        taps = self.network.taps if isinstance(self.network, DepthAnything) else ()
        with (
            torch.no_grad(),
            torch.autocast(image.device.type, self.dtype, enabled=self.dtype is not None),
        ):
            start = self.frozen(image, taps)[-1]
        return losses.feature_alignment(features[batch.pseudo], start.float()).mean()


def freeze_statistics(network: nn.Module) -> None:
    """Keep the batch-normalization statistics of an encoder as pretrained; its weights are trained.

    Batches are small and mixed, and averaged weights then need no second pass for their statistics.
    """
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()


def encoder_of(network: nn.Module) -> nn.Module:
    """Return the pretrained part of a network, which has a learning rate of its own."""
    if isinstance(network, DepthAnything | CompactDepth):
        return network.encoder
    raise TypeError(f"no encoder known in {type(network).__name__}")
