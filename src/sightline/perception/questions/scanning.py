"""How many, by naming everything that is seen: rows with an entry for each thing, from left to right.

To list the boxes of a kind a model has to find, each time, the next thing of that kind; and to go
through all things line by line, that with the next letter. Neither was learnt by a small one
(docs/lab-log.md). Here everything is said in rows: what the things are, where their left sides are, and
so on, and how many of the kind there were so far,

    Things: lamps cups things-----…
    Left:<PIXEL_7><PIXEL_40><PIXEL_80>-----…
    Top:<PIXEL_90><PIXEL_9><PIXEL_9>-----…
    Right:<PIXEL_30><PIXEL_61><PIXEL_99>-----…
    Bottom:<PIXEL_160><PIXEL_30><PIXEL_30>-----…
    So far: zero one one one one one one one…
    So the number of cups is 1

24 entries each, dashes where nothing is seen. So what is said of a thing always stands at the same
distance from the token of that thing in the picture, row by row, and to say it is to copy. Things are
those that the model's eyes saw; what they are is known from the truth, and what the truth does not know
is a thing. The list is perception: it does not depend on what is asked, and those of the kind can be
counted by anybody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sightline.errors import InputError
from sightline.perception.questions.counting import ASK_COUNT, STEPS, conclusion
from sightline.perception.questions.plurals import plural
from sightline.perception.questions.records import Record
from sightline.perception.vocabulary import PIXELS, Box, box_to_text

#: Entries of a row; there are never more things.
ENTRIES = 24
ASK_LIST = "Name all things from left to right, with the sides of their boxes."
#: What somebody sees and nobody knows.
UNKNOWN = "thing"

#: Left, top, right and bottom as shares of the picture.
Shares = tuple[float, float, float, float]

#: Boxes that share so much of what they cover together are one thing.
_SAME = 0.4
#: How the row begins that counts along.
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
    """Say what things are that were seen, by those that are known; each of these is seen once at most.

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
        if -negative >= _SAME and number not in found and which not in found.values():
            found[number] = which
    return [truth[found[k]][0] if k in found else UNKNOWN for k in range(len(seen))]


def listing(image: str, seen: Sequence[Shares], kinds: Sequence[str]) -> Record:
    """Ask for all things alone.

    Args:
        image: path of the picture.
        seen: all things, from left to right.
        kinds: of them.
    """
    return Record(image, ASK_LIST, "\n".join(_rows(seen, kinds, None)), "boxes")


def chain(image: str, kind: str, seen: Sequence[Shares], kinds: Sequence[str]) -> Record:
    """Ask for the number of a kind by way of all things; other arguments as for `listing`."""
    rows = [*_rows(seen, kinds, kind), conclusion(kind, list(kinds).count(kind))]
    question = ASK_COUNT.format(plural(kind)) + STEPS["things"]
    return Record(image, question, "\n".join(rows), "chain")


def read_listing(text: str) -> list[tuple[str, Box]] | None:
    """Read the kinds (as they are written, in the plural) and boxes of all things that were named.

    A thing is named where it has an entry in every row; one that is too long or too short by an entry
    costs that one. Sides that are the wrong way round are exchanged.

    Returns:
        None if the text has no such list; an empty one if it says that there is nothing.

    Raises:
        InputError: it was cut off before the last row, or a number is too large.
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
    """Let a box have a pixel at least, inside the picture."""
    left, top, right, bottom = box
    left, top = min(left, 1 - 1 / PIXELS), min(top, 1 - 1 / PIXELS)
    return left, top, max(right, left + 1 / PIXELS), max(bottom, top + 1 / PIXELS)


def _overlap(one: Shares, other: Shares) -> float:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(0.0, wide) * max(0.0, high)
    areas = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (one, other))
    return shared / max(areas - shared, 1e-9)
