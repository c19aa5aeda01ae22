"""Train a codec on frames or videos.

The loss is a weighted reconstruction error (`loss`), with small noise on the latents. At the end the
mean and spread of the latents are measured on batches that were not trained on, and the codec is
written to `codec.safetensors`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from sightline.runtime.torch_engine import pick_device
from sightline.training.distributed import Distributed, Shard
from sightline.training.schedules import cosine_rate
from sightline.training.trainer import Trainer, TrainingTask
from sightline.video_model.autoencoders.codec import latent_shape
from sightline.video_model.autoencoders.data import FrameSource, draw_noise, take_batch
from sightline.video_model.autoencoders.files import CODEC, write_codec
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.inflated import InflatedVae
from sightline.video_model.autoencoders.loss import reconstruction_loss
from sightline.video_model.autoencoders.moments import MomentCodec
from sightline.video_model.autoencoders.options import CodecTraining

Trained = FrameCodec | MomentCodec | InflatedVae
NewCodec = TypeVar("NewCodec", bound=Trained)
#: Scores a codec: the figures that go into the log.
Validate = Callable[[Trained], dict[str, float]]


def train_new_codec(
    source: FrameSource,
    out: Path,
    options: CodecTraining,
    make: Callable[[], NewCodec],
    *,
    validate: Validate | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> NewCodec:
    """Create a codec and train it; see `train_codec`.

    Args:
        source: Frames or videos.
        out: Folder of the run.
        options: Configuration; its seed also determines the initial weights.
        make: Creates the codec.
        validate: Figures to log while training.
        report: Receives progress as lines of text.
        data: Origin of the frames, for the record.
        stop: Returns True to save and end the run.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        codec = make()
    train_codec(codec, source, out, options, validate=validate, report=report, data=data, stop=stop)
    return codec


class _CodecLoss(nn.Module):
    """Weighted reconstruction error of a codec."""

    def __init__(self, codec: Trained, ink: float) -> None:
        super().__init__()
        self.codec, self.ink = codec, ink

    def forward(self, video: Tensor, wanted: Tensor, noise: Tensor | None, factor: float) -> Tensor:
        """Return the loss of videos (B, 3, T, S, S) times a factor; noise is added to the latents."""
        return reconstruction_loss(self.codec(video, noise), wanted, self.ink) * factor


class CodecTask(TrainingTask):
    """Training of a codec.

    Args:
        config: Configuration.
        codec: Codec, changed in place.
        source: Frames or videos.
        score: Figures to log, computed from the codec; None for none.
        data: Origin of the frames, for the record.
    """

    name = "codec"
    batch_size = None  # the source decides

    def __init__(
        self,
        config: CodecTraining,
        codec: Trained,
        source: FrameSource,
        *,
        score: Validate | None = None,
        data: dict[str, Any] | None = None,
    ) -> None:
        self.config = self.options = config
        self.network = self.codec = codec
        self.module = _CodecLoss(codec, config.ink)
        self.source, self.score, self.data = source, score, data or {}
        self.steps, self.max_norm = config.steps, config.largest

    def record(self) -> dict[str, Any]:
        """Return the build of the codec and the origin of the frames."""
        return {"codec": self.codec.kind, "build": self.codec.to_dict(), "data": self.data}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW."""
        options = self.options
        return torch.optim.AdamW(
            self.codec.parameters(), lr=options.rate, weight_decay=options.decay
        )

    def rate(self, step: int) -> float:
        """Return the factor of the learning rate: warm-up, then a cosine."""
        return cosine_rate(step, self.steps, self.options.warm_up)

    def batch(self, step: int, shard: Shard) -> tuple[Tensor, Tensor, Tensor | None, float]:
        """Return videos, targets and noise of a shard of batch `step`, and the shard's weight."""
        video, wanted = take_batch(self.source, step, self.codec.mean.device)
        noise: Tensor | None = None
        if self.options.noise:
            shape = (len(video), *latent_shape(self.codec, *video.shape[2:]))
            noise = self.options.noise * draw_noise(self.options.seed, step, shape).to(video)
        mine = slice(shard.index, None, shard.count)
        some = noise if noise is None else noise[mine]
        return video[mine], wanted[mine], some, shard.weight(len(video))

    def weight(self, shard: Shard) -> float:  # noqa: ARG002 - of the task's interface
        """Return 1: the module applies the weight that comes with a batch."""
        return 1.0

    def validate(self, step: int) -> dict[str, float]:  # noqa: ARG002 - of the task's interface
        """Return the figures of `score`."""
        return self.score(self.codec) if self.score else {}

    def export(self, out: Path) -> None:
        """Measure the latents on batches of their own and write `codec.safetensors`."""
        if self.options.measure:
            unseen = range(self.steps, self.steps + self.options.measure)
            device = self.codec.mean.device
            self.codec.measure(take_batch(self.source, n, device)[0] for n in unseen)
        write_codec(self.codec, out / CODEC)


def train_codec(
    codec: Trained,
    source: FrameSource,
    out: Path,
    options: CodecTraining,
    *,
    validate: Validate | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Train a codec into a folder, or resume its training.

    Args:
        codec: Codec, changed in place; in the end it has its statistics and is in eval mode.
        source: Frames or videos.
        out: Folder of the run; a folder that holds another run is refused.
        options: Configuration.
        validate: Figures to log while training.
        report: Receives progress as lines of text.
        data: Origin of the frames, for the record.
        stop: Returns True to save and end the run.

    Raises:
        SightlineError: The loss is not finite; the last checkpoint is kept.
    """
    alone = Distributed(device=pick_device(options.device))
    codec.to(alone.device)
    task = CodecTask(options, codec, source, score=validate, data=data)
    Trainer(task, out, distributed=alone, report=report, stop=stop).fit()
