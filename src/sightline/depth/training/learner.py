"""From a batch to a loss: the one module that training differentiates.

Relative networks learn L_ssi + 2 · L_gm, trimmed on pseudo-labels, with features kept close to the
frozen encoder's (V2 §5.2); metric ones learn SiLog. A compact student may have a guide too, which
compares its maps with a teacher's features. A learner is a module, so that several processes
can wrap it (`DistributedDataParallel`) and reduce gradients as they appear.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from sightline.depth import losses
from sightline.depth.compact import CompactDepth
from sightline.depth.network import DepthAnything
from sightline.depth.spec import ModelSpec
from sightline.depth.training.guide import FeatureGuide
from sightline.depth.training.stream import Batch

#: Measured depth nearer than this is no depth [m] (Depth Anything V2, metric_depth/).
LEAST_DEPTH = 0.001


@dataclass(frozen=True, slots=True)
class LossConfig:
    """Weights of the losses.

    Attributes:
        gradient_weight: of gradient matching (V2 §7.1: 2).
        trim: share of largest differences ignored per pseudo-labelled map (V2 §5.2: 0.1).
        feature_weight: of feature alignment on pseudo-labelled pictures; ViT encoders only, because
            it compares like with like and needs no projector (V1 §3.3).
        anchor_weight: of the plain difference that keeps all pictures in one range.
        guide_weight: of the difference from a teacher's features, for a learner with a guide.
        variance_focus: SiLog's λ, for metric networks.
    """

    gradient_weight: float = 2.0
    trim: float = 0.1
    feature_weight: float = 0.0
    anchor_weight: float = 0.2
    guide_weight: float = 0.0
    variance_focus: float = 0.5


class Learner(nn.Module):
    """A depth network and its loss.

    Args:
        network: `DepthAnything` or `CompactDepth`.
        spec: what the network is for; a metric one learns SiLog.
        config: weights of the losses.
        bfloat16: run a ViT encoder's forward pass in bfloat16 where that is faster; the head, whose
            small differences are the fine detail, stays in float32.
        guide: shows a compact network what a teacher sees.
    """

    def __init__(
        self,
        network: nn.Module,
        spec: ModelSpec,
        config: LossConfig,
        *,
        bfloat16: bool = False,
        guide: FeatureGuide | None = None,
    ) -> None:
        super().__init__()
        self.network = network
        self.guide = guide
        self.spec = spec
        self.config = config
        self.in_bfloat16 = bfloat16
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
        """Compare the map alone: metres by SiLog, relative disparity by L_ssi + 2 · L_gm."""
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
        """Return (N, H, W) the output and, for a ViT, (N, D, h, w) its last features.

        A relative ViT is taken before its last ReLU: where that is zero no gradient comes through.
        """
        if not isinstance(self.network, DepthAnything):
            return self.network(image), None
        with torch.autocast(image.device.type, torch.bfloat16, enabled=self.in_bfloat16):
            taps = self.network.encoder(image, self.network.taps)
        taps = tuple(tap.float() for tap in taps)
        return self.network.decode(taps), taps[-1]

    def _metric(self, metres: Tensor, batch: Batch) -> Tensor:
        inverse = batch.disparity * batch.unit[:, None, None]
        depth = 1.0 / inverse.clamp(min=1e-6)
        most = float(self.spec.max_depth or 0.0)
        known = batch.known & (depth >= LEAST_DEPTH) & (depth <= most) & (inverse > 0)
        return losses.metric_loss(
            metres,
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
            torch.autocast(image.device.type, torch.bfloat16, enabled=self.in_bfloat16),
        ):
            start = self.frozen(image, taps)[-1]
        return losses.feature_alignment(features[batch.pseudo], start.float()).mean()


def freeze_statistics(network: nn.Module) -> None:
    """Keep the batch statistics of an encoder as pretrained; its weights still learn.

    Batches here are small and mixed, and the average of the weights needs no second pass this way.
    """
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()


def encoder_of(network: nn.Module) -> nn.Module:
    """Return the pretrained part, which training moves more slowly than the rest."""
    if isinstance(network, DepthAnything | CompactDepth):
        return network.encoder
    raise TypeError(f"no encoder known in {type(network).__name__}")
