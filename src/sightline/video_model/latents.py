"""Latents of the videos that training asks for, kept in memory where there is room.

Every video is coded by itself and rounded to half precision, so that its latents are the same bytes
whoever makes them, in whatever batch, before a break or after it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import torch
from torch import Tensor

from sightline.errors import InputError
from sightline.video_model.autoencoder.codec import Codec, encode_bytes, latent_shape, usable_frames
from sightline.video_model.mixture import Mixture, Pick
from sightline.video_model.sentences import Fact

#: Latents by what they are of.
Kept = dict[Pick, Tensor]

#: Bytes that latents which are kept may fill.
ROOM = 10**9


class Latents:
    """Videos of a mixture as latents.

    Args:
        videos: to learn from.
        codec: in eval mode.
        keep: how many videos' latents are kept at most; they fill no more than `ROOM`, and those of
            worlds without end are not kept, for they do not come again.
        device: that the codec is on.
        kept: latents of the same videos by the same codec that are there already; more are added.
    """

    def __init__(
        self,
        videos: Mixture,
        codec: Codec,
        *,
        keep: int = 0,
        device: torch.device | str = "cpu",
        kept: Kept | None = None,
    ) -> None:
        frames, size = videos.shape
        self.videos, self.codec, self.device = videos, codec, device
        self.frames = usable_frames(codec, frames)
        self.shape = fit(codec, self.frames, size, videos)
        self.keep = min(keep, ROOM // (2 * math.prod(self.shape)))
        self._kept = {} if kept is None else kept

    def batch(self, numbers: Iterable[int]) -> Tensor:
        """Return samples of the training by their numbers: (N, C, t, h, w) float32 on the device."""
        made = [self._one(self.videos.pick(number)) for number in numbers]
        return torch.stack(made).to(self.device, torch.float32)

    def facts(self, numbers: Iterable[int]) -> list[Fact]:
        """Return what is known of the same samples."""
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
    """Return the shape of videos' latents; say what to do where a codec does not take them.

    Args:
        codec: any.
        frames: of a video.
        size: width and height of a video in [px].
        videos: where they come from.
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
