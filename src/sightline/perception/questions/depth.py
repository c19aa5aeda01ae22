"""Questions about depth: write the map down; which point is nearest; the chain of both.

The chain is the paper's: first where the points are, then the depth map in tokens, then which value is
higher. Ours says what the map reads at each point before it concludes: one step less to take silently.
Numbers have a fixed width, so that a map begins at the same place in all answers about as many points.
Sentences are ours; a released checkpoint of the authors wants theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from sightline.errors import InputError
from sightline.perception.codebook.words import END, START
from sightline.perception.questions.markers import LETTERS, SIDE, Point, nearest_letter
from sightline.perception.questions.records import Record

GENERATE = "Write the depth map of this picture in depth tokens."
NEAREST = (
    "Some points of the picture are marked by circles with letters. "
    "Which one is nearest to the camera?"
)
STEPS = (
    f" The picture is {SIDE} × {SIDE} pixels. First give the coordinates of the points, then the depth "
    "map in depth tokens, then what it reads at each point, from 00 to 99: higher is nearer."
)

#: The chain without its first step, to learn what that one is worth (the paper's ablation).
MAP_STEP = (
    " First give the depth map in depth tokens, then say at which point its value is higher: "
    "higher is nearer."
)

_PLACE = re.compile(r"\b([A-E]): x = (\d{1,3}), y = (\d{1,3})")
_READING = re.compile(r"\b([A-E]) reads (\d{2})\b")
_ANSWER = re.compile(r"\(([A-E])\)")


def generation(image: str, tokens: str) -> Record:
    """Ask for the map alone."""
    return Record(image, GENERATE, tokens, "depth")


def direct(image: str, points: Mapping[str, Point]) -> Record:
    """Ask for the answer alone."""
    return Record(image, NEAREST, f"({nearest_letter(points)})", "direct")


def chain(image: str, points: Mapping[str, Point], tokens: str) -> Record:
    """Ask for the answer by way of coordinates and map."""
    return Record(image, NEAREST + STEPS, chain_text(points, tokens), "chain")


def map_first(image: str, points: Mapping[str, Point], tokens: str) -> Record:
    """Ask for the answer by way of the map alone."""
    answer = f"Depth map: {tokens}\n{conclusion(nearest_letter(points))}"
    return Record(image, NEAREST + MAP_STEP, answer, "chain")


def chain_text(points: Mapping[str, Point], tokens: str) -> str:
    """Return the answer in steps."""
    steps = (
        places_text(points),
        f"Depth map: {tokens}",
        readings_text(points),
        conclusion(nearest_letter(points)),
    )
    return "\n".join(steps)


def places_text(points: Mapping[str, Point]) -> str:
    """Return where the points are, in the order of their letters."""
    return "\n".join(f"{letter}: x = {p.x:03d}, y = {p.y:03d}" for letter, p in points.items())


def readings_text(points: Mapping[str, Point]) -> str:
    """Return what the map reads at the points: 00 is its farthest place, 99 its nearest."""
    return ", ".join(f"{letter} reads {p.value * 99 // 255:02d}" for letter, p in points.items())


def conclusion(letter: str) -> str:
    """Return the last step."""
    return f"The depth value is highest at {letter}, so the nearest point is ({letter})"


def read_places(text: str) -> dict[str, tuple[int, int]]:
    """Read the coordinates that an answer gives, before its map.

    Raises:
        InputError: a letter comes twice, or a place lies outside the picture.
    """
    head = text.split(START, 1)[0]
    places: dict[str, tuple[int, int]] = {}
    for letter, x, y in _PLACE.findall(head):
        if letter in places:
            raise InputError(f"the answer gives two places for {letter}")
        if not (int(x) < SIDE and int(y) < SIDE):
            raise InputError(f"the answer puts {letter} at {x},{y}, outside the picture")
        places[letter] = (int(x), int(y))
    return places


def read_readings(text: str) -> dict[str, float]:
    """Read what an answer says that its map reads, 0 to 1; the first reading of a letter counts."""
    found: dict[str, float] = {}
    for letter, value in _READING.findall(text.rsplit(END, 1)[-1]):
        found.setdefault(letter, int(value) / 99)
    return found


def read_answer(text: str) -> str | None:
    """Return the letter that an answer decides for; None where it does not decide for one.

    The last letter in parentheses counts; without any, a lone letter is taken if it is all there is.
    """
    tail = text.rsplit(END, 1)[-1]
    found = _ANSWER.findall(tail)
    if found:
        return str(found[-1])
    bare = tail.strip().strip(".")
    return bare if len(bare) == 1 and bare in LETTERS else None
