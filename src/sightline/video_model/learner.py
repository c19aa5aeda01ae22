"""What learns: a transformer with its loss, and an untrained model around it."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from sightline.errors import InputError
from sightline.video_model.autoencoders.files import SavedCodec
from sightline.video_model.conditioning import VOCABULARY, TextEncoder
from sightline.video_model.diffusion import (
    levels,
    make_schedule,
    noisy_and_target,
    velocity_loss,
    video_loss,
)
from sightline.video_model.latents import Latents
from sightline.video_model.options import (
    BuildOptions,
    TransformerOptions,
    VideoTraining,
    fitting_patch,
)
from sightline.video_model.pipeline import VideoDiffusion
from sightline.video_model.transformer import VideoTransformer, first_frames

#: Radii and speeds of two balls, color and shape: what describes a video at most.
NUMBERS = 4
#: Frames that are left to make, at least: with fewer, no velocity can be scored.
SCORED = 2

#: Of a word, where a network learns to read by itself.
WORD_CHANNELS = 64


class VideoObjective(nn.Module):
    """A transformer and its loss.

    Args:
        network: network to train.
        given: latents of a video that are given.
        build: says the schedule.
    """

    def __init__(self, network: VideoTransformer, given: int, build: BuildOptions) -> None:
        super().__init__()
        self.network, self.given, self.says = network, given, build.says
        self.gammas = make_schedule(build.schedule, build.noise_steps)

    def forward(
        self,
        video: Tensor,
        noise: Tensor,
        t: Tensor,
        numbers: Tensor | None = None,
        text: Tensor | None = None,
        words: Tensor | None = None,
    ) -> Tensor:
        """Return the mean loss of latents (N, C, t, h, w) at steps (N,), given a `Conditioning`."""
        condition = first_frames(video, self.given, numbers=numbers, text=text, words=words)
        noisy, target = noisy_and_target(video, noise, t, self.gammas)
        said = self.network(noisy, t, condition)
        if self.says == "video":
            sigma = levels(self.gammas, t, video)[1]
            return video_loss(said, video, sigma, condition.given).mean()
        return velocity_loss(said, target, condition.given).mean()


def make_model(
    latents: Latents,
    build: BuildOptions,
    options: VideoTraining,
    encoder: TextEncoder | None = None,
) -> VideoDiffusion:
    """Build an untrained model for latents; the seed decides its first weights.

    Raises:
        InputError: what was asked for does not fit together.
    """
    if build.condition > latents.frames - SCORED:
        raise InputError(
            f"{build.condition} condition frames of videos with {latents.frames} frames",
            path=latents.videos.path,
            remedy=f"give --condition 1 to {latents.frames - SCORED}",
        )
    if options.sampling > build.noise_steps:
        raise InputError(
            f"{options.sampling} sampling steps of a schedule of {build.noise_steps}",
            remedy=f"give --sampling up to {build.noise_steps}, or more --noise-steps",
        )
    if (build.text == "encoder") != (encoder is not None):
        raise InputError(
            "--text encoder and --text-encoder FOLDER go together",
            remedy="give both, or --text words for a network that learns to read by itself",
        )
    channels = encoder.channels if encoder is not None else 0
    shape = transformer_for(latents.shape, latents.codec.stride, build, channels)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        network = VideoTransformer(shape)
    codec = latents.codec
    assert isinstance(codec, SavedCodec)
    size = latents.videos.shape[1]
    model = VideoDiffusion(
        network,
        codec,
        build,
        frames=latents.frames,
        size=size,
        sampling=options.sampling,
        encoder=encoder,
    )
    return model.to(latents.device)


def transformer_for(
    latents: tuple[int, int, int, int], stride: int, build: BuildOptions, channels: int = 0
) -> TransformerOptions:
    """Describe the transformer of latents.

    Args:
        latents: channels, frames, rows and columns.
        stride: side of a latent cell in [px].
        build: network and diffusion options.
        channels: embedding channels of the text encoder; 0 for none.
    """
    planes, frames, height, width = latents
    patch = build.patch or fitting_patch(frames, height, width, stride)
    return TransformerOptions(
        frames=frames,
        height=height,
        width=width,
        channels=planes,
        patch=patch,
        size=build.network,
        attention=build.attention,
        numbers=NUMBERS if build.numbers else 0,
        gain=build.gain,
        hold=build.hold,
        text=WORD_CHANNELS if build.text == "words" else channels,
        vocabulary=len(VOCABULARY) if build.text == "words" else 0,
    )
