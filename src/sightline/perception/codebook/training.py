"""Train the depth codebook (AURORA, its `train_depth_vqvae`), with exact resume.

Mean square error of the decoded map plus a quarter of the commitment; Adam at 3e-4, times 0.98 every
500 steps. Maps come from any set that depth networks are trained on: measured, rendered, or photographs
with a teacher's labels. They are cropped and mirrored at random, and stretched to the full range again.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from sightline.depth.training.pairs import Pair
from sightline.depth.training.stream import Source
from sightline.errors import SightlineError
from sightline.perception.codebook.maps import square, to_bytes, to_input
from sightline.perception.codebook.network import DepthCodebook
from sightline.perception.codebook.options import CodebookOptions
from sightline.running.folder import (
    checkpoint_path,
    claim_run,
    load_checkpoint,
    misfit,
    save_checkpoint,
)
from sightline.running.log import Log
from sightline.running.stop import progress_line, stop_between_steps, stopped

#: Scores a codebook: the figures that go into the log.
Validate = Callable[[DepthCodebook], dict[str, float]]


def make_batch(sources: Sequence[Source], step: int, options: CodebookOptions) -> Tensor:
    """(N, 1, 320, 320) maps of batch number `step`, the same whenever it is asked for."""
    maps = []
    for number, source in enumerate(sources):
        for slot in range(source.share):
            position = step * source.share + slot
            pair = source.pairs.pair(position, (options.seed, number))
            rng = np.random.default_rng([options.seed, 7, number, position])
            maps.append(_vary(pair, rng, options.smallest_crop))
    return to_input(np.stack(maps))


def _vary(pair: Pair, rng: np.random.Generator, smallest: float) -> NDArray[np.uint8]:
    """Crop and mirror a pair's disparity; one that is flat there stays whole."""
    height, width = pair.disparity.shape
    share = rng.uniform(smallest, 1)
    rows, columns = max(1, round(share * height)), max(1, round(share * width))
    top, left = rng.integers(height - rows + 1), rng.integers(width - columns + 1)
    part = np.s_[top : top + rows, left : left + columns]
    mirrored = rng.random() < 0.5
    disparity, known = pair.disparity[part], pair.known[part]
    if not known.any():
        disparity, known = pair.disparity, pair.known
    made = square(to_bytes(disparity.astype(np.float32), known))
    return np.ascontiguousarray(made[:, ::-1]) if mirrored else made


def train_codebook(
    sources: Sequence[Source],
    out: Path,
    options: CodebookOptions,
    *,
    validate: Validate | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
) -> DepthCodebook:
    """Train, or go on training, into a folder; return the finished codebook.

    Args:
        sources: of depth maps.
        out: folder of the run; one of another run is refused.
        options: everything that can be set.
        validate: figures to log while training.
        report: told in a line how it goes.
        data: where the maps came from, for the record.
    """
    if options.threads:
        torch.set_num_threads(options.threads)
    claim_run(out, {"stage": "codebook", "options": asdict(options), "data": data or {}})
    torch.manual_seed(options.seed)
    codebook = DepthCodebook().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = torch.optim.Adam(codebook.parameters(), lr=options.rate)
    step, losses = _resume(out, codebook, optimiser)
    if step:
        report(f"going on at step {step} of {options.steps}")
    log = Log(out / "log.jsonl")
    log.drop_after(step)
    started, first = time.monotonic(), step
    with stop_between_steps() as stop:
        while step < options.steps:
            for group in optimiser.param_groups:
                group["lr"] = options.rate * options.fall ** (step // options.every)
            loss = _update(codebook, optimiser, make_batch(sources, step, options), options)
            if not math.isfinite(loss):
                raise SightlineError(
                    f"loss is not finite at step {step}; lower the rate and train into another folder"
                )
            losses.append(loss)
            step += 1
            if step % 20 == 0:
                pace = (time.monotonic() - started) / (step - first)
                report(progress_line(step, options.steps, losses, pace))
            last = step == options.steps
            if step % options.validate_every == 0 or last:
                losses = _log(log, codebook, step, losses, validate, report)
            if step % options.save_every == 0 or last or stop.asked:
                _save(out, codebook, optimiser, step, losses)
            if stop.asked and not last:
                raise stopped(step, options.steps)
    return codebook.eval()


def _update(
    codebook: DepthCodebook,
    optimiser: torch.optim.Optimizer,
    maps: Tensor,
    options: CodebookOptions,
) -> float:
    codebook.train()
    passed = codebook(maps)
    loss = F.mse_loss(passed.decoded, maps) + options.commitment * passed.commitment
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()
    return float(loss.detach())


def _log(
    log: Log,
    codebook: DepthCodebook,
    step: int,
    losses: list[float],
    validate: Validate | None,
    report: Callable[[str], None],
) -> list[float]:
    """Write a row and begin the next."""
    codebook.eval()
    row = {
        "step": step,
        "loss": round(sum(losses) / max(1, len(losses)), 5),
        "alive": float((codebook.quantiser.count > codebook.quantiser.alive).float().mean()),
        **(validate(codebook) if validate else {}),
    }
    log.add(row)
    report("  ".join(f"{name} {value}" for name, value in row.items()))
    return []


def _save(
    out: Path,
    codebook: DepthCodebook,
    optimiser: torch.optim.Optimizer,
    step: int,
    losses: list[float],
) -> None:
    state = {
        "network": codebook.state_dict(),
        "optimiser": optimiser.state_dict(),
        "random": torch.get_rng_state(),
        "step": step,
        "losses": losses,
    }
    save_checkpoint(out, state)


def _resume(
    out: Path, codebook: DepthCodebook, optimiser: torch.optim.Optimizer
) -> tuple[int, list[float]]:
    """Go on from the newest checkpoint; step 0 without one."""
    state = load_checkpoint(out)
    if state is None:
        return 0, []
    try:
        codebook.load_state_dict(state["network"])
        optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"])
        return int(state["step"]), list(state["losses"])
    except (RuntimeError, KeyError, ValueError, TypeError) as error:
        raise misfit(checkpoint_path(out), error) from error
