"""The training loop, one for all tasks.

* Exact resume: weights, optimizer, random state and position in the data together give the same weights
  as an uninterrupted run.
* The checkpoint is replaced atomically; the newest one suffices to resume.
* A loss or gradient that is not finite ends the run before it reaches the weights.
* The trainer installs no signal handlers: it asks a `stop` function between the parts of a batch,
  saves, and raises `TrainingStopped`. `signals.stop_on_signals` turns signals into such a function.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, nullcontext
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from sightline.errors import InputError, SightlineError
from sightline.training.checkpoint import (
    LOG,
    checkpoint_path,
    claim_folder,
    load_checkpoint,
    save_checkpoint,
)
from sightline.training.config import RESUME_MAY_CHANGE, Precision, TrainConfig
from sightline.training.distributed import Distributed, Shard, without_sync
from sightline.training.ema import ExponentialMovingAverage
from sightline.training.logging import JsonlLog, Logger, open_loggers, progress_line

#: Steps between progress lines.
_REPORT_EVERY = 20


class TrainingStopped(KeyboardInterrupt):
    """The `stop` function asked for the end of a run; its checkpoint is saved."""


class TrainingTask(ABC):
    """What is trained: a network, its batches and loss, its validation and the file it ends as.

    Attributes:
        name: Name of the task in the run's record.
        config: Configuration; its fields identify the run.
        module: Module whose forward pass takes the inputs of `batch` and returns the loss, a scalar.
        network: Part of the module whose weights are saved and averaged.
        steps: Number of steps of the run.
        batch_size: Number of samples in a batch, over all processes and accumulation steps; None if the
            data decide it, and `weight` must then be overridden.
        max_norm: Norm that gradients are clipped to; None for no clipping.
        ema_decay: Decay of the moving average of the weights, which then is what validation and export
            see; None for no average.
        prefetch: Number of batches that a thread prepares ahead.
        may_change: Fields of `config` that may differ when a run is resumed.
        autocast: Whether the trainer applies `config.precision` to the whole forward pass; a task that
            applies it to a part of the network itself turns this off.
    """

    name: str
    config: TrainConfig
    module: nn.Module
    network: nn.Module
    steps: int
    batch_size: int | None
    max_norm: float | None = None
    ema_decay: float | None = None
    prefetch: int = 0
    may_change: frozenset[str] = RESUME_MAY_CHANGE
    autocast: bool = True

    def record(self) -> dict[str, Any]:
        """Return what identifies the run besides its configuration, such as data and checksums."""
        return {}

    @abstractmethod
    def optimizer(self) -> torch.optim.Optimizer:
        """Create the optimizer; its parameter groups hold the peak learning rates."""

    @abstractmethod
    def rate(self, step: int) -> float:
        """Return the factor of the peak learning rates at a step."""

    @abstractmethod
    def batch(self, step: int, shard: Shard) -> tuple[Any, ...]:
        """Return the inputs of `module` for a shard of batch `step`.

        They must be a function of seed, step and shard alone, so that a run can be resumed.
        """

    def weight(self, shard: Shard) -> float:
        """Return the factor of a shard's loss; the default suits losses that are means of samples."""
        assert self.batch_size is not None
        return shard.weight(self.batch_size)

    def train_mode(self) -> None:
        """Set the network up for a training step."""
        self.network.train()

    def validate(self, step: int) -> dict[str, float]:  # noqa: ARG002 - for subclasses
        """Return figures for the log; the network is in eval mode and has its averaged weights."""
        return {}

    def export(self, out: Path) -> None:  # noqa: B027 - nothing to write is fine
        """Write the result of the finished run into its folder."""

    def blocks(self) -> Iterable[nn.Module]:
        """Return the blocks whose activations `config.checkpointing` recomputes."""
        return ()

    def recompute_activations(self) -> None:
        """Let the blocks recompute their activations in the backward pass."""
        blocks = list(self.blocks())
        if not blocks:
            raise InputError(f"{self.name} training has no blocks for activation checkpointing")
        for block in blocks:
            block.forward = _Recomputed(block.forward)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the weights that a checkpoint must hold."""
        return self.network.state_dict()

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Restore the weights of a checkpoint."""
        self.network.load_state_dict(state)

    def describe_batch(self, step: int) -> str:
        """Name the contents of a batch, for error messages."""
        return f"batch {step}"


class Trainer:
    """Train a task into a folder, or resume its training.

    The folder holds `config.toml`, `checkpoint.pt`, `log.jsonl`, a TensorBoard log where that is
    installed, and what the task exports in the end.

    Args:
        task: What to train.
        out: Folder of the run; a folder that holds another run is refused.
        distributed: Group of processes; None for this process alone.
        report: Receives progress as lines of text.
        stop: Returns True to end the run after the current part of a batch.
        on_save: Called with the step after every checkpoint.
    """

    def __init__(
        self,
        task: TrainingTask,
        out: Path,
        *,
        distributed: Distributed | None = None,
        report: Callable[[str], None] = print,
        stop: Callable[[], bool] = lambda: False,
        on_save: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.task, self.config, self.out = task, task.config, out
        self.distributed = distributed or Distributed()
        self.stop, self.on_save = stop, on_save
        self.report = report if self.distributed.is_main else _ignore
        if self.config.threads:
            torch.set_num_threads(self.config.threads)
        shards = self.distributed.count * self.config.accumulate
        if task.batch_size is not None and task.batch_size < shards:
            raise InputError(
                f"a batch of {task.batch_size} is too small for {self.distributed.count} processes "
                f"and {self.config.accumulate} accumulation steps"
            )
        if self.config.checkpointing:
            task.recompute_activations()
        self.wrapped = self.distributed.wrap(task.module)
        self.optimizer = task.optimizer()
        for group in self.optimizer.param_groups:
            group.setdefault("peak", group["lr"])
        dtype = autocast_dtype(self.config.precision, self.distributed.device)
        self.autocast_dtype = dtype if task.autocast else None
        self.scaler = torch.amp.GradScaler(
            self.distributed.device.type, enabled=self.autocast_dtype is torch.float16
        )
        self.ema: ExponentialMovingAverage | None = None
        if task.ema_decay is not None:
            self.ema = ExponentialMovingAverage(task.network, task.ema_decay)
        self.step, self.saved = 0, 0
        self.losses: list[float] = []

    def fit(self) -> None:
        """Train to the last step and export the result.

        Raises:
            TrainingStopped: `stop` returned True; the checkpoint is saved.
            SightlineError: The loss or a gradient is not finite; the last checkpoint is kept.
            InputError: The folder holds another run, or its checkpoint does not fit.
        """
        task, is_main = self.task, self.distributed.is_main
        record = {"task": task.name, "options": asdict(self.config), **task.record()}
        with claim_folder(self.out, record, task.may_change) if is_main else nullcontext():
            self.distributed.wait()
            self.resume()
            if self.step > task.steps:
                raise InputError(
                    f"this run has {self.step} steps already, {task.steps} were requested",
                    path=self.out,
                )
            if self.step:
                self.report(f"resuming at step {self.step} of {task.steps}")
            self._run()
            if self.ema is not None:
                self.ema.copy_to(task.network)
            task.network.eval()
            if is_main:
                task.export(self.out)
            self.distributed.wait()

    def save(self) -> None:
        """Replace the checkpoint; only the main process writes.

        Raises:
            SightlineError: A weight is not finite.
        """
        if self.distributed.is_main:
            state = self.task.state_dict()
            if not all(bool(torch.isfinite(value).all()) for value in state.values()):
                raise self._diverged("a weight")
            save_checkpoint(
                self.out,
                {
                    "model": state,
                    "ema": None if self.ema is None else self.ema.state_dict(),
                    "optimizer": self.optimizer.state_dict(),
                    "scaler": self.scaler.state_dict(),
                    "random": torch.get_rng_state(),
                    "step": self.step,
                    "losses": self.losses,
                },
            )
            self.on_save(self.step)
        self.saved = self.step

    def resume(self) -> bool:
        """Restore the newest checkpoint; return False if there is none.

        Raises:
            InputError: The checkpoint is damaged or belongs to another run.
        """
        state = load_checkpoint(self.out, self.distributed.device)
        if state is None:
            return False
        try:
            self.task.load_state_dict(state["model"])
            if self.ema is not None:
                self.ema.load_state_dict(state["ema"])
            self.optimizer.load_state_dict(state["optimizer"])
            self.scaler.load_state_dict(state["scaler"])
            torch.set_rng_state(state["random"].cpu())
            self.step, self.losses = int(state["step"]), list(state["losses"])
        except (RuntimeError, KeyError, ValueError, TypeError, InputError) as error:
            raise InputError(
                f"checkpoint does not fit this run ({type(error).__name__})",
                path=checkpoint_path(self.out),
                remedy="train into another folder",
            ) from error
        self.saved = self.step
        return True

    def _run(self) -> None:
        """Take all remaining steps."""
        task, config, main = self.task, self.config, self.distributed.is_main
        loggers: list[Logger] = []
        if main and self.step < task.steps:
            log = JsonlLog(self.out / LOG)
            log.drop_after(self.step)
            loggers = [log, *open_loggers(self.out, config.wandb)]
        started, first = time.monotonic(), self.step
        try:
            with closing(self._batches()) as batches:
                while self.step < task.steps:
                    loss = self.update(batches)
                    if loss is None:  # stopped between the parts of a batch; nothing has changed
                        self.save()
                        raise self._stopped()
                    self.losses.append(loss)
                    self.step += 1
                    last = self.step == task.steps
                    if self.step % _REPORT_EVERY == 0 or last:
                        pace = (time.monotonic() - started) / (self.step - first)
                        self.report(progress_line(self.step, task.steps, self.losses, pace))
                    if self.step % config.validate_every == 0 or last:
                        self._validate(loggers)
                    stop = self.distributed.any(self.stop())
                    if self.step % config.save_every == 0 or last or stop:
                        self.save()
                    if stop and not last:
                        raise self._stopped()
        finally:
            for logger in loggers:
                logger.close()

    def _batches(self) -> Generator[tuple[Any, ...], None, None]:
        """Yield the inputs of every remaining step and accumulation step, some prepared ahead."""
        parts = self.config.accumulate
        wanted = (
            (step, self.distributed.shard(part, parts))
            for step in range(self.step, self.task.steps)
            for part in range(parts)
        )
        if not self.task.prefetch:
            for step, shard in wanted:
                yield self.task.batch(step, shard)
            return
        # One thread is enough: OpenCV and numpy release the interpreter lock while they work.
        pool = ThreadPoolExecutor(1)
        try:
            waiting = deque(
                pool.submit(self.task.batch, *one) for one in islice(wanted, self.task.prefetch)
            )
            while waiting:
                inputs = waiting.popleft().result()
                waiting.extend(pool.submit(self.task.batch, *one) for one in islice(wanted, 1))
                yield inputs
        finally:
            pool.shutdown(cancel_futures=True)

    def update(self, batches: Iterator[tuple[Any, ...]]) -> float | None:
        """Take one optimizer step; return its loss, or None if stopped between accumulation steps.

        Args:
            batches: Inputs of the module, one tuple for each accumulation step.
        """
        task, parts, device = self.task, self.config.accumulate, self.distributed.device
        factor = task.rate(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = group["peak"] * factor
        task.train_mode()
        self.optimizer.zero_grad(set_to_none=True)
        total = torch.zeros((), device=device)
        for part in range(parts):
            if part and self.distributed.any(self.stop()):
                return None
            inputs = [x.to(device) if hasattr(x, "to") else x for x in next(batches)]
            weight = task.weight(self.distributed.shard(part, parts))
            with without_sync(self.wrapped) if part < parts - 1 else nullcontext():
                with torch.autocast(
                    device.type, self.autocast_dtype, enabled=self.autocast_dtype is not None
                ):
                    loss = self.wrapped(*inputs)
                loss = loss * weight
                self.scaler.scale(loss).backward()
            total += loss.detach()
        self.scaler.unscale_(self.optimizer)
        # Without clipping the norm still tells whether all gradients are finite.
        norm = nn.utils.clip_grad_norm_(task.module.parameters(), task.max_norm or math.inf)
        mean = self.distributed.mean(total)
        if not math.isfinite(mean):
            raise self._diverged("the loss")
        # A scaler skips steps with gradients that are not finite, and lowers its scale.
        if self.distributed.any(not bool(torch.isfinite(norm)) and not self.scaler.is_enabled()):
            raise self._diverged("the gradient")
        self.scaler.step(self.optimizer)
        self.scaler.update()
        if self.ema is not None:
            self.ema.update(task.network)
        return mean

    def _validate(self, loggers: list[Logger]) -> None:
        """Log the mean loss since the last row, and the figures of the task."""
        losses, self.losses = self.losses, []
        if not self.distributed.is_main:
            return
        row: dict[str, Any] = {"step": self.step}
        if self.task.batch_size is not None:
            row["samples"] = self.step * self.task.batch_size
        row["loss"] = round(sum(losses) / max(1, len(losses)), 6)
        network = self.task.network
        network.eval()
        with nullcontext() if self.ema is None else self.ema.applied(network):
            row |= self.task.validate(self.step)
        for logger in loggers:
            logger.add(row)
        self.report("  ".join(f"{name} {value}" for name, value in row.items()))

    def _stopped(self) -> TrainingStopped:
        return TrainingStopped(
            f"stopped at step {self.step} of {self.task.steps}; run the same command again to resume"
        )

    def _diverged(self, what: str) -> SightlineError:
        kept = (
            f"the checkpoint of step {self.saved} is kept"
            if self.saved
            else "there is no checkpoint yet"
        )
        return SightlineError(
            f"{what} is not finite at step {self.step}, on {self.task.describe_batch(self.step)}; "
            f"{kept}; check that batch, or lower the rate and train into another folder"
        )


def autocast_dtype(precision: Precision, device: torch.device) -> torch.dtype | None:
    """Return the type of mixed-precision arithmetic, or None for plain float32.

    `auto` is bfloat16 where it was measured to be faster: CUDA, and processors with AVX512-BF16.
    """
    if precision == "auto":
        if device.type == "cuda":
            fast = torch.cuda.is_bf16_supported()
        else:
            fast = device.type == "cpu" and torch.cpu._is_avx512_bf16_supported()
        return torch.bfloat16 if fast else None
    return {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}[precision]


class _Recomputed:
    """A forward function that stores no activations while gradients are recorded."""

    def __init__(self, forward: Callable[..., Any]) -> None:
        self.forward = forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if not torch.is_grad_enabled():
            return self.forward(*args, **kwargs)
        return checkpoint(self.forward, *args, use_reentrant=False, **kwargs)


def _ignore(_: str) -> None:
    """Discard a line: only the main process reports."""
