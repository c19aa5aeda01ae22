"""Questions about depth: write the map down; which point is nearest; the chain of both.

The steps of the chain are the paper's: where the points are, the depth map in tokens, which value is
higher. Ours says at once how near each point is: one step less to take silently. All letters are
listed, a point as A=086,298=64 (letter, column, row, nearness), one that marks nothing with dashes:
then numbers stand right behind their letter, every step begins at the same place in all answers, and a
small model learns where to look (docs/lab-log.md). Models with pixel tokens may spell places by these:
two tokens instead of seven. Sentences are ours; a released checkpoint of the authors wants theirs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from sightline.errors import InputError
from sightline.perception.codebook.words import END, START
from sightline.perception.questions.markers import LETTERS, SIDE, Point, nearest_letter
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
#: What is added to the question to be answered in steps, by how places are written.
STEPS: dict[Spelling, str] = {
    spelling: f" The picture is {SIDE} × {SIDE} pixels. First give each point as letter={form}=value, "
    "how near it is from 00 to 99, then the depth map in depth tokens: higher is nearer."
    for spelling, form in _FORMS.items()
}
POINTING: dict[Spelling, str] = {
    spelling: f"The picture is {SIDE} × {SIDE} pixels. Give each marked point as letter={form}=value, "
    "how near it is from 00 to 99."
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
    r"\b([A-E])=(?:(\d{1,3}),(\d{1,3})|<PIXEL_(\d{1,3})><PIXEL_(\d{1,3})>)(?:=(\d{2}))?(?!\d)"
)
_ANSWER = re.compile(r"\(([A-E])\)")


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
    answer = _in_steps(points_text(points, spelling), tokens, points)
    return Record(image, NEAREST + STEPS[spelling], answer, "chain")


def map_first(
    image: str, points: Mapping[str, Point], tokens: str, spelling: Spelling = "digits"
) -> Record:
    """Ask for the answer by way of the map alone."""
    answer = _in_steps(points_text({}, spelling), tokens, points)
    return Record(image, NEAREST + MAP_STEP, answer, "chain")


def _in_steps(first: str, tokens: str, points: Mapping[str, Point]) -> str:
    return "\n".join((first, map_text(tokens), conclusion(nearest_letter(points))))


def map_text(tokens: str) -> str:
    """Return the step that is the map."""
    return f"Depth map: {tokens}"


def points_text(points: Mapping[str, Point], spelling: Spelling = "digits") -> str:
    """Return where the points are and how near: 00 is the farthest of the picture, 99 the nearest."""
    said = {
        letter: f"{_place(p, spelling)}={p.value * 99 // 255:02d}" for letter, p in points.items()
    }
    return "\n".join(f"{letter}={said.get(letter, _NOTHING[spelling])}" for letter in LETTERS)


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
    return bare if len(bare) == 1 and bare in LETTERS else None
