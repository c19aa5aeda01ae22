"""Train a speaker on questions and answers: next tokens, in the order of a curriculum.

* AdamW, cosine after a short warm-up, the projector more slowly (AURORA §8; LLaVA's recipe).
* Optionally the decoded map counts too: each code is the mean under the model's probabilities, and what
  the codebook makes of these is compared with what it makes of the right codes (AURORA §3).
* Exact resume: weights that learn, optimiser, random numbers and place in the data together.
* Several processes share every batch; the loss is the mean over all tokens of all of them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, distributed, nn
from torch.nn import functional as F

from sightline.depth.training.processes import Team
from sightline.errors import InputError, SightlineError
from sightline.perception.codebook.network import LENGTH, DepthCodebook
from sightline.perception.model.focus import focused
from sightline.perception.model.loading import Picture, Speaker
from sightline.perception.model.options import SpeakerOptions
from sightline.perception.model.speech import NOT_LEARNT, Lesson, make_lesson
from sightline.perception.questions.records import Record
from sightline.running.folder import (
    checkpoint_path,
    claim_run,
    load_checkpoint,
    misfit,
    save_checkpoint,
)
from sightline.running.log import Log
from sightline.running.rates import cosine_rate
from sightline.running.stop import progress_line, stop_between_steps, stopped

_PROJECTOR = "multi_modal_projector"
#: Tasks whose answers end in a conclusion.
CONCLUDING = ("chain", "direct")


class Samples(Protocol):
    """Samples in the order in which they are learnt."""

    def __len__(self) -> int: ...

    def sample(self, position: int) -> tuple[Record, Picture]:
        """Return a question with its answer, and its picture."""
        ...


class SpeakerLearner(nn.Module):
    """A speaker and its loss.

    Args:
        speaker: its model learns where it asks for gradients.
        codebook: for the reconstruction; None without.
        reconstruction: its weight.
    """

    def __init__(
        self, speaker: Speaker, codebook: DepthCodebook | None = None, reconstruction: float = 0.0
    ) -> None:
        super().__init__()
        self.model = speaker.model
        self.reconstruction = reconstruction
        self.codes: tuple[int, ...] = speaker.vocabulary.codes
        self._codebook = [codebook.requires_grad_(False).eval()] if codebook is not None else []

    def forward(self, lesson: Lesson, pixels: Tensor, tokens: float) -> Tensor:
        """Return the loss.

        Args:
            lesson: of this process.
            pixels: (B, 3, H, W).
            tokens: learnt tokens, as often as each counts, that the sum is divided by: the mean over
                the processes.
        """
        labels, weights = lesson.labels[:, 1:], lesson.weights[:, 1:]
        learnt = (labels != NOT_LEARNT).any(0).nonzero()[:, 0]
        labels, weights = labels[:, learnt], weights[:, learnt]
        logits = self.model(
            **self._shown(lesson, pixels),
            attention_mask=lesson.attention_mask,
            position_ids=lesson.positions,
            logits_to_keep=learnt,
        ).logits
        each = F.cross_entropy(
            logits.reshape(-1, logits.shape[-1]).float(),
            labels.reshape(-1),
            ignore_index=NOT_LEARNT,
            reduction="none",
        )
        loss = each @ weights.reshape(-1) / tokens
        if self._codebook and self.reconstruction > 0:
            loss = loss + self.reconstruction * self._rebuilt(logits, labels)
        return loss

    def _shown(self, lesson: Lesson, pixels: Tensor) -> dict[str, Tensor]:
        """Return words and picture as the model takes them: together, where tokens were left out."""
        if lesson.patches is None:
            return {"input_ids": lesson.input_ids, "pixel_values": pixels}
        parts = self.model.model
        seen = parts.multi_modal_projector(parts.vision_tower(pixels).last_hidden_state)
        words = self.model.get_input_embeddings()(lesson.input_ids)
        number = lesson.patches.clamp(min=0)[..., None].expand(-1, -1, seen.shape[-1])
        here = (lesson.patches >= 0)[..., None]
        return {"inputs_embeds": torch.where(here, seen.gather(1, number).to(words), words)}

    def _rebuilt(self, logits: Tensor, labels: Tensor) -> Tensor:
        """Mean square error between maps decoded softly and maps decoded from the right codes."""
        numbers = torch.tensor(self.codes, device=labels.device)
        inside = torch.isin(labels, numbers)
        whole = inside.sum(1) == LENGTH
        if not bool(whole.any()):
            return logits.sum() * 0.0
        inside = inside & whole[:, None]
        shares = logits[inside][:, numbers].float().softmax(-1).view(-1, LENGTH, len(self.codes))
        right = (labels[inside][:, None] == numbers).to(shares.dtype).view_as(shares)
        codebook = self._codebook[0].to(labels.device)
        with torch.no_grad():
            wanted = codebook.decode_soft(right)
        return F.mse_loss(codebook.decode_soft(shares), wanted)


def train_speaker(
    speaker: Speaker,
    samples: Samples,
    out: Path,
    options: SpeakerOptions,
    *,
    codebook: DepthCodebook | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
    team: Team | None = None,
    on_saved: Callable[[int], None] = lambda _: None,
) -> None:
    """Train, or go on training; the speaker's model holds the result.

    Args:
        speaker: whose model learns.
        samples: in their order.
        out: folder of the run; one of another run is refused.
        options: everything that can be set.
        codebook: that depth tokens are of; needed for `reconstruction`.
        report: told in a line how it goes.
        data: where the samples came from, for the record.
        team: of processes; this one alone if None.
        on_saved: told the step whenever a checkpoint is written.
    """
    team = team or Team()
    _check(speaker, options, codebook)
    if options.threads:
        torch.set_num_threads(options.threads)
    if team.leads:
        claim_run(out, {"stage": "speaker", "options": asdict(options), "data": data or {}})
    team.wait()
    torch.manual_seed(options.seed)
    learner = SpeakerLearner(speaker, codebook, options.reconstruction).to(team.device)
    wrapped = team.wrap(learner)
    optimiser = torch.optim.AdamW(
        _groups(speaker.model, options), weight_decay=options.weight_decay
    )
    steps = len(samples) // options.batch
    if steps < 1:
        raise InputError(f"{len(samples)} samples do not fill a batch of {options.batch}")
    step, losses = _resume(out, speaker.model, optimiser, team)
    log = Log(out / "log.jsonl")
    if team.leads:
        log.drop_after(step)
    started, first = time.monotonic(), step
    with stop_between_steps() as stop:
        while step < steps:
            _set_rate(optimiser, cosine_rate(step, steps, round(steps * options.warmup)))
            speaker.model.train()
            lesson, pixels = _batch(speaker, samples, step, options, team)
            with torch.autocast(team.device.type, torch.bfloat16, enabled=options.bfloat16):
                loss = wrapped(lesson, pixels, _tokens(lesson, team))
            mean = team.mean(loss)
            if not math.isfinite(mean):
                raise SightlineError(
                    f"loss is not finite at step {step}; lower the rate and train into another folder"
                )
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(learner.parameters(), options.clip)
            optimiser.step()
            losses.append(mean)
            step += 1
            last = step == steps
            if team.leads and (step % 20 == 0 or last):
                pace = (time.monotonic() - started) / (step - first)
                report(progress_line(step, steps, losses, pace))
            if team.leads and (step % options.save_every == 0 or last or stop.asked):
                if step % options.save_every == 0 or last:
                    log.add({"step": step, "loss": round(sum(losses) / len(losses), 5)})
                    losses = []
                _save(out, speaker.model, optimiser, step, losses)
                on_saved(step)
            if team.any(stop.asked) and not last:
                raise stopped(step, steps)
    speaker.model.eval()
    team.wait()


def _check(speaker: Speaker, options: SpeakerOptions, codebook: DepthCodebook | None) -> None:
    """Refuse what this speaker cannot be taught."""
    if options.reconstruction > 0 and (codebook is None or not speaker.vocabulary.codes):
        raise InputError("reconstruction needs depth tokens and their codebook")
    if options.focus > 0 and not hasattr(speaker.model.config.vision_config, "kinds"):
        raise InputError("only a compact speaker has tokens for points and things to focus on")


def _set_rate(optimiser: torch.optim.Optimizer, factor: float) -> None:
    for group in optimiser.param_groups:
        group["lr"] = group["peak"] * factor


def _groups(model: nn.Module, options: SpeakerOptions) -> list[dict[str, Any]]:
    learning = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    slow = [p for name, p in learning if _PROJECTOR in name]
    rest = [p for name, p in learning if _PROJECTOR not in name]
    groups = [
        {"params": slow, "peak": options.projector_rate},
        {"params": rest, "peak": options.rate},
    ]
    return [group for group in groups if group["params"]]


def _batch(
    speaker: Speaker, samples: Samples, step: int, options: SpeakerOptions, team: Team
) -> tuple[Lesson, Tensor]:
    """Return this process's part of a batch: every n-th sample."""
    places = range(step * options.batch, (step + 1) * options.batch)[team.rank :: team.count]
    if not places:
        raise InputError(f"{team.count} processes cannot share a batch of {options.batch}")
    found = [samples.sample(place) for place in places]
    turns = [(record.question, record.answer) for record, _ in found]
    ends = [options.conclusion if r.task in CONCLUDING else 1.0 for r, _ in found]
    names = [record.image for record, _ in found]
    lesson = make_lesson(speaker.writing, turns, options.longest, ends, names)
    if step < options.focus:
        lesson = focused(
            lesson, [r for r, _ in found], speaker.writing.image, _depth_tokens(speaker)
        )
    pixels = speaker.show([picture for _, picture in found])
    return lesson.to(team.device), pixels.to(team.device, next(speaker.model.parameters()).dtype)


def _depth_tokens(speaker: Speaker) -> Tensor:
    start, end, codes = speaker.vocabulary.start, speaker.vocabulary.end, speaker.vocabulary.codes
    return torch.tensor([start, end, *codes])


def _tokens(lesson: Lesson, team: Team) -> float:
    """Learnt tokens of the batch, as often as each counts, divided by the number of processes."""
    learnt = lesson.labels[:, 1:] != NOT_LEARNT
    count = lesson.weights[:, 1:][learnt].sum().to(torch.float64)
    if team.count > 1:
        distributed.all_reduce(count)
    return float(count) / team.count


def _learning(model: nn.Module) -> dict[str, Tensor]:
    return {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}


def _save(
    out: Path,
    model: nn.Module,
    optimiser: torch.optim.Optimizer,
    step: int,
    losses: Sequence[float],
) -> None:
    state = {
        "model": _learning(model),
        "optimiser": optimiser.state_dict(),
        "random": torch.get_rng_state(),
        "step": step,
        "losses": list(losses),
    }
    save_checkpoint(out, state)


def _resume(
    out: Path, model: nn.Module, optimiser: torch.optim.Optimizer, team: Team
) -> tuple[int, list[float]]:
    """Go on from the newest checkpoint; step 0 without one."""
    state = load_checkpoint(out, team.device)
    if state is None:
        return 0, []
    try:
        for name, value in _learning(model).items():
            value.copy_(state["model"].pop(name))
        optimiser.load_state_dict(state["optimiser"])
        torch.set_rng_state(state["random"].cpu())
        return int(state["step"]), list(state["losses"])
    except (RuntimeError, KeyError, ValueError, TypeError) as error:
        raise misfit(checkpoint_path(out), error) from error
