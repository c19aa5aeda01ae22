"""Score answers, maps and depth models on questions.

Three things can be scored on the same questions: what a model says, what its decoded maps (or boxes)
say, and what a depth model says that was never asked anything. An answer counts only if it is exactly
one of the choices; saying nothing is wrong, and counted beside.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.perception.codebook.score import Share
from sightline.perception.codebook.tokenizer import DepthTokenizer
from sightline.perception.model.answering import (
    GROUPS,
    PLACE,
    read_count_answer,
    read_depth_answer,
    speak_all,
)
from sightline.perception.model.loading import Picture, Speaker
from sightline.perception.model.speech import Speech
from sightline.perception.questions import counting, depth
from sightline.perception.questions.counting import read_number
from sightline.perception.questions.markers import SIDE, squash
from sightline.perception.quiz.items import LETTERS, QuizItem, grouped
from sightline.types import DepthMap

#: Told about a question that is left out, and why.
Skip = Callable[[QuizItem, InputError], None]


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of one question.

    Attributes:
        name: of the question.
        group: of the question.
        right: whether the words are; None where words were not asked for.
        perceived: whether the decoded map or the boxes are; None where there were none.
        verified: whether the answer is that perception backs, or the words where it says nothing.
        silent: whether the words gave no choice.
    """

    name: str
    group: str
    right: bool | None
    perceived: bool | None = None
    verified: bool | None = None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class QuizScore:
    """What came of a set.

    Attributes:
        judged: every question.
    """

    judged: tuple[Judged, ...]

    def share(self, what: str, group: str | None = None) -> Share | None:
        """Count `right`, `perceived` or `verified`; questions without it are wrong.

        None where no question has it at all.
        """
        rows = [one for one in self.judged if group is None or one.group == group]
        found = [getattr(one, what) for one in rows]
        if all(value is None for value in found):
            return None
        return Share(sum(value is True for value in found), len(found))

    @property
    def groups(self) -> list[str]:
        """Parts of the set, in order."""
        return sorted({one.group for one in self.judged})

    @property
    def silent(self) -> int:
        """How many questions got no choice for an answer."""
        return sum(one.silent for one in self.judged)


def judge_speaker(
    items: Sequence[QuizItem],
    speaker: Speaker,
    tokenizer: DepthTokenizer | None,
    *,
    steps: bool | str = True,
    seed: int | None = 0,
    batch: int = 8,
    looks: Callable[[Sequence[QuizItem]], Sequence[Picture]] | None = None,
    on_done: Callable[[int], None] | None = None,
    skip: Skip | None = None,
) -> QuizScore:
    """Ask a model all questions.

    Args:
        items: the questions.
        speaker: the model.
        tokenizer: decodes its maps; None to judge words alone.
        steps: ask for the usual steps, for others in words, or (False) for the answer alone.
        seed: of the order of choices; None to leave them.
        batch: questions at a time.
        looks: gives what the model's eyes gave for the pictures before; None to show the pictures.
        on_done: told how many are done.
        skip: told about a question whose picture cannot be read, which is then left out; None to stop
            there.
    """
    judged: list[Judged] = []
    asked = [item if seed is None else item.shuffled(seed) for item in items]
    for first in range(0, len(asked), batch):
        found = [(item, _read(item, skip)) for item in asked[first : first + batch]]
        pictures = [pixels for _, pixels in found if pixels is not None]
        some = [item for item, pixels in found if pixels is not None]
        if not some:
            continue
        sizes = [pixels.shape[:2] for pixels in pictures]
        shown = [squash(pixels) for pixels in pictures] if looks is None else looks(some)
        wanted = [_asked(item, steps, speaker.writing.speech) for item in some]
        counted = some[0].topic == "count"
        sides = GROUPS[speaker.writing.speech.counts_by] if counted else PLACE
        said = speak_all(speaker, shown, wanted, sides=sides)
        for item, size, text in zip(some, sizes, said, strict=True):
            if item.topic == "count":
                judged.append(_judge_count(item, text))
            else:
                decode = tokenizer if steps else None
                judged.append(_judge_depth(item, text, decode, size))
        if on_done is not None:
            on_done(len(judged))
    return QuizScore(tuple(judged))


def _read(item: QuizItem, skip: Skip | None) -> NDArray[np.uint8] | None:
    """Return a question's picture; None where it cannot be read, and that may be."""
    try:
        return item.read()
    except InputError as error:
        if skip is None:
            raise
        skip(item, error)
        return None


def _asked(item: QuizItem, steps: bool | str, speech: Speech) -> str:
    """Return the words of a question, and of the steps that are wanted."""
    if item.topic == "count":
        question, usual = item.question, counting.STEPS[speech.counts_by]
    else:
        question = item.text() if item.choices else depth.NEAREST
        usual = depth.STEPS[speech.places]
    if isinstance(steps, str):
        return question + steps
    return question + usual if steps else question


def _judge_depth(
    item: QuizItem, text: str, tokenizer: DepthTokenizer | None, size: tuple[int, ...]
) -> Judged:
    said = choice_of(text, len(item.choices))
    right = said == item.answer
    if tokenizer is None:
        return Judged(item.name, item.group, right, verified=right, silent=said is None)
    height, width = size
    given = {k: (x * SIDE / width, y * SIDE / height) for k, (x, y) in item.points.items()}
    answer = read_depth_answer(text, tokenizer, given or None)
    perceived = None if answer.decoded is None else answer.perceived == item.letter
    final = answer.final()
    verified = right if final is None else final == item.letter
    return Judged(item.name, item.group, right, perceived, verified, said is None)


def _judge_count(item: QuizItem, text: str) -> Judged:
    wanted = read_number(item.choices[item.answer])
    if wanted is None:
        return _judge_words(item, text)
    answer = read_count_answer(text, counting.kind_of(item.question) or "")
    right = answer.said is not None and answer.said == wanted
    perceived = None if answer.perceived is None else answer.perceived == wanted
    return Judged(
        item.name, item.group, right, perceived, answer.final() == wanted, answer.said is None
    )


def _judge_words(item: QuizItem, text: str) -> Judged:
    """Judge an answer to a question whose right choice has no number, such as "many": by its words."""
    said = {
        choice for choice in item.choices if re.search(rf"\b{re.escape(choice)}(?!\w)", text, re.I)
    }
    right = said == {item.choices[item.answer]}
    return Judged(item.name, item.group, right, verified=right, silent=len(said) != 1)


def judge_depth_model(
    items: Sequence[QuizItem],
    look: Callable[[NDArray[np.uint8]], DepthMap],
    on_done: Callable[[int], None] | None = None,
    skip: Skip | None = None,
) -> QuizScore:
    """Read a depth model at the points of the questions: the upper bound of a model that reasons.

    Args:
        items: the questions.
        look: the depth model.
        on_done: told how many are done.
        skip: as in `judge_speaker`.

    Raises:
        InputError: the set does not say where its points are.
    """
    if any(item.topic != "depth" or not item.points for item in items):
        raise InputError("the set does not say where its points are, so a depth model has no say")
    judged = []
    for number, item in enumerate(items, 1):
        pixels = _read(item, skip)
        if pixels is None:
            continue
        found = look(pixels)
        values = found.values if found.kind.larger_is_nearer else -found.values
        read = {k: float(values[int(y), int(x)]) for k, (x, y) in item.points.items()}
        best = [k for k, value in read.items() if value == max(read.values())]
        judged.append(Judged(item.name, item.group, best == [item.letter]))
        if on_done is not None:
            on_done(number)
    return QuizScore(tuple(judged))


def judge_at_random(items: Sequence[QuizItem]) -> dict[str, float]:
    """Return the share that guessing gets, by group."""
    found = {}
    for group, some in grouped(items).items():
        counts = [len(item.choices) or len(item.points) or _in_words(group) for item in some]
        found[group] = float(np.mean([1 / count for count in counts]))
    return found


def choice_of(text: str, choices: int = 0) -> int | None:
    """Return the number of the choice that an answer decides for, as `depth.read_answer` reads it.

    None where it decides for none, or for one beyond the last of `choices` (0: any letter is one).
    """
    letter = depth.read_answer(text)
    if letter is None:
        return None
    number = LETTERS.index(letter)
    return number if not choices or number < choices else None


def _in_words(group: str) -> int:
    found = re.match(r"(\d+) points", group)
    return int(found[1]) if found else 2
