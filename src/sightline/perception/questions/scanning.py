"""How many, by going through everything that is seen: a line for each thing, from left to right.

To list the boxes of a kind a model has to find, each time, the next thing of that kind: two searches at
once, and a small one does not learn them (docs/lab-log.md). Here it goes through all things by their
names, a to x, and says of each whether it is of the kind, with its box, and how many there were so far:

    a cups=- 0
    b cups=<PIXEL_40><PIXEL_9><PIXEL_61><PIXEL_30> 1
    c cups=- 1
    d cups=. 1
    So the number of cups is 1

Every line says what is asked for, so that it need not be looked for far away, and
d is the name behind the last thing: a dot for the end, unless all names are taken. Things are
those that the model's eyes saw, so that a line is about the thing that has its name there; which of
them are of the kind is known from the truth.
"""

from __future__ import annotations

from collections.abc import Sequence

from sightline.errors import InputError
from sightline.perception.questions.counting import ASK_COUNT, STEPS, conclusion
from sightline.perception.questions.plurals import plural
from sightline.perception.questions.records import Record
from sightline.perception.vocabulary import PIXELS, box_to_text

#: Names of things, from left to right; there are never more.
NAMES = "abcdefghijklmnopqrstuvwx"
ASK_LIST = (
    "Go through all things from left to right, with a bounding box for each, and count the {}."
)

#: Left, top, right and bottom as shares of the picture.
Shares = tuple[float, float, float, float]

#: Boxes that share so much of what they cover together are one thing.
_SAME = 0.4


def of_kind(seen: Sequence[Shares], wanted: Sequence[Shares]) -> list[bool]:
    """Tell which things that were seen are among those wanted; each of these is seen once at most.

    >>> of_kind([(0, 0, 0.5, 1), (0, 0, 0.5, 0.9), (0.6, 0, 1, 1)], [(0, 0, 0.5, 1)])
    [True, False, False]
    """
    pairs = sorted(
        (-_overlap(one, other), number, which)
        for number, one in enumerate(seen)
        for which, other in enumerate(wanted)
    )
    found: dict[int, int] = {}
    for negative, number, which in pairs:
        if -negative >= _SAME and number not in found and which not in found.values():
            found[number] = which
    return [number in found for number in range(len(seen))]


def listing(image: str, kind: str, seen: Sequence[Shares], found: Sequence[bool]) -> Record:
    """Ask for the boxes alone.

    Args:
        image: path of the picture.
        kind: of thing that is asked for.
        seen: all things, from left to right.
        found: which of them are of the kind.
    """
    return Record(
        image, ASK_LIST.format(plural(kind)), "\n".join(_rows(kind, seen, found)), "boxes"
    )


def chain(image: str, kind: str, seen: Sequence[Shares], found: Sequence[bool]) -> Record:
    """Ask for the number by way of all things; arguments as for `listing`."""
    rows = [*_rows(kind, seen, found), conclusion(kind, sum(found))]
    question = ASK_COUNT.format(plural(kind)) + STEPS["things"]
    return Record(image, question, "\n".join(rows), "chain")


def _rows(kind: str, seen: Sequence[Shares], found: Sequence[bool]) -> list[str]:
    if len(seen) > len(NAMES):
        raise InputError(f"{len(seen)} things, and there are names for {len(NAMES)}")
    rows = []
    for number, (name, box, right) in enumerate(zip(NAMES, seen, found, strict=False), 1):
        said = box_to_text(_with_size(box), 1, 1) if right else "-"
        rows.append(f"{name} {plural(kind)}={said} {sum(found[:number])}")
    if len(seen) < len(NAMES):
        rows.append(f"{NAMES[len(seen)]} {plural(kind)}=. {sum(found)}")
    return rows


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
