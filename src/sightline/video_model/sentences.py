"""What happens in a video, in words: a sentence that follows from its world's parameters alone.

PhyWorld's Fig. 12 tells a model the motion in text. Its sentences are not published; these say the same
as the numbers beside them: bodies, radii and speeds, to a hundredth.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError

#: Words of a sentence at most, digits and points counted each by itself.
MOST_WORDS = 48

_COLOURS, _SHAPES = ("red", "blue"), ("ball", "square")

#: All that can stand in a sentence; a word's place is its number, and 0 fills up.
VOCABULARY = (
    *("", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", ".", ";"),
    *("a", "of", "radius", "moves", "to", "the", "left", "right", "at", "units", "per", "second"),
    *(
        "is",
        "thrown",
        "falls",
        "towards",
        "red",
        "blue",
        "ball",
        "square",
        "ring",
        "and",
        "they",
        "meet",
    ),
)
_NUMBERS = {word: number for number, word in enumerate(VOCABULARY)}


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """What is known of a video's world.

    Attributes:
        scenario: uniform, collision or parabola; others have no sentence.
        numbers: (K,) radius, speed, perhaps colour and shape; or r1, r2, v1, v2 of a collision. A
            negative speed goes the other way: the video is mirrored.
    """

    scenario: str
    numbers: NDArray[np.floating]


def sentence(fact: Fact) -> str:
    """Say what happens.

    >>> sentence(Fact("uniform", np.array([1.2, -2.5])))
    'a red ball of radius 1.20 moves to the left at 2.50 units per second'
    """
    known = [float(value) for value in fact.numbers]
    if fact.scenario == "collision" and len(known) == 4:
        r1, r2, v1, v2 = known
        first = _moves("a ball", r1, v1, v1 >= 0)
        return f"{first} ; {_moves('a ball', r2, v2, v2 < 0)} ; they meet"
    if fact.scenario in ("uniform", "parabola") and 2 <= len(known) <= 4:
        radius, speed = known[:2]
        colour = _COLOURS[round(known[2])] if len(known) > 2 else _COLOURS[0]
        shape = _SHAPES[round(known[3])] if len(known) > 3 else _SHAPES[0]
        verb = "is thrown" if fact.scenario == "parabola" else "moves"
        said = _moves(f"a {colour} {shape}", radius, speed, speed >= 0, verb)
        return f"{said} and falls" if fact.scenario == "parabola" else said
    raise InputError(
        f"there is no sentence for videos of {fact.scenario} with {len(known)} parameters",
        remedy="train without --text, or on uniform, collision or parabola",
    )


def _moves(body: str, radius: float, speed: float, right: bool, verb: str = "moves") -> str:
    side = "right" if right else "left"
    return (
        f"{body} of radius {radius:.2f} {verb} to the {side} at {abs(speed):.2f} units per second"
    )


def word_numbers(text: str) -> list[int]:
    """Return a sentence as numbers of the vocabulary, digits and points each by itself."""
    found = re.findall(r"[a-z]+|\S", text)
    unknown = [word for word in found if word not in _NUMBERS]
    if unknown or len(found) > MOST_WORDS:
        raise InputError(f"{text!r} has {len(found)} words, unknown are {unknown or 'none'}")
    return [_NUMBERS[word] for word in found]
