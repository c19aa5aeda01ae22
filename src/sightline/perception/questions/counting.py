"""Questions about how many: list the boxes of a kind of thing, say the number, or one after the other.

Rules of AURORA's notebooks: the kind with most boxes in the picture is asked about, unless it is not
annotated exhaustively or there are more than 15; a picture without such a kind is asked about one that
it does not have. Sentences are ours.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sightline.perception.questions.plurals import plural
from sightline.perception.questions.records import Record
from sightline.perception.vocabulary import box_to_text

#: More of a kind than this are not asked about.
MOST = 15

#: Ways to ask for boxes; `{}` is the plural.
ASK_BOXES = (
    "Give the bounding boxes of all {} in this picture.",
    "Where are the {} in this picture? Answer with bounding boxes.",
    "Find every one of the {} and write its bounding box.",
    "List a bounding box for each of the {} you can see.",
    "Mark all {} by bounding boxes.",
)
ASK_COUNT = "How many {} are in this picture?"
#: How an answer gets to the number: by the boxes of the kind, or by all things (`scanning`).
Listing = Literal["boxes", "things"]
#: What is added to the question to be answered in steps.
STEPS: dict[Listing, str] = {
    "boxes": " First give a bounding box for each of them, then the number.",
    "things": " First name all things from left to right, with the sides of their boxes.",
}

#: Lines and words of an answer in steps that have numbers of their own.
_STEP = re.compile(
    r"^(?:Things|Left|Top|Right|Bottom|So far):.*$|Box \d+:|<PIXEL_\d+>", re.MULTILINE
)
_MANY = re.compile(
    r"\b(?:how many|count(?: all| every| each)?(?: the| of)*|number of)\s+"
    r"(?:of\s+)?(?:the\s+)?(?!(?:are|is|do|can|there|were)\b)([a-z][a-z -]*?)"
    r"(?=\s+(?:are|is|do|can|there|in|on|at|you|were|visible)\b|\s*[?.!,]|\s*$)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.])(\d{1,4})(?![\w]|\.\d)")
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
#: What number words say, from none to ninety; a ten and a one may follow each other.
_WORDS = {
    **dict.fromkeys(("no", "none", "zero"), 0),
    **{word: number for number, word in enumerate(_ONES, 1)},
    **{
        word: number
        for number, word in enumerate(
            ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
             "eighteen", "nineteen"), 10,
        )
    },
    **{word: 10 * number for number, word in enumerate(_TENS, 2)},
}  # fmt: skip
_NAMED = re.compile(
    rf"\b(?:({'|'.join(_TENS)})[\s-]+({'|'.join(_ONES)})|({'|'.join(_WORDS)}))\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Things:
    """What is in a picture.

    Attributes:
        width: of the picture, [px].
        height: of it.
        boxes: left, top, right and bottom of all things, by the name of their kind.
        partial: kinds that are not annotated exhaustively.
        absent: kinds that were looked for in vain; None where all that are not listed were.
    """

    width: int
    height: int
    boxes: Mapping[str, Sequence[tuple[float, float, float, float]]]
    partial: Collection[str] = ()
    absent: Collection[str] | None = None


def kind_to_ask(
    things: Things, absent: Sequence[str], rng: np.random.Generator, *, any_kind: bool = False
) -> tuple[str, int] | None:
    """Choose a kind by the paper's rule: its name, and how many there are.

    Args:
        things: of the picture.
        absent: kinds that could be asked about in vain; those in the picture are passed over.
        rng: draws among equals.
        any_kind: draw among all kinds that are there instead.
    """
    usable = {
        kind: len(boxes)
        for kind, boxes in sorted(things.boxes.items())
        if kind not in things.partial and 0 < len(boxes) <= MOST
    }
    if usable:
        most = max(usable.values())
        best = [kind for kind, count in usable.items() if any_kind or count == most]
        kind = str(rng.choice(best))
        return kind, usable[kind]
    there = {*things.boxes, *things.partial}
    looked_for = absent if things.absent is None else [k for k in absent if k in things.absent]
    others = [kind for kind in looked_for if kind not in there]
    return (str(rng.choice(others)), 0) if others else None


def boxes_question(image: str, things: Things, kind: str, rng: np.random.Generator) -> Record:
    """Ask for the boxes alone."""
    ask = ASK_BOXES[int(rng.integers(len(ASK_BOXES)))]
    return Record(image, ask.format(plural(kind)), _listed(things, kind), "boxes")


def direct(image: str, things: Things, kind: str) -> Record:
    """Ask for the number alone."""
    count = len(things.boxes.get(kind, ()))
    return Record(image, ASK_COUNT.format(plural(kind)), str(count), "direct")


def chain(image: str, things: Things, kind: str) -> Record:
    """Ask for the number by way of boxes."""
    count = len(things.boxes.get(kind, ()))
    answer = f"{_listed(things, kind)}\n{conclusion(kind, count)}"
    return Record(image, ASK_COUNT.format(plural(kind)) + STEPS["boxes"], answer, "chain")


def conclusion(kind: str, count: int) -> str:
    """Return the last step."""
    return f"So the number of {plural(kind)} is {count}"


def _listed(things: Things, kind: str) -> str:
    boxes = things.boxes.get(kind, ())
    if not boxes:
        return f"There are no {plural(kind)} in this picture."
    # From left to right, so that there is one right order to learn.
    rows = [
        f"Box {number}: ({box_to_text(box, things.width, things.height)})"
        for number, box in enumerate(sorted(boxes), 1)
    ]
    return f"Boxes of {plural(kind)}:\n" + "\n".join(rows)


def kind_of(question: str) -> str | None:
    """Return what a question asks the number of, as it is written there; None if it asks for none.

    >>> kind_of("How many wine glasses are in this picture?")
    'wine glasses'
    """
    found = _MANY.search(question)
    return " ".join(found[1].lower().split()) if found else None


def read_number(text: str) -> int | None:
    """Return the number that an answer gives; None where it gives none.

    The last number behind the boxes counts; without digits, a number word from no to
    ninety-nine.

    >>> read_number("There are twenty-one cups.")
    21
    """
    tail = _STEP.sub(" ", text)
    found = _NUMBER.findall(tail)
    if found:
        return int(found[-1])
    named = _NAMED.findall(tail)
    return sum(_WORDS[word.lower()] for word in named[-1] if word) if named else None
