"""Answer questions about points from a decoded depth map, from coordinates, or from metric depth.

Points are compared by scores with a standard deviation. Two scores that differ by less than twice the
standard deviation of their difference are not ordered: the answer is then "cannot tell".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.perception.codebook import values_at
from sightline.perception.questions.points import OPPOSITE, PointQuestion, Relation
from sightline.perception.tokens import GRID, depth_word
from sightline.types import FloatArray, Measurement

#: Standard deviation of a decoded value, as a share of the range of the map. The mean absolute error of
#: the codebook on held-out photographs is 1.9 % (docs/tables/codebook.md), 0.8 σ of a normal error.
CODEBOOK_SIGMA = 0.024
#: Radius within which the place of a point is uncertain, [px] of the 320 × 320 map.
_POINTING = 3
#: Differences count beyond this many standard deviations.
_SIGMAS = 2.0

_NAMES: dict[Relation, tuple[str, str]] = {
    "nearest": ("nearest", "in front of"),
    "farthest": ("farthest", "behind"),
    "left": ("leftmost", "left of"),
    "right": ("rightmost", "right of"),
    "above": ("highest in the image", "above"),
    "below": ("lowest in the image", "below"),
}


class Distances(Protocol):
    """Metric distances of two points, such as a result of `sightline.measure`."""

    @property
    def distance(self) -> Measurement:
        """Distance between the points, [m]."""

    @property
    def ranges(self) -> tuple[Measurement, Measurement]:
        """Distances of the points from the camera, [m]."""


#: Measure two pixels of the image, as `functools.partial(sightline.measure, result)` does.
Measure = Callable[[tuple[float, float], tuple[float, float]], Distances]


@dataclass(frozen=True, slots=True)
class PointAnswer:
    """Answer to a question about points.

    Attributes:
        answer: letter, letters, yes, no, a direction or a distance; None if it cannot be told.
        statement: sentence that states the answer or why there is none.
        used: tokens, values, coordinates or distances that it follows from, one line each.
        guess: likeliest answer where it cannot be told; None if there is none.
        scores: score and standard deviation of each point, higher is more of the relation.
    """

    answer: str | None
    statement: str
    used: tuple[str, ...]
    guess: str | None = None
    scores: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def value_sigmas(
    decoded: FloatArray, places: Mapping[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Return value and standard deviation of a decoded map at points in pixels of 336 × 336.

    The uncertainty combines the error of the codebook with the spread of the map around the point. It
    does not include errors of the model that wrote the map.
    """
    values, side = values_at(decoded, places), 336
    rows, columns = decoded.shape
    found = {}
    for letter, (x, y) in places.items():
        row, column = int(y * rows / side), int(x * columns / side)
        near = decoded[
            max(0, row - _POINTING) : row + _POINTING + 1,
            max(0, column - _POINTING) : column + _POINTING + 1,
        ]
        found[letter] = (values[letter], math.hypot(CODEBOOK_SIGMA, float(near.std())))
    return found


def answer_by_map(
    question: PointQuestion,
    decoded: FloatArray,
    codes: NDArray[np.int64],
    places: Mapping[str, tuple[float, float]],
) -> PointAnswer:
    """Answer a question about depth from the map that a model wrote.

    Args:
        question: parsed question.
        decoded: (320, 320) disparity in [0, 1], near is 1.
        codes: (10, 10) codes of the map.
        places: x and y by letter, in pixels of 336 × 336.
    """
    read = value_sigmas(decoded, places)
    sign = 1 if question.relation == "nearest" else -1
    used = [f"the {codes.size} depth tokens of the map it wrote"]
    for letter in _involved(question, places):
        x, y = places[letter]
        row, column = int(y * GRID / 336), int(x * GRID / 336)
        value, sigma = read[letter]
        token = depth_word(int(codes[row, column]))
        used.append(
            f"{letter}: {token} (row {row + 1}, column {column + 1}), value {value:.2f} ± {sigma:.2f}"
        )
    scores = {letter: (sign * value, sigma) for letter, (value, sigma) in read.items()}
    return _answer(question, scores, tuple(used))


def answer_by_place(
    question: PointQuestion, points: Mapping[str, tuple[float, float]]
) -> PointAnswer:
    """Answer a question about left, right, above or below from the coordinates of the points."""
    axis = 0 if question.relation in ("left", "right") else 1
    sign = -1 if question.relation in ("left", "above") else 1
    used = ["the given coordinates; no tokens"]
    used += [f"{k}: {points[k][0]:g},{points[k][1]:g}" for k in _involved(question, points)]
    scores = {letter: (sign * place[axis], 0.0) for letter, place in points.items()}
    return _answer(question, scores, tuple(used))


def answer_by_meters(
    question: PointQuestion, points: Mapping[str, tuple[float, float]], measure: Measure | None
) -> PointAnswer:
    """Answer "how far" from metric depth; without it, the answer says that it cannot be told."""
    if measure is None:
        reason = (
            "depth tokens have no unit; meters need evidence of size in the picture: a person, a known "
            "length, or metric depth of `sightline metric`"
        )
        return PointAnswer(None, f"Cannot tell: {reason}.", ())
    first, *rest = question.letters
    second = rest[0] if rest else first
    try:
        found = measure(points[first], points[second] if rest else _beside(points[first]))
    except InputError as error:
        return PointAnswer(None, f"Cannot tell: {error}.", ())
    near, far = found.ranges
    used = ["metric depth of the picture; no tokens", f"{first}: {near} from the camera"]
    if question.form == "distance":
        return PointAnswer(str(near), f"{first} is {near} from the camera.", tuple(used))
    used.append(f"{second}: {far} from the camera")
    if question.form == "apart":
        apart = found.distance
        return PointAnswer(str(apart), f"{first} and {second} are {apart} apart.", tuple(used))
    # Errors of scale are common to both ranges; taken as independent, they make the interval longer.
    sign = 1 if question.relation == "nearest" else -1
    gap = Measurement(sign * (far.value - near.value), math.hypot(near.sigma, far.sigma), "m")
    word = "nearer" if sign > 0 else "farther away"
    if gap.value < 0:
        other = Measurement(-gap.value, gap.sigma, "m")
        statement = f"{first} is not {word} than {second} but {other} the other way."
    else:
        statement = f"{first} is {gap} {word} than {second}."
    return PointAnswer(str(gap), statement, tuple(used))


def _beside(place: tuple[float, float]) -> tuple[float, float]:
    """Return the pixel to the left, or right at the edge: distances are measured between two pixels."""
    return (place[0] - 1 if place[0] >= 1 else place[0] + 1, place[1])


def _involved(question: PointQuestion, points: Mapping[str, tuple[float, float]]) -> list[str]:
    """Return the letters that a question compares."""
    only = question.form in ("which", "order", "is_between", "same", "either")
    pair = question.form == "yes_no" and len(question.letters) == 2
    return list(question.letters if question.letters and (only or pair) else points)


Scores = Mapping[str, tuple[float, float]]


def _more(scores: Scores, a: str, b: str) -> bool | None:
    """Return whether the score of a is higher than that of b; None if it cannot be told."""
    (first, one), (second, other) = scores[a], scores[b]
    difference, bound = first - second, _SIGMAS * math.hypot(one, other)
    if difference == 0 or abs(difference) <= bound:
        return None
    return difference > 0


def _answer(question: PointQuestion, scores: Scores, used: tuple[str, ...]) -> PointAnswer:
    letters = _involved(question, dict.fromkeys(scores, (0.0, 0.0)))
    ranked = sorted(letters, key=lambda letter: -scores[letter][0])
    superlative, than = _NAMES[question.relation]
    named, doubts = question.letters, _doubts(scores, ranked)

    def told(answer: str, statement: str, doubt: list[tuple[str, str]]) -> PointAnswer:
        if not doubt:
            return PointAnswer(answer, statement, used, scores=scores)
        return PointAnswer(None, _cannot(scores, doubt[0]), used, answer, scores)

    if question.form == "order":
        return told(", ".join(ranked), f"From {superlative} on: {', '.join(ranked)}.", doubts)
    if question.form in ("which", "middle"):
        if question.form == "middle" and len(ranked) % 2 == 0:
            return PointAnswer(
                None, f"Cannot tell: {len(ranked)} points have no middle one.", used, None, scores
            )
        place = question.rank - 1 if question.form == "which" else len(ranked) // 2
        best = ranked[place]
        name = f"{_ordinal(question.rank)}{superlative}" if question.form == "which" else "middle"
        statement = f"{best} is the {name} of {', '.join(sorted(letters))}."
        return told(best, statement, [pair for pair in doubts if best in pair])
    if question.form == "yes_no" and len(named) == 1:
        best = ranked[question.rank - 1]
        yes = best == named[0]
        statement = f"{best} is the {_ordinal(question.rank)}{superlative}."
        # It matters only whether the point in question could have the rank.
        return told(_yes(yes), statement, [pair for pair in doubts if named[0] in pair])
    if question.form in ("yes_no", "either"):
        a, b = named
        more = scores[a][0] > scores[b][0]
        other = _NAMES[OPPOSITE[question.relation]][1]
        answer = _yes(more) if question.form == "yes_no" else (than if more else other)
        return told(answer, f"{a} is {than if more else other} {b}.", _doubts(scores, [a, b]))
    if question.form == "list":
        beyond = [k for k in ranked if k != named[0] and scores[k][0] > scores[named[0]][0]]
        answer = ", ".join(sorted(beyond)) or "none"
        doubt = [pair for pair in doubts if named[0] in pair]
        return told(answer, f"{than.capitalize()} {named[0]}: {answer}.", doubt)
    if question.form == "same":
        return _same(scores, ranked, used)
    return _between(question, scores, ranked, told)


def _same(scores: Scores, ranked: list[str], used: tuple[str, ...]) -> PointAnswer:
    """Say no if points differ; that they are equal can never be told from a map with errors."""
    if _more(scores, ranked[0], ranked[-1]):
        statement = f"{ranked[0]} and {ranked[-1]} are at different distances."
        return PointAnswer("no", statement, used, scores=scores)
    statement = _cannot(scores, (ranked[0], ranked[-1]))
    return PointAnswer(None, statement, used, "yes", scores)


def _between(
    question: PointQuestion,
    scores: Scores,
    ranked: list[str],
    told: Callable[[str, str, list[tuple[str, str]]], PointAnswer],
) -> PointAnswer:
    """Answer which points lie between two others in depth, or whether one does."""
    ends = question.letters[-2:]
    low, high = sorted(scores[end][0] for end in ends)
    inside = [k for k in ranked if k not in ends and low < scores[k][0] < high]
    asked = question.letters[:1] if question.form == "is_between" else [*set(ranked) - set(ends)]
    doubt = [(k, end) for k in sorted(asked) for end in ends if _more(scores, k, end) is None]
    names = ", ".join(sorted(inside)) or "none"
    if question.form == "is_between":
        (one,) = asked
        word = "" if one in inside else " not"
        statement = f"{one} is{word} between {ends[0]} and {ends[1]} in distance from the camera."
        return told(_yes(one in inside), statement, doubt)
    statement = f"Between {ends[0]} and {ends[1]} in distance from the camera: {names}."
    return told(names, statement, doubt)


def _doubts(scores: Scores, ranked: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of points whose order cannot be told, the closest pair first."""
    pairs = [
        (a, b)
        for number, a in enumerate(ranked)
        for b in ranked[number + 1 :]
        if _more(scores, a, b) is None
    ]
    return sorted(pairs, key=lambda pair: scores[pair[0]][0] - scores[pair[1]][0])


def _cannot(scores: Scores, pair: tuple[str, str]) -> str:
    (first, one), (second, other) = scores[pair[0]], scores[pair[1]]
    a, b = sorted(pair)
    bound = _SIGMAS * math.hypot(one, other)
    if bound == 0:
        return f"Cannot tell: {a} and {b} are at the same coordinate."
    return (
        f"Cannot tell: {a} and {b} differ by {abs(first - second):.2f}, "
        f"less than the uncertainty of the map ({bound:.2f})."
    )


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _ordinal(rank: int) -> str:
    """Return "" for 1, "second " for 2 and so on."""
    words = ["", "second ", "third ", "fourth ", "fifth "]
    return words[rank - 1] if rank <= len(words) else f"{rank}th "
