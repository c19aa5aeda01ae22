"""Generate answers and verify them against the model's own perception.

A chain has three steps: positions of the points, depth map, conclusion. Models fail most in the
last one (AURORA: 79 % of the maps are right, 62 % of the answers), and it can be verified: the map
that the model wrote shows which point is nearest, and the boxes that it listed show how many there
are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch

from sightline.errors import InputError
from sightline.perception.codebook import DepthTokenizer, values_at
from sightline.perception.decoding import BoxConstraint, DepthMapConstraint
from sightline.perception.questions import counting, depth
from sightline.perception.tokens import END, START, Box, boxes_from_text
from sightline.perception.vlm.model import PerceptionVLM, Picture
from sightline.types import FloatArray

T = TypeVar("T")

#: Maximum tokens of an answer; a chain with five points and a map takes about 250.
MOST_TOKENS = 400
#: Pixel tokens of a group: point, box, and rows of any length.
PLACE, BOX, ROW = 2, 4, 0
#: Pixel tokens of a group in lists of objects, by the kind of list.
GROUPS: dict[counting.Listing, int] = {"boxes": BOX, "things": ROW}


class CheckedAnswer(ABC, Generic[T]):
    """Answer in words together with the underlying perception."""

    __slots__ = ()

    said: T | None

    @property
    @abstractmethod
    def perceived(self) -> T | None:
        """Answer that follows from the model's perception; None if undefined."""

    @property
    def agrees(self) -> bool | None:
        """Whether words and perception agree; None if either is missing."""
        if self.said is None or self.perceived is None:
            return None
        return self.said == self.perceived

    def final(self, *, verify: bool = True) -> T | None:
        """Return the final answer: by perception if defined and `verify`, else by the words."""
        if verify and self.perceived is not None:
            return self.perceived
        return self.said


@dataclass(frozen=True, slots=True, eq=False)
class DepthAnswer(CheckedAnswer[str]):
    """Parsed answer about points.

    Attributes:
        text: complete answer.
        said: letter of its conclusion; None if there is none.
        places: x and y by letter, in pixels of an image of 336 × 336 px: those given, else those
            written.
        own_places: x and y that the answer states.
        decoded: (320, 320) disparity of the written map, in [0, 1]; None without a map.
        values: values of that map at the places.
        own_values: values that the answer states, in [0, 1].
    """

    text: str
    said: str | None
    places: Mapping[str, tuple[float, float]]
    own_places: Mapping[str, tuple[int, int]]
    decoded: FloatArray | None
    values: Mapping[str, float]
    own_values: Mapping[str, float]

    @property
    def perceived(self) -> str | None:
        """Letter of the nearest point by the map; None if two are equally near."""
        if len(self.values) < 2:
            return None
        best = max(self.values.values())
        winners = [letter for letter, value in self.values.items() if value == best]
        return winners[0] if len(winners) == 1 else None


@dataclass(frozen=True, slots=True)
class CountAnswer(CheckedAnswer[int]):
    """Parsed answer about a count.

    Attributes:
        text: complete answer.
        said: stated count; None if there is none.
        boxes: listed boxes, in pixels of an image of 336 × 336 px; None if it lists none and does not
            state that there are none.
        named: kind (plural) and box of all named objects, for answers that name all objects.
    """

    text: str
    said: int | None
    boxes: tuple[Box, ...] | None
    named: tuple[tuple[str, Box], ...] = ()

    @property
    def perceived(self) -> int | None:
        """Number of listed boxes."""
        return None if self.boxes is None else len(self.boxes)


def generate_answer(
    vlm: PerceptionVLM,
    pixels: Picture,
    question: str,
    *,
    maps: int = 1,
    sides: int = PLACE,
    most_tokens: int = MOST_TOKENS,
    **settings: Any,
) -> str:
    """Generate the answer to one question; arguments as in `generate_answers`."""
    (said,) = generate_answers(
        vlm, [pixels], [question], maps=maps, sides=sides, most_tokens=most_tokens, **settings
    )
    return said


def generate_answers(
    vlm: PerceptionVLM,
    pictures: Sequence[Picture],
    questions: Sequence[str],
    *,
    maps: int = 1,
    sides: int = PLACE,
    most_tokens: int = MOST_TOKENS,
    begun: Sequence[str] | None = None,
    **settings: Any,
) -> list[str]:
    """Generate answers to questions about images, one per image.

    Args:
        vlm: model.
        pictures: (H, W, 3) sRGB each, or cached features of the vision tower.
        questions: one question per image.
        maps: maximum depth maps of an answer.
        sides: pixel tokens of a group: `PLACE` in answers about points, `BOX` in lists of boxes, `ROW`
            for rows of any length.
        most_tokens: maximum tokens of an answer.
        begun: beginning of each answer, which the model continues; it is part of the result.
        settings: arguments of `generate`, such as `num_beams`; greedy by default, as in the paper.
    """
    from transformers import LogitsProcessorList

    if not all(question.strip() for question in questions):
        raise InputError("the question is empty")
    prompts = [vlm.chat.prompt(question) for question in questions]
    if begun is not None:
        prompts = [[*p, *vlm.chat.answer(t)[:-1]] for p, t in zip(prompts, begun, strict=True)]
    length = max(len(prompt) for prompt in prompts)
    # Maps in the beginning of an answer count; questions contain none.
    asked = length if begun is None else 0
    processors = LogitsProcessorList()
    if vlm.vocabulary.start is not None:
        processors.append(DepthMapConstraint(vlm.vocabulary, asked, most=maps))
    if vlm.vocabulary.pixels and sides:
        processors.append(BoxConstraint(vlm.vocabulary, length, sides=sides))
    tokenizer = vlm.chat.tokenizer
    padding = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    # Prompts are padded on the left, so that all answers start at the same position.
    ids = torch.tensor([[padding] * (length - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (length - len(p)) + [1] * len(p) for p in prompts])
    device = vlm.model.device
    with torch.inference_mode():
        said = vlm.model.generate(
            input_ids=ids.to(device),
            attention_mask=mask.to(device),
            pixel_values=vlm.show(pictures).to(device, vlm.model.dtype),
            max_new_tokens=most_tokens,
            logits_processor=processors,
            pad_token_id=padding,
            **{"do_sample": False, **settings},
        )
    texts = [vlm.chat.read(row[length:]) for row in said]
    return texts if begun is None else [a + b for a, b in zip(begun, texts, strict=True)]


def read_depth_answer(
    text: str,
    tokenizer: DepthTokenizer,
    given: Mapping[str, tuple[float, float]] | None = None,
) -> DepthAnswer:
    """Parse an answer about points.

    Args:
        text: generated answer.
        tokenizer: decodes the map.
        given: known points in pixels of 336 × 336; the map is then read there, and stated positions of
            other letters are ignored.
    """
    try:
        own = depth.read_places(text)
    except InputError:
        own = {}
    readings = depth.read_readings(text)
    if given:
        own = {letter: place for letter, place in own.items() if letter in given}
        readings = {letter: value for letter, value in readings.items() if letter in given}
    places: Mapping[str, tuple[float, float]] = given if given is not None else dict(own)
    decoded, values = None, {}
    if START in text and END in text:
        try:
            decoded = tokenizer.from_text(text)
        except InputError:
            decoded = None
    if decoded is not None:
        values = values_at(decoded, places)
    said = depth.read_answer(text)
    return DepthAnswer(text, said, places, own, decoded, values, readings)


def read_count_answer(text: str, kind: str) -> CountAnswer:
    """Parse an answer about a count.

    Args:
        text: generated answer.
        kind: kind asked for, as written in the question; selects among all named objects.
    """
    said = counting.read_number(text)
    try:
        named = counting.read_listing(text)
        boxes = boxes_from_text(text) if named is None else [box for k, box in named if k == kind]
    except InputError:
        return CountAnswer(text, said, None)
    if named is None and not boxes and said != 0:
        return CountAnswer(text, said, None)
    return CountAnswer(text, said, tuple(boxes), tuple(named or ()))
