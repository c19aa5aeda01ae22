"""Pictures that show nothing: a network makes up depth for them all the same, with a floor in it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError

#: Least difference of tone, of 255, in a picture that shows anything: more than noise and compression.
LEAST_TONES = 6
#: One pixel in so many each way is looked at.
_EVERY = 4


def refuse_blank(pixels: NDArray[np.uint8], *, floor: bool = False) -> None:
    """Refuse a picture of one tone.

    Args:
        pixels: (H, W, 3) sRGB.
        floor: whether a floor is looked for.
    """
    some = pixels[::_EVERY, ::_EVERY].reshape(-1, pixels.shape[-1])
    low, high = np.quantile(some, [0.005, 0.995], axis=0)
    if float((high - low).max()) < LEAST_TONES:
        what = "no floor was found: " if floor else ""
        raise InputError(
            f"{what}the picture is blank, and any depth of it would be made up",
            remedy="give one that shows something",
        )
