"""Depth questions and answers: write the depth map, name the nearest point, or both in a chain.

The steps of a chain are the paper's: points, depth map in tokens, comparison of values. Ours also
states how near each point is and compares one value at a time with the nearest so far. All letters
are listed: a point as A=086,298=64 (letter, column, row, nearness), an unused letter with dashes;
after the map A=64 A64, B=70 B70, C=12 B70 and so on (value read, nearest so far). So numbers
directly follow their letter, every step has the same position in all answers, and a small model
learns where to attend (docs/lab-log.md). Models with pixel tokens may write a point with two tokens
instead of seven. The sentences are ours; a released checkpoint of the authors expects theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from sightline.errors import InputError
from sightline.perception.questions.hardblink import (
    LETTERS,
    MANY_LETTERS,
    SIDE,
    Point,
    nearest_letter,
)
from sightline.perception.questions.records import Record
from sightline.perception.tokens import END, START, pixel_word

GENERATE = "Write the depth map of this picture in depth tokens."
NEAREST = (
    "Some points of the picture are marked by circles with letters. "
    "Which one is nearest to the camera?"
)
#: Notation of points: x and y in digits, or each as a pixel token.
Spelling = Literal["digits", "pixels"]

_FORMS: dict[Spelling, str] = {"digits": "x,y", "pixels": "pixel tokens"}
#: Pixel tokens imply the image size.
_FRAMES: dict[Spelling, str] = {
    "digits": f" The picture is {SIDE} × {SIDE} pixels.",
    "pixels": "",
}
#: Instruction that asks for intermediate steps, by notation.
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

#: Instruction without the first step (the paper's ablation).
MAP_STEP = (
    " First give the depth map in depth tokens, then say at which point its value is higher: "
    "higher is nearer."
)

#: Entry of an unused letter, with as many tokens as a point.
_NOTHING: dict[Spelling, str] = {"digits": "---,---=--", "pixels": "-----"}
_POINT = re.compile(
    r"\b([A-H])=(?:(\d{1,3}),(\d{1,3})|<PIXEL_(\d{1,3})><PIXEL_(\d{1,3})>)(?:=(\d{2}))?(?!\d)"
)
_ANSWER = re.compile(r"\(([A-H])\)")


def generation(image: str, tokens: str, spelling: Spelling = "digits") -> Record:
    """Ask for the depth map."""
    return Record(image, GENERATE, f"{points_text({}, spelling)}\n{map_text(tokens)}", "depth")


def pointing(image: str, points: Mapping[str, Point], spelling: Spelling = "digits") -> Record:
    """Ask for the positions of the points and how near they are."""
    return Record(image, POINTING[spelling], points_text(points, spelling), "points")


def direct(image: str, points: Mapping[str, Point]) -> Record:
    """Ask for the nearest point."""
    return Record(image, NEAREST, f"({nearest_letter(points)})", "direct")


def chain(
    image: str, points: Mapping[str, Point], tokens: str, spelling: Spelling = "digits"
) -> Record:
    """Ask for the nearest point by way of coordinates and depth map."""
    steps = (points_text(points, spelling), map_text(tokens), comparison(points), _end(points))
    return Record(image, NEAREST + STEPS[spelling], "\n".join(steps), "chain")


def map_first(
    image: str, points: Mapping[str, Point], tokens: str, spelling: Spelling = "digits"
) -> Record:
    """Ask for the nearest point by way of the depth map alone."""
    steps = (points_text({}, spelling), map_text(tokens), _end(points))
    return Record(image, NEAREST + MAP_STEP, "\n".join(steps), "chain")


def _end(points: Mapping[str, Point]) -> str:
    return conclusion(nearest_letter(points))


def map_text(tokens: str) -> str:
    """Return the step with the depth map."""
    return f"Depth map: {tokens}"


def points_text(points: Mapping[str, Point], spelling: Spelling = "digits") -> str:
    """Return the step with positions and nearness: 00 is the farthest of the image, 99 the nearest."""
    said = {letter: f"{_place(p, spelling)}={_reading(p)}" for letter, p in points.items()}
    return "\n".join(f"{letter}={said.get(letter, _NOTHING[spelling])}" for letter in LETTERS)


def comparison(points: Mapping[str, Point]) -> str:
    """Return the step that compares values: each letter's, and the nearest so far.

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
    """Parse the coordinates of an answer, before or after its map.

    Raises:
        InputError: a letter occurs twice, or a point lies outside of the image.
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
    """Parse the nearness values of an answer, in [0, 1]; the first value of a letter is taken."""
    found: dict[str, float] = {}
    for letter, *_, value in _POINT.findall(_words(text)):
        if value:
            found.setdefault(letter, int(value) / 99)
    return found


def _words(text: str) -> str:
    """Return an answer without its map."""
    return text.split(START, 1)[0] + "\n" + text.rsplit(END, 1)[-1] if START in text else text


def read_answer(text: str) -> str | None:
    """Return the letter that an answer decides for; None if there is none.

    The last letter in parentheses is taken; without any, a single letter that is the whole answer.
    """
    tail = text.rsplit(END, 1)[-1]
    found = _ANSWER.findall(tail)
    if found:
        return str(found[-1])
    bare = tail.strip().strip(".")
    return bare if len(bare) == 1 and bare in MANY_LETTERS else None
