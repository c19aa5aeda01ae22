"""One question of a benchmark, whatever its layout was."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.perception.questions.markers import MANY_LETTERS

#: What is asked: which of some points or things is nearest, or how many there are.
Topic = Literal["depth", "count"]

LETTERS = MANY_LETTERS


@dataclass(frozen=True, slots=True, eq=False)
class QuizItem:
    """A question with choices.

    Attributes:
        name: of the question, in its set.
        topic: what it is about.
        question: in words, without the choices.
        choices: by number; empty where the answer is a letter that stands in the picture.
        answer: the right choice's number; for letters in the picture 0 is A.
        read: reads the picture, (H, W, 3) sRGB.
        points: x and y by letter in pixels of the picture, where the set gives them.
        group: part of the set that is counted by itself, such as the number of points.
    """

    name: str
    topic: Topic
    question: str
    choices: tuple[str, ...]
    answer: int
    read: Callable[[], NDArray[np.uint8]]
    points: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    group: str = ""

    def __post_init__(self) -> None:
        if self.topic == "count" and not self.choices:
            raise InputError(f"question {self.name}: it asks how many and has no choices")
        count = len(self.choices) or len(LETTERS)
        if not 0 <= self.answer < count:
            raise InputError(f"question {self.name}: no choice has number {self.answer}")

    @property
    def letter(self) -> str:
        """Letter of the right choice."""
        return LETTERS[self.answer]

    def shuffled(self, seed: int) -> QuizItem:
        """Return it with its choices in another order, so that a liking for a letter gains nothing.

        Letters that stand in the picture cannot be exchanged: such a question stays as it is.
        """
        if len(self.choices) < 2:
            return self
        rng = np.random.default_rng([seed, *self.name.encode()])
        order = [int(k) for k in rng.permutation(len(self.choices))]
        return QuizItem(
            self.name,
            self.topic,
            self.question,
            tuple(self.choices[k] for k in order),
            order.index(self.answer),
            self.read,
            self.points,
            self.group,
        )

    def text(self) -> str:
        """Return question and choices as they are asked."""
        if not self.choices:
            return self.question
        listed = "\n".join(f"({LETTERS[k]}) {choice}" for k, choice in enumerate(self.choices))
        return f"{self.question}\n{listed}\nAnswer with the letter of the right choice."


def letter_number(text: str, name: str) -> int:
    """Read `(B)`, `B` or `b` as 1.

    Raises:
        InputError: it is no letter of a choice.
    """
    bare = text.strip().strip("().").upper()
    if len(bare) != 1 or bare not in LETTERS:
        raise InputError(f"question {name}: the right answer {text!r} is no letter")
    return LETTERS.index(bare)


def grouped(items: Sequence[QuizItem]) -> dict[str, list[QuizItem]]:
    """Return the questions by group, in their order."""
    found: dict[str, list[QuizItem]] = {}
    for item in items:
        found.setdefault(item.group, []).append(item)
    return found
