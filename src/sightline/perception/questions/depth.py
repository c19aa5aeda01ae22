"""Questions about depth: write the map down; which point is nearest; the chain of both.

The steps of the chain are the paper's: where the points are, the depth map in tokens, which value is
higher. Ours leaves nothing to be done silently: it says how near each point is, and compares one value
at a time with the nearest so far. All letters are listed, a point as A=086,298=64 (letter, column, row,
nearness), one that marks nothing with dashes; behind the map A=64 A64, then B=70 B70, C=12 B70 and so
on (what is read, what is nearest so far). So numbers stand right behind their letter, every step begins
at the same place in all answers, and a small model learns where to look (docs/lab-log.md). Models with
pixel tokens may spell places by these: two tokens instead of seven. Sentences are ours; a released
checkpoint of the authors wants theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from sightline.errors import InputError
from sightline.perception.codebook.words import END, START
from sightline.perception.questions.markers import (
    LETTERS,
    MANY_LETTERS,
    SIDE,
    Point,
    nearest_letter,
)
from sightline.perception.questions.records import Record
from sightline.perception.vocabulary import pixel_word

GENERATE = "Write the depth map of this picture in depth tokens."
NEAREST = (
    "Some points of the picture are marked by circles with letters. "
    "Which one is nearest to the camera?"
)
#: How places are written: x and y in digits, or each as a pixel token.
Spelling = Literal["digits", "pixels"]

_FORMS: dict[Spelling, str] = {"digits": "x,y", "pixels": "pixel tokens"}
#: Pixel tokens say by themselves how large the picture is.
_FRAMES: dict[Spelling, str] = {
    "digits": f" The picture is {SIDE} × {SIDE} pixels.",
    "pixels": "",
}
#: What is added to the question to be answered in steps, by how places are written.
STEPS: dict[Spelling, str] = {
    spelling: f"{_FRAMES[spelling]} Give each point as letter={form}=value from 00 to 99, then the "
    "depth map in depth tokens, then the highest value so far."
    for spelling, form in _FORMS.items()
}
POINTING: dict[Spelling, str] = {
    spelling: f"Give each marked point as letter={form}=value from 00 to 99: higher is nearer."
    f"{_FRAMES[spelling]}"
    for spelling, form in _FORMS.items()
}

#: The chain without its first step, to learn what that one is worth (the paper's ablation).
MAP_STEP = (
    " First give the depth map in depth tokens, then say at which point its value is higher: "
    "higher is nearer."
)

#: A letter that marks nothing, with as many tokens as one that does.
_NOTHING: dict[Spelling, str] = {"digits": "---,---=--", "pixels": "-----"}
_POINT = re.compile(
    r"\b([A-H])=(?:(\d{1,3}),(\d{1,3})|<PIXEL_(\d{1,3})><PIXEL_(\d{1,3})>)(?:=(\d{2}))?(?!\d)"
)
_ANSWER = re.compile(r"\(([A-H])\)")


def generation(image: str, tokens: str, spelling: Spelling = "digits") -> Record:
    """Ask for the map alone."""
    return Record(image, GENERATE, f"{points_text({}, spelling)}\n{map_text(tokens)}", "depth")


def pointing(image: str, points: Mapping[str, Point], spelling: Spelling = "digits") -> Record:
    """Ask for the points alone: where they are, and how near."""
    return Record(image, POINTING[spelling], points_text(points, spelling), "points")


def direct(image: str, points: Mapping[str, Point]) -> Record:
    """Ask for the answer alone."""
    return Record(image, NEAREST, f"({nearest_letter(points)})", "direct")


def chain(
    image: str, points: Mapping[str, Point], tokens: str, spelling: Spelling = "digits"
) -> Record:
    """Ask for the answer by way of coordinates and map."""
    steps = (points_text(points, spelling), map_text(tokens), comparison(points), _end(points))
    return Record(image, NEAREST + STEPS[spelling], "\n".join(steps), "chain")


def map_first(
    image: str, points: Mapping[str, Point], tokens: str, spelling: Spelling = "digits"
) -> Record:
    """Ask for the answer by way of the map alone."""
    steps = (points_text({}, spelling), map_text(tokens), _end(points))
    return Record(image, NEAREST + MAP_STEP, "\n".join(steps), "chain")


def _end(points: Mapping[str, Point]) -> str:
    return conclusion(nearest_letter(points))


def map_text(tokens: str) -> str:
    """Return the step that is the map."""
    return f"Depth map: {tokens}"


def points_text(points: Mapping[str, Point], spelling: Spelling = "digits") -> str:
    """Return where the points are and how near: 00 is the farthest of the picture, 99 the nearest."""
    said = {letter: f"{_place(p, spelling)}={_reading(p)}" for letter, p in points.items()}
    return "\n".join(f"{letter}={said.get(letter, _NOTHING[spelling])}" for letter in LETTERS)


def comparison(points: Mapping[str, Point]) -> str:
    """Return the step in which values are compared: each letter's, and the nearest so far.

    >>> print(comparison({"A": Point(0, 0, 100), "B": Point(9, 9, 255)}))
    A=38 A38
    B=99 B99
    C=-- B99
    D=-- B99
    E=-- B99
    """
    rows, best = [], "-"
    for letter in LETTERS:
        if letter in points and (best == "-" or points[letter].value > points[best].value):
            best = letter
        rows.append(f"{letter}={_reading(points.get(letter))} {best}{_reading(points.get(best))}")
    return "\n".join(rows)


def _reading(point: Point | None) -> str:
    return "--" if point is None else f"{point.value * 99 // 255:02d}"


def _place(point: Point, spelling: Spelling) -> str:
    if spelling == "pixels":
        return pixel_word(point.x) + pixel_word(point.y)
    return f"{point.x:03d},{point.y:03d}"


def conclusion(letter: str) -> str:
    """Return the last step."""
    return f"The depth value is highest at {letter}, so the nearest point is ({letter})"


def read_places(text: str) -> dict[str, tuple[int, int]]:
    """Read the coordinates that an answer gives, before its map or behind it.

    Raises:
        InputError: a letter comes twice, or a place lies outside the picture.
    """
    places: dict[str, tuple[int, int]] = {}
    for letter, *numbers, _ in _POINT.findall(_words(text)):
        x, y = (number for number in numbers if number)
        if letter in places:
            raise InputError(f"the answer gives two places for {letter}")
        if not (int(x) < SIDE and int(y) < SIDE):
            raise InputError(f"the answer puts {letter} at {x},{y}, outside the picture")
        places[letter] = (int(x), int(y))
    return places


def read_readings(text: str) -> dict[str, float]:
    """Read what an answer says that its map reads, 0 to 1; the first reading of a letter counts."""
    found: dict[str, float] = {}
    for letter, *_, value in _POINT.findall(_words(text)):
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
    return bare if len(bare) == 1 and bare in MANY_LETTERS else None
