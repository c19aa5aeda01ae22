"""Ask a speaker, and check what it says against what it perceives.

A chain has three steps: where the points are, the depth map, the conclusion. The last one is where
models fail most (AURORA: 79 % of the maps are right, 62 % of the answers), and it can be checked: the
map that the model wrote itself says which point is nearest. The same goes for counting: the boxes that
it listed say how many there are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch

from sightline.errors import InputError
from sightline.perception.codebook.score import values_at
from sightline.perception.codebook.tokenizer import DepthTokenizer
from sightline.perception.codebook.words import END, START
from sightline.perception.decoding import WholeBoxes, WholeMaps
from sightline.perception.model.loading import Picture, Speaker
from sightline.perception.questions import counting, depth, scanning
from sightline.perception.vocabulary import Box, boxes_from_text
from sightline.types import FloatArray

T = TypeVar("T")

#: Tokens of an answer, at most: a chain about five points and its map takes some 250.
MOST_TOKENS = 400
#: Pixel tokens of a place and of a box.
PLACE, BOX, ROW = 2, 4, 0
#: Pixel tokens of a group in lists of things, by how a model lists them.
GROUPS: dict[counting.Listing, int] = {"boxes": BOX, "things": ROW}


class Checked(ABC, Generic[T]):
    """An answer in words, and what the perception behind it says."""

    __slots__ = ()

    said: T | None

    @property
    @abstractmethod
    def perceived(self) -> T | None:
        """What the model's own perception says; None where it says nothing."""

    @property
    def agrees(self) -> bool | None:
        """Whether words and perception agree; None where either says nothing."""
        if self.said is None or self.perceived is None:
            return None
        return self.said == self.perceived

    def final(self, *, verify: bool = True) -> T | None:
        """Return the answer to give: by perception where that says one, else by the words."""
        if verify and self.perceived is not None:
            return self.perceived
        return self.said


@dataclass(frozen=True, slots=True, eq=False)
class DepthAnswer(Checked[str]):
    """What a speaker said about points, and what its own map says.

    Attributes:
        text: all it said.
        said: letter of its conclusion; None where it came to none.
        places: x and y by letter, in pixels of a picture of 336 × 336 px; those that were given, else
            those that it said.
        own_places: those that it said.
        decoded: (320, 320) disparity of the map that it wrote, 0 to 1; None without a map.
        values: of that map at the places.
        own_values: what it said that its map reads there, 0 to 1.
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
        """Letter of the point that is nearest by its map; None where two are equally near."""
        if len(self.values) < 2:
            return None
        best = max(self.values.values())
        winners = [letter for letter, value in self.values.items() if value == best]
        return winners[0] if len(winners) == 1 else None


@dataclass(frozen=True, slots=True)
class CountAnswer(Checked[int]):
    """What a speaker said about a number, and what its own boxes say.

    Attributes:
        text: all it said.
        said: the number; None where it named none.
        boxes: that it listed, in pixels of a picture of 336 × 336 px; None where it listed none and did
            not say that there are none.
        named: kind, in the plural, and box of everything that it named, where it named all things.
    """

    text: str
    said: int | None
    boxes: tuple[Box, ...] | None
    named: tuple[tuple[str, Box], ...] = ()

    @property
    def perceived(self) -> int | None:
        """How many boxes it listed."""
        return None if self.boxes is None else len(self.boxes)


def speak(
    speaker: Speaker,
    pixels: Picture,
    question: str,
    *,
    maps: int = 1,
    sides: int = PLACE,
    most_tokens: int = MOST_TOKENS,
    **settings: Any,
) -> str:
    """Show a picture, ask, and return all that the model says; arguments as in `speak_all`."""
    (said,) = speak_all(
        speaker, [pixels], [question], maps=maps, sides=sides, most_tokens=most_tokens, **settings
    )
    return said


def speak_all(
    speaker: Speaker,
    pictures: Sequence[Picture],
    questions: Sequence[str],
    *,
    maps: int = 1,
    sides: int = PLACE,
    most_tokens: int = MOST_TOKENS,
    **settings: Any,
) -> list[str]:
    """Show pictures, ask a question about each, and return all that the model says of each.

    Args:
        speaker: the model.
        pictures: (H, W, 3) sRGB each, or what its eyes gave for them before.
        questions: one for every picture.
        maps: depth maps that an answer may have.
        sides: pixel tokens of a group: `PLACE` in answers about points, `BOX` in lists of boxes,
            `ROW` for rows of any length.
        most_tokens: of an answer.
        settings: for `generate`, such as `num_beams`; greedy without any, as in the paper.
    """
    from transformers import LogitsProcessorList

    if not all(question.strip() for question in questions):
        raise InputError("there is no question")
    prompts = [speaker.writing.prompt(question) for question in questions]
    length = max(len(prompt) for prompt in prompts)
    processors = LogitsProcessorList()
    if speaker.vocabulary.start is not None:
        processors.append(WholeMaps(speaker.vocabulary, length, most=maps))
    if speaker.vocabulary.pixels and sides:
        processors.append(WholeBoxes(speaker.vocabulary, length, sides=sides))
    tokenizer = speaker.writing.tokenizer
    padding = tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    # Shorter prompts are padded on the left, so that all answers begin at the same place.
    ids = torch.tensor([[padding] * (length - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (length - len(p)) + [1] * len(p) for p in prompts])
    device = speaker.model.device
    with torch.inference_mode():
        said = speaker.model.generate(
            input_ids=ids.to(device),
            attention_mask=mask.to(device),
            pixel_values=speaker.show(pictures).to(device, speaker.model.dtype),
            max_new_tokens=most_tokens,
            logits_processor=processors,
            pad_token_id=padding,
            **{"do_sample": False, **settings},
        )
    return [speaker.writing.read(row[length:]) for row in said]


def read_depth_answer(
    text: str,
    tokenizer: DepthTokenizer,
    given: Mapping[str, tuple[float, float]] | None = None,
) -> DepthAnswer:
    """Read a chain about points.

    Args:
        text: all that a model said.
        tokenizer: decodes the map.
        given: x and y of the points where they are known, in pixels of 336 × 336; the map is then read
            there, whatever the model said of their places, and what it said of other letters, that
            nobody marked, is not taken for a point.
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
    """Read a chain about a number.

    Args:
        text: all that a model said.
        kind: that was asked for, as it was written in the question: where all things were named, those
            that were named so count.
    """
    said = counting.read_number(text)
    try:
        named = scanning.read_listing(text)
        boxes = boxes_from_text(text) if named is None else [box for k, box in named if k == kind]
    except InputError:
        return CountAnswer(text, said, None)
    if named is None and not boxes and said != 0:
        return CountAnswer(text, said, None)
    return CountAnswer(text, said, tuple(boxes), tuple(named or ()))
