"""From perceiving to reasoning: how samples are mixed as training goes.

AURORA's schedule: ten epochs of one size. The first is the atomic task alone (writing depth maps, or
boxes); its share then falls by a tenth every epoch, and questions with chains fill the rest, over and
over. Within an epoch the atomic block comes first. The paper writes it as a softmax over difficulty
with a falling temperature but gives no figures for it; its code is this table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.errors import InputError
from sightline.running.checks import at_least_one


@dataclass(frozen=True, slots=True)
class Curriculum:
    """The schedule.

    Attributes:
        atomic: samples of perception alone.
        reasoning: samples with questions.
        size: samples of an epoch.
        epochs: of them.
        last: share of the atomic task in the last epoch; it falls evenly from 1.
    """

    atomic: int
    reasoning: int
    size: int
    epochs: int = 10
    last: float = 0.1

    def __post_init__(self) -> None:
        at_least_one(self, "size", "epochs")
        if min(self.atomic, self.reasoning) < 1:
            raise InputError("a curriculum needs samples of both kinds")
        if not 0 <= self.last <= 1:
            raise InputError(f"a share lies in 0 to 1, got {self.last:g}")

    def share(self, epoch: int) -> float:
        """Return the atomic share of an epoch."""
        if self.epochs == 1:
            return 1.0
        return 1.0 - (1.0 - self.last) * epoch / (self.epochs - 1)

    def epoch(self, number: int, seed: int = 0) -> list[tuple[bool, int]]:
        """Return the samples of an epoch in order: (whether it is atomic, its number)."""
        rng = np.random.default_rng([seed, number])
        first = round(self.share(number) * self.size)
        chosen = [(True, int(k)) for k in _some(self.atomic, first, rng)]
        return chosen + [
            (False, k % self.reasoning) for k in range(self._used(number), self._used(number + 1))
        ]

    def _used(self, epoch: int) -> int:
        """How many reasoning samples all epochs before have taken; they go round and round."""
        return sum(self.size - round(self.share(k) * self.size) for k in range(epoch))

    def __len__(self) -> int:
        return self.size * self.epochs


def _some(count: int, wanted: int, rng: np.random.Generator) -> Sequence[int]:
    """Return `wanted` numbers below `count`, each about equally often, shuffled."""
    rounds = -(-wanted // count)
    return [int(k) for _ in range(rounds) for k in rng.permutation(count)][:wanted]


def in_order(curriculum: Curriculum, seed: int = 0) -> Iterator[tuple[bool, int]]:
    """Yield all samples of all epochs in order: a sampler, or the rows of a single file."""
    for number in range(curriculum.epochs):
        yield from curriculum.epoch(number, seed)
