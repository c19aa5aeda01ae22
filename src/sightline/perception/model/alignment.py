"""Teach the projector of a compact speaker what lies in each cell, before the language model learns.

LLaVA, too, begins with its projector alone. Here every token of the picture is a cell of the depth map
or a letter, so its labels are known: the code of the cell, the letter of a point in it, where that
point is and what the map reads there. Linear heads that are thrown away afterwards tell them from the
projector's output; what remains for the language model is to find the right token and say it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.errors import InputError
from sightline.perception.codebook.network import CODES, GRID
from sightline.perception.codebook.words import START, from_text
from sightline.perception.model.loading import Speaker
from sightline.perception.model.training import Samples
from sightline.perception.questions import depth
from sightline.perception.questions.markers import LETTERS, SIDE
from sightline.perception.questions.records import Record
from sightline.running.rates import cosine_rate

#: Cells of a picture, and its tokens.
CELLS = GRID * GRID
TOKENS = CELLS + len(LETTERS)
#: Label of a cell that teaches nothing.
UNKNOWN = -100

#: Letters count this many times as much as cells without one.
_LETTER = 5.0
_DIGITS = 10


@dataclass(frozen=True, slots=True, eq=False)
class CellLabels:
    """What is known of the tokens of a picture, 100 cells and 5 letters; `UNKNOWN` where nothing is.

    Attributes:
        codes: (105,) of the depth map.
        letters: (105,) 0 for no point, 1 for A and so on.
        digits: (6, 105) the three digits of x and of y of the point.
        readings: (2, 105) the two digits of what the map reads at the point.
    """

    codes: NDArray[np.int64]
    letters: NDArray[np.int64]
    digits: NDArray[np.int64]
    readings: NDArray[np.int64]


def labels_of(record: Record) -> CellLabels:
    """Read the labels of cells from an answer: a map, and points if it gives any."""
    digits, readings = np.full((6, TOKENS), UNKNOWN), np.full((2, TOKENS), UNKNOWN)
    codes = np.full(TOKENS, UNKNOWN)
    if START in record.answer:
        codes[:CELLS] = from_text(record.answer).reshape(-1)
    places = depth.read_places(record.answer)
    # A picture whose points are not listed may still have some.
    letters = np.full(TOKENS, 0 if places or record.task == "depth" else UNKNOWN)
    values = depth.read_readings(record.answer)
    for letter, (x, y) in places.items():
        number = LETTERS.index(letter)
        tokens = [y * GRID // SIDE * GRID + x * GRID // SIDE, CELLS + number]
        letters[tokens] = 1 + number
        digits[:, tokens] = [[int(digit)] for digit in f"{x:03d}{y:03d}"]
        if letter in values:
            read = f"{round(99 * values[letter]):02d}"
            readings[:, tokens] = [[int(digit)] for digit in read]
    return CellLabels(codes, letters, digits, readings)


class CellHeads(nn.Module):
    """(N, 105, D) tokens of pictures → scores of every label.

    Args:
        width: of the language model.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.code = nn.Linear(width, CODES)
        self.letter = nn.Linear(width, 1 + len(LETTERS))
        self.digits = nn.Linear(width, 8 * _DIGITS)

    def forward(self, tokens: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return (N, 105, 128), (N, 105, 6) and (N, 105, 8, 10) scores."""
        return self.code(tokens), self.letter(tokens), self.digits(tokens).unflatten(-1, (8, -1))


def align_projector(
    speaker: Speaker,
    samples: Samples,
    *,
    steps: int,
    batch: int = 48,
    rate: float = 2e-3,
    bfloat16: bool = False,
    seed: int = 0,
    report: Callable[[str], None] = print,
) -> None:
    """Teach a compact speaker's projector, which begins calm; nothing else of it learns.

    Args:
        speaker: of `build_compact`, with a token for every cell of the map.
        samples: records with maps, and what the eyes gave for their pictures.
        steps: of training.
        batch: pictures of a step.
        rate: peak learning rate of AdamW.
        bfloat16: multiply in bfloat16.
        seed: of the heads and of the order of samples.
        report: told in a line how it goes.
    """
    if speaker.writing.patches != TOKENS:
        raise InputError(
            f"{speaker.writing.patches} tokens a picture are not {CELLS} cells of a map and "
            f"{len(LETTERS)} letters"
        )
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    tower, projector = speaker.model.model.vision_tower, speaker.model.model.multi_modal_projector
    heads = CellHeads(speaker.model.config.text_config.hidden_size)
    learning = [*projector.parameters(), *heads.parameters()]
    optimiser = torch.optim.AdamW(learning, rate, weight_decay=0.05)
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = rate * cosine_rate(step, steps, steps // 10)
        found = [samples.sample(int(k)) for k in rng.integers(len(samples), size=batch)]
        labels = [labels_of(record) for record, _ in found]
        seen = torch.from_numpy(np.stack([look for _, look in found]).astype(np.float32))
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            scores = heads(projector(tower(seen).last_hidden_state))
        loss, right = judge_cells(scores, labels)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        if (step + 1) % 50 == 0 or step + 1 == steps:
            shares = ", ".join(f"{name} {share:.3f}" for name, share in right.items())
            report(
                f"projector: step {step + 1} of {steps}, loss {float(loss.detach()):.3f}; {shares}"
            )


def judge_cells(
    scores: tuple[Tensor, Tensor, Tensor], labels: Sequence[CellLabels]
) -> tuple[Tensor, dict[str, float]]:
    """Return the sum of all cross entropies, and the share of right labels of each kind.

    Args:
        scores: of `CellHeads`.
        labels: of as many pictures.
    """
    codes, letters = (_stack(labels, name) for name in ("codes", "letters"))
    digits = torch.cat([_stack(labels, "digits"), _stack(labels, "readings")], dim=1)
    weight = torch.full((1 + len(LETTERS),), _LETTER)
    weight[0] = 1.0
    by_code, by_letter, by_digit = (part.float() for part in scores)
    pairs = {
        "codes": (by_code, codes, None),
        "letters": (by_letter, letters, weight),
        "digits": (by_digit, digits.transpose(1, 2), None),
    }
    losses, right = [], {}
    for name, (said, wanted, weights) in pairs.items():
        known = wanted != UNKNOWN
        if not bool(known.any()):
            continue
        losses.append(F.cross_entropy(said[known], wanted[known], weights))
        there = known & (wanted > 0) if name == "letters" else known
        if bool(there.any()):
            right[name] = float((said.argmax(-1) == wanted)[there].float().mean())
    if not losses:
        raise InputError("the samples have neither maps nor points to align by")
    return torch.stack(losses).sum(), right


def _stack(labels: Sequence[CellLabels], name: str) -> Tensor:
    found: list[Any] = [getattr(one, name) for one in labels]
    return torch.from_numpy(np.stack(found).astype(np.int64))
