"""Parse questions about points: nearest, n-th, order, between, sides, yes or no, how far.

A question is reduced to a pattern, in which each letter of a point is `@` and each list of letters `#`,
and the whole pattern is looked up in a table. A question with a word that the table does not have is
not supported, so "second nearest" is never read as "nearest".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from sightline.errors import InputError

#: Letters of points, in order.
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

#: Direction in which points are compared: along depth, or in the image.
Relation = Literal["nearest", "farthest", "left", "right", "above", "below"]
#: Form of the answer: a letter; yes or no; one of two opposite directions; all letters beyond a point;
#: all letters in order; the letters between two points; the middle of all; equality; meters from the
#: camera, between two points, or of the difference.
Form = Literal[
    "which",
    "yes_no",
    "either",
    "list",
    "order",
    "between",
    "is_between",
    "middle",
    "same",
    "distance",
    "apart",
    "difference",
]

OPPOSITE: dict[Relation, Relation] = {
    "nearest": "farthest",
    "farthest": "nearest",
    "left": "right",
    "right": "left",
    "above": "below",
    "below": "above",
}


@dataclass(frozen=True, slots=True)
class PointQuestion:
    """Parsed question about points.

    Attributes:
        form: form of the answer.
        relation: direction of the comparison.
        letters: points named by the question, in its order; empty for all points.
        rank: 1 for the nearest, 2 for the second nearest and so on.
    """

    form: Form
    relation: Relation = "nearest"
    letters: tuple[str, ...] = ()
    rank: int = 1

    @property
    def in_depth(self) -> bool:
        """Whether the answer is read from the depth map."""
        return not self.in_meters and self.relation in ("nearest", "farthest")

    @property
    def in_meters(self) -> bool:
        """Whether the answer is a metric distance."""
        return self.form in ("distance", "apart", "difference")


_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
]
_CAMERA = re.compile(
    r"\b(?:away )?(?:to|from|of|than) (?:the )?(?:camera|viewer|observer|lens|"
    r"photographer|me|us|you|here)\b"
)
_FILLER = re.compile(
    r"\b(?:please|tell me|show me|(?:can|could|would) you (?:say|tell|tell me)|do you think|exactly|"
    r"(?:in|on|of) (?:this|the) (?:picture|image|photo|photograph|scene)|actually|really|"
    r"(?:of|among) (?:the |these |all |all the |those )?(?:two |three |four |five )?"
    r"(?:points|marks|letters|circles|dots|markers|them|ones)|seems? to be|appears? to be)\b"
)
_ITEM = r"(?:one|point|mark|letter|circle|dot|marker)"
#: Letters: capitals, and small ones where they cannot be the article or the pronoun.
_MENTION = re.compile(
    r"\b(?:points? )?(?:([A-HJ-Z])|(I)(?! (?:am|see|want|can|have|think|stand|look)\b)|([b-hj-z])|"
    r"(a)(?=\s*(?:,|\?|$)| (?:or|and|in|is|lies?|behind|before|beyond|ahead|near|nearer|nearest|closer|"
    r"closest|far|farther|further|farthest|furthest|to|left|right|above|below|over|under|between|the|as|"
    r"at|from|than|higher|lower|away|apart)\b))(?![\w'’])"
)

_IS = r"(?:is|lies|are|sits|looks|appears|seems|comes)"
_WHICH = (
    rf"(?:(?:which|what|whats|who|name|find|give|pick|choose|identify|select)(?: {_ITEM}s?| {_IS})*"
    rf"(?: of)?(?: #)?(?: {_IS})?(?: the)?|the)"
)
_WORDS: dict[Relation, str] = {
    "nearest": r"(?:nearest|closest|nearer|closer|foremost|frontmost|near|close|in front|in the front)",
    "farthest": r"(?:(?:farthest|furthest|farther|further|most distant|more distant|hindmost|rearmost)"
    r"(?: away| back)?|behind|in the back|at the back|far away|deepest)",
    "left": r"(?:leftmost|(?:farthest|furthest|farther|further|most|more)(?: to the)? left|"
    r"(?:on|to|at) the(?: far)? left)",
    "right": r"(?:rightmost|(?:farthest|furthest|farther|further|most|more)(?: to the)? right|"
    r"(?:on|to|at) the(?: far)? right)",
    "above": r"(?:highest|higher|topmost|uppermost|at the top|(?:farthest|furthest|further) up)",
    "below": r"(?:lowest|lower|lowermost|bottommost|at the bottom|(?:farthest|furthest|further) down)",
}
_THAN: dict[Relation, str] = {
    "nearest": r"(?:in front of|before|ahead of|(?:nearer|closer) than)",
    "farthest": r"(?:behind|beyond|in back of|(?:farther|further|more distant)(?: away| back)? than)",
    "left": r"(?:(?:to the |on the )?left of|(?:farther|further|more)(?: to the)? left than)",
    "right": r"(?:(?:to the |on the )?right of|(?:farther|further|more)(?: to the)? right than)",
    "above": r"(?:above|over|higher than|higher up than)",
    "below": r"(?:below|under|beneath|underneath|lower than|lower down than)",
}
_BY_DEPTH = r"(?: (?:by|in|according to)(?: their)? (?:depth|distance|nearness))?"
_WAYS: dict[Relation, str] = {
    "nearest": r"(?:from )?(?:the )?(?:near|nearest|closest|front|close) to (?:the )?"
    r"(?:far|farthest|furthest|back)|nearest first|closest first|by nearness|by depth|by distance",
    "farthest": r"(?:from )?(?:the )?(?:far|farthest|furthest|back) to (?:the )?"
    r"(?:near|nearest|closest|front|close)|farthest first|furthest first",
    "left": r"(?:from )?(?:the )?(?:left|leftmost) to (?:the )?(?:right|rightmost)",
    "right": r"(?:from )?(?:the )?(?:right|rightmost) to (?:the )?(?:left|leftmost)",
    "above": r"(?:from )?(?:the )?(?:top|highest) to (?:the )?(?:bottom|lowest)|top to bottom",
    "below": r"(?:from )?(?:the )?(?:bottom|lowest) to (?:the )?(?:top|highest)|bottom to top",
}
_SORT = (
    r"(?:order|sort|rank|list|arrange|name|give|what is the order of|what is the order|"
    r"in which order are)"
)
_ALL = r"(?:(?: all)?(?: the)?(?: points| marks| letters| them| dots| #))?"
_RANK = r"(?:(?P<rank>\d+)(?:st|nd|rd|th) |(?P<word>{}) )".format("|".join(_ORDINALS))
_METERS = r"(?: in (?:meters|metres|m|feet|centimeters|cm))?"


def _table() -> list[tuple[re.Pattern[str], Form, Relation]]:
    """Return the patterns, the more specific ones first."""
    rows: list[tuple[str, Form, Relation]] = [
        (rf"how (?:far|distant)(?: away)? {_IS} @(?: away)?{_METERS}", "distance", "nearest"),
        (
            rf"(?:what is |whats )?the (?:distance|range|depth)(?: of| to) @{_METERS}",
            "distance",
            "nearest",
        ),
        (r"how many (?:meters|metres)(?: away)? is @(?: away)?", "distance", "nearest"),
        (rf"how far(?: away)? is @(?: away)? from @{_METERS}", "apart", "nearest"),
        (rf"how far(?: apart)? are #(?: apart| from each other)?{_METERS}", "apart", "nearest"),
        (rf"(?:what is |whats )?the distance between #{_METERS}", "apart", "nearest"),
        (rf"(?:what is |whats )?the distance from @ to @{_METERS}", "apart", "nearest"),
        (r"how much (?:nearer|closer) is @ than @", "difference", "nearest"),
        (r"how much (?:farther|further)(?: away| back)? is @ than @", "difference", "farthest"),
        (
            r"(?:are|do) # (?:at |have |lie at |be at )?(?:about |roughly )?"
            r"(?:the )?same (?:distance|depth)"
            r"(?: away)?",
            "same",
            "nearest",
        ),
        (
            r"(?:are|is) # (?:equally|as) (?:far|near|close|distant|deep)(?: away)?",
            "same",
            "nearest",
        ),
        (r"is @ (?:at |about )*(?:the )?same (?:distance|depth)(?: away)? as @", "same", "nearest"),
        (
            r"is @ (?:just |equally )?as (?:far|near|close|distant)(?: away)? as @",
            "same",
            "nearest",
        ),
        (rf"is @ (?:(?:in depth|in distance) )?between #{_BY_DEPTH}", "is_between", "nearest"),
        (rf"{_WHICH} between #{_BY_DEPTH}", "between", "nearest"),
        (rf"{_WHICH} (?:in the middle|middle|median)(?: {_ITEM})?{_BY_DEPTH}", "middle", "nearest"),
        (
            r"is @ (?:in front of|nearer|closer) or (?:behind|farther than|further than) @",
            "either",
            "nearest",
        ),
        (r"is @ (?:to the )?left or (?:to the )?right of @", "either", "left"),
        (r"is @ above or below @", "either", "above"),
    ]
    for relation, words in _WORDS.items():
        than, way = _THAN[relation], _WAYS[relation]
        rows += [
            (rf"{_SORT}{_ALL}{_BY_DEPTH},?(?: {_IS})? (?:{way})", "order", relation),
            (
                rf"(?:is|does|lies) @ (?:lie |located |placed |directly |more )?{than} @",
                "yes_no",
                relation,
            ),
            (rf"(?:is|does) @ (?:lie )?(?:the )?{_RANK}?{words}(?: {_ITEM})?", "yes_no", relation),
            (rf"{_WHICH} {than} @", "list", relation),
            (rf"{_WHICH} {_RANK}?{words}(?: {_ITEM})?(?: ?[:,]?(?: of)? #)?", "which", relation),
            (rf"(?:is )?# (?:is )?(?:the )?{words}", "which", relation),
            (rf"{_RANK}?{words}(?: {_ITEM})?(?: of #)?", "which", relation),
        ]
    rows += [
        (rf"{_SORT}{_ALL}{_BY_DEPTH}", "order", "nearest"),
        (r"#", "which", "nearest"),
    ]
    return [(re.compile(pattern), form, relation) for pattern, form, relation in rows]


_TABLE = _table()


def parse_point_question(text: str, count: int) -> PointQuestion | None:
    """Parse a question about points; None if it is of no supported kind.

    >>> parse_point_question("Which point is second nearest?", 3)
    PointQuestion(form='which', relation='nearest', letters=(), rank=2)
    >>> parse_point_question("is A in front of B?", 2)
    PointQuestion(form='yes_no', relation='nearest', letters=('A', 'B'), rank=1)

    Args:
        text: question of the user.
        count: number of given points, which are called A, B, C and so on.

    Raises:
        InputError: the question names a point that is not given, names one twice, or asks for a rank
            that the points do not have.
    """
    pattern, letters = _reduce(text)
    for row, form, relation in _TABLE:
        found = row.fullmatch(pattern)
        if found is None:
            continue
        rank = _rank(found)
        _check(form, letters, rank, count)
        return PointQuestion(form, relation, letters, rank)
    return None


def _reduce(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the pattern of a question and the letters it names."""
    letters: list[str] = []

    def note(found: re.Match[str]) -> str:
        letters.append(next(group for group in found.groups() if group).upper())
        return "@"

    # "What's" is "what is"; a capital at the beginning of a sentence is no point ("A or B?" has one).
    plain = re.sub(r"['’]s\b", " is", " ".join(text.split()))
    plain = _MENTION.sub(note, plain).lower()
    plain = re.sub(r"[-–?!.;:()\"“”]+", " ", plain)
    plain = _FILLER.sub(" ", _CAMERA.sub(" ", " ".join(plain.split())))
    plain = " ".join(plain.split()).strip(" ,")
    # "A, B or C" is a list.
    plain = re.sub(r"@(?:\s*(?:,\s*(?:or|and)?|or|and)\s*@)+", "#", plain)
    return " ".join(plain.replace(" ,", ",").split()), tuple(letters)


def _rank(found: re.Match[str]) -> int:
    groups = found.groupdict()
    if groups.get("rank"):
        return int(groups["rank"])
    return _ORDINALS.index(groups["word"]) + 1 if groups.get("word") else 1


#: Least and most letters that a form names.
_NAMED: dict[Form, tuple[int, int]] = {
    "between": (2, 2),
    "is_between": (3, 3),
    "same": (2, 26),
    "apart": (2, 2),
}


def _check(form: Form, letters: tuple[str, ...], rank: int, count: int) -> None:
    given = ALPHABET[:count]
    for letter in letters:
        if letter not in given:
            known = f"given are {given[0]} to {given[-1]}" if count else "give it by --points"
            raise InputError(f"point {letter} is not given", remedy=known)
    if len(set(letters)) < len(letters):
        raise InputError("the question names a point twice")
    least, most = _NAMED.get(form, (0, 26))
    if not least <= len(letters) <= most:
        raise InputError(f"a question of this kind names {least} points, got {len(letters)}")
    compared = len(letters) if form in ("which", "order") and letters else count
    needed = 1 if form == "distance" else 2
    if compared < needed:
        raise InputError(
            f"a question about depth needs at least two points, got {compared or 'none'}"
            if needed == 2
            else "a question about distance needs a point",
            remedy="give them by --points, such as --points A=120,80 B=300,200",
        )
    if not 1 <= rank <= compared:
        raise InputError(f"{compared} points have no number {rank}")
