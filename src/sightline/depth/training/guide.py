"""A student that learns what its teacher sees, not only what it says.

A label is one number a pixel; the teacher's last features are hundreds of numbers a patch, and hold
what the label was concluded from. The guide shows the teacher the very crop the student sees, so that
features need no storage and augmentation is the same for both. The student's own maps are compared
through 1 × 1 convolutions that learn along and are thrown away in the end.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from sightline.depth.network import DepthAnything
from sightline.depth.spec import ModelSpec

#: The teacher sees the crop enlarged by this: its patches then are finer than the student's cells.
ENLARGE = 7 / 6


class FeatureGuide(nn.Module):
    """Compares a student's maps with the last features of a frozen ViT teacher.

    Args:
        teacher: a Depth Anything network; it does not learn.
        seen: how the student's pictures are normalised.
        shown: how the teacher's are.
        widths: channels of the student's maps.
        bfloat16: run the teacher in bfloat16.
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
        bfloat16: bool = False,
    ) -> None:
        super().__init__()
        self.in_bfloat16 = bfloat16
        self._encoder = [
            teacher.encoder.requires_grad_(False).eval()
        ]  # not a part: it is not saved
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
        """Return the mean of 1 − cosine over all places and maps.

        Channels of the teacher are standardised over the batch first: a few of a ViT's are far larger
        than the rest and hardly vary, and would make everything look alike.

        Args:
            image: (N, 3, H, W) as the student sees it.
            maps: (N, C, h, w) of the student, one per projection.
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
        """(N, 3, H, W) as the student sees it → (N, D, h, w) of the teacher, float32."""
        encoder = self._encoder[0].to(image.device)
        sides = [
            max(1, round(side * ENLARGE / self.patch)) * self.patch for side in image.shape[-2:]
        ]
        shown = F.interpolate(image, sides, mode="bicubic", align_corners=False)
        with torch.autocast(image.device.type, torch.bfloat16, enabled=self.in_bfloat16):
            taps = encoder(shown * self.scale + self.shift, self.last)
        return taps[-1].float()
