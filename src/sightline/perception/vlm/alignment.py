"""Teach the projector of a compact VLM what its eyes' numbers mean, before it learns to speak.

LLaVA, too, begins with its projector alone. Here the labels of every token are known: code and nearness
of a cell, row and column of cells and points alike, the letter of a point, its place and how near it
is, the kind of a thing and the sides of its box. Linear heads that are thrown away afterwards tell them
from the projector's output; what remains for the language model is to find the right token and say it.
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
from sightline.perception.codebook import WIDTH
from sightline.perception.questions import depth
from sightline.perception.questions.hardblink import LETTERS, SIDE
from sightline.perception.questions.records import Record
from sightline.perception.tokens import CODES, GRID, PIXELS, START, from_text
from sightline.perception.vlm.detectors import SLOTS
from sightline.perception.vlm.model import PerceptionVLM
from sightline.perception.vlm.training import VLMSamples
from sightline.perception.vlm.vision_tower import PLACES, STRIDE
from sightline.training.schedules import cosine_rate

#: Tokens of a picture: cells, points and things.
CELLS = GRID * GRID
TOKENS = CELLS + STRIDE * len(LETTERS) + SLOTS
#: Label of a token that teaches nothing.
UNKNOWN = -100

_DIGITS, _SIDES = 10, 4


@dataclass(frozen=True, slots=True, eq=False)
class TokenLabels:
    """What is known of the tokens of a picture; `UNKNOWN` where nothing is.

    Attributes:
        codes: (100,) of the depth map.
        levels: (100,) tenth of the nearness that a cell has on average.
        rows: (105,) of cells and points.
        columns: (105,) of cells and points.
        letters: (5,) whether each is there.
        names: (5,) of points that are there.
        places: (5, 2) x and y of each point, [px].
        values: (5, 2) the two digits of how near it is.
        kinds: (24,) of each thing.
        sides: (24, 4) of its box, in 336ths of the picture.
    """

    codes: NDArray[np.int64]
    levels: NDArray[np.int64]
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    letters: NDArray[np.int64]
    names: NDArray[np.int64]
    places: NDArray[np.int64]
    values: NDArray[np.int64]
    kinds: NDArray[np.int64]
    sides: NDArray[np.int64]


def labels_of(record: Record, look: NDArray[Any], kinds: int) -> TokenLabels:
    """Read codes and points from an answer, and things from what the eyes saw.

    Args:
        record: with a map, or points, or neither.
        look: (129, …) of the tower.
        kinds: of things that it knows.
    """
    codes = np.full(CELLS, UNKNOWN)
    if START in record.answer:
        codes = from_text(record.answer).reshape(-1)
    said, readings = depth.read_places(record.answer), depth.read_readings(record.answer)
    # A picture whose points are not listed may still have some.
    letters = np.full(len(LETTERS), 0 if said else UNKNOWN)
    names = np.full(len(LETTERS), UNKNOWN)
    places, values = np.full((2, len(LETTERS), 2), UNKNOWN)
    grid = np.full((2, CELLS + len(LETTERS)), UNKNOWN)
    grid[:, :CELLS] = np.indices((GRID, GRID)).reshape(2, -1)
    for letter, (x, y) in said.items():
        number = LETTERS.index(letter)
        letters[number], names[number] = 1, number
        places[number] = x, y
        if letter in readings:
            values[number] = divmod(round(99 * readings[letter]), _DIGITS)
        grid[:, CELLS + number] = y * GRID // SIDE, x * GRID // SIDE
    near = look[:CELLS, WIDTH : WIDTH + PLACES * PLACES].astype(np.float32).mean(1)
    levels = np.clip(near * _DIGITS, 0, _DIGITS - 1).astype(np.int64)
    rows, columns = grid
    slots = look[-SLOTS:, look.shape[1] - kinds - _SIDES :].astype(np.float32)
    filled = slots[:, kinds:].sum(1) > 0
    named = slots[:, :kinds].argmax(1) if kinds else np.zeros(SLOTS, np.int64)
    sides = np.minimum(PIXELS - 1, (slots[:, kinds:] * PIXELS).astype(np.int64))
    return TokenLabels(
        codes,
        levels,
        rows,
        columns,
        letters,
        names,
        places,
        values,
        np.where(filled, named, UNKNOWN),
        np.where(filled[:, None], sides, UNKNOWN),
    )


class TokenHeads(nn.Module):
    """(N, 164, D) tokens of pictures → scores of every label.

    Args:
        width: of the language model.
        kinds: of things.
    """

    def __init__(self, width: int, kinds: int) -> None:
        super().__init__()
        self.code = nn.Linear(width, CODES)
        self.level = nn.Linear(width, _DIGITS)
        self.row, self.column = nn.Linear(width, GRID), nn.Linear(width, GRID)
        self.letter = nn.Linear(width, 2)
        self.name = nn.Linear(width, len(LETTERS))
        self.place, self.value = nn.Linear(width, 2 * PIXELS), nn.Linear(width, 2 * _DIGITS)
        self.kind = nn.Linear(width, max(1, kinds))
        self.sides = nn.Linear(width, _SIDES * PIXELS)

    def forward(self, tokens: Tensor) -> dict[str, Tensor]:
        """Return scores by the name of the label; classes are last."""
        counts = [CELLS, STRIDE * len(LETTERS), SLOTS]
        cells, points, things = torch.split(tokens, counts, dim=1)
        points = points[:, ::STRIDE]  # a point's tokens are all the same
        placed = torch.cat([cells, points], dim=1)
        return {
            "codes": self.code(cells),
            "levels": self.level(cells),
            "rows": self.row(placed),
            "columns": self.column(placed),
            "letters": self.letter(points),
            "names": self.name(points),
            "places": self.place(points).unflatten(-1, (2, -1)),
            "values": self.value(points).unflatten(-1, (2, -1)),
            "kinds": self.kind(things),
            "sides": self.sides(things).unflatten(-1, (_SIDES, -1)),
        }


def align_projector(
    vlm: PerceptionVLM,
    samples: VLMSamples,
    *,
    steps: int,
    batch: int = 48,
    rate: float = 2e-3,
    bfloat16: bool = False,
    seed: int = 0,
    report: Callable[[str], None] = print,
) -> None:
    """Teach a compact VLM's projector, which begins calm; nothing else of it learns.

    Args:
        vlm: of `build_compact`, with a token for every cell of the map.
        samples: records with maps or points, and what the eyes gave for their pictures.
        steps: of training.
        batch: pictures of a step.
        rate: peak learning rate of AdamW.
        bfloat16: multiply in bfloat16.
        seed: of the heads and of the order of samples.
        report: told in a line how it goes.
    """
    if vlm.chat.patches != TOKENS:
        raise InputError(
            f"{vlm.chat.patches} tokens a picture are not {CELLS} cells of a map, "
            f"{STRIDE} for each of {len(LETTERS)} letters and {SLOTS} things"
        )
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    tower, projector = vlm.model.model.vision_tower, vlm.model.model.multi_modal_projector
    kinds = len(tower.config.kinds)
    heads = TokenHeads(vlm.model.config.text_config.hidden_size, kinds)
    learning = [*projector.parameters(), *heads.parameters()]
    optimizer = torch.optim.AdamW(learning, rate, weight_decay=0.05)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = rate * cosine_rate(step, steps, steps // 10)
        found = [samples.sample(int(k)) for k in rng.integers(len(samples), size=batch)]
        labels = [labels_of(record, look, kinds) for record, look in found]
        seen = torch.from_numpy(np.stack([look for _, look in found]).astype(np.float32))
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            scores = heads(projector(tower(seen).last_hidden_state))
        loss, right = judge_tokens(scores, labels)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        if (step + 1) % 50 == 0 or step + 1 == steps:
            shares = ", ".join(f"{name} {share:.3f}" for name, share in right.items())
            report(
                f"projector: step {step + 1} of {steps}, loss {float(loss.detach()):.3f}; {shares}"
            )


def judge_tokens(
    scores: dict[str, Tensor], labels: Sequence[TokenLabels]
) -> tuple[Tensor, dict[str, float]]:
    """Return the sum of all cross entropies, and the share of right labels of each kind.

    Args:
        scores: of `TokenHeads`.
        labels: of as many pictures.
    """
    losses, right = [], {}
    for name, said in scores.items():
        found: list[Any] = [getattr(one, name) for one in labels]
        wanted = torch.from_numpy(np.stack(found).astype(np.int64))
        known = wanted != UNKNOWN
        if not bool(known.any()):
            continue
        losses.append(F.cross_entropy(said.float()[known], wanted[known]))
        right[name] = float((said.argmax(-1) == wanted)[known].float().mean())
    return torch.stack(losses).sum(), right
