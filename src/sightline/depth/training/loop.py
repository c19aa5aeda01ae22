"""The training loop: AdamW, warm-up, constant rate, decay, an average of the weights.

* Exact resume: checkpoint, optimiser and data position together give the same weights as an
  unbroken run.
* A checkpoint is written whole or not at all; the newest one is enough to go on. Ctrl-C and a polite
  kill finish the step, save, and stop.
* A loss that is not finite stops the run with the step named, rather than poisoning the weights.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from sightline.depth.training.learner import Learner, encoder_of, freeze_statistics
from sightline.depth.training.processes import Team
from sightline.depth.training.stream import Source, StreamConfig, batches
from sightline.errors import SightlineError
from sightline.running.folder import checkpoint_path, load_checkpoint, misfit, save_checkpoint
from sightline.running.log import Log
from sightline.running.stop import progress_line, stop_between_steps, stopped

#: Scores a state dict: the figures that go into the log.
Validate = Callable[[dict[str, Tensor]], dict[str, float]]


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """One training run.

    Attributes:
        steps: how many in all.
        encoder_rate: peak learning rate of the pretrained encoder.
        rate: peak learning rate of everything else.
        warmup: steps of linear warm-up.
        decay: share of the steps, at the end, over which the rate falls to zero.
        power: of that fall; 1 is linear, 0.9 the metric recipe's.
        weight_decay: AdamW's.
        clip: largest norm of the gradient.
        average: decay of the exponential average of the weights, which is what ships.
        save_every: steps between checkpoints.
        validate_every: steps between validations; a checkpoint is written then too.
    """

    steps: int
    encoder_rate: float = 3e-4
    rate: float = 1e-3
    warmup: int = 100
    decay: float = 0.6
    power: float = 1.0
    weight_decay: float = 0.02
    clip: float = 1.0
    average: float = 0.995
    save_every: int = 50
    validate_every: int = 200


def rate_at(step: int, config: TrainConfig) -> float:
    """Learning rate factor in 0–1: warm up, hold, fall.

    A run can be shortened or lengthened while it holds: the past does not depend on `steps`.
    """
    fall = max(1, round(config.steps * config.decay))
    up = min(1.0, (step + 1) / max(1, config.warmup))
    down = min(1.0, (config.steps - step) / fall) ** config.power
    return min(up, down)


class Trainer:
    """State of one run: network, its average, optimiser, step."""

    def __init__(
        self, learner: Learner, config: TrainConfig, folder: Path, team: Team | None = None
    ) -> None:
        self.team = team or Team()
        self.learner = learner.to(self.team.device)
        self.network = learner.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.config = config
        self.folder = folder
        self.step, self.saved = 0, 0
        self.losses: list[float] = []
        slow = [p for p in encoder_of(self.network).parameters() if p.requires_grad]
        slow_ids = {id(p) for p in slow}
        rest = [p for p in self.network.parameters() if p.requires_grad and id(p) not in slow_ids]
        if learner.guide is not None:
            rest += learner.guide.parameters()
        groups = [
            {"params": slow, "peak": config.encoder_rate},
            {"params": rest, "peak": config.rate},
        ]
        self.optimiser = torch.optim.AdamW(groups, lr=0.0, weight_decay=config.weight_decay)
        self.average = {k: v.detach().clone() for k, v in self.network.state_dict().items()}

    @property
    def checkpoint(self) -> Path:
        """Where the newest checkpoint is."""
        return checkpoint_path(self.folder)

    def save(self) -> None:
        """Write the newest checkpoint over the last one; only the leading process does."""
        if not self.team.leads:
            return
        if not all(bool(torch.isfinite(value).all()) for value in self.network.parameters()):
            raise self.diverged("a weight")
        guide = self.learner.guide
        state = {
            "network": self.network.state_dict(),
            "guide": None if guide is None else guide.state_dict(),
            "average": self.average,
            "optimiser": self.optimiser.state_dict(),
            "step": self.step,
            "losses": self.losses,
            "config": asdict(self.config),
        }
        save_checkpoint(self.folder, state)
        self.saved = self.step

    def diverged(self, what: str) -> SightlineError:
        """Say what is not finite any more, and what is left of the run."""
        kept = "there is no checkpoint yet"
        if self.saved:
            kept = f"the checkpoint of step {self.saved} is whole"
        return SightlineError(
            f"{what} is not finite at step {self.step}; {kept}; "
            "lower the rate and train into another folder"
        )

    def resume(self) -> bool:
        """Go on from the newest checkpoint, if there is one."""
        state = load_checkpoint(self.folder, self.team.device)
        if state is None:
            return False
        try:
            self.network.load_state_dict(state["network"])
            if self.learner.guide is not None:
                self.learner.guide.load_state_dict(state["guide"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.average, self.step = state["average"], state["step"]
            self.losses = state["losses"]
            self.saved = self.step
        except (RuntimeError, KeyError, ValueError) as error:
            raise misfit(self.checkpoint, error) from error
        return True

    def update(self, loss: Tensor) -> None:
        """One optimiser step at this step's rate, then move the average."""
        factor = rate_at(self.step, self.config)
        for group in self.optimiser.param_groups:
            group["lr"] = group["peak"] * factor
        self.optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        slope = nn.utils.clip_grad_norm_(self.learner.parameters(), self.config.clip)
        if not torch.isfinite(slope):
            raise self.diverged("the gradient")
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
    stream: StreamConfig,
    validate: Validate,
    report: Callable[[str], None],
) -> None:
    """Run to the end; one JSON line per validation goes to `log.jsonl` beside the checkpoint."""
    config, team = trainer.config, trainer.team
    wrapped = team.wrap(trainer.learner)
    log = Log(trainer.folder / "log.jsonl")
    if team.leads:
        log.drop_after(trainer.step)
    started, first = time.monotonic(), trainer.step
    with stop_between_steps() as stop:
        for _, batch in batches(
            sources,
            trainer.step,
            config.steps,
            trainer.learner.spec,
            stream,
            rank=team.rank,
            processes=team.count,
        ):
            trainer.network.train()
            freeze_statistics(encoder_of(trainer.network))
            loss = wrapped(batch.to(team.device))
            mean = team.mean(loss)
            if not math.isfinite(mean):
                raise trainer.diverged("the loss")
            trainer.update(loss)
            trainer.losses.append(mean)
            done = trainer.step
            if team.leads and done % 20 == 0:
                pace = (time.monotonic() - started) / (done - first)
                report(progress_line(done, config.steps, trainer.losses, pace))
            last = done == config.steps
            if done % config.validate_every == 0 or last:
                _validate(trainer, validate, log, report, sum(s.share for s in sources))
                trainer.save()
            elif done % config.save_every == 0:
                trainer.save()
            if team.any(stop.asked) and not last:
                trainer.save()
                raise stopped(done, config.steps)
    team.wait()


def _validate(
    trainer: Trainer, validate: Validate, log: Log, report: Callable[[str], None], batch: int
) -> None:
    losses, trainer.losses = trainer.losses, []
    if trainer.team.leads:
        row = {
            "step": trainer.step,
            "samples": trainer.step * batch,
            "loss": round(sum(losses) / len(losses), 5),
            **validate(trainer.average),
        }
        log.add(row)
        report("  ".join(f"{name} {value}" for name, value in row.items()))
