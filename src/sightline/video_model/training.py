"""Train a video model in the latents of a codec (PhyWorld §2.2, §3).

* The network predicts the velocity of noisy latents; given frames do not count in the loss.
* Videos, noise and diffusion steps of a batch are functions of the seed and the batch's number.
* The folder of the run also holds `samples/*.png` (truth above model) and, in the end,
  `model.safetensors` with the moving average of the weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sightline.training.config import RESUME_MAY_CHANGE
from sightline.training.distributed import Distributed, Shard
from sightline.training.schedules import cosine_rate
from sightline.training.trainer import Trainer, TrainingTask
from sightline.video_model.autoencoders.codec import usable_frames
from sightline.video_model.autoencoders.files import SavedCodec
from sightline.video_model.compiling import compiled
from sightline.video_model.conditioning import Conditioning, TextEncoder
from sightline.video_model.data import Mixture
from sightline.video_model.diffusion import draw_noise, draw_steps
from sightline.video_model.files import MODEL, write_model
from sightline.video_model.latents import LatentCache, Latents
from sightline.video_model.learner import VideoObjective, make_model
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.page import write_strip
from sightline.video_model.pipeline import VideoDiffusion

#: Scores a model: figures for the log.
Validate = Callable[[VideoDiffusion], dict[str, float]]


class VideoTask(TrainingTask):
    """Training of a video diffusion transformer.

    Args:
        config: Configuration.
        model: Model whose network is trained.
        latents: Latents of the training videos.
        out: Folder of the run, for film strips.
        score: Figures to log, computed with the averaged weights; None for none.
        data: Origin of the videos, for the record.
        report: Receives a line if the network cannot be compiled.
    """

    name = "video"
    may_change = RESUME_MAY_CHANGE | {"keep", "shown"}  # the cosine depends on the steps

    def __init__(
        self,
        config: VideoTraining,
        model: VideoDiffusion,
        latents: Latents,
        out: Path,
        *,
        score: Validate | None = None,
        data: dict[str, Any] | None = None,
        report: Callable[[str], None] = print,
    ) -> None:
        self.config = self.options = config
        self.model, self.latents, self.out = model, latents, out
        self.score, self.data = score, data or {}
        codec = model.codec
        given = 1 + (usable_frames(codec, model.build.condition) - 1) // codec.frame_stride
        self.network = model.network
        self.module: nn.Module = VideoObjective(model.network, given, model.build)
        if config.compile:
            self.module = compiled(self.module, report, torch.device(latents.device))
        self.steps, self.batch_size = config.steps, config.batch
        self.max_norm, self.ema_decay = config.largest, config.mean_decay

    def record(self) -> dict[str, Any]:
        """Return the build of the network, the codec and the origin of the videos."""
        return {
            "build": asdict(self.model.build),
            "transformer": self.model.network.options.to_dict(),
            "codec": self.model.codec.kind,
            "data": self.data,
        }

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW, fused: for small networks the unfused one takes a seventh of a step."""
        options = self.options
        return torch.optim.AdamW(
            self.network.parameters(), options.rate, weight_decay=options.decay, fused=True
        )

    def rate(self, step: int) -> float:
        """Return the factor of the learning rate: warm-up, then a cosine."""
        return cosine_rate(step, self.steps, self.options.warm_up)

    def batch(self, step: int, shard: Shard) -> tuple[Tensor | None, ...]:
        """Return latents, noise, diffusion steps and conditioning of a shard of batch `step`."""
        seed, first = self.options.seed, step * self.options.batch
        numbers = range(first, first + self.options.batch)[shard.index :: shard.count]
        video = self.latents.batch(numbers)
        noise = draw_noise(seed, numbers, self.latents.shape)
        t = draw_steps(seed, numbers, self.model.build.noise_steps)
        conditioning = Conditioning()
        if self.model.uses_conditioning:
            conditioning = self.model.conditioning_for(self.latents.facts(numbers))
        return video, noise, t, conditioning.numbers, conditioning.text, conditioning.words

    def validate(self, step: int) -> dict[str, float]:
        """Write a film strip and return the figures of `score`."""
        if self.options.shown:
            write_strip(self.out, step, self.model, self.latents.videos, self.options.shown)
        return self.score(self.model) if self.score else {}

    def export(self, out: Path) -> None:
        """Write `model.safetensors`."""
        write_model(self.model, out / MODEL)

    def blocks(self) -> Iterable[nn.Module]:
        """Return the transformer blocks."""
        return list(self.model.network.blocks)

    def describe_batch(self, step: int) -> str:
        """Name the batch and its samples."""
        first = step * self.options.batch
        return f"batch {step} (samples {first} to {first + self.options.batch - 1})"


def train_video_model(
    videos: Mixture,
    codec: SavedCodec,
    out: Path,
    build: BuildOptions,
    options: VideoTraining,
    *,
    validate: Validate | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
    distributed: Distributed | None = None,
    stop: Callable[[], bool] = lambda: False,
    kept: LatentCache | None = None,
    encoder: TextEncoder | None = None,
) -> VideoDiffusion:
    """Train a video model into a folder, or resume its training; return the finished model.

    Args:
        videos: Training videos.
        codec: Codec in whose latents the model works; it is not trained.
        out: Folder of the run; a folder that holds another run is refused.
        build: Build of the network.
        options: Configuration of the training.
        validate: Figures to log while training, computed with the averaged weights.
        report: Receives progress as lines of text.
        data: Origin of the videos, for the record.
        distributed: Group of processes; None for this process alone.
        stop: Returns True to save and end the run.
        kept: Cache of latents, see `Latents`.
        encoder: Text encoder, for a network that does not learn to read by itself.

    Raises:
        SightlineError: The loss is not finite; the last checkpoint is kept.
    """
    distributed = distributed or Distributed()
    if options.threads:
        torch.set_num_threads(options.threads)
    if isinstance(codec, nn.Module):
        codec.to(distributed.device).requires_grad_(False)
    latents = Latents(videos, codec, keep=options.keep, device=distributed.device, kept=kept)
    model = make_model(latents, build, options, encoder)
    model.notes = {"data": videos.names, "steps": options.steps, "batch": options.batch}
    if encoder is not None:
        model.notes["text_encoder"] = encoder.digest
    # Errors in the videos show now, before the folder is claimed.
    latents.batch([0])
    if model.uses_conditioning:
        model.conditioning_for(latents.facts(range(len(videos.sources))))
    origin = {"videos": videos.names, **(data or {})}
    if encoder is not None:
        origin["text_encoder"] = encoder.digest
    task = VideoTask(
        options,
        model,
        latents,
        out,
        score=validate,
        data=origin,
        report=report if distributed.is_main else _ignore,
    )
    Trainer(task, out, distributed=distributed, report=report, stop=stop).fit()
    return model


def _ignore(_: str) -> None:
    """Discard a line: only the main process reports."""
