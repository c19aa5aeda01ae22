"""Train depth networks: teacher, student and metric model.

The folder of a run holds `config.toml`, `checkpoint.pt`, `log.jsonl` and, at the end,
`model.safetensors`, which every command accepts as `--model`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import torch
from torch import Tensor, nn

from sightline.depth.checkpoints import write_checkpoint
from sightline.depth.compact import CONTEXT_WIDTHS
from sightline.depth.estimator import DepthEstimator
from sightline.depth.network import DepthAnything, build
from sightline.depth.training.config import (
    DepthTrainConfig,
    MetricTrainConfig,
    StudentTrainConfig,
)
from sightline.depth.training.objective import (
    DepthObjective,
    FeatureGuide,
    LossConfig,
    encoder_of,
    freeze_statistics,
)
from sightline.depth.training.weights import (
    LAST_BIAS,
    OUTPUT_SHIFT,
    make_network,
    spec_for,
    start_checksums,
)
from sightline.depth.vit_models import read_vit
from sightline.errors import InputError
from sightline.models.entry import ModelSpec
from sightline.runtime.torch_engine import TorchEngine
from sightline.training.config import RESUME_MAY_CHANGE
from sightline.training.data.augment import AugmentConfig
from sightline.training.data.sources import describe_sources, open_photos, open_sources
from sightline.training.data.stream import Batch, MixtureSource, StreamConfig, make_batch
from sightline.training.distributed import Distributed, Shard, join_processes
from sightline.training.schedules import trapezoid_rate
from sightline.training.trainer import Trainer, TrainingTask, autocast_dtype

#: Scores an estimator: figures by name.
Score = Callable[[DepthEstimator], dict[str, float]]

#: The finished model in the folder of a run.
MODEL = "model.safetensors"


class DepthTrainingTask(TrainingTask):
    """Training of a depth network on a mixture of sources.

    Args:
        name: teacher, student or metric; for the record.
        config: Configuration.
        objective: Network and loss.
        sources: Training data.
        score: Figures to log, computed from the averaged weights; None for none.
        data: Origin of the sources; a folder whose run had other data is refused.
        device: Device of the network.
    """

    prefetch = 3
    autocast = False  # the objective applies the precision to the encoder alone
    may_change = RESUME_MAY_CHANGE | {"steps"}  # past rates do not depend on it, see trapezoid_rate

    def __init__(
        self,
        name: str,
        config: DepthTrainConfig,
        objective: DepthObjective,
        sources: Sequence[MixtureSource],
        *,
        score: Score | None = None,
        data: dict[str, Any] | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.name, self.config, self.sources = name, config, list(sources)
        self.module: DepthObjective = objective.to(device)
        self.network = objective.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.spec = objective.spec
        self.steps, self.max_norm, self.ema_decay = config.steps, config.clip, config.average
        self.batch_size = sum(source.share for source in self.sources)
        self.data = data or {}
        self._options = config
        self._stream = stream_config(config)
        self._validate = None if score is None else _validator(self.spec, score)

    def record(self) -> dict[str, Any]:
        """Return the origin of the data and the checksums of the initial weights."""
        return {"data": self.data, "weights": start_checksums(self._options)}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW with a learning rate of its own for the pretrained encoder."""
        config, guide = self._options, self.module.guide
        encoder = [p for p in encoder_of(self.network).parameters() if p.requires_grad]
        known = {id(p) for p in encoder}
        rest = [p for p in self.network.parameters() if p.requires_grad and id(p) not in known]
        if guide is not None:
            rest += guide.parameters()
        groups = [
            {"params": encoder, "peak": config.encoder_rate},
            {"params": rest, "peak": config.rate},
        ]
        return torch.optim.AdamW(groups, lr=0.0, weight_decay=config.weight_decay)

    def rate(self, step: int) -> float:
        """Return the factor of the learning rates: warm-up, constant, decay."""
        config = self._options
        return trapezoid_rate(step, self.steps, config.warmup, config.decay, config.power)

    def batch(self, step: int, shard: Shard) -> tuple[Batch]:
        """Return a shard of batch `step`, a function of seed, step and shard."""
        return (
            make_batch(
                self.sources,
                step,
                self.spec,
                self._stream,
                rank=shard.index,
                processes=shard.count,
            ),
        )

    def train_mode(self) -> None:
        """Set the network to training mode, except for the encoder's batch statistics."""
        self.network.train()
        freeze_statistics(encoder_of(self.network))

    def validate(self, step: int) -> dict[str, float]:  # noqa: ARG002 - of the task's interface
        """Return the figures of `score`."""
        return {} if self._validate is None else self._validate(self.network.state_dict())

    def export(self, out: Path) -> None:
        """Write `model.safetensors`."""
        write_checkpoint(out / MODEL, finished(self.network.state_dict(), self.spec), self.spec)

    def blocks(self) -> Iterable[nn.Module]:
        """Return the transformer blocks of a ViT encoder."""
        return self.network.encoder.blocks if isinstance(self.network, DepthAnything) else ()

    def state_dict(self) -> dict[str, Tensor]:
        """Return the weights of the network and of the guide's projections."""
        state: dict[str, Tensor] = dict(self.network.state_dict())
        if self.module.guide is not None:
            state |= {f"guide.{k}": v for k, v in self.module.guide.state_dict().items()}
        return state

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Restore the weights of the network and of the guide's projections."""
        prefix = "guide."
        if self.module.guide is not None:
            guide = {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
            self.module.guide.load_state_dict(guide)
        self.network.load_state_dict({k: v for k, v in state.items() if not k.startswith(prefix)})


def train_depth(
    name: str,
    sources: Sequence[MixtureSource],
    out: Path,
    config: DepthTrainConfig,
    *,
    score: Score | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> Path:
    """Train a depth network on opened sources, or resume its training.

    Args:
        name: teacher, student or metric; for the record.
        sources: Training data.
        out: Folder of the run; a folder that holds another run is refused.
        config: Configuration.
        score: Figures to log, computed from the averaged weights; None for none.
        report: Receives progress as lines of text.
        data: Origin of the sources, for the record.
        stop: Returns True to save and end the run.

    Returns:
        Path of the finished model.
    """
    with join_processes(config.device) as distributed:
        objective = make_objective(config, distributed)
        task = DepthTrainingTask(
            name, config, objective, sources, score=score, data=data, device=distributed.device
        )
        Trainer(task, out, distributed=distributed, report=report, stop=stop).fit()
    return out / MODEL


def train_teacher(
    data: Sequence[str],
    out: str | Path,
    config: DepthTrainConfig | None = None,
    *,
    score: Score | None = None,
    report: Callable[[str], None] = print,
    stop: Callable[[], bool] = lambda: False,
) -> Path:
    """Train a teacher on exact or measured depth, or resume its training.

    Args:
        data: Data sets as `SET:FOLDER` or `SET:FOLDER@SHARE`, see `sightline train teacher --help`.
        out: Folder of the run.
        config: Configuration; the default is `DepthTrainConfig()`.
        score: Figures to log while training, of a `DepthEstimator`.
        report: Receives progress as lines of text.
        stop: Returns True to save and end the run.

    Returns:
        Path of the finished model.
    """
    config = config or DepthTrainConfig()
    sources = open_sources(data, config.short_side, notify=report)
    record = {"data": list(data), **describe_sources(data, sources)}
    return train_depth(
        "teacher", sources, Path(out), config, score=score, report=report, data=record, stop=stop
    )


def train_student(
    out: str | Path,
    config: StudentTrainConfig | None = None,
    *,
    photos: str | Path | None = None,
    labels: Sequence[str | Path] = (),
    data: Sequence[str] = (),
    share: int = 16,
    score: Score | None = None,
    report: Callable[[str], None] = print,
    stop: Callable[[], bool] = lambda: False,
) -> Path:
    """Train a student on photographs with pseudo-labels of one or several teachers, or resume.

    Labels of several teachers are aligned and averaged; where they disagree, they weigh less. Held-out
    photographs, one in fifty by file name, are never used.

    Args:
        out: Folder of the run.
        config: Configuration; the default is `StudentTrainConfig()`.
        photos: Folder of photographs.
        labels: Folders that `sightline label` wrote, the sharpest teacher first.
        data: Further data sets, see `train_teacher`.
        share: Number of samples per batch that come from the photographs.
        score: Figures to log while training, of a `DepthEstimator`.
        report: Receives progress as lines of text.
        stop: Returns True to save and end the run.

    Returns:
        Path of the finished model.
    """
    config = config or StudentTrainConfig()
    if (photos is None) != (not labels):
        raise InputError("photos and labels belong together", remedy="give both or none")
    if photos is None and not data:
        raise InputError("no training data", remedy="give --photos and --labels, or --data")
    sources: list[MixtureSource] = []
    folders = [Path(folder) for folder in labels]
    if photos is not None:
        sources.append(open_photos(Path(photos), folders, config.short_side, share, notify=report))
    sources += open_sources(data, config.short_side, notify=report)
    record = {
        "photos": photos,
        "labels": folders,
        "share": share,
        "data": list(data),
        **describe_sources([*data, *map(str, folders)], sources),
    }
    return train_depth(
        "student", sources, Path(out), config, score=score, report=report, data=record, stop=stop
    )


def train_metric(
    data: Sequence[str],
    out: str | Path,
    config: MetricTrainConfig | None = None,
    *,
    score: Score | None = None,
    report: Callable[[str], None] = print,
    stop: Callable[[], bool] = lambda: False,
) -> Path:
    """Train a metric model on measured depth, or resume; pairs of unknown unit are left out.

    Args:
        data: Data sets, see `train_teacher`.
        out: Folder of the run.
        config: Configuration; the default is `MetricTrainConfig()`.
        score: Figures to log while training, of a `DepthEstimator`.
        report: Receives progress as lines of text.
        stop: Returns True to save and end the run.

    Returns:
        Path of the finished model.
    """
    config = config or MetricTrainConfig()
    sources = open_sources(
        data, config.short_side, metric=True, camera=config.focal > 0, notify=report
    )
    record = {"data": list(data), **describe_sources(data, sources)}
    return train_depth(
        "metric", sources, Path(out), config, score=score, report=report, data=record, stop=stop
    )


def make_objective(config: DepthTrainConfig, distributed: Distributed) -> DepthObjective:
    """Build the network with its initial weights, its loss and, if configured, its guide."""
    spec = spec_for(config)
    dtype = autocast_dtype(config.precision, distributed.device)
    losses = LossConfig(
        gradient_weight=config.gradient_weight,
        trim=config.trim,
        feature_weight=config.feature_weight,
        anchor_weight=config.anchor_weight,
        guide_weight=config.guide_weight,
        variance_focus=config.variance_focus if isinstance(config, MetricTrainConfig) else 0.5,
    )
    network, guide = make_network(config, spec), None
    if isinstance(network, DepthAnything):
        network.encoder.freeze(config.frozen_blocks)
    if config.guide is not None:
        teacher, shown = read_vit(config.guide)
        guide = FeatureGuide(teacher, spec, shown, CONTEXT_WIDTHS, dtype=dtype)
    return DepthObjective(
        network, spec, losses, dtype=dtype, bfloat16_head=config.bfloat16_head, guide=guide
    )


def stream_config(config: DepthTrainConfig) -> StreamConfig:
    """Return how samples are augmented: photographs with pseudo-labels more strongly."""
    cv2.setNumThreads(1)  # a thread of its own prepares batches
    measured = AugmentConfig()
    if isinstance(config, MetricTrainConfig):
        measured = AugmentConfig(smallest_crop=config.smallest_crop, stretch=1.05)
    return StreamConfig(
        config.short_side,
        replace(measured, roll=config.roll, appearance=config.appearance),
        replace(AugmentConfig.strong(), roll=config.roll, appearance=config.appearance),
        config.cutmix,
        config.seed,
        config.random_grids,
    )


def finished(state: dict[str, Tensor], spec: ModelSpec) -> dict[str, Tensor]:
    """Return the weights for inference: the output of a relative ViT is shifted above its ReLU."""
    state = {name: value.detach().cpu().contiguous() for name, value in state.items()}
    if spec.max_depth is None and LAST_BIAS in state:
        state[LAST_BIAS] = state[LAST_BIAS] + OUTPUT_SHIFT
    return state


def _validator(spec: ModelSpec, score: Score) -> Callable[[dict[str, Tensor]], dict[str, float]]:
    network: nn.Module = build(spec).eval()
    estimator = DepthEstimator(TorchEngine(network, "cpu"), spec, "in training")

    def validate(state: dict[str, Tensor]) -> dict[str, float]:
        network.load_state_dict(finished(state, spec))
        return score(estimator)

    return validate
