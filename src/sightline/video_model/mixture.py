"""Several sources of videos in turn, and the order in which they come.

The order follows from the seed and a sample's number, whoever asks and when: a run that was broken goes
on where it was.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.physics.data.spec import MOST
from sightline.video_model.sentences import Fact
from sightline.video_model.sources import Videos


@dataclass(frozen=True, slots=True)
class Pick:
    """Which video a place of the training is given.

    Attributes:
        source: number of the source.
        index: of the video in it.
        mirror: whether it is mirrored.
    """

    source: int
    index: int
    mirror: bool


class Mixture:
    """Sources in turn, each by its share; a source that ends begins again in another order.

    Args:
        sources: all of one shape.
        shares: places in a row of turns, of each source.
        seed: of order and mirrors.
        flip: mirror every other video, at random.
    """

    def __init__(
        self,
        sources: Sequence[Videos],
        shares: Sequence[int] | None = None,
        *,
        seed: int = 0,
        flip: bool = False,
    ) -> None:
        if not sources:
            raise InputError("no videos to learn from")
        shapes = {source.shape for source in sources}
        if len(shapes) > 1:
            raise InputError(
                f"videos of several shapes (frames, px): {sorted(shapes)}",
                remedy="make them alike, or train on one of them",
            )
        self.sources, self.shape = tuple(sources), shapes.pop()
        self.shares = tuple(shares or [1] * len(sources))
        #: Where the turns of each source begin in a row of them, and the length of the row.
        self._begins = list(accumulate(self.shares, initial=0))
        self.seed, self.flip = seed, flip
        self._order = lru_cache(maxsize=2 * len(sources))(self._shuffled)

    @property
    def names(self) -> list[str]:
        """What the sources are called, with their shares."""
        return [f"{s.name} @{n}" for s, n in zip(self.sources, self.shares, strict=True)]

    @property
    def path(self) -> Path | None:
        """The first file among the sources, for messages; None if all are worlds."""
        return next((path for s in self.sources if (path := s.path) is not None), None)

    def endless(self, source: int) -> bool:
        """Say whether videos of a source never come again."""
        return len(self.sources[source]) == MOST

    def pick(self, number: int) -> Pick:
        """Return which video sample `number` of the training is."""
        rounds, place = divmod(number, self._begins[-1])
        source = bisect_right(self._begins, place) - 1
        nth = rounds * self.shares[source] + place - self._begins[source]
        count = len(self.sources[source])
        # Worlds without end are random by themselves.
        index = nth if self.endless(source) else int(self._order(source, nth // count)[nth % count])
        mirror = self.flip and bool(np.random.default_rng([self.seed, 3, number]).random() < 0.5)
        return Pick(source, index, mirror)

    def video(self, pick: Pick) -> NDArray[np.uint8]:
        """Return (3, T, S, S) uint8."""
        return self.sources[pick.source].video(pick.index, mirror=pick.mirror)

    def fact(self, pick: Pick) -> Fact:
        """Return scenario, radii and speeds; those of a mirrored video go the other way."""
        source = self.sources[pick.source]
        return Fact(source.scenario, source.numbers(pick.index, mirror=pick.mirror))

    def _shuffled(self, source: int, epoch: int) -> NDArray[np.int64]:
        rng = np.random.default_rng([self.seed, 2, source, epoch])
        return rng.permutation(len(self.sources[source]))
