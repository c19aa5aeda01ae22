"""Yardsticks as people type them: `120,400,180,400=0.9m`, `320,240=3.2m`, `1.5m`.

Lengths may be in metres, centimetres, millimetres, feet or inches, or a number alone for metres; `±` or
`+-` adds an uncertainty: `0.9m±2cm`, `3.2±5%`.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from sightline.errors import InputError

UNITS = {"m": 1.0, "cm": 0.01, "mm": 0.001, "ft": 0.3048, "in": 0.0254, "km": 1000.0, "": 1.0}

#: Lengths that can be used, in [m]: 0.1 mm to 100 km. What is beyond is a slip of the unit.
SHORTEST, LONGEST = 1e-4, 1e5
#: How well a length is known when nobody says, as a share: a tape measure, or a good guess.
USUAL_SHARE = 0.01

_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_LENGTH = re.compile(rf"\s*({_NUMBER})\s*([a-z]*)\s*(?:(?:±|\+-)\s*({_NUMBER})\s*([a-z]*|%))?\s*")


@dataclass(frozen=True, slots=True)
class Length:
    """A length and how well it is known.

    Attributes:
        metres: the length in [m].
        share: its standard deviation as a share of it.
    """

    metres: float
    share: float = USUAL_SHARE

    def __post_init__(self) -> None:
        if not SHORTEST <= self.metres <= LONGEST:
            raise InputError(
                f"a length must lie between 0.1 mm and 100 km, got {self.metres:g} m",
                remedy="look for a mistake in its unit",
            )


def parse_length(text: str) -> Length:
    """Read a positive length with its unit.

    >>> parse_length("90cm")
    Length(metres=0.9, share=0.01)
    >>> parse_length("2m+-10cm").share
    0.05
    """
    found = _LENGTH.fullmatch(text)
    if found is None:
        raise InputError(f"{text!r} is not a length", remedy="write it like 0.9m, 90cm or 3ft")
    number, unit, spread, spread_unit = found.groups()
    metres = float(number) * _unit(unit, text)
    if not (math.isfinite(metres) and metres > 0):
        raise InputError(f"a length must be positive and finite, got {text!r}")
    if spread is None:
        return Length(metres)
    share = float(spread) / 100 if spread_unit == "%" else None
    if share is None:
        share = float(spread) * _unit(spread_unit or unit, text) / metres
    if not 0 < share < 1:
        raise InputError(
            f"the uncertainty of {text!r} must be positive and less than the length itself"
        )
    return Length(metres, share)


def _unit(unit: str, text: str) -> float:
    if unit not in UNITS:
        known = ", ".join(name for name in UNITS if name)
        raise InputError(f"unknown unit {unit!r} in {text!r}", remedy=f"use one of {known}")
    return UNITS[unit]


def parse_pixels(text: str, count: int) -> tuple[float, ...]:
    """Read `count` numbers separated by commas: x,y of pixels, the top left one is 0,0.

    >>> parse_pixels("320,240.5", 2)
    (320.0, 240.5)
    """
    words = text.split(",")
    try:
        numbers = tuple(float(word) for word in words)
    except ValueError:
        numbers = ()
    if len(numbers) != count or not all(math.isfinite(n) for n in numbers):
        raise InputError(f"{text!r} is not {count} numbers separated by commas")
    return numbers


def parse_known(text: str, count: int) -> tuple[tuple[float, ...], Length]:
    """Read `pixels=length`.

    >>> parse_known("120,400,180,400=0.9m", 4)
    ((120.0, 400.0, 180.0, 400.0), Length(metres=0.9, share=0.01))
    """
    place, equals, length = text.partition("=")
    if not equals:
        example = ",".join("xyxyxyxy"[:count])
        raise InputError(f"{text!r} says no length", remedy=f"write {example}=0.9m")
    return parse_pixels(place, count), parse_length(length)
