"""Train a VLM on questions and answers: next-token prediction, in the order of a curriculum.

* AdamW, cosine after a short warm-up, a lower rate for the projector (AURORA §8; LLaVA's recipe).
* Optionally the loss includes the decoded map: the codebook decodes the expected codes under the
  model's probabilities, and the result is compared with the map of the right codes (AURORA §3).
* The loss is the mean over all tokens of a batch, over all processes and accumulation steps.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.errors import InputError
from sightline.perception.codebook import DepthCodebook
from sightline.perception.options import VLMTraining
from sightline.perception.questions.records import Record
from sightline.perception.tokens import LENGTH
from sightline.perception.vlm.focus import focused
from sightline.perception.vlm.model import PerceptionVLM, Picture
from sightline.perception.vlm.processing import NOT_LEARNED, TokenBatch, make_token_batch
from sightline.training.distributed import Distributed, Shard
from sightline.training.schedules import cosine_rate
from sightline.training.trainer import Trainer, TrainingTask

_PROJECTOR = "multi_modal_projector"
#: Tasks whose answers end in a conclusion.
CONCLUDING = ("chain", "direct")


class VLMSamples(Protocol):
    """Samples in the order in which they are learned."""

    def __len__(self) -> int: ...

    def sample(self, position: int) -> tuple[Record, Picture]:
        """Return a question with its answer, and its picture."""
        ...


class VLMObjective(nn.Module):
    """A VLM and its loss.

    Args:
        vlm: its model learns where it asks for gradients.
        codebook: for the reconstruction; None without.
        reconstruction: its weight.
    """

    def __init__(
        self, vlm: PerceptionVLM, codebook: DepthCodebook | None = None, reconstruction: float = 0.0
    ) -> None:
        super().__init__()
        self.model = vlm.model
        self.reconstruction = reconstruction
        self.codes: tuple[int, ...] = vlm.vocabulary.codes
        self._codebook = [codebook.requires_grad_(False).eval()] if codebook is not None else []

    def forward(
        self, lesson: TokenBatch, pixels: Tensor, tokens: float, share: float = 1.0
    ) -> Tensor:
        """Return the loss.

        Args:
            lesson: Conversations of this process.
            pixels: (B, 3, H, W) pictures.
            tokens: Divisor of the summed token losses: the weighted number of learned tokens of the
                whole batch, divided by the number of processes.
            share: Weight of the reconstruction: this shard's share of the batch.
        """
        labels, weights = lesson.labels[:, 1:], lesson.weights[:, 1:]
        learned = (labels != NOT_LEARNED).any(0).nonzero()[:, 0]
        labels, weights = labels[:, learned], weights[:, learned]
        logits = self.model(
            **self._shown(lesson, pixels),
            attention_mask=lesson.attention_mask,
            position_ids=lesson.positions,
            logits_to_keep=learned,
        ).logits
        each = F.cross_entropy(
            logits.reshape(-1, logits.shape[-1]).float(),
            labels.reshape(-1),
            ignore_index=NOT_LEARNED,
            reduction="none",
        )
        loss = each @ weights.reshape(-1) / tokens
        if self._codebook and self.reconstruction > 0:
            loss = loss + self.reconstruction * share * self._rebuilt(logits, labels)
        return loss

    def _shown(self, lesson: TokenBatch, pixels: Tensor) -> dict[str, Tensor]:
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


class VLMTask(TrainingTask):
    """Training of a vision-language model.

    Args:
        config: Configuration.
        vlm: VLM; the parameters of its model that require gradients are trained.
        samples: Samples in their order.
        codebook: Codebook of the depth tokens; needed for `reconstruction`.
        data: Origin of the samples, for the record.
        distributed: Group of processes.
    """

    name = "vlm"

    def __init__(
        self,
        config: VLMTraining,
        vlm: PerceptionVLM,
        samples: VLMSamples,
        *,
        codebook: DepthCodebook | None = None,
        data: dict[str, Any] | None = None,
        distributed: Distributed,
    ) -> None:
        _check(vlm, config, codebook)
        self.config = self.options = config
        self.vlm, self.samples, self.data = vlm, samples, data or {}
        self.distributed = distributed
        available = len(samples) // config.batch
        if available < 1:
            raise InputError(f"{len(samples)} samples do not fill a batch of {config.batch}")
        self.steps = min(available, config.steps or available)
        self.batch_size, self.max_norm = config.batch, config.clip
        torch.manual_seed(config.seed)
        self.network: nn.Module = vlm.model
        self.module = VLMObjective(vlm, codebook, config.reconstruction).to(distributed.device)
        self._tokens = (-1, 0.0)

    def record(self) -> dict[str, Any]:
        """Return the origin of the samples."""
        return {"data": self.data}

    def optimizer(self) -> torch.optim.Optimizer:
        """Return AdamW with a learning rate of its own for the projector."""
        trained = [(name, p) for name, p in self.network.named_parameters() if p.requires_grad]
        projector = [p for name, p in trained if _PROJECTOR in name]
        rest = [p for name, p in trained if _PROJECTOR not in name]
        groups: list[dict[str, Any]] = [
            {"params": projector, "peak": self.options.projector_rate},
            {"params": rest, "peak": self.options.rate},
        ]
        return torch.optim.AdamW(
            [group for group in groups if group["params"]], weight_decay=self.options.weight_decay
        )

    def rate(self, step: int) -> float:
        """Return the factor of the learning rates: warm-up, then a cosine."""
        return cosine_rate(step, self.steps, round(self.steps * self.options.warmup))

    def batch(self, step: int, shard: Shard) -> tuple[TokenBatch, Tensor, float, float]:
        """Return conversations and pictures of a shard, its divisor and its share of the batch."""
        lesson, pictures = self._read(step, shard)
        if self._tokens[0] != step:
            count = torch.zeros((), dtype=torch.float64, device=self.distributed.device)
            for part in range(shard.index, shard.count, shard.processes):
                other = Shard(part, shard.count, shard.processes)
                count += _learned(lesson if other == shard else self._read(step, other)[0])
            self._tokens = (step, self.distributed.mean(count))
        pixels = self.vlm.show(pictures).to(next(self.network.parameters()).dtype)
        return lesson, pixels, self._tokens[1], shard.weight(self.options.batch)

    def weight(self, shard: Shard) -> float:  # noqa: ARG002 - of the task's interface
        """Return 1: the objective divides by the number of tokens of the whole batch."""
        return 1.0

    def recompute_activations(self) -> None:
        """Turn on the model's own activation checkpointing."""
        self.vlm.model.gradient_checkpointing_enable({"use_reentrant": False})
        # Frozen embeddings give no gradients, so their output has to require them.
        self.vlm.model.enable_input_require_grads()

    def state_dict(self) -> dict[str, Tensor]:
        """Return the parameters that are trained."""
        return {n: p.detach() for n, p in self.network.named_parameters() if p.requires_grad}

    def load_state_dict(self, state: dict[str, Tensor]) -> None:
        """Restore the parameters that are trained."""
        for name, value in self.state_dict().items():
            value.copy_(state[name])

    def _read(self, step: int, shard: Shard) -> tuple[TokenBatch, list[Picture]]:
        """Return the conversations and pictures of a shard of batch `step`."""
        options, vlm = self.options, self.vlm
        first = step * options.batch
        positions = range(first, first + options.batch)[shard.index :: shard.count]
        found = [self.samples.sample(position) for position in positions]
        records = [record for record, _ in found]
        lesson = make_token_batch(
            vlm.chat,
            [(record.question, record.answer) for record in records],
            options.longest,
            [options.conclusion if r.task in CONCLUDING else 1.0 for r in records],
            [record.image for record in records],
        )
        if step < options.focus:
            lesson = focused(lesson, records, vlm.chat.image, _depth_tokens(vlm))
        return lesson, [picture for _, picture in found]


def train_vlm(
    vlm: PerceptionVLM,
    samples: VLMSamples,
    out: Path,
    options: VLMTraining,
    *,
    codebook: DepthCodebook | None = None,
    report: Callable[[str], None] = print,
    data: dict[str, Any] | None = None,
    distributed: Distributed | None = None,
    on_save: Callable[[int], None] = lambda _: None,
    stop: Callable[[], bool] = lambda: False,
) -> None:
    """Train a VLM, or resume its training; the VLM's model holds the result.

    Args:
        vlm: VLM whose model is trained.
        samples: Samples in their order.
        out: Folder of the run; a folder that holds another run is refused.
        options: Configuration.
        codebook: Codebook of the depth tokens; needed for `reconstruction`.
        report: Receives progress as lines of text.
        data: Origin of the samples, for the record.
        distributed: Group of processes; None for this process alone.
        on_save: Called with the step after every checkpoint.
        stop: Returns True to save and end the run.
    """
    distributed = distributed or Distributed()
    task = VLMTask(options, vlm, samples, codebook=codebook, data=data, distributed=distributed)
    Trainer(task, out, distributed=distributed, report=report, stop=stop, on_save=on_save).fit()


def _check(vlm: PerceptionVLM, options: VLMTraining, codebook: DepthCodebook | None) -> None:
    """Refuse options that do not suit the VLM."""
    if options.reconstruction > 0 and (codebook is None or not vlm.vocabulary.codes):
        raise InputError("reconstruction needs depth tokens and their codebook")
    if options.focus > 0 and not hasattr(vlm.model.config.vision_config, "kinds"):
        raise InputError("only a compact VLM has tokens for points and things to focus on")


def _depth_tokens(vlm: PerceptionVLM) -> Tensor:
    start, end, codes = vlm.vocabulary.start, vlm.vocabulary.end, vlm.vocabulary.codes
    return torch.tensor([start, end, *codes])


def _learned(lesson: TokenBatch) -> float:
    """Return the weighted number of learned tokens."""
    learned = lesson.labels[:, 1:] != NOT_LEARNED
    return float(lesson.weights[:, 1:][learned].sum().to(torch.float64))
