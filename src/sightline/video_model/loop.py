"""The loop of a training: batches, steps, the log and checkpoints, with exact resume."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from sightline.depth.training.processes import Team
from sightline.errors import InputError, SightlineError
from sightline.running.folder import checkpoint_path, load_checkpoint, misfit, save_checkpoint
from sightline.running.log import Log
from sightline.running.rates import cosine_rate
from sightline.running.stop import Stop, progress_line, stop_between_steps, stopped
from sightline.video_model.autoencoder.codec import usable_frames
from sightline.video_model.compiling import compiled
from sightline.video_model.diffusion.draws import draw_noise, draw_steps
from sightline.video_model.diffusion.ema import MovingMean
from sightline.video_model.latents import Latents
from sightline.video_model.learner import Learner
from sightline.video_model.model import VideoDiffusion
from sightline.video_model.options import VideoTraining
from sightline.video_model.showing import Board, write_strip
from sightline.video_model.telling import Told

#: Scores a model: the figures that go into the log.
Validate = Callable[[VideoDiffusion], dict[str, float]]


class Run:
    """One training, from its newest checkpoint to its end."""

    def __init__(
        self,
        model: VideoDiffusion,
        latents: Latents,
        out: Path,
        options: VideoTraining,
        team: Team,
        validate: Validate | None,
        report: Callable[[str], None],
    ) -> None:
        self.model, self.latents, self.out = model, latents, out
        self.options, self.team, self.validate, self.report = options, team, validate, report
        codec, condition = model.codec, model.build.condition
        self.given = 1 + (usable_frames(codec, condition) - 1) // codec.frame_stride
        learner: nn.Module = Learner(model.network, self.given, model.build)
        if options.compile:
            learner = compiled(learner, report if team.leads else _silently, team.device)
        self.wrapped = team.wrap(learner)
        # Fused: with networks this small, a step of AdamW by single products is a seventh of all.
        self.optimiser = torch.optim.AdamW(
            *(model.network.parameters(), options.rate), weight_decay=options.decay, fused=True
        )
        self.mean = MovingMean(model.network, options.mean_decay)
        self.step, self.saved = 0, 0
        self.losses: list[float] = []
        self.log = Log(out / "log.jsonl")

    def run(self) -> None:
        """Take all steps; in the end the network has the moving mean of its weights."""
        options, team = self.options, self.team
        self._resume()
        if self.step and team.leads:
            self.report(f"going on at step {self.step} of {options.steps}")
        if team.leads:
            self.log.drop_after(self.step)
        started, first = time.monotonic(), self.step
        with stop_between_steps() as stop, Board(self.out, on=team.leads) as board:
            while self.step < options.steps:
                loss = self._update(stop)
                if loss is None:
                    self._save()
                    raise stopped(self.step, options.steps)
                self.losses.append(loss)
                self.step += 1
                last = self.step == options.steps
                if team.leads and (self.step % 20 == 0 or last):
                    pace = (time.monotonic() - started) / (self.step - first)
                    self.report(progress_line(self.step, options.steps, self.losses, pace))
                if self.step % options.validate_every == 0 or last:
                    self._look(board)
                asked = team.any(stop.asked)
                if self.step % options.save_every == 0 or last or asked:
                    self._save()
                if asked and not last:
                    raise stopped(self.step, options.steps)
        self.mean.write_to(self.model.network)
        self.model.network.eval()

    def _update(self, stop: Stop) -> float | None:
        """Take a step and return its loss; one that is not finite changes nothing and ends the run.

        A stop that is asked for between the parts of a batch is minded at once: None, and nothing has
        changed.
        """
        options, team, network = self.options, self.team, self.model.network
        for group in self.optimiser.param_groups:
            group["lr"] = options.rate * cosine_rate(self.step, options.steps, options.warm_up)
        network.train()
        first = self.step * options.batch
        mine = range(first, first + options.batch)[team.rank :: team.count]
        parts = [mine[k :: options.accumulate] for k in range(options.accumulate)]
        self.optimiser.zero_grad(set_to_none=True)
        total = torch.zeros((), device=team.device)
        for part in parts:
            if part is not parts[0] and team.any(stop.asked):
                return None
            with self._apart(part is not parts[-1]):
                # The mean over all processes is the mean over the batch, if shares are unequal, too.
                loss = self._loss(part) * (len(part) * team.count / options.batch)
                loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        slope = nn.utils.clip_grad_norm_(network.parameters(), options.largest)
        loss_of_all = team.mean(total)
        if team.any(not (math.isfinite(loss_of_all) and bool(torch.isfinite(slope)))):
            raise self._diverged(first)
        self.optimiser.step()
        self.mean.update(network)
        return loss_of_all

    def _apart(self, apart: bool) -> AbstractContextManager[object]:
        """Let gradients of a part add up here; those of the last one are averaged over processes."""
        if apart and isinstance(self.wrapped, DistributedDataParallel):
            return self.wrapped.no_sync()
        return nullcontext()

    def _loss(self, numbers: range) -> Tensor:
        """Return the mean loss of samples of the training."""
        options, device = self.options, self.team.device
        video = self.latents.batch(numbers)
        noise = draw_noise(options.seed, numbers, self.latents.shape).to(device)
        t = draw_steps(options.seed, numbers, self.model.build.noise_steps).to(device)
        told = self.model.tell(self.latents.facts(numbers)) if self.model.is_told else Told()
        with torch.autocast(device.type, torch.bfloat16, enabled=options.bfloat16):
            loss: Tensor = self.wrapped(video, noise, t, told.numbers, told.text, told.words)
        return loss

    def _diverged(self, first: int) -> SightlineError:
        kept = f"the checkpoint of step {self.saved} is kept" if self.saved else "none is saved yet"
        return SightlineError(
            f"loss is not finite at step {self.step}, on batch {self.step} (samples {first} to "
            f"{first + self.options.batch - 1}); {kept}; look at that batch, or lower the rate and "
            "train into another folder"
        )

    def _look(self, board: Board) -> None:
        """Write a row of the log and a film strip, and begin the next."""
        losses, self.losses = self.losses, []
        if not self.team.leads:
            return
        network, options = self.model.network, self.options
        network.eval()
        row: dict[str, Any] = {
            "step": self.step,
            "videos": self.step * options.batch,
            "loss": round(sum(losses) / len(losses), 6),
        }
        with self.mean.applied(network):
            if options.shown:
                write_strip(self.out, self.step, self.model, self.latents.videos, options.shown)
            row |= self.validate(self.model) if self.validate else {}
        self.log.add(row)
        board.add(row)
        self.report("  ".join(f"{name} {value}" for name, value in row.items()))

    def _save(self) -> None:
        if self.team.leads:
            state = {
                "network": self.model.network.state_dict(),
                "mean": self.mean.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "step": self.step,
                "losses": self.losses,
            }
            save_checkpoint(self.out, state)
        self.saved = self.step

    def _resume(self) -> None:
        """Go on from the newest checkpoint; step 0 without one."""
        state = load_checkpoint(self.out, self.team.device)
        if state is None:
            return
        try:
            self.model.network.load_state_dict(state["network"])
            self.mean.load_state_dict(state["mean"])
            self.optimiser.load_state_dict(state["optimiser"])
            self.step, self.losses = int(state["step"]), list(state["losses"])
        except (RuntimeError, KeyError, ValueError, TypeError, InputError) as error:
            raise misfit(checkpoint_path(self.out), error) from error
        self.saved = self.step


def _silently(_: str) -> None:
    """Tell nobody: one process of several talks."""
