"""Colour scales for depth: 256 colours each, from far (0) to near (255).

Anchors at equal distances, joined by straight lines in sRGB. `spectral` is ColorBrewer's scale, the
one people know from depth papers, with warm colours near; `turbo` and `inferno` are the usual ones
of those names, sampled; `grey` is black far and white near.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError

Palette = Literal["spectral", "turbo", "inferno", "grey"]

_ANCHORS: dict[str, str] = {
    "spectral": "5e4fa2 3288bd 66c2a5 abdda4 e6f598 ffffbf fee08b fdae61 f46d43 d53e4f 9e0142",
    "turbo": "30123b 4145ab 4675ed 39a2fc 1bcfd4 24eca6 61fc6c a4fc3b d1e834 f3c63a fe9b2d f36315 "
    "d93806 b11901 7a0402",
    "inferno": "000004 1f0c48 550f6d 88226a ba3655 e35933 f98c0a f9c932 fcffa4",
    "grey": "000000 ffffff",
}

#: Colour of pixels about which nothing is known: in no palette but `grey`, and calm.
UNKNOWN = (128, 128, 128)


def table(palette: str) -> NDArray[np.uint8]:
    """Return the (256, 3) uint8 colours of a palette, far to near.

    >>> table("spectral")[[0, -1]].tolist()
    [[94, 79, 162], [158, 1, 66]]
    """
    if palette not in _ANCHORS:
        raise InputError(f"no palette {palette!r}", remedy=f"use {', '.join(get_args(Palette))}")
    anchors = np.array([list(bytes.fromhex(colour)) for colour in _ANCHORS[palette].split()])
    at = np.linspace(0, len(anchors) - 1, 256)
    mixed = [np.interp(at, np.arange(len(anchors)), anchors[:, channel]) for channel in range(3)]
    return np.rint(np.stack(mixed, axis=-1)).astype(np.uint8)
