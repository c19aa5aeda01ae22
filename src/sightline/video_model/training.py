"""Train a video model in the latents of a codec, with exact resume (PhyWorld §2.2, §3).

* The velocity of noisy latents is learnt; frames that are given do not count.
* Which videos, noise and steps a batch holds follows from the seed and the batch's number; so a run
  that was broken ends with the weights of an unbroken one.
* Several processes share every batch; a batch may be worked through in parts.
* The run's folder holds the checkpoint, `log.jsonl`, `samples/*.png` (truth above model), a tensorboard
  log if that is installed, and in the end `model.safetensors` with the moving mean of the weights.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sightline.depth.training.processes import Team
from sightline.errors import InputError, SightlineError
from sightline.running.folder import (
    MAY_CHANGE,
    checkpoint_path,
    claim_run,
    load_checkpoint,
    misfit,
    save_checkpoint,
)
from sightline.running.log import Log
from sightline.running.rates import cosine_rate
from sightline.running.stop import progress_line, stop_between_steps, stopped
from sightline.video_model.autoencoder.codec import usable_frames
from sightline.video_model.autoencoder.files import SavedCodec
from sightline.video_model.diffusion.draws import draw_noise, draw_steps
from sightline.video_model.diffusion.ema import MovingMean
from sightline.video_model.diffusion.loss import noisy_and_target, velocity_loss, video_loss
from sightline.video_model.diffusion.schedule import levels, make_schedule
from sightline.video_model.files import MODEL, write_model
from sightline.video_model.latents import Kept, Latents
from sightline.video_model.mixture import Mixture
from sightline.video_model.model import VideoDiffusion
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.showing import Board, write_strip
from sightline.video_model.transformer.condition import first_frames
from sightline.video_model.transformer.network import VideoTransformer
from sightline.video_model.transformer.options import TransformerOptions

#: Radii and speeds of two balls, colour and shape: what describes a video at most.
NUMBERS = 4

#: Options that may differ when a run goes on. The cosine hangs on the number of steps.
_MAY_CHANGE = (MAY_CHANGE | {"keep", "accumulate", "shown"}) - {"steps"}

#: Scores a model: the figures that go into the log.
Validate = Callable[[VideoDiffusion], dict[str, float]]


class Learner(nn.Module):
    """A transformer and its loss.

    Args:
        network: that learns.
        given: latents of a video that are given.
        build: says the schedule.
    """

    def __init__(self, network: VideoTransformer, given: int, build: BuildOptions) -> None:
        super().__init__()
        self.network, self.given, self.says = network, given, build.says
        self.gammas = make_schedule(build.schedule, build.noise_steps)

    def forward(self, video: Tensor, noise: Tensor, t: Tensor, numbers: Tensor | None) -> Tensor:
        """Return the mean loss of latents (N, C, t, h, w) at steps (N,)."""
        condition = first_frames(video, self.given, numbers=numbers)
        noisy, target = noisy_and_target(video, noise, t, self.gammas)
        said = self.network(noisy, t, condition)
        if self.says == "video":
            sigma = levels(self.gammas, t, video)[1]
            return video_loss(said, video, sigma, condition.given).mean()
        return velocity_loss(said, target, condition.given).mean()


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
    team: Team | None = None,
    kept: Kept | None = None,
) -> VideoDiffusion:
    """Train, or go on training, into a folder; return the finished model.

    Args:
        videos: to learn from.
        codec: in whose latents the model works; it does not learn.
        out: folder of the run; one of another run is refused.
        build: of the network.
        options: of the training.
        validate: figures to log while training, of the moving mean.
        report: told in a line how it goes.
        data: where the videos came from, for the record.
        team: of processes; this one alone if None.
        kept: see `Latents`.

    Raises:
        SightlineError: the loss is not finite any more; the last checkpoint is kept.
    """
    team = team or Team()
    if options.threads:
        torch.set_num_threads(options.threads)
    if isinstance(codec, nn.Module):
        codec.to(team.device).requires_grad_(False)
    latents = Latents(videos, codec, keep=options.keep, device=team.device, kept=kept)
    model = make_model(latents, build, options)
    model.notes = {"data": videos.names, "steps": options.steps, "batch": options.batch}
    if team.leads:
        asked = {
            "stage": "video",
            "options": asdict(options),
            "build": asdict(build),
            "transformer": model.network.options.to_dict(),
            "codec": codec.kind,
            "data": {"videos": videos.names, **(data or {})},
        }
        claim_run(out, asked, _MAY_CHANGE)
    team.wait()
    _Run(model, latents, out, options, team, validate, report).run()
    if team.leads:
        write_model(model, out / MODEL)
    team.wait()
    return model


def make_model(latents: Latents, build: BuildOptions, options: VideoTraining) -> VideoDiffusion:
    """Build an untrained model for latents; the seed decides its first weights."""
    channels, frames, height, width = latents.shape
    if build.condition >= latents.frames:
        raise InputError(
            f"{build.condition} condition frames of videos with {latents.frames} frames",
            remedy=f"give 1 to {latents.frames - 1}",
        )
    shape = TransformerOptions(
        *(frames, height, width, channels, build.patch, build.network, build.attention),
        numbers=NUMBERS if build.numbers else 0,
        gain=build.gain,
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        network = VideoTransformer(shape)
    codec = latents.codec
    assert isinstance(codec, SavedCodec)
    size = latents.videos.shape[1]
    model = VideoDiffusion(network, codec, build, latents.frames, size, options.sampling)
    return model.to(latents.device)


class _Run:
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
        learner = Learner(model.network, self.given, model.build)
        self.wrapped = team.wrap(learner)
        self.optimiser = torch.optim.AdamW(
            model.network.parameters(), lr=options.rate, weight_decay=options.decay
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
                self.losses.append(self._update())
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

    def _update(self) -> float:
        """Take a step and return its loss; one that is not finite changes nothing and ends the run."""
        options, team, network = self.options, self.team, self.model.network
        for group in self.optimiser.param_groups:
            group["lr"] = options.rate * cosine_rate(self.step, options.steps, options.warm_up)
        network.train()
        first = self.step * options.batch
        mine = range(first, first + options.batch)[team.rank :: team.count]
        parts = [mine[k :: options.accumulate] for k in range(options.accumulate)]
        if not all(parts):
            raise InputError(
                f"a batch of {options.batch} does not reach for {team.count} processes and "
                f"{options.accumulate} parts"
            )
        self.optimiser.zero_grad(set_to_none=True)
        total = torch.zeros((), device=team.device)
        for part in parts:
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

    def _loss(self, numbers: range) -> Tensor:
        """Return the mean loss of samples of the training."""
        options, device = self.options, self.team.device
        video = self.latents.batch(numbers)
        noise = draw_noise(options.seed, numbers, self.latents.shape).to(device)
        t = draw_steps(options.seed, numbers, self.model.build.noise_steps).to(device)
        described = self.latents.describe(numbers, NUMBERS) if self.model.build.numbers else None
        with torch.autocast(device.type, torch.bfloat16, enabled=options.bfloat16):
            loss: Tensor = self.wrapped(video, noise, t, described)
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
