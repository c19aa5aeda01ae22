"""Which four of eight kinds of objects meet: 70 templates, 60 to train on and 10 held out.

The order is the reference's (`R-PHY` combinatorial_data): all choices of four in the order of
`itertools.combinations`, shuffled by Python's `random.Random(4)`; ids from 10000 on. Every choice has
an object that moves, so all C(8, 4) count.
"""

from __future__ import annotations

import itertools
import random
import re
from enum import IntEnum
from functools import cache

from sightline.errors import InputError


class Kind(IntEnum):
    """What an object is; all but the static ones move."""

    BALL_A = 0
    BALL_B = 1
    STATIC_BALLS = 2
    BAR = 3
    STANDING_BARS = 4
    STATIC_BAR = 5
    JAR = 6
    STICKS = 7

    @property
    def label(self) -> str:
        """Its name in words."""
        return self.name.lower().replace("_", " ")


Template = tuple[Kind, ...]

#: Id of the first template.
FIRST = 10000
#: Kinds of a template.
CHOSEN = 4

TRAIN = tuple(range(FIRST, FIRST + 60))
HELD_OUT = tuple(range(FIRST + 60, FIRST + 70))
#: The smallest training set in which every pair of kinds occurs.
SIX = (10003, 10005, 10016, 10023, 10024, 10053)
THIRTY = tuple(number for number in TRAIN if number % 2 == 0)

#: Sets of templates by name, as the paper compares them (Table 2).
SETS = {"6": SIX, "30": THIRTY, "60": TRAIN, "held-out": HELD_OUT, "all": TRAIN + HELD_OUT}


@cache
def _order() -> tuple[Template, ...]:
    found = list(itertools.combinations(Kind, CHOSEN))
    random.Random(4).shuffle(found)
    return tuple(found)


def kinds_of(template: int) -> Template:
    """Return the four kinds of a template, in the order in which they are placed and drawn.

    >>> [kind.label for kind in kinds_of(10066)]
    ['ball b', 'bar', 'jar', 'sticks']
    """
    if not FIRST <= template < FIRST + len(_order()):
        last = FIRST + len(_order()) - 1
        raise InputError(f"no template {template}", remedy=f"they go from {FIRST} to {last}")
    return _order()[template - FIRST]


def parse_templates(text: str) -> tuple[int, ...]:
    """Return the ids of a set by name (`SETS`), or of a list of ids such as `10003,10060`."""
    if text in SETS:
        return SETS[text]
    if not re.fullmatch(r"\d{5}(,\d{5})*", text):
        raise InputError(
            f"no templates are called {text!r}",
            remedy=f"use {', '.join(SETS)}, or ids such as 10003,10060",
        )
    ids = tuple(int(word) for word in text.split(","))
    for number in ids:
        kinds_of(number)
    if len(set(ids)) < len(ids):
        raise InputError(f"a template is named twice in {text}")
    return ids
