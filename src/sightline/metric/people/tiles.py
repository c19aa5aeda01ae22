"""Where to look for people: the whole picture, and overlapping squares down to small people.

The pose detector is made for one person who fills much of its view. In a view about two and a half
times as tall as a person it finds people that it misses in the whole picture: on 26 photographs with
57 people, 49 instead of 25 (`docs/lab-log.md`).
"""

from __future__ import annotations

import math

from sightline.metric.people.crops import Crop

#: Side of a square over the height of the smallest person to be found in it.
SIDE_PER_PERSON = 2.7
#: From one size of squares to the next at most this factor: every person suits one of them.
FACTOR = 2.0
#: Neighbouring squares share this much of their side, so that most people lie whole in one.
OVERLAP = 0.33
#: The largest view over the longer side of the picture. Of somebody close to the camera the circle
#: about the body, feet and all, reaches far beyond the picture.
FARTHEST = 1.5


def squares(height: int, width: int, smallest: float, most: int) -> list[Crop]:
    """Choose where to look in a picture, from more than the whole of it to the smallest squares.

    Args:
        height: of the picture in [px].
        width: of the picture in [px].
        smallest: height of the smallest person to be found, in [px].
        most: at most about so many squares; where more would be needed, the smallest are left
            larger, and so are the smallest people.

    Returns:
        Upright squares; they may reach beyond the picture.
    """
    whole = float(max(height, width))
    least = SIDE_PER_PERSON * smallest
    while True:
        steps = max(0, math.ceil(math.log(whole / least, FACTOR))) if least < whole else 0
        sides = [whole * (least / whole) ** (step / steps) for step in range(steps + 1) if steps]
        sides = [FARTHEST * whole, *(sides or [whole])]
        places = [square for side in sides for square in _grid(height, width, side)]
        if len(places) <= max(most, 2):
            return places
        least *= 1.1


def smallest_person(places: list[Crop]) -> float:
    """Height in [px] of the smallest person that these squares are made for."""
    return min(place.side for place in places) / SIDE_PER_PERSON


def _grid(height: int, width: int, side: float) -> list[Crop]:
    columns, rows = _middles(width, side), _middles(height, side)
    return [Crop(x, y, side) for y in rows for x in columns]


def _middles(length: int, side: float) -> list[float]:
    """Middles of intervals of `side` that cover 0 to `length`, in pixel coordinates."""
    room = length - side
    if room <= 0:
        return [(length - 1) / 2]
    count = math.ceil(room / (side * (1 - OVERLAP))) + 1
    return [side / 2 + room * step / (count - 1) - 0.5 for step in range(count)]
