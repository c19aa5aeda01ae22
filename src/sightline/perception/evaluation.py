"""Score vision-language models and depth models on multiple-choice questions.

Three things are scored on the same questions: the words of a model, its decoded maps or boxes, and a
depth model without questions. An answer counts only if it is exactly one of the choices; no answer is
wrong, and counted separately.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.config import ParallelConfig
from sightline.depth.estimator import load
from sightline.errors import InputError, SightlineError
from sightline.intervals import wilson
from sightline.perception.codebook import DepthTokenizer
from sightline.perception.questions import counting, depth
from sightline.perception.questions.counting import read_number
from sightline.perception.questions.hardblink import MANY_LETTERS, SIDE, squash
from sightline.perception.tokens import CODES, START, from_text, to_text
from sightline.perception.vlm.generation import (
    GROUPS,
    PLACE,
    generate_answers,
    read_count_answer,
    read_depth_answer,
)
from sightline.perception.vlm.model import PerceptionVLM, Picture, load_vlm
from sightline.perception.vlm.processing import ChatTemplate
from sightline.runtime.parallel import WithModel, map_in_order, worker_threads
from sightline.types import DepthMap

#: Topic: which of some points or objects is nearest, or how many there are.
Topic = Literal["depth", "count"]

LETTERS = MANY_LETTERS


@dataclass(frozen=True, slots=True)
class Proportion:
    """Proportion of correct answers.

    Attributes:
        right: number of correct answers.
        asked: number of questions.
    """

    right: int
    asked: int

    @property
    def value(self) -> float:
        """Proportion, in [0, 1]."""
        return self.right / self.asked if self.asked else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """95 % Wilson interval."""
        return wilson(self.right, self.asked)


@dataclass(frozen=True, slots=True, eq=False)
class BenchmarkQuestion:
    """Multiple-choice question about an image.

    Attributes:
        name: id of the question in its set.
        topic: topic of the question.
        question: text without choices.
        choices: choices; empty if the answer is a letter drawn in the image.
        answer: index of the correct choice; 0 is A for letters in the image.
        read: reads the image, (H, W, 3) sRGB.
        points: x and y by letter in pixels of the image, if the set gives them.
        group: part of the set that is scored separately, such as the number of points.
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
        """Letter of the correct choice."""
        return LETTERS[self.answer]

    def shuffled(self, seed: int) -> BenchmarkQuestion:
        """Return the question with shuffled choices, so that a bias for a letter gains nothing.

        Questions about letters in the image are returned unchanged.
        """
        if len(self.choices) < 2:
            return self
        rng = np.random.default_rng([seed, *self.name.encode()])
        order = [int(k) for k in rng.permutation(len(self.choices))]
        return BenchmarkQuestion(
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
        """Return question and choices as one text."""
        if not self.choices:
            return self.question
        listed = "\n".join(f"({LETTERS[k]}) {choice}" for k, choice in enumerate(self.choices))
        return f"{self.question}\n{listed}\nAnswer with the letter of the right choice."


def letter_number(text: str, name: str) -> int:
    """Return the index of a choice: 1 for `(B)`, `B` or `b`.

    Raises:
        InputError: the text is not a letter.
    """
    bare = text.strip().strip("().").upper()
    if len(bare) != 1 or bare not in LETTERS:
        raise InputError(f"question {name}: the right answer {text!r} is no letter")
    return LETTERS.index(bare)


def grouped(items: Sequence[BenchmarkQuestion]) -> dict[str, list[BenchmarkQuestion]]:
    """Return the questions by group, in their order."""
    found: dict[str, list[BenchmarkQuestion]] = {}
    for item in items:
        found.setdefault(item.group, []).append(item)
    return found


#: Called with a skipped question and the reason.
Skip = Callable[[BenchmarkQuestion, InputError], None]


@dataclass(frozen=True, slots=True)
class QuestionResult:
    """Result of one question.

    Attributes:
        name: id of the question.
        group: group of the question.
        right: whether the words are correct; None if not asked for.
        perceived: whether the decoded map or boxes are correct; None if there are none.
        verified: whether the answer backed by perception, or else the words, is correct.
        silent: whether the words give no choice.
    """

    name: str
    group: str
    right: bool | None
    perceived: bool | None = None
    verified: bool | None = None
    silent: bool = False


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """Results of a question set.

    Attributes:
        judged: result of every question.
    """

    judged: tuple[QuestionResult, ...]

    def share(self, what: str, group: str | None = None) -> Proportion | None:
        """Return the accuracy of `right`, `perceived` or `verified`; missing values count as wrong.

        None if no question has a value.
        """
        rows = [one for one in self.judged if group is None or one.group == group]
        found = [getattr(one, what) for one in rows]
        if all(value is None for value in found):
            return None
        return Proportion(sum(value is True for value in found), len(found))

    @property
    def groups(self) -> list[str]:
        """Sorted groups of the set."""
        return sorted({one.group for one in self.judged})

    @property
    def silent(self) -> int:
        """Number of questions without a choice in the answer."""
        return sum(one.silent for one in self.judged)


def evaluate_vlm(
    items: Sequence[BenchmarkQuestion],
    vlm: PerceptionVLM,
    tokenizer: DepthTokenizer | None,
    *,
    steps: bool | str = True,
    seed: int | None = 0,
    batch: int = 8,
    looks: Callable[[Sequence[BenchmarkQuestion]], Sequence[Picture]] | None = None,
    on_done: Callable[[int], None] | None = None,
    skip: Skip | None = None,
) -> EvaluationResult:
    """Evaluate a vision-language model.

    Args:
        items: questions.
        vlm: model.
        tokenizer: decodes its maps; None to score words only.
        steps: True asks for the usual intermediate steps, a text for other ones, False for the answer
            alone.
        seed: random seed of the order of choices; None keeps them.
        batch: questions per forward pass.
        looks: returns cached image features of questions; None to show the images.
        on_done: called with the number of finished questions.
        skip: called with a question whose image cannot be read, which is then skipped; None to raise.
    """
    judged: list[QuestionResult] = []
    asked = [item if seed is None else item.shuffled(seed) for item in items]
    for first in range(0, len(asked), batch):
        found = [(item, _read(item, skip)) for item in asked[first : first + batch]]
        pictures = [pixels for _, pixels in found if pixels is not None]
        some = [item for item, pixels in found if pixels is not None]
        if not some:
            continue
        sizes = [pixels.shape[:2] for pixels in pictures]
        shown = [squash(pixels) for pixels in pictures] if looks is None else looks(some)
        wanted = [_asked(item, steps, vlm.chat.template) for item in some]
        counted = some[0].topic == "count"
        sides = GROUPS[vlm.chat.template.counts_by] if counted else PLACE
        said = generate_answers(vlm, shown, wanted, sides=sides)
        for item, size, text in zip(some, sizes, said, strict=True):
            if item.topic == "count":
                judged.append(_judge_count(item, text))
            else:
                decode = tokenizer if steps else None
                judged.append(_judge_depth(item, text, decode, size))
        if on_done is not None:
            on_done(len(judged))
    return EvaluationResult(tuple(judged))


def _read(item: BenchmarkQuestion, skip: Skip | None) -> NDArray[np.uint8] | None:
    """Return the image of a question; None if it is skipped."""
    try:
        return item.read()
    except InputError as error:
        if skip is None:
            raise
        skip(item, error)
        return None


def _asked(item: BenchmarkQuestion, steps: bool | str, template: ChatTemplate) -> str:
    """Return the text of a question and of the requested steps."""
    if item.topic == "count":
        question, usual = item.question, counting.STEPS[template.counts_by]
    else:
        question = item.text() if item.choices else depth.NEAREST
        usual = depth.STEPS[template.places]
    if isinstance(steps, str):
        return question + steps
    return question + usual if steps else question


def _judge_depth(
    item: BenchmarkQuestion, text: str, tokenizer: DepthTokenizer | None, size: tuple[int, ...]
) -> QuestionResult:
    said = choice_of(text, len(item.choices))
    right = said == item.answer
    if tokenizer is None:
        return QuestionResult(item.name, item.group, right, verified=right, silent=said is None)
    height, width = size
    given = {k: (x * SIDE / width, y * SIDE / height) for k, (x, y) in item.points.items()}
    answer = read_depth_answer(text, tokenizer, given or None)
    perceived = None if answer.decoded is None else answer.perceived == item.letter
    final = answer.final()
    verified = right if final is None else final == item.letter
    return QuestionResult(item.name, item.group, right, perceived, verified, said is None)


def _judge_count(item: BenchmarkQuestion, text: str) -> QuestionResult:
    wanted = read_number(item.choices[item.answer])
    if wanted is None:
        return _judge_words(item, text)
    answer = read_count_answer(text, counting.kind_of(item.question) or "")
    right = answer.said is not None and answer.said == wanted
    perceived = None if answer.perceived is None else answer.perceived == wanted
    return QuestionResult(
        item.name, item.group, right, perceived, answer.final() == wanted, answer.said is None
    )


def _judge_words(item: BenchmarkQuestion, text: str) -> QuestionResult:
    """Score an answer whose correct choice has no number, such as "many", by its words."""
    said = {
        choice for choice in item.choices if re.search(rf"\b{re.escape(choice)}(?!\w)", text, re.I)
    }
    right = said == {item.choices[item.answer]}
    return QuestionResult(item.name, item.group, right, verified=right, silent=len(said) != 1)


#: Where the codes of a map come from in the token-replacement test.
Replacement = Literal["own", "random", "other", "inverted", "truth"]
REPLACEMENTS: tuple[Replacement, ...] = get_args(Replacement)

#: Return the (H, W) disparity of an image as bytes, near is 255.
Truth = Callable[[NDArray[np.uint8]], NDArray[np.uint8]]


@dataclass(frozen=True, slots=True)
class ReplacedAnswer:
    """Conclusion of a model after its map was replaced.

    Attributes:
        name: id of the question.
        group: group of the question.
        replacement: source of the codes.
        said: letter of the conclusion; None if there is none.
        mapped: letter that the replaced map implies; None if undefined.
        own: letter that the model concludes from its own map.
        right: correct letter.
    """

    name: str
    group: str
    replacement: Replacement
    said: str | None
    mapped: str | None
    own: str | None
    right: str


@dataclass(frozen=True, slots=True)
class ReplacementResult:
    """Results of the token-replacement test.

    Attributes:
        answers: conclusions for every question and replacement.
        chance: accuracy of guessing.
    """

    answers: tuple[ReplacedAnswer, ...]
    chance: float

    def rows(self, replacement: Replacement) -> list[ReplacedAnswer]:
        """Return the answers of a replacement."""
        return [one for one in self.answers if one.replacement == replacement]

    def right(self, replacement: Replacement) -> Proportion:
        """Return the proportion of correct words."""
        rows = self.rows(replacement)
        return Proportion(sum(one.said == one.right for one in rows), len(rows))

    def follows(self, replacement: Replacement) -> Proportion:
        """Return the proportion of words that agree with the replaced map, where it decides."""
        rows = [one for one in self.rows(replacement) if one.mapped is not None]
        return Proportion(sum(one.said == one.mapped for one in rows), len(rows))

    def unchanged(self, replacement: Replacement) -> Proportion:
        """Return the proportion of words that are the same as with the model's own map."""
        rows = self.rows(replacement)
        return Proportion(sum(one.said == one.own for one in rows), len(rows))

    def difference(self, replacement: Replacement) -> tuple[float, float]:
        """Return how much more often words are correct than with own maps, and the half-width.

        The 95 % interval is that of the mean of paired differences.
        """
        rows = self.rows(replacement)
        paired = [float(r.said == r.right) - float(r.own == r.right) for r in rows]
        half = 1.96 * float(np.std(paired)) / max(1, len(paired)) ** 0.5
        return float(np.mean(paired)), half

    def passed(self) -> dict[str, bool]:
        """Return which criteria of the test are met, among those that were measured."""
        there = {one.replacement for one in self.answers}
        found = {}
        if "random" in there:
            limit = self.chance + 0.05
            found["random codes: at most chance + 5 points"] = self.right("random").value <= limit
        if "truth" in there:
            found["true codes: at least 95 % right"] = self.right("truth").value >= 0.95
        if "inverted" in there:
            share = self.follows("inverted").value
            found["inverted map: words follow it in at least 90 %"] = share >= 0.9
        return found


def replace_maps(
    items: Sequence[BenchmarkQuestion],
    vlm: PerceptionVLM,
    tokenizer: DepthTokenizer,
    replacements: Sequence[Replacement] = REPLACEMENTS,
    *,
    truth: Truth | None = None,
    seed: int = 0,
    batch: int = 8,
    looks: Callable[[Sequence[BenchmarkQuestion]], Sequence[Picture]] | None = None,
    on_done: Callable[[int], None] | None = None,
    skip: Skip | None = None,
) -> ReplacementResult:
    """Test whether the words of a model depend on the map it writes.

    The model answers in steps. Then the 100 codes of its map are replaced, and it continues after the
    map: by its own codes, random ones, those of the next question with another image, those of its own
    map inverted (near is far), or those of the reference depth.

    Args:
        items: questions about points.
        vlm: model with depth tokens.
        tokenizer: codebook of the model.
        replacements: sources of the codes.
        truth: reference depth of an image; required for `truth`.
        seed: random seed of codes.
        batch: questions per forward pass.
        looks: as in `evaluate_vlm`.
        on_done: called with the number of finished questions.
        skip: as in `evaluate_vlm`.

    Raises:
        InputError: the model has no depth tokens, questions are not about points, or `truth` is
            missing.
    """
    if not vlm.vocabulary.codes:
        raise InputError("this model has no depth tokens", remedy="use one trained with them")
    if any(item.topic != "depth" or item.choices for item in items):
        raise InputError("maps are replaced in questions about marked points only")
    if "truth" in replacements and truth is None:
        raise InputError("true codes need a reference depth")
    question = depth.NEAREST + depth.STEPS[vlm.chat.template.places]
    found: list[tuple[BenchmarkQuestion, Picture, str, NDArray[np.int64], NDArray[np.uint8]]] = []
    for first in range(0, len(items), batch):
        read = [(item, _read(item, skip)) for item in items[first : first + batch]]
        some = [(item, pixels) for item, pixels in read if pixels is not None]
        if not some:
            continue
        if looks is None:
            shown: Sequence[Picture] = [squash(pixels) for _, pixels in some]
        else:
            shown = looks([item for item, _ in some])
        said = generate_answers(vlm, shown, [question] * len(some))
        for (item, pixels), picture, text in zip(some, shown, said, strict=True):
            with suppress(InputError):  # without a complete map there is nothing to replace
                found.append((item, picture, text, from_text(text), pixels))
        if on_done is not None:
            on_done(min(len(items), first + batch))
    answers = []
    for replacement in replacements:
        new = [
            _new_codes(replacement, number, found, tokenizer, truth, seed)
            for number in range(len(found))
        ]
        for first in range(0, len(found), batch):
            part, codes = found[first : first + batch], new[first : first + batch]
            begun = [
                text[: text.index(START)] + to_text(code)
                for (_, _, text, _, _), code in zip(part, codes, strict=True)
            ]
            said = generate_answers(
                vlm, [one[1] for one in part], [question] * len(part), begun=begun
            )
            for (item, _, text, _, pixels), after in zip(part, said, strict=True):
                height, width = pixels.shape[:2]
                given = {
                    k: (x * SIDE / width, y * SIDE / height) for k, (x, y) in item.points.items()
                }
                answer = read_depth_answer(after, tokenizer, given or None)
                answers.append(
                    ReplacedAnswer(
                        item.name,
                        item.group,
                        replacement,
                        answer.said,
                        answer.perceived,
                        depth.read_answer(text),
                        item.letter,
                    )
                )
    chance = chance_accuracy([one[0] for one in found])
    guess = float(np.mean([chance[one[0].group] for one in found])) if found else float("nan")
    return ReplacementResult(tuple(answers), guess)


def format_replacements(
    result: ReplacementResult, replacements: Sequence[Replacement]
) -> list[str]:
    """Return the lines of a Markdown table of the token-replacement test, and its criteria."""
    lines = [
        "| codes of the map | words right | against own map | words follow the map | words unchanged |",
        "|---|---|---|---|---|",
    ]
    for one in replacements:
        change, half = result.difference(one)
        cells = [f"{100 * change:+.1f} ± {100 * half:.1f}"]
        shares = (result.right(one), result.follows(one), result.unchanged(one))
        shown = [f"{100 * share.value:.1f}" if share.asked else "–" for share in shares]
        lines.append(f"| {one} | {shown[0]} | {cells[0]} | {shown[1]} | {shown[2]} |")
    count = len(result.rows(replacements[0]))
    lines += [
        "",
        f"{count} questions, percent; chance {100 * result.chance:.1f}; paired 95 % intervals.",
    ]
    for name, met in result.passed().items():
        lines.append(f"{'passed' if met else 'not passed'}: {name}")
    return lines


def _new_codes(
    replacement: Replacement,
    number: int,
    found: Sequence[tuple[BenchmarkQuestion, Picture, str, NDArray[np.int64], NDArray[np.uint8]]],
    tokenizer: DepthTokenizer,
    truth: Truth | None,
    seed: int,
) -> NDArray[np.int64]:
    """Return the (10, 10) codes that replace those of answer `number`."""
    codes, pixels = found[number][3:]
    if replacement == "random":
        rng = np.random.default_rng([seed, number])
        return rng.integers(0, CODES, codes.shape)
    if replacement == "other":
        turns = [*found[number + 1 :], *found[:number]]
        others = (one[3] for one in turns if not np.array_equal(one[3], codes))
        return next(others, codes)
    if replacement == "inverted":
        inverted = np.rint(255 * (1 - tokenizer.decode(codes))).astype(np.uint8)
        return tokenizer.encode(inverted)
    if replacement == "truth" and truth is not None:
        return tokenizer.encode(truth(pixels))
    return codes


def evaluate_depth_model(
    items: Sequence[BenchmarkQuestion],
    look: Callable[[NDArray[np.uint8]], DepthMap],
    on_done: Callable[[int], None] | None = None,
    skip: Skip | None = None,
) -> EvaluationResult:
    """Evaluate a depth model at the points of the questions, as an upper bound for reasoning models.

    Args:
        items: questions with points.
        look: depth model.
        on_done: called with the number of finished questions.
        skip: as in `evaluate_vlm`.

    Raises:
        InputError: the set does not give the points.
    """
    if any(item.topic != "depth" or not item.points for item in items):
        raise InputError(
            "the set does not give the positions of its points, which a depth model needs"
        )
    judged = []
    for number, item in enumerate(items, 1):
        pixels = _read(item, skip)
        if pixels is None:
            continue
        found = look(pixels)
        values = found.values if found.kind.larger_is_nearer else -found.values
        read = {k: float(values[int(y), int(x)]) for k, (x, y) in item.points.items()}
        best = [k for k, value in read.items() if value == max(read.values())]
        judged.append(QuestionResult(item.name, item.group, best == [item.letter]))
        if on_done is not None:
            on_done(number)
    return EvaluationResult(tuple(judged))


#: Model that answers a few questions: called with them and with what to do with unreadable ones.
Judge = Callable[[Sequence[BenchmarkQuestion], Skip], EvaluationResult]


def load_vlm_judge(
    model: str,
    codebook: str = "codebook",
    *,
    direct: bool = False,
    seed: int | None = 0,
    threads: int | None = None,
    notify: Callable[[str], None] | None = None,
) -> Judge:
    """Load a vision-language model for `evaluate_questions`.

    Args:
        model: folder, file or hub name of a LLaVA-type model.
        codebook: codebook of the model's depth tokens.
        direct: ask for the answer alone, without intermediate steps.
        seed: random seed of the order of choices; None keeps them.
        threads: number of CPU threads; None for torch's choice.
        notify: called with a warning if the model was trained with another codebook.
    """
    import torch

    if threads is not None:
        torch.set_num_threads(threads)
    vlm = load_vlm(model)
    tokenizer = None
    if vlm.vocabulary.codes and not direct:
        tokenizer = DepthTokenizer(codebook)
        caution = vlm.check_codebook(tokenizer.sha256)
        if caution and notify is not None:
            notify(caution)
    return lambda items, skip: evaluate_vlm(
        items, vlm, tokenizer, steps=not direct, seed=seed, skip=skip
    )


def load_depth_judge(model: str, *, threads: int | None = None) -> Judge:
    """Load a depth model for `evaluate_questions`; see `evaluate_depth_model`."""
    infer = load(model, threads=threads).infer
    return lambda items, skip: evaluate_depth_model(items, infer, skip=skip)


def evaluate_questions(
    items: Sequence[BenchmarkQuestion],
    load_judge: Callable[..., Judge],
    *,
    batch: int = 8,
    parallel: ParallelConfig | None = None,
    on_done: Callable[[int], None] | None = None,
    skip: Skip | None = None,
) -> EvaluationResult:
    """Evaluate a model on batches of questions, in this process or in several.

    The batches, and so the results, do not depend on the number of workers.

    Args:
        items: questions.
        load_judge: called with `threads` in each process; `load_vlm_judge` or `load_depth_judge` with
            their other arguments set by `functools.partial`.
        batch: questions per forward pass.
        parallel: where to run. Default: in this process.
        on_done: called with the number of finished questions.
        skip: called with a question whose image cannot be read, which is then skipped; None to raise.
    """
    parallel = parallel or ParallelConfig()
    batches = [list(items[first : first + batch]) for first in range(0, len(items), batch)]
    own = partial(load_judge, threads=worker_threads(parallel, len(batches)))
    judged: list[QuestionResult] = []
    done = 0
    with closing(map_in_order(WithModel(own, _judge_batch), batches, parallel)) as answers:
        for answer in answers:
            if answer.result is None:
                raise answer.failure or SightlineError("a batch of questions has no result")
            results, skipped = answer.result
            judged += results
            for number, error in skipped:
                if skip is None:
                    raise error
                skip(answer.item[number], error)
            done += len(answer.item)
            if on_done is not None:
                on_done(done)
    return EvaluationResult(tuple(judged))


def _judge_batch(
    judge: Judge, items: Sequence[BenchmarkQuestion]
) -> tuple[tuple[QuestionResult, ...], list[tuple[int, InputError]]]:
    """Return the results of a batch, and the indexes and errors of skipped questions."""
    names = [item.name for item in items]
    skipped: list[tuple[int, InputError]] = []
    found = judge(items, lambda item, error: skipped.append((names.index(item.name), error)))
    return found.judged, skipped


def chance_accuracy(items: Sequence[BenchmarkQuestion]) -> dict[str, float]:
    """Return the accuracy of guessing, by group."""
    found = {}
    for group, some in grouped(items).items():
        counts = [len(item.choices) or len(item.points) or _in_words(group) for item in some]
        found[group] = float(np.mean([1 / count for count in counts]))
    return found


def choice_of(text: str, choices: int = 0) -> int | None:
    """Return the index of the choice that an answer decides for, see `depth.read_answer`.

    None if it decides for none, or for one beyond `choices` (0 allows any letter).
    """
    letter = depth.read_answer(text)
    if letter is None:
        return None
    number = LETTERS.index(letter)
    return number if not choices or number < choices else None


def _in_words(group: str) -> int:
    found = re.match(r"(\d+) points", group)
    return int(found[1]) if found else 2
