"""The codec that is none: pixels in [−1, 1] are the latents, and patches of them the tokens."""

from __future__ import annotations

from typing import Any, ClassVar

from torch import Tensor

from sightline.errors import InputError
from sightline.video_model.autoencoder.codec import COLOURS, check_latents, check_video


class PixelCodec:
    """Hands videos through."""

    kind: ClassVar[str] = "pixels"
    channels, stride, frame_stride = COLOURS, 1, 1
    side: ClassVar[int | None] = None

    def encode(self, video: Tensor) -> Tensor:
        """(N, 3, T, H, W) in [−1, 1] → the same."""
        check_video(self, video)
        return video

    def decode(self, latents: Tensor) -> Tensor:
        """(N, 3, T, H, W) → the same, cut off at −1 and 1."""
        check_latents(self, latents)
        return latents.clamp(-1, 1)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values that `from_dict` builds the same codec from: there are none."""
        return {}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> PixelCodec:
        """Build the codec from what `to_dict` gave."""
        if values:
            raise InputError(f"pixels have no options, got {', '.join(values)}")
        return cls()
