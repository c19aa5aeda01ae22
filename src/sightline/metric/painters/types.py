"""What a painter is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.types import BoolArray


class Painter(Protocol):
    """Fills masked parts of pictures with what a few words say."""

    #: Name and version of what paints, for the record.
    source: str

    def paint(
        self,
        pixels: NDArray[np.uint8],
        masks: Sequence[BoolArray],
        prompts: Sequence[str],
        seeds: Sequence[int],
    ) -> list[NDArray[np.uint8]]:
        """Return one painting per mask, prompt and seed, all of one picture.

        Args:
            pixels: (H, W, 3) sRGB.
            masks: (H, W) each, True where to paint.
            prompts: what to paint, one per mask.
            seeds: one per mask; the same seed gives the same painting.

        Returns:
            (H, W, 3) uint8 each. Pixels outside the mask may change a little.
        """
        ...
