"""The things that a picture shows: kind, box, how much of each is seen, and how far away it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sightline.types import FloatArray


@dataclass(frozen=True, slots=True)
class Instance:
    """One thing in a picture.

    Attributes:
        number: what marks its pixels in the mask of instances; 1 or more.
        kind: what it is: chair, car, tree, person …
        box: (x0, y0, x1, y1) around what is seen of it, in [px]; x1 and y1 are one past the last, so
            its width is x1 − x0.
        pixels: how many of its pixels are seen.
        nearest: least depth among them, [m].
        median: median depth among them, [m].
    """

    number: int
    kind: str
    box: tuple[int, int, int, int]
    pixels: int
    nearest: float
    median: float


def find_instances(
    mask: NDArray[np.int32], depth: FloatArray, kinds: Sequence[str]
) -> tuple[Instance, ...]:
    """List the things of which at least a pixel is seen, by number.

    Args:
        mask: (H, W) number of the thing at each pixel, 0 where there is none; at most 65535.
        depth: (H, W) metres along the optical axis; finite where `mask` is not 0.
        kinds: name of thing number k + 1 at place k.
    """
    columns = mask.shape[1]
    where = np.flatnonzero(mask).astype(np.int32)
    # As 16 bits, since numpy sorts those by counting: ten times as fast.
    numbers = mask.reshape(-1)[where].astype(np.uint16)
    order = np.argsort(numbers, kind="stable")
    where = where[order]
    metres = depth.reshape(-1)[where]
    starts = np.flatnonzero(np.diff(numbers[order], prepend=0))
    found = []
    for start, stop in pairwise([*starts.tolist(), len(where)]):
        y, x = np.divmod(where[start:stop], columns)
        z = metres[start:stop]
        number = int(mask[y[0], x[0]])
        found.append(
            Instance(
                number=number,
                kind=kinds[number - 1],
                box=(int(x.min()), int(y[0]), int(x.max()) + 1, int(y[-1]) + 1),
                pixels=len(z),
                nearest=float(z.min()),
                median=float(np.median(z)),
            )
        )
    return tuple(found)
