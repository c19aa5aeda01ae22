"""Questions about depth: write the map down; which point is nearest; the chain of both.

The steps of the chain are the paper's: where the points are, the depth map in tokens, which value is
higher. Ours says at once how near each point is: one step less to take silently. All letters are
listed, a point as A=086,298=64 (letter, column, row, nearness), a letter that marks nothing as
D=---,---=--: then numbers stand right behind their letter, every step begins at the same place in all
answers, and a small model learns where to look (docs/lab-log.md). Sentences are ours; a released
checkpoint of the authors wants theirs.
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
    f" The picture is {SIDE} × {SIDE} pixels. First give each point as letter=x,y=value, how near it "
    "is from 00 to 99, then the depth map in depth tokens: higher is nearer."
)
POINTING = (
    f"The picture is {SIDE} × {SIDE} pixels. Give each marked point as letter=x,y=value, how near it "
    "is from 00 to 99."
)

#: The chain without its first step, to learn what that one is worth (the paper's ablation).
MAP_STEP = (
    " First give the depth map in depth tokens, then say at which point its value is higher: "
    "higher is nearer."
)

_NOTHING = "---,---=--"
_POINT = re.compile(r"\b([A-E])=(\d{1,3}),(\d{1,3})(?:=(\d{2}))?(?!\d)")
_ANSWER = re.compile(r"\(([A-E])\)")


def generation(image: str, tokens: str) -> Record:
    """Ask for the map alone."""
    return Record(image, GENERATE, f"{points_text({})}\n{map_text(tokens)}", "depth")


def pointing(image: str, points: Mapping[str, Point]) -> Record:
    """Ask for the points alone: where they are, and how near."""
    return Record(image, POINTING, points_text(points), "points")


def direct(image: str, points: Mapping[str, Point]) -> Record:
    """Ask for the answer alone."""
    return Record(image, NEAREST, f"({nearest_letter(points)})", "direct")


def chain(image: str, points: Mapping[str, Point], tokens: str) -> Record:
    """Ask for the answer by way of coordinates and map."""
    return Record(image, NEAREST + STEPS, chain_text(points, tokens), "chain")


def map_first(image: str, points: Mapping[str, Point], tokens: str) -> Record:
    """Ask for the answer by way of the map alone."""
    steps = (points_text({}), map_text(tokens), conclusion(nearest_letter(points)))
    answer = "\n".join(steps)
    return Record(image, NEAREST + MAP_STEP, answer, "chain")


def chain_text(points: Mapping[str, Point], tokens: str) -> str:
    """Return the answer in steps."""
    steps = (points_text(points), map_text(tokens), conclusion(nearest_letter(points)))
    return "\n".join(steps)


def map_text(tokens: str) -> str:
    """Return the step that is the map."""
    return f"Depth map: {tokens}"


def points_text(points: Mapping[str, Point]) -> str:
    """Return where the points are and how near: 00 is the farthest of the picture, 99 the nearest."""
    said = {
        letter: f"{p.x:03d},{p.y:03d}={p.value * 99 // 255:02d}" for letter, p in points.items()
    }
    return "\n".join(f"{letter}={said.get(letter, _NOTHING)}" for letter in LETTERS)


def conclusion(letter: str) -> str:
    """Return the last step."""
    return f"The depth value is highest at {letter}, so the nearest point is ({letter})"


def read_places(text: str) -> dict[str, tuple[int, int]]:
    """Read the coordinates that an answer gives, before its map or behind it.

    Raises:
        InputError: a letter comes twice, or a place lies outside the picture.
    """
    places: dict[str, tuple[int, int]] = {}
    for letter, x, y, _ in _POINT.findall(_words(text)):
        if letter in places:
            raise InputError(f"the answer gives two places for {letter}")
        if not (int(x) < SIDE and int(y) < SIDE):
            raise InputError(f"the answer puts {letter} at {x},{y}, outside the picture")
        places[letter] = (int(x), int(y))
    return places


def read_readings(text: str) -> dict[str, float]:
    """Read what an answer says that its map reads, 0 to 1; the first reading of a letter counts."""
    found: dict[str, float] = {}
    for letter, _, _, value in _POINT.findall(_words(text)):
        if value:
            found.setdefault(letter, int(value) / 99)
    return found


def _words(text: str) -> str:
    """Return an answer without its map."""
    return text.split(START, 1)[0] + "\n" + text.rsplit(END, 1)[-1] if START in text else text


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
