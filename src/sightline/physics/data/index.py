"""The index of a `.slv` file: what it says, checked before any of it is believed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from math import isfinite
from typing import Any

from sightline.errors import InputError
from sightline.physics.data.block import AGAIN, Layout
from sightline.physics.data.spec import COMBINATORIAL
from sightline.physics.render import LARGEST, SMALLEST

#: Limits of what a file may claim.
MOST_FRAMES, MOST_BODIES, MOST_PARAMETERS = 1024, 64, 64
MOST_PIXELS = 1 << 28
MOST_BLOCK = 100_000
_MOST_HEAD = 1 << 28  # bytes of the records of a block


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """What a `.slv` file says of itself.

    Attributes:
        scenario: of all its samples.
        count: videos.
        block: videos of a block; the last may have fewer.
        layout: sizes of a record.
        size: width and height in [px].
        frame_time: seconds between frames.
        made: the settings it was made with.
        places: offset and length in bytes of each block.
        hashes: sha256 of each block.
    """

    scenario: str
    count: int
    block: int
    layout: Layout
    size: int
    frame_time: float
    made: dict[str, Any]
    places: tuple[tuple[int, int], ...]
    hashes: tuple[str, ...]

    def in_block(self, number: int) -> int:
        """Return how many videos block `number` has."""
        return min(self.block, self.count - number * self.block)


def parse_index(content: bytes, size: int) -> Index:
    """Read an index; refuse one that cannot be true.

    Args:
        content: JSON.
        size: of the file in bytes.
    """
    try:
        facts = json.loads(content)
        version = int(facts["version"])
        if version > 1:
            raise InputError(
                f"is of version {version} of the format", remedy="use a newer Sightline"
            )
        layout = Layout(*(_whole(facts[k]) for k in ("parameters", "frames", "bodies")))
        index = Index(
            scenario=str(facts["scenario"]),
            count=_whole(facts["count"]),
            block=_whole(facts["block"]),
            layout=layout,
            size=_whole(facts["size"]),
            frame_time=float(facts["frame_time"]),
            made=dict(facts["made"]),
            places=tuple((_whole(a), _whole(b)) for a, b, _ in facts["blocks"]),
            hashes=tuple(str(h) for *_, h in facts["blocks"]),
        )
    except (ValueError, TypeError, LookupError, RecursionError, OverflowError) as error:
        raise InputError("the index makes no sense", remedy=AGAIN) from error
    if index.count == 0:
        raise InputError("holds no video", remedy=AGAIN)
    if not _plausible(index, size):
        raise InputError("the index makes no sense", remedy=AGAIN)
    return index


def _whole(value: Any) -> int:
    """Return a number that is whole and not negative."""
    if type(value) is not int or value < 0:
        raise ValueError(value)
    return value


def _plausible(index: Index, size: int) -> bool:
    layout = index.layout
    limits = (
        1 <= layout.frames <= MOST_FRAMES
        and layout.bodies <= MOST_BODIES
        and layout.parameters <= MOST_PARAMETERS
        and SMALLEST <= index.size <= LARGEST
        and layout.frames * index.size**2 <= MOST_PIXELS
        and 1 <= index.block <= MOST_BLOCK
        and isfinite(index.frame_time)
        and index.frame_time > 0
        and index.scenario != COMBINATORIAL
        and len(index.places) == -(-index.count // index.block)
        and layout.head(min(index.block, index.count)) <= _MOST_HEAD
    )
    return limits and _places_hold(index, size)


def _places_hold(index: Index, size: int) -> bool:
    """Say whether the blocks lie one after the other in the file, each with room for its records."""
    free = 0
    for number, (offset, length) in enumerate(index.places):
        if offset < free or length < index.layout.head(index.in_block(number)):
            return False
        free = offset + length
    return free <= size
