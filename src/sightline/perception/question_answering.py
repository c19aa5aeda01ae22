"""Ask about an image: about the depth and places of points, how many objects there are, its depth map.

The kind of question follows from its words (`questions.points`). For "which is nearest?", points are
drawn into the image as in training, the answer is generated with constrained decoding, and its
conclusion is checked against the map that the model wrote. All other questions about points are
answered from that map, from the coordinates, or from metric depth (`point_answers`), and the answer
lists what it used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.depth.preprocessing import Pictureable, as_picture
from sightline.errors import InputError
from sightline.perception.codebook import DepthTokenizer
from sightline.perception.point_answers import (
    Measure,
    PointAnswer,
    answer_by_map,
    answer_by_meters,
    answer_by_place,
)
from sightline.perception.questions import counting, depth
from sightline.perception.questions.counting import plural
from sightline.perception.questions.hardblink import LETTERS, SIDE, draw_points, squash
from sightline.perception.questions.points import ALPHABET, PointQuestion, parse_point_question
from sightline.perception.tokens import Box, from_text, in_picture
from sightline.perception.vlm.generation import (
    GROUPS,
    CountAnswer,
    DepthAnswer,
    generate_answer,
    read_count_answer,
    read_depth_answer,
)
from sightline.perception.vlm.model import PerceptionVLM, load_vlm

QuestionKind = Literal["nearest", "points", "count", "map"]

#: Default model and codebook in the registry.
VLM, CODEBOOK = "perception-vlm", "codebook"

#: Caution about counts of a compact model.
_CAUTION = "this model was trained on objects of rendered scenes; counts in photos are guesses"

#: "Near to the door" asks for another distance than that to the camera.
_NEAR_SOMETHING = re.compile(r"\b(near(er|est)?|close(r|st)?)\b", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|never|least)\b|n['’]t\b", re.IGNORECASE)
_SUPPORTED = (
    "with points: which is nearest, farthest, second nearest, leftmost; the order; between; the "
    'same distance; "is A in front of B?"; "how far is A?"; without: "how many …?" and "depth map"'
)
_PLACE = r"-?[0-9]+(?:\.[0-9]+)?"
_MAP = re.compile(r"\bdepth (map|tokens)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Question:
    """Parsed question.

    Attributes:
        asked: kind of question.
        kind: objects to count, as written by the user.
        about: parsed question about points that the map, the coordinates or meters answer.
    """

    asked: QuestionKind
    kind: str = ""
    about: PointQuestion | None = None


def parse_question(text: str, points: int) -> Question:
    """Determine the kind of a question.

    Args:
        text: question of the user.
        points: number of points given.

    Raises:
        InputError: the question is empty or of an unknown kind.
    """
    if not text.strip():
        raise InputError("the question is empty", remedy='ask "which is nearest?" or "how many …?"')
    about = parse_point_question(text, points)
    if about is not None:
        plain = about.form == "which" and about.relation == "nearest" and about.rank == 1
        every = len(about.letters) in (0, points)
        if plain and every and points <= len(LETTERS):
            return Question("nearest")
        return Question("points", about=about)
    if kind := counting.kind_of(text):
        if points:
            raise InputError("points cannot be used in a counting question")
        return Question("count", kind)
    if _MAP.search(text) and not points:
        return Question("map")
    if _NEAR_SOMETHING.search(text) and not _NOT.search(text) and " to " in text:
        raise InputError(
            "only distance to the camera is supported, not to another object",
            remedy='mark points by --points and ask "which is nearest?"',
        )
    raise InputError(f"the question is of an unsupported kind: {_SUPPORTED}")


def parse_points(words: list[str] | tuple[str, ...]) -> dict[str, tuple[float, float]]:
    """Parse points such as `A=120,80`.

    >>> parse_points(["A=120,80", "B=300,200.5"])
    {'A': (120.0, 80.0), 'B': (300.0, 200.5)}
    """
    points: dict[str, tuple[float, float]] = {}
    for word in words:
        match = re.fullmatch(rf"([A-Za-z]{{1,2}})=({_PLACE}),({_PLACE})", word)
        if not match:
            raise InputError(f"point {word!r} cannot be parsed", remedy="write A=120,80")
        letter = match[1].upper()
        if letter in points:
            raise InputError(f"point {letter} is given twice")
        points[letter] = (float(match[2]), float(match[3]))
    return points


def scale_points(
    points: Mapping[str, tuple[float, float]], width: int, height: int
) -> dict[str, tuple[int, int]]:
    """Scale points to an image of 336 × 336 px and check their letters.

    Raises:
        InputError: too many points, letters with gaps, or a point outside the image.
    """
    if len(points) > len(ALPHABET):
        raise InputError(
            f"{len(points)} points, at most {len(ALPHABET)} are supported",
            remedy="ask about fewer at a time",
        )
    wanted = ALPHABET[: len(points)]
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
        raise InputError(f"two points coincide at the {SIDE} × {SIDE} px of the model's input")
    return placed


@dataclass(frozen=True, slots=True, eq=False)
class Reply:
    """Answer to a question, with the intermediate steps.

    Attributes:
        question: parsed question.
        answer: parsed answer of the model; a `DepthAnswer` for a map, too.
        shown: (336, 336, 3) image as shown to the model.
        width: width of the user's image, [px].
        height: height of the user's image, [px].
        verify: whether perception overrules the words where they disagree.
        caution: remark on the models, if any.
        points: points by letter, in pixels of the user's image.
        found: answer by the map, the coordinates or meters, for questions other than "nearest".
    """

    question: Question
    answer: DepthAnswer | CountAnswer
    shown: NDArray[np.uint8]
    width: int
    height: int
    verify: bool = True
    caution: str = ""
    points: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    found: PointAnswer | None = None

    @property
    def final(self) -> str | int | None:
        """Final answer: letters, yes or no, a distance, a number; None if there is none."""
        if self.question.asked == "map":
            return None
        if self.found is not None:
            return self.found.answer
        return self.answer.final(verify=self.verify)

    @property
    def places(self) -> dict[str, tuple[float, float]]:
        """Points by letter in the user's pixels: those given, else those the model wrote."""
        if isinstance(self.answer, CountAnswer):
            return {}
        x, y = self.width / SIDE, self.height / SIDE
        seen = {letter: (a * x, b * y) for letter, (a, b) in self.answer.places.items()}
        return {letter: self.points.get(letter, place) for letter, place in seen.items()}

    def in_pixels(self, box: Box) -> list[float]:
        """Return a box in pixels of the user's image."""
        return list(in_picture(box, self.width, self.height))

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as JSON values."""
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
        if self.found is not None:
            common |= {
                "statement": self.found.statement,
                "used": list(self.found.used),
                "guess": self.found.guess,
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
    model: str | Path | PerceptionVLM = VLM,
    codebook: str | Path | DepthTokenizer = CODEBOOK,
    verify: bool = True,
    measure: Measure | None = None,
) -> Reply:
    """Ask about an image: about points, "how many cars?", or "depth map".

    Questions about 2 to 26 points: which is nearest, farthest, second nearest, leftmost; the order;
    between; the same distance; yes or no ("is A in front of B?"); how far, with `measure`.

    Models given by name are loaded for every call; pass loaded ones to ask many questions.

    Args:
        image: path, array or PIL image.
        question: question in English.
        points: points by letter, in pixels of the image: {"A": (120, 80), "B": (300, 200)}.
        model: registry name, file, folder or hub name of a model with perception tokens, or a
            loaded one (`load_vlm`).
        codebook: registry name, file or loaded codebook that the model was trained with.
        verify: let perception overrule the words where they disagree.
        measure: distances in meters for "how far", such as
            `partial(sightline.measure, sightline.metric(image))`.

    Raises:
        InputError: the question, the points, the image or the model are invalid.
    """
    parsed = parse_question(question, len(points or {}))
    picture = as_picture(image)
    size = (picture.width, picture.height)
    # Input errors are raised before models are loaded.
    named = parsed.asked in ("nearest", "points")
    placed = scale_points(points or {}, *size) if named else {}
    given = dict(sorted((points or {}).items()))
    if parsed.about is not None and not parsed.about.in_depth:
        # Neither coordinates nor meters need the model.
        if parsed.about.in_meters:
            found = answer_by_meters(parsed.about, given, measure)
        else:
            found = answer_by_place(parsed.about, given)
        unasked = DepthAnswer("", None, dict(placed), {}, None, {}, {})
        shown = squash(picture.pixels)
        return Reply(parsed, unasked, shown, *size, verify, "", given, found)
    vlm = load_vlm(model) if isinstance(model, str | Path) else model
    tokenizer = DepthTokenizer(codebook) if isinstance(codebook, str | Path) else codebook
    pixels = squash(picture.pixels)
    if parsed.asked == "count":
        counted = _count(vlm, pixels, parsed.kind)
        caution = _CAUTION if getattr(vlm.model.config.vision_config, "kinds", None) else ""
        return Reply(parsed, counted, pixels, *size, verify, caution)
    _need(vlm.vocabulary.codes, "depth")
    caution = vlm.check_codebook(tokenizer.sha256)
    if parsed.asked == "map":
        answer = read_depth_answer(generate_answer(vlm, pixels, depth.GENERATE), tokenizer, {})
        return Reply(parsed, answer, pixels, *size, verify, caution)
    if parsed.about is not None:
        text = generate_answer(vlm, pixels, depth.GENERATE)
        answer = read_depth_answer(text, tokenizer, dict(placed))
        if answer.decoded is None:
            found = PointAnswer(None, "Cannot tell: the model wrote no complete depth map.", ())
        else:
            found = answer_by_map(parsed.about, answer.decoded, from_text(text), placed)
        return Reply(parsed, answer, pixels, *size, verify, caution, given, found)
    shown = draw_points(pixels, placed)
    text = generate_answer(vlm, shown, depth.NEAREST + depth.STEPS[vlm.chat.template.places])
    answer = read_depth_answer(text, tokenizer, dict(placed))
    return Reply(parsed, answer, shown, *size, verify, caution, given)


def _count(vlm: PerceptionVLM, pixels: NDArray[np.uint8], kind: str) -> CountAnswer:
    """Ask for the number of objects of a kind, by the listing that the model was trained with."""
    _need(vlm.vocabulary.pixels, "pixel")
    kind = _counted_kind(vlm, kind)
    listing = vlm.chat.template.counts_by
    question = counting.ASK_COUNT.format(kind) + counting.STEPS[listing]
    text = generate_answer(vlm, pixels, question, maps=0, sides=GROUPS[listing])
    return read_count_answer(text, kind)


def _counted_kind(vlm: PerceptionVLM, kind: str) -> str:
    """Return the name of a kind of objects as the model was trained to write it.

    Raises:
        InputError: the model was not trained to count it.
    """
    if not vlm.counts:
        raise InputError(
            "this model was not trained to count",
            remedy="ask about points or the depth map, or give one that counts by --model",
        )
    known = getattr(vlm.model.config.vision_config, "kinds", None)
    if known is None:
        return kind
    for one in known:
        if kind in (one, plural(one)):
            return plural(one)
    raise InputError(
        f"this model was not trained to count {kind}",
        remedy=f"it knows {', '.join(plural(one) for one in known)}" if known else "take another",
    )


def _need(tokens: tuple[int, ...], what: str) -> None:
    if not tokens:
        raise InputError(
            f"this model has no {what} tokens", remedy="use one that was trained with them"
        )
