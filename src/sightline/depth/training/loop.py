"""The training loop: AdamW, warm-up, constant rate, linear decay, an average of the weights.

* Exact resume: checkpoint, optimiser and data position together give the same weights as an
  unbroken run.
* A checkpoint is written whole or not at all; the newest one is enough to go on.
* A loss that is not finite stops the run with the step and the batch's source named, rather than
  poisoning the weights.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from sightline.depth.losses import relative_loss
from sightline.depth.training.augment import AugmentConfig
from sightline.depth.training.stream import Source, batches
from sightline.errors import InputError, SightlineError
from sightline.files.atomic import atomic_path


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """One training run.

    Attributes:
        steps: how many in all.
        encoder_rate: peak learning rate of the pretrained encoder.
        rate: peak learning rate of everything else.
        warmup: steps of linear warm-up.
        decay: share of the steps, at the end, over which the rate falls linearly to zero.
        weight_decay: AdamW's.
        gradient_weight: of the gradient matching loss (V2 §7.1: 2).
        trim: share of largest differences ignored per map (V2 §5.2: 0.1).
        anchor_weight: of the plain difference that keeps all pictures in one range.
        average: decay of the exponential average of the weights, which is what ships.
        save_every: steps between checkpoints and validations.
        seed: of data order, augmentation and initialisation.
    """

    steps: int
    encoder_rate: float = 3e-4
    rate: float = 1e-3
    warmup: int = 100
    decay: float = 0.6
    weight_decay: float = 0.02
    gradient_weight: float = 2.0
    trim: float = 0.1
    anchor_weight: float = 0.2
    average: float = 0.995
    save_every: int = 200
    seed: int = 0


def rate_at(step: int, config: TrainConfig) -> float:
    """Learning rate factor in 0–1: warm up, hold, fall linearly.

    A run can be shortened or lengthened while it holds: the past does not depend on `steps`.
    """
    fall = max(1, round(config.steps * config.decay))
    up = min(1.0, (step + 1) / max(1, config.warmup))
    down = min(1.0, (config.steps - step) / fall)
    return min(up, down)


def freeze_statistics(network: nn.Module) -> None:
    """Keep the batch statistics of an encoder as pretrained; its weights still learn.

    Batches here are small and mixed, and the average of the weights needs no second pass this way.
    """
    for module in network.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.eval()


class Trainer:
    """State of one run: network, its average, optimiser, step."""

    def __init__(self, network: nn.Module, config: TrainConfig, folder: Path) -> None:
        self.network = network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.config = config
        self.folder = folder
        self.step = 0
        encoder = {id(p) for p in network.encoder.parameters()}  # type: ignore[union-attr]
        rest = [p for p in network.parameters() if id(p) not in encoder]
        groups = [
            {"params": list(network.encoder.parameters()), "peak": config.encoder_rate},  # type: ignore[union-attr]
            {"params": rest, "peak": config.rate},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=0.0, weight_decay=config.weight_decay)
        self.average = {k: v.detach().clone() for k, v in network.state_dict().items()}

    def save(self) -> Path:
        """Write the newest checkpoint over the last one."""
        path = self.folder / "checkpoint.pt"
        with atomic_path(path) as temporary:
            torch.save(
                {
                    "network": self.network.state_dict(),
                    "average": self.average,
                    "optimiser": self.optimiser.state_dict(),
                    "step": self.step,
                    "config": asdict(self.config),
                },
                temporary,
            )
        return path

    def resume(self) -> bool:
        """Go on from the newest checkpoint, if there is one."""
        path = self.folder / "checkpoint.pt"
        if not path.is_file():
            return False
        try:
            state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
            self.network.load_state_dict(state["network"])
            self.optimiser.load_state_dict(state["optimiser"])
        except (RuntimeError, KeyError, ValueError) as error:
            raise InputError(
                f"checkpoint does not fit this run ({type(error).__name__})",
                path=path,
                remedy="train into another folder",
            ) from error
        self.average = state["average"]
        self.step = state["step"]
        return True

    def update(self, loss: torch.Tensor) -> None:
        """One optimiser step at this step's rate, then move the average."""
        factor = rate_at(self.step, self.config)
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * factor
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
        self.optimiser.step()
        # The average starts short and grows long, so that the first steps are soon forgotten.
        keep = min(self.config.average, (1 + self.step) / (10 + self.step))
        with torch.no_grad():
            for name, value in self.network.state_dict().items():
                if value.is_floating_point():
                    self.average[name].lerp_(value, 1 - keep)
                else:
                    self.average[name].copy_(value)
        self.step += 1


def train(
    trainer: Trainer,
    sources: list[Source],
    augment: AugmentConfig,
    validate: Callable[[dict[str, torch.Tensor]], dict[str, float]],
    report: Callable[[str], None],
) -> None:
    """Run to the end; one JSON line per checkpoint goes to `log.jsonl` beside it."""
    config = trainer.config
    spec = trainer.network.spec
    log = trainer.folder / "log.jsonl"
    started, first, losses = time.monotonic(), trainer.step, []
    for step, batch in batches(sources, trainer.step, config.steps, spec, augment, config.seed):
        trainer.network.train()
        freeze_statistics(trainer.network.encoder)
        image = batch.image.contiguous(memory_format=torch.channels_last)
        loss = relative_loss(
            trainer.network(image),
            batch.disparity,
            batch.known,
            gradient_weight=config.gradient_weight,
            trim=config.trim,
            anchor_weight=config.anchor_weight,
        )
        if not bool(torch.isfinite(loss)):
            raise SightlineError(f"loss is not finite at step {step}; lower the rate and resume")
        trainer.update(loss)
        losses.append(float(loss.detach()))
        done = trainer.step
        if done % 20 == 0:
            pace = (time.monotonic() - started) / (done - first)
            left = pace * (config.steps - done) / 60
            mean = sum(losses[-20:]) / len(losses[-20:])
            report(
                f"step {done}/{config.steps}  loss {mean:.4f}  {pace:.2f} s  {left:.0f} min left"
            )
        if done % config.save_every == 0 or done == config.steps:
            trainer.save()
            row = {"step": done, "loss": sum(losses) / len(losses), **validate(trainer.average)}
            losses = []
            with log.open("a") as lines:
                lines.write(json.dumps(row) + "\n")
            report(json.dumps(row))
