"""The stages of the recipe, each one function: data and options in, a trained model in a folder out.

A run's folder holds `run.json` (what was asked), `checkpoint.pt` (to go on from), `log.jsonl` (figures
as it went) and at the end `model.safetensors`, which every command takes as `--model`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sightline.depth.checkpoints import write_checkpoint
from sightline.depth.compact import CONTEXT_WIDTHS
from sightline.depth.engines.torch import TorchEngine
from sightline.depth.estimator import DepthEstimator
from sightline.depth.network import build
from sightline.depth.spec import ModelSpec
from sightline.depth.training.augment import AugmentConfig
from sightline.depth.training.guide import FeatureGuide
from sightline.depth.training.learner import Learner, LossConfig
from sightline.depth.training.loop import TrainConfig, Trainer, Validate, train
from sightline.depth.training.options import MetricOptions, TrainOptions
from sightline.depth.training.processes import Team, team
from sightline.depth.training.start import make_network, spec_for, start_checksums
from sightline.depth.training.stream import Source, StreamConfig
from sightline.depth.vit_models import read_vit
from sightline.errors import InputError
from sightline.running.folder import claim_run

#: Scores an estimator: name of each figure and its value.
Score = Callable[[DepthEstimator], dict[str, float]]

#: Added to the last bias of a relative ViT. Training looks at the map before its last ReLU, so that
#: gradients pass; a shift means nothing to relative disparity, and this one keeps ReLU from cutting.
LIFT = 1.0


def run_stage(
    stage: str,
    sources: Sequence[Source],
    out: Path,
    options: TrainOptions,
    *,
    score: Score | None,
    report: Callable[[str], None],
    data: dict[str, Any] | None = None,
) -> Path:
    """Train, or go on training, into a folder; return the finished model's path.

    Args:
        stage: teacher, student or metric; for the record.
        sources: what to learn from.
        out: folder of the run; one that holds another run's checkpoint is refused.
        options: everything that can be set.
        score: figures to log while training, from the averaged weights; None for none.
        report: told in a line how it goes.
        data: where the sources came from, for the record and so that a run is not mixed up with
            another.
    """
    if options.threads:
        torch.set_num_threads(options.threads)
    spec = spec_for(options)
    with team(options.device) as ours:
        trainer = _trainer(options, spec, out, ours)
        if ours.leads:
            asked = {"options": asdict(options), "weights": start_checksums(options)}
            claim_run(out, {"stage": stage, "data": data or {}, **asked})
        ours.wait()
        if trainer.resume():
            if trainer.step > options.steps:
                raise InputError(
                    f"this run has {trainer.step} steps already, {options.steps} are asked for",
                    path=out,
                )
            if ours.leads:
                report(f"going on at step {trainer.step} of {options.steps}")
        validate = _validator(spec, score) if score else _nothing
        train(trainer, list(sources), _stream(options), validate, report)
        model = out / "model.safetensors"
        if ours.leads:
            write_checkpoint(model, finished(trainer.average, spec), spec)
        ours.wait()
    return model


def finished(state: dict[str, Tensor], spec: ModelSpec) -> dict[str, Tensor]:
    """Return the weights as the network is used: a relative ViT's output lifted above its ReLU."""
    state = {name: value.detach().cpu().contiguous() for name, value in state.items()}
    last = "depth_head.scratch.output_conv2.2.bias"
    if spec.max_depth is None and last in state:
        state[last] = state[last] + LIFT
    return state


def _trainer(options: TrainOptions, spec: ModelSpec, out: Path, ours: Team) -> Trainer:
    losses = LossConfig(
        gradient_weight=options.gradient_weight,
        trim=options.trim,
        feature_weight=options.feature_weight,
        anchor_weight=options.anchor_weight,
        guide_weight=options.guide_weight,
        variance_focus=options.variance_focus if isinstance(options, MetricOptions) else 0.5,
    )
    bfloat16 = _bfloat16(options, ours)
    network = make_network(options, spec)
    guide = None
    if options.guide is not None:
        teacher, shown = read_vit(options.guide)
        guide = FeatureGuide(teacher, spec, shown, CONTEXT_WIDTHS, bfloat16=bfloat16)
    learner = Learner(network, spec, losses, bfloat16=bfloat16, guide=guide)
    config = TrainConfig(
        **{
            name: getattr(options, name)
            for name in TrainConfig.__dataclass_fields__
            if hasattr(options, name)
        }
    )
    return Trainer(learner, config, out, ours)


def _bfloat16(options: TrainOptions, ours: Team) -> bool:
    """`auto` is on where it was measured to be faster: CUDA, and processors with AVX512-BF16."""
    if options.bfloat16 != "auto":
        return options.bfloat16 == "on"
    if ours.device.type == "cuda":
        return torch.cuda.is_bf16_supported()
    return ours.device.type == "cpu" and torch.cpu._is_avx512_bf16_supported()


def _stream(options: TrainOptions) -> StreamConfig:
    measured = AugmentConfig()
    if isinstance(options, MetricOptions):
        measured = AugmentConfig(smallest_crop=options.smallest_crop, stretch=1.05)
    return StreamConfig(
        options.short_side, measured, AugmentConfig.strong(), options.cutmix, options.seed
    )


def _validator(spec: ModelSpec, score: Score) -> Validate:
    network: nn.Module = build(spec).eval()
    estimator = DepthEstimator(TorchEngine(network, "cpu"), spec, "in training")

    def validate(state: dict[str, Tensor]) -> dict[str, float]:
        network.load_state_dict(finished(state, spec))
        return score(estimator)

    return validate


def _nothing(_: dict[str, Tensor]) -> dict[str, float]:
    return {}
