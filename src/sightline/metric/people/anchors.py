"""The grid of anchors behind the outputs of Google's small detectors.

The networks are SSD detectors (Liu et al., arXiv 1512.02325) in the form of BlazeFace (arXiv
1907.05047, section 3): all anchors are of unit size, so an anchor is only a point. Layers of the
same stride share one grid, whose cells then hold the anchors of all of them one after the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray


def ssd_anchors(size: int, strides: Sequence[int], per_layer: int = 2) -> NDArray[np.float64]:
    """Return the anchors of a square network in the order of its outputs.

    Args:
        size: side of the network's input in [px].
        strides: stride of each layer in [px], from fine to coarse; layers of one stride are
            neighbours.
        per_layer: anchors per cell and layer.

    Returns:
        (N, 2) float64, x and y as fractions of the side, row by row.

    >>> len(ssd_anchors(224, (8, 16, 32, 32, 32)))
    2254
    """
    grids = []
    for stride, layers in groupby(strides):
        cells = -(-size // stride)
        middles = (np.arange(cells) + 0.5) / cells
        y, x = np.meshgrid(middles, middles, indexing="ij")
        grid = np.stack([x, y], axis=-1).reshape(-1, 2)
        grids.append(np.repeat(grid, per_layer * len(list(layers)), axis=0))
    return np.concatenate(grids)
