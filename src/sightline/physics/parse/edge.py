"""What coverage says about the distance to an edge, in a sharp video and in a blurred one."""

from __future__ import annotations

from math import sqrt

import numpy as np
from scipy.special import ndtri

from sightline.physics.types import Doubles

#: Width of the soft edge as a share of r², and where it is half covered as a share of r.
SOFT = 0.03
HALF = sqrt(1 - SOFT / 2)
#: Steps of coverage in a table: half a grey level.
LEVELS = 510
#: Standard deviation of a coverage whose pixel is a whole number.
LEVEL = 0.3 / 255

_CUT = 0.5 / 255  # by which coverages are too large, since the reference cuts levels to whole ones
_MARGIN = 2.0  # px to each side of the edge that are looked at when it is sharp
_WIDEST = 6.0


class Edge:
    """How coverage depends on the distance to an edge, for one video.

    Attributes:
        scale: (511,) a pixel of coverage k / 510 is at distance scale[k] · r + offset[k].
        offset: (511,) in [px].
        low: coverage up to this says "outside" and no more.
        high: coverage from this on says "inside" and no more.
        noise: standard deviation of a coverage.
        sharp: whether the edge is as the reference draws it.
        blur: standard deviation of the Gaussian that makes it wider, in [px].
        margin: how far from the edge pixels are looked at, in [px].
    """

    def __init__(self, blur: float, noise: float, sharp: bool) -> None:
        coverage = np.arange(LEVELS + 1) / LEVELS
        self.sharp = sharp
        self.blur = blur
        self.noise = max(noise, LEVEL)
        if sharp:
            self.scale: Doubles = np.sqrt(1 - SOFT * np.maximum(coverage - _CUT, 0))
            self.offset: Doubles = np.zeros(LEVELS + 1)
            self.low = min(6 * self.noise, 0.3)
            self.margin = _MARGIN
        else:
            self.scale = np.full(LEVELS + 1, HALF)
            self.offset = -blur * ndtri(np.clip(coverage, 0.02, 0.98))
            self.low = 0.12
            self.margin = min(_MARGIN + 2 * blur, _WIDEST)
        self.high = 1 - self.low

    def pack(self) -> tuple[Doubles, Doubles, Doubles]:
        """Return what compiled code takes: scale, offset, and the rest as numbers."""
        rest = np.array(
            [self.low, self.high, self.noise, float(self.sharp), self.margin, self.blur]
        )
        return self.scale, self.offset, rest
