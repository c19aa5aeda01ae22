"""Latents of training videos, cached in memory.

Every video is encoded alone and rounded to half precision, so its latents are the same bytes in any
batch and process, before and after an interruption.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from sightline.errors import InputError
from sightline.video_model.autoencoders.codec import (
    Codec,
    encode_bytes,
    latent_shape,
    usable_frames,
)
from sightline.video_model.conditioning import Fact
from sightline.video_model.data import Mixture, Pick

#: Cached latents by video.
LatentCache = dict[Pick, Tensor]

#: Maximum bytes of cached latents.
ROOM = 10**9


class Latents:
    """Latents of the videos of a mixture.

    Args:
        videos: training videos.
        codec: codec in eval mode.
        keep: maximum number of videos whose latents are cached, up to `ROOM` bytes; endless worlds
            are not cached because their videos do not repeat.
        device: device of the codec.
        kept: cache of the same videos and codec to share; new latents are added.
    """

    def __init__(
        self,
        videos: Mixture,
        codec: Codec,
        *,
        keep: int = 0,
        device: torch.device | str = "cpu",
        kept: LatentCache | None = None,
    ) -> None:
        frames, size = videos.shape
        self.videos, self.codec, self.device = videos, codec, device
        self.frames = usable_frames(codec, frames)
        self.shape = fit(codec, self.frames, size, videos)
        self.keep = min(keep, ROOM // (2 * math.prod(self.shape)))
        self._kept = {} if kept is None else kept

    def batch(self, numbers: Iterable[int]) -> Tensor:
        """Return training samples by index: (N, C, t, h, w) float32 on the device."""
        made = [self._one(self.videos.pick(number)) for number in numbers]
        return torch.stack(made).to(self.device, torch.float32)

    def facts(self, numbers: Iterable[int]) -> list[Fact]:
        """Return scenario and numbers of the same samples."""
        return [self.videos.fact(self.videos.pick(number)) for number in numbers]

    def _one(self, pick: Pick) -> Tensor:
        found = self._kept.get(pick)
        if found is None:
            planes = torch.from_numpy(self.videos.video(pick))[None, :, : self.frames]
            found = encode_bytes(self.codec, planes.to(self.device))[0].to("cpu", torch.float16)
            if len(self._kept) < self.keep and not self.videos.endless(pick.source):
                self._kept[pick] = found
        return found


def fit(codec: Codec, frames: int, size: int, videos: Mixture) -> tuple[int, int, int, int]:
    """Return the shape of the latents of videos.

    Args:
        codec: codec.
        frames: frames of a video.
        size: width and height of a video in [px].
        videos: source, named in errors.

    Raises:
        InputError: the codec does not take such videos.
    """
    try:
        return latent_shape(codec, frames, size)
    except InputError as error:
        wanted = codec.side if codec.side is not None else f"a multiple of {codec.stride}"
        how = "make the file" if videos.path is not None else "make worlds"
        raise InputError(
            error.problem,
            path=videos.path,
            remedy=f"{how} with --size {wanted}, or give another --codec: sightline video codec "
            f"--size {size} trains one",
        ) from error
