"""How many, by naming everything that is seen: a line for each thing, from left to right.

To list the boxes of a kind a model has to find, each time, the next thing of that kind: two searches at
once, and a small one does not learn them (docs/lab-log.md). Here it goes through all things by their
letters, a to x, and says of each what it is, its box, and how many of the kind there were so far:

    a lamps=<PIXEL_7><PIXEL_90><PIXEL_30><PIXEL_160> 0
    b cups=<PIXEL_40><PIXEL_9><PIXEL_61><PIXEL_30> 1
    c things=<PIXEL_80><PIXEL_9><PIXEL_99><PIXEL_30> 1
    d=. 1
    So the number of cups is 1

where d is the letter behind the last thing: a dot for the end, unless all letters are taken. Things are
those that the model's eyes saw, so that a line is about the thing that has its letter there; what they
are is known from the truth, and what the truth does not know is a thing. The list is perception: it
does not depend on what is asked, and which lines are of the kind can be counted by anybody.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sightline.errors import InputError
from sightline.perception.questions.counting import ASK_COUNT, STEPS, conclusion
from sightline.perception.questions.plurals import plural
from sightline.perception.questions.records import Record
from sightline.perception.vocabulary import PIXELS, Box, box_to_text, boxes_from_text

#: Letters of things, from left to right; there are never more.
NAMES = "abcdefghijklmnopqrstuvwx"
ASK_LIST = "Name all things from left to right, with a bounding box for each."
#: What somebody sees and nobody knows.
UNKNOWN = "thing"

#: Left, top, right and bottom as shares of the picture.
Shares = tuple[float, float, float, float]

#: Boxes that share so much of what they cover together are one thing.
_SAME = 0.4
_LINE = re.compile(r"^[a-x] ([^=\n]+)=((?:<PIXEL_\d{1,9}>)+)", re.MULTILINE)


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

    Returns:
        None if the text has no such list; an empty one if it says that there is nothing.

    Raises:
        InputError: a box is none.
    """
    found = [(kind, boxes_from_text(box)[0]) for kind, box in _LINE.findall(text)]
    return found if found or re.search(r"^a=\.", text, re.MULTILINE) else None


def _rows(seen: Sequence[Shares], kinds: Sequence[str], asked: str | None) -> list[str]:
    if len(seen) > len(NAMES):
        raise InputError(f"{len(seen)} things, and there are letters for {len(NAMES)}")
    rows = []
    for number, (name, box, kind) in enumerate(zip(NAMES, seen, kinds, strict=False), 1):
        count = "" if asked is None else f" {list(kinds[:number]).count(asked)}"
        rows.append(f"{name} {plural(kind)}={box_to_text(_with_size(box), 1, 1)}{count}")
    if len(seen) < len(NAMES):
        count = "" if asked is None else f" {list(kinds).count(asked)}"
        rows.append(f"{NAMES[len(seen)]}=.{count}")
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
