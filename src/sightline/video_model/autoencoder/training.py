"""Train a codec on frames or videos, with exact resume.

Weighted pixels (`loss`), small noise on the latents, AdamW along a cosine. Whatever is random in a step
follows from the seed and the step, so a run that was broken ends with the weights of an unbroken one.
In the end mean and spread of the latents are measured on batches that were not trained on, and the
codec is written to `codec.safetensors`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import Tensor

from sightline.depth.engines.torch import pick_device
from sightline.errors import SightlineError
from sightline.running.folder import (
    MAY_CHANGE,
    checkpoint_path,
    claimed_run,
    load_checkpoint,
    misfit,
    save_checkpoint,
)
from sightline.running.log import Log
from sightline.running.rates import cosine_rate
from sightline.running.stop import progress_line, stop_between_steps, stopped
from sightline.video_model.autoencoder.batches import FrameSource, draw_noise, take_batch
from sightline.video_model.autoencoder.codec import latent_shape
from sightline.video_model.autoencoder.files import write_codec
from sightline.video_model.autoencoder.frames import FrameCodec
from sightline.video_model.autoencoder.inflated import InflatedVae
from sightline.video_model.autoencoder.loss import reconstruction_loss
from sightline.video_model.autoencoder.moments import MomentCodec
from sightline.video_model.autoencoder.options import CodecTraining

#: The finished codec in the folder of a run.
CODEC = "codec.safetensors"

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
) -> NewCodec:
    """Make a codec and train it from its beginning; see `train_codec`.

    Args:
        source: of frames.
        out: folder of the run.
        options: of the training; its seed is that of the first weights, too.
        make: makes the codec.
        validate: figures to log while training.
        report: told in a line how it goes.
        data: where the frames came from, for the record.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(options.seed)
        codec = make()
    train_codec(codec, source, out, options, validate=validate, report=report, data=data)
    return codec


def train_codec(
    codec: Trained,
    source: FrameSource,
    out: Path,
    options: CodecTraining,
    *,
    validate: Validate | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
) -> None:
    """Train a codec, or go on training it, into a folder.

    Args:
        codec: changed in place; in the end it has its statistics and is in eval mode.
        source: of frames or videos.
        out: folder of the run; one of another run is refused.
        options: everything that can be set.
        validate: figures to log while training.
        report: told in a line how it goes.
        data: where the frames came from, for the record.

    Raises:
        SightlineError: the loss is not finite any more; the last checkpoint is kept.
    """
    if options.threads:
        torch.set_num_threads(options.threads)
    codec.to(pick_device(options.device))
    asked = {"codec": codec.kind, "build": codec.to_dict(), "data": data or {}}
    # The cosine hangs on the number of steps.
    may_change = MAY_CHANGE - {"steps"}
    with claimed_run(out, {"stage": "codec", "options": asdict(options), **asked}, may_change):
        _run(codec, source, out, options, validate, report)
        codec.eval()
        if options.measure:
            unseen = range(options.steps, options.steps + options.measure)
            codec.measure(take_batch(source, n, codec.mean.device)[0] for n in unseen)
        write_codec(codec, out / CODEC)


def _run(
    codec: Trained,
    source: FrameSource,
    out: Path,
    options: CodecTraining,
    validate: Validate | None,
    report: Callable[[str], None],
) -> None:
    """Take all steps, from the newest checkpoint on."""
    optimiser = torch.optim.AdamW(codec.parameters(), lr=options.rate, weight_decay=options.decay)
    step, losses = _resume(out, codec, optimiser)
    saved = step
    if step:
        report(f"going on at step {step} of {options.steps}")
    log = Log(out / "log.jsonl")
    log.drop_after(step)
    started, first = time.monotonic(), step
    with stop_between_steps() as stop:
        while step < options.steps:
            factor = cosine_rate(step, options.steps, options.warm_up)
            for group in optimiser.param_groups:
                group["lr"] = options.rate * factor
            batch = take_batch(source, step, codec.mean.device)
            loss = _update(codec, optimiser, *batch, step, options)
            if not math.isfinite(loss):
                raise _diverged(step, saved)
            losses.append(loss)
            step += 1
            if step % 20 == 0:
                pace = (time.monotonic() - started) / (step - first)
                report(progress_line(step, options.steps, losses, pace))
            last = step == options.steps
            if step % options.validate_every == 0 or last:
                losses = _log(log, codec, step, losses, validate, report)
            if step % options.save_every == 0 or last or stop.asked:
                _save(out, codec, optimiser, step, losses)
                saved = step
            if stop.asked and not last:
                raise stopped(step, options.steps)


def _update(
    codec: Trained,
    optimiser: torch.optim.Optimizer,
    video: Tensor,
    wanted: Tensor,
    step: int,
    options: CodecTraining,
) -> float:
    """Take a step and return its loss; one that is not finite, or has such a slope, changes nothing."""
    codec.train()
    noise: Tensor | None = None
    if options.noise:
        shape = (len(video), *latent_shape(codec, *video.shape[2:]))
        noise = options.noise * draw_noise(options.seed, step, shape).to(video)
    loss = reconstruction_loss(codec(video, noise), wanted, options.ink)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    slope = torch.nn.utils.clip_grad_norm_(codec.parameters(), options.largest)
    if not (torch.isfinite(loss) and torch.isfinite(slope)):
        return math.nan
    optimiser.step()
    return float(loss.detach())


def _diverged(step: int, saved: int) -> SightlineError:
    kept = f"the checkpoint of step {saved} is kept" if saved else "there is no checkpoint yet"
    return SightlineError(
        f"loss is not finite at step {step}, on batch {step}; {kept}; "
        "look at that batch, or lower the rate and train into another folder"
    )


def _log(
    log: Log,
    codec: Trained,
    step: int,
    losses: list[float],
    validate: Validate | None,
    report: Callable[[str], None],
) -> list[float]:
    """Write a row and begin the next."""
    codec.eval()
    row = {
        "step": step,
        "loss": round(sum(losses) / len(losses), 6),
        **(validate(codec) if validate else {}),
    }
    log.add(row)
    report("  ".join(f"{name} {value}" for name, value in row.items()))
    return []


def _save(
    out: Path,
    codec: Trained,
    optimiser: torch.optim.Optimizer,
    step: int,
    losses: list[float],
) -> None:
    state = {
        "codec": codec.state_dict(),
        "optimiser": optimiser.state_dict(),
        "step": step,
        "losses": losses,
    }
    save_checkpoint(out, state)


def _resume(out: Path, codec: Trained, optimiser: torch.optim.Optimizer) -> tuple[int, list[float]]:
    """Go on from the newest checkpoint; step 0 without one."""
    state = load_checkpoint(out, codec.mean.device)
    if state is None:
        return 0, []
    try:
        codec.load_state_dict(state["codec"])
        optimiser.load_state_dict(state["optimiser"])
        return int(state["step"]), list(state["losses"])
    except (RuntimeError, KeyError, ValueError, TypeError) as error:
        raise misfit(checkpoint_path(out), error) from error
