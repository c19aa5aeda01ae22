"""Counting questions and answers: boxes of a kind, counts, and chains of both.

The rules are those of AURORA's notebooks: the kind with most boxes in the image is asked about, unless
it is not annotated exhaustively or has more than 15; an image without such a kind is asked about an
absent one. The sentences are ours.

Small models do not learn to find, one after another, the objects of a kind (docs/lab-log.md). For
these, `listing_chain` names all detected objects in rows, from left to right, and counts along:

    Things: lamps cups things-----…
    Left:<PIXEL_7><PIXEL_40><PIXEL_80>-----…
    Top:<PIXEL_90><PIXEL_9><PIXEL_9>-----…
    Right:<PIXEL_30><PIXEL_61><PIXEL_99>-----…
    Bottom:<PIXEL_160><PIXEL_30><PIXEL_30>-----…
    So far: zero one one one one one one one…
    So the number of cups is 1

Rows have 24 entries, dashes where there is no object. So an entry always has the same distance to the
image token of its object, and writing it is copying. Kinds come from the annotation; an object without
one is called a thing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sightline.errors import InputError
from sightline.perception.questions.records import Record
from sightline.perception.tokens import PIXELS, Box, box_to_text

_ODD = {
    "person": "people",
    "man": "men",
    "woman": "women",
    "child": "children",
    "foot": "feet",
    "tooth": "teeth",
    "goose": "geese",
    "mouse": "mice",
    "ox": "oxen",
    "cactus": "cacti",
    "leaf": "leaves",
    "loaf": "loaves",
    "knife": "knives",
    "wife": "wives",
    "shelf": "shelves",
    "wolf": "wolves",
    "calf": "calves",
    "half": "halves",
    "scarf": "scarves",
    "potato": "potatoes",
    "tomato": "tomatoes",
    "mango": "mangoes",
    "hero": "heroes",
}
_UNCHANGED = {
    *("sheep", "fish", "deer", "aircraft", "spacecraft", "series", "scissors", "trousers", "jeans"),
    *("pants", "shorts", "pliers", "tongs", "glasses", "sunglasses", "goggles", "binoculars"),
    *("clothes", "luggage", "furniture", "broccoli", "people"),
}


def plural(name: str) -> str:
    """Return the plural of a noun phrase, which may have words before the noun and `of …` after it.

    >>> plural("wine glass"), plural("box"), plural("piece of cake"), plural("bus (vehicle)")
    ('wine glasses', 'boxes', 'pieces of cake', 'buses (vehicle)')
    """
    head, tail = re.fullmatch(r"(.*?)((?: (?:of|in|with|on) .*| \(.*\))?)", name.strip()).groups()  # type: ignore[union-attr]
    before, space, last = head.rpartition(" ")
    return f"{before}{space}{_one(last)}{tail}"


def _one(word: str) -> str:
    low = word.lower()
    if low in _UNCHANGED:
        return word
    for odd, many in _ODD.items():
        if low == odd or (
            low.endswith(odd) and odd in ("man", "woman", "person", "child", "knife", "shelf")
        ):
            if low.endswith("human"):
                break
            return word[: len(word) - len(odd)] + many
    if re.search(r"(s|x|z|ch|sh)$", low):
        return word + "es"
    if re.search(r"[^aeiou]y$", low):
        return word[:-1] + "ies"
    return word + "s"


#: Maximum count that is asked about.
MOST = 15

#: Questions for boxes; `{}` is the plural.
ASK_BOXES = (
    "Give the bounding boxes of all {} in this picture.",
    "Where are the {} in this picture? Answer with bounding boxes.",
    "Find every one of the {} and write its bounding box.",
    "List a bounding box for each of the {} you can see.",
    "Mark all {} by bounding boxes.",
)
ASK_COUNT = "How many {} are in this picture?"
#: What an answer lists before the count: boxes of the kind, or all objects (`listing_chain`).
Listing = Literal["boxes", "things"]
#: Instruction that asks for intermediate steps.
STEPS: dict[Listing, str] = {
    "boxes": " First give a bounding box for each of them, then the number.",
    "things": " First name all things from left to right, with the sides of their boxes.",
}

#: Parts of an answer whose numbers are not the count.
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
#: Values of number words.
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
    """Annotated objects of an image.

    Attributes:
        width: width of the image, [px].
        height: height of the image, [px].
        boxes: left, top, right and bottom of all objects, by kind.
        partial: kinds that are not annotated exhaustively.
        absent: kinds known to be absent; None if all unlisted kinds are.
    """

    width: int
    height: int
    boxes: Mapping[str, Sequence[tuple[float, float, float, float]]]
    partial: Collection[str] = ()
    absent: Collection[str] | None = None


def kind_to_ask(
    things: Things, absent: Sequence[str], rng: np.random.Generator, *, any_kind: bool = False
) -> tuple[str, int] | None:
    """Choose a kind by the paper's rule; return its name and count.

    Args:
        things: objects of the image.
        absent: candidates for questions about an absent kind.
        rng: random generator.
        any_kind: choose among all kinds in the image.
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
    """Ask for the boxes."""
    ask = ASK_BOXES[int(rng.integers(len(ASK_BOXES)))]
    return Record(image, ask.format(plural(kind)), _listed(things, kind), "boxes")


def direct(image: str, things: Things, kind: str) -> Record:
    """Ask for the count."""
    count = len(things.boxes.get(kind, ()))
    return Record(image, ASK_COUNT.format(plural(kind)), str(count), "direct")


def chain(image: str, things: Things, kind: str) -> Record:
    """Ask for the count by way of boxes."""
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
    # From left to right, so that the order is unique.
    rows = [
        f"Box {number}: ({box_to_text(box, things.width, things.height)})"
        for number, box in enumerate(sorted(boxes), 1)
    ]
    return f"Boxes of {plural(kind)}:\n" + "\n".join(rows)


def kind_of(question: str) -> str | None:
    """Return the plural noun whose count a question asks for; None if it does not ask for a count.

    >>> kind_of("How many wine glasses are in this picture?")
    'wine glasses'
    """
    found = _MANY.search(question)
    return " ".join(found[1].lower().split()) if found else None


def read_number(text: str) -> int | None:
    """Return the count stated by an answer; None if there is none.

    The last number after the boxes is taken; without digits, a number word up to ninety-nine.

    >>> read_number("There are twenty-one cups.")
    21
    """
    tail = _STEP.sub(" ", text)
    found = _NUMBER.findall(tail)
    if found:
        return int(found[-1])
    named = _NAMED.findall(tail)
    return sum(_WORDS[word.lower()] for word in named[-1] if word) if named else None


#: Entries of a row, the maximum number of objects.
ENTRIES = 24
ASK_LIST = "Name all things from left to right, with the sides of their boxes."
#: Kind of a detected object without annotation.
UNKNOWN = "thing"

#: Left, top, right and bottom as shares of the image.
Shares = tuple[float, float, float, float]

#: Minimum intersection over union of a detected and an annotated box.
_SAME_OBJECT = 0.4
#: Start of the row with running counts.
SO_FAR = "So far:"
_SIDES = ("Left", "Top", "Right", "Bottom")
_NOTHING = "-"
_NUMBERS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen"),
    *("nineteen", "twenty"),
)
_PIXEL = re.compile(r"<PIXEL_(\d{1,9})>")
_ROW = re.compile(r"^(Things|Left|Top|Right|Bottom):([^\n]*?)-*$", re.MULTILINE)


def kinds_of(seen: Sequence[Shares], known: Mapping[str, Sequence[Shares]]) -> list[str]:
    """Return the kind of each detected box by its best annotated box; each of these is used once.

    >>> kinds_of([(0, 0, 0.5, 1), (0, 0, 0.5, 0.9), (0.6, 0, 1, 1)], {"cup": [(0, 0, 0.5, 1)]})
    ['cup', 'thing', 'thing']
    """
    truth = [(kind, box) for kind, boxes in known.items() for box in boxes]
    pairs = sorted(
        (-_overlap(one, other), number, which)
        for number, one in enumerate(seen)
        for which, (_, other) in enumerate(truth)
    )
    found: dict[int, int] = {}
    for negative, number, which in pairs:
        if -negative >= _SAME_OBJECT and number not in found and which not in found.values():
            found[number] = which
    return [truth[found[k]][0] if k in found else UNKNOWN for k in range(len(seen))]


def listing(image: str, seen: Sequence[Shares], kinds: Sequence[str]) -> Record:
    """Ask for all objects.

    Args:
        image: path of the image.
        seen: boxes of all objects, from left to right.
        kinds: kind of each.
    """
    return Record(image, ASK_LIST, "\n".join(_rows(seen, kinds, None)), "boxes")


def listing_chain(image: str, kind: str, seen: Sequence[Shares], kinds: Sequence[str]) -> Record:
    """Ask for the count of a kind by way of all objects; arguments as in `listing`."""
    rows = [*_rows(seen, kinds, kind), conclusion(kind, list(kinds).count(kind))]
    question = ASK_COUNT.format(plural(kind)) + STEPS["things"]
    return Record(image, question, "\n".join(rows), "chain")


def read_listing(text: str) -> list[tuple[str, Box]] | None:
    """Parse kinds (plurals, as written) and boxes of all objects named in an answer.

    An object needs an entry in every row; surplus entries of a row are dropped. Swapped sides are
    exchanged.

    Returns:
        None if the text has no such list; an empty list if it names no object.

    Raises:
        InputError: the list is truncated, or a pixel index is too large.
    """
    rows = dict(_ROW.findall(text))
    if "Things" not in rows:
        return None
    kinds = rows["Things"].split()
    missing = [side for side in _SIDES if side not in rows]
    if kinds and missing:
        raise InputError(f"the list of things ends before their {missing[0].lower()} sides")
    sides = [[int(n) for n in _PIXEL.findall(rows.get(side, ""))] for side in _SIDES]
    if max(map(max, filter(None, sides)), default=0) >= PIXELS:
        raise InputError(f"pixel tokens go from 0 to {PIXELS - 1}")
    named = []
    for kind, a, b, c, d in zip(kinds, *sides, strict=False):
        named.append((kind, (min(a, c), min(b, d), max(a, c), max(b, d))))
    return named


def _rows(seen: Sequence[Shares], kinds: Sequence[str], asked: str | None) -> list[str]:
    if len(seen) > ENTRIES:
        raise InputError(f"{len(seen)} things, and there are places for {ENTRIES}")
    words = [box_to_text(_with_size(box), 1, 1) for box in seen]
    nothing = _NOTHING * (ENTRIES - len(seen))
    rows = ["Things:" + "".join(f" {plural(kind)}" for kind in kinds) + nothing]
    for number, side in enumerate(_SIDES):
        some = "".join(f"<{word.strip('<>').split('><')[number]}>" for word in words)
        rows.append(f"{side}:{some}{nothing}")
    if asked is not None:
        counts = [list(kinds[: number + 1]).count(asked) for number in range(ENTRIES)]
        rows.append(SO_FAR + "".join(f" {_word(count)}" for count in counts))
    return rows


def _word(count: int) -> str:
    return _NUMBERS[count] if count < len(_NUMBERS) else "many"


def _with_size(box: Shares) -> Shares:
    """Give a box at least one pixel inside the image."""
    left, top, right, bottom = box
    left, top = min(left, 1 - 1 / PIXELS), min(top, 1 - 1 / PIXELS)
    return left, top, max(right, left + 1 / PIXELS), max(bottom, top + 1 / PIXELS)


def _overlap(one: Shares, other: Shares) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(0.0, wide) * max(0.0, high)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return shared / max(areas - shared, 1e-9)
