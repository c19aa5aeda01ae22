"""Ask about a picture: which point is nearest, how many there are of a kind; with the steps shown.

The question's words decide what is asked. Points are drawn into the picture as the model was trained to
see them, the chain is written under constrained decoding, and what the model concludes is checked
against what it perceived.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.depth.images import Pictureable, as_picture
from sightline.errors import InputError
from sightline.perception.codebook.tokenizer import DepthTokenizer
from sightline.perception.model.answering import (
    GROUPS,
    CountAnswer,
    DepthAnswer,
    read_count_answer,
    read_depth_answer,
    speak,
)
from sightline.perception.model.loading import Speaker, load_speaker
from sightline.perception.questions import counting, depth
from sightline.perception.questions.markers import LETTERS, SIDE, draw_points, squash
from sightline.perception.questions.plurals import plural
from sightline.perception.vocabulary import Box, in_picture

Asked = Literal["nearest", "count", "map"]

#: Registry names of the model that answers, and of the codebook it was taught with.
SPEAKER, CODEBOOK = "speaker", "codebook"

#: Of a compact model that counts.
_CAUTION = "this model was taught to name things of rendered scenes; in a photograph it guesses"

#: To be near is to be near the camera, not the door.
_NEAREST = re.compile(
    r"\b(?:near(?:er|est)?|close(?:r|st)?)\b"
    r"(?!\s+to\s+(?!(?:the\s+)?(?:camera|viewer|observer|lens|me|us|you)\b))"
    r"|\b(?:in front|foremost)\b",
    re.IGNORECASE,
)
_NEAR_SOMETHING = re.compile(r"\b(near(er|est)?|close(r|st)?)\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|never|least)\b|n['’]t\b", re.IGNORECASE)
#: "A or B?"
_WHICH = re.compile(r"\s*[a-z](?:\s*(?:,|\bor\b)+\s*[a-z])+\s*\??\s*", re.IGNORECASE)
_FARTHEST = re.compile(r"\b(far(ther|thest)?|further|furthest|behind|distant)\b", re.IGNORECASE)
_PLACE = r"-?[0-9]+(?:\.[0-9]+)?"
_MAP = re.compile(r"\bdepth (map|tokens)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked.

    Attributes:
        asked: the kind of question.
        kind: of thing that is counted, as the user wrote it.
    """

    asked: Asked
    kind: str = ""


def understand(text: str, points: int) -> Question:
    """Work out what a question asks.

    Args:
        text: as the user wrote it.
        points: how many were given.

    Raises:
        InputError: no question, or none of the known kinds.
    """
    if not text.strip():
        raise InputError("there is no question", remedy='ask "which is nearest?" or "how many …?"')
    if kind := counting.kind_of(text):
        if points:
            raise InputError("points have no use in a question about how many")
        return Question("count", kind)
    if _MAP.search(text) and not points:
        return Question("map")
    if _FARTHEST.search(text) and not _NEAREST.search(text):
        raise InputError(
            "this asks what is farthest, and the model was taught which is nearest",
            remedy='ask "which is nearest?"',
        )
    if _asks_nearest(text):
        if points < 2:
            raise InputError(
                f"a question about depth compares points, got {points or 'none'}",
                remedy="give two to five, such as --points A=120,80 B=300,200",
            )
        return Question("nearest")
    if _NEAR_SOMETHING.search(text) and not _NOT.search(text):
        raise InputError(
            "this asks what is near something else, and the model was taught what is near the camera",
            remedy='mark points by --points and ask "which is nearest?"',
        )
    raise InputError(
        "this is no question of a known kind",
        remedy='known are "which is nearest?" with points, "how many …?" and "depth map"',
    )


def _asks_nearest(text: str) -> bool:
    if _NOT.search(text):
        return False
    return _NEAREST.search(text) is not None or _WHICH.fullmatch(text) is not None


def parse_points(words: list[str] | tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Read `A=120,80` and the like; behind Z come AA, AB and so on.

    >>> parse_points(["A=120,80", "B=300,200.5"])
    {'A': (120.0, 80.0), 'B': (300.0, 200.5)}
    """
    points: dict[str, tuple[float, float]] = {}
    for word in words:
        match = re.fullmatch(rf"([A-Za-z]{{1,2}})=({_PLACE}),({_PLACE})", word)
        if not match:
            raise InputError(f"point {word!r} cannot be understood", remedy="write A=120,80")
        letter = match[1].upper()
        if letter in points:
            raise InputError(f"point {letter} is given twice")
        points[letter] = (float(match[2]), float(match[3]))
    return points


def place(
    points: Mapping[str, tuple[float, float]], width: int, height: int
) -> dict[str, tuple[int, int]]:
    """Bring points of a picture to one of 336 × 336 px, by the letters that the model knows.

    Raises:
        InputError: too many, letters with gaps, or a point outside the picture.
    """
    if len(points) > len(LETTERS):
        raise InputError(
            f"{len(points)} points, and the model was taught at most {len(LETTERS)}",
            remedy="ask about fewer at a time",
        )
    wanted = LETTERS[: len(points)]
    if "".join(sorted(points)) != wanted:
        raise InputError(f"{len(points)} points are called {' '.join(wanted)}")
    placed = {}
    for letter in wanted:
        x, y = points[letter]
        if not (0 <= x < width and 0 <= y < height):
            raise InputError(
                f"point {letter} at {x:g},{y:g} lies outside the picture of {width} × {height} px"
            )
        placed[letter] = (int(x * SIDE / width), int(y * SIDE / height))
    if len(set(placed.values())) < len(placed):
        raise InputError(f"two points are the same place of the {SIDE} × {SIDE} px that are seen")
    return placed


@dataclass(frozen=True, slots=True, eq=False)
class Reply:
    """A question, its answer, and the steps between.

    Attributes:
        question: what was understood.
        answer: read from what the model said; a `DepthAnswer` for a map too.
        shown: (336, 336, 3) the picture as the model saw it.
        width: of the user's picture, [px].
        height: of it.
        verify: whether perception decides where words and perception disagree.
        caution: about the models, if any.
        points: by letter, in pixels of the user's picture.
    """

    question: Question
    answer: DepthAnswer | CountAnswer
    shown: NDArray[np.uint8]
    width: int
    height: int
    verify: bool = True
    caution: str = ""
    points: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def final(self) -> str | int | None:
        """The answer to give: a letter, a number, or None where there is none."""
        if self.question.asked == "map":
            return None
        return self.answer.final(verify=self.verify)

    @property
    def places(self) -> dict[str, tuple[float, float]]:
        """Points by letter as the user gave them, or as the model saw them, in the user's pixels."""
        if isinstance(self.answer, CountAnswer):
            return {}
        x, y = self.width / SIDE, self.height / SIDE
        seen = {letter: (a * x, b * y) for letter, (a, b) in self.answer.places.items()}
        return {letter: self.points.get(letter, place) for letter, place in seen.items()}

    def in_pixels(self, box: Box) -> list[float]:
        """Return a box in pixels of the user's picture."""
        return list(in_picture(box, self.width, self.height))

    def to_dict(self) -> dict[str, Any]:
        """Return everything for a program."""
        answer = self.answer
        common: dict[str, Any] = {
            "asked": self.question.asked,
            "answer": self.final,
            "said": answer.said,
            "perceived": answer.perceived,
            "agrees": answer.agrees,
            "verified": self.verify,
            "text": answer.text,
            "caution": self.caution,
        }
        x, y = self.width / SIDE, self.height / SIDE
        if isinstance(answer, CountAnswer):
            boxes = answer.boxes or ()
            return common | {
                "kind": self.question.kind,
                "boxes": [self.in_pixels(box) for box in boxes],
                "named": [{"kind": k, "box": self.in_pixels(box)} for k, box in answer.named],
            }
        return common | {
            "points": {k: [round(side, 1) for side in at] for k, at in self.places.items()},
            "own_points": {
                k: [round(a * x, 1), round(b * y, 1)] for k, (a, b) in answer.own_places.items()
            },
            "values": {k: round(v, 4) for k, v in answer.values.items()},
            "own_values": {k: round(v, 2) for k, v in answer.own_values.items()},
        }


def ask(
    image: Pictureable,
    question: str,
    points: Mapping[str, tuple[float, float]] | None = None,
    *,
    model: str | Path | Speaker = SPEAKER,
    codebook: str | Path | DepthTokenizer = CODEBOOK,
    verify: bool = True,
) -> Reply:
    """Ask about a picture: "which is nearest?" with points, "how many cars?", or "depth map".

    Models are loaded anew for every call; give loaded ones to ask many questions.

    Args:
        image: path, array or PIL picture.
        question: in words.
        points: by letter, in pixels of the picture: {"A": (120, 80), "B": (300, 200)}.
        model: registry name, file, folder or hub name of a model with perception tokens, or a loaded
            one (`load_speaker`).
        codebook: registry name, file or loaded codebook that the model was trained with.
        verify: let perception decide where words and perception disagree.

    Raises:
        InputError: the question, the points, the picture or the model are not what they must be.
    """
    understood = understand(question, len(points or {}))
    picture = as_picture(image)
    if understood.asked == "nearest":
        place(points or {}, picture.width, picture.height)  # mistakes are told before models load
    speaker = model if isinstance(model, Speaker) else load_speaker(model)
    tokenizer = codebook if isinstance(codebook, DepthTokenizer) else DepthTokenizer(codebook)
    return reply_to(picture, question, speaker, tokenizer, points, verify=verify)


def reply_to(
    image: Pictureable,
    text: str,
    speaker: Speaker,
    tokenizer: DepthTokenizer,
    points: Mapping[str, tuple[float, float]] | None = None,
    *,
    verify: bool = True,
) -> Reply:
    """Ask a loaded model.

    Args:
        image: the picture.
        text: the question.
        speaker: the model.
        tokenizer: of the codebook that the model was trained with.
        points: by letter, in pixels of the picture.
        verify: let perception decide where words and perception disagree.
    """
    question = understand(text, len(points or {}))
    picture = as_picture(image)
    seen = squash(picture.pixels)
    if question.asked == "count":
        _need(speaker.vocabulary.pixels, "pixel")
        kind = _counted_kind(speaker, question.kind)
        steps = counting.STEPS[speaker.writing.speech.counts_by]
        asked = counting.ASK_COUNT.format(kind) + steps
        sides = GROUPS[speaker.writing.speech.counts_by]
        counted = read_count_answer(speak(speaker, seen, asked, maps=0, sides=sides), kind)
        caution = _CAUTION if getattr(speaker.model.config.vision_config, "kinds", None) else ""
        return Reply(question, counted, seen, picture.width, picture.height, verify, caution)
    _need(speaker.vocabulary.codes, "depth")
    caution = speaker.check_codebook(tokenizer.sha256)
    if question.asked == "map":
        found = read_depth_answer(speak(speaker, seen, depth.GENERATE), tokenizer, {})
        return Reply(question, found, seen, picture.width, picture.height, verify, caution)
    placed = place(points or {}, picture.width, picture.height)
    shown = draw_points(seen, placed)
    said = speak(speaker, shown, depth.NEAREST + depth.STEPS[speaker.writing.speech.places])
    answer = read_depth_answer(said, tokenizer, dict(placed))
    size = (picture.width, picture.height)
    return Reply(
        question, answer, shown, *size, verify, caution, dict(sorted((points or {}).items()))
    )


def _counted_kind(speaker: Speaker, kind: str) -> str:
    """Return a kind as the model was taught to write it.

    Raises:
        InputError: it was never taught to count that: it would make something up.
    """
    if not speaker.counts:
        raise InputError(
            "this model was not taught to count",
            remedy="ask about points or the depth map, or give one that counts by --model",
        )
    known = getattr(speaker.model.config.vision_config, "kinds", None)
    if known is None:
        return kind
    for one in known:
        if kind in (one, plural(one)):
            return plural(one)
    raise InputError(
        f"this model was not taught to count {kind}",
        remedy=f"it knows {', '.join(plural(one) for one in known)}" if known else "take another",
    )


def _need(tokens: tuple[int, ...], what: str) -> None:
    if not tokens:
        raise InputError(
            f"this model has no {what} tokens", remedy="use one that was trained with them"
        )
