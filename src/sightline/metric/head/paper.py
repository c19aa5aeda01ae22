"""Scale and shift as Metric from Human fits them: all people of all paintings alike (§3.3).

Every painting's relative disparity D_n is first brought to the original's by masked least squares
outside the painted strip (s_n, t_n); then one s and t turn disparity into metres for all of them by
L-BFGS on a loss over all pixels that show a person. `sightline.metric.head.fit` does better where some
people are out of proportion; this is for comparison, and for figures like the paper's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from sightline.errors import InputError
from sightline.geometry import Alignment, align
from sightline.metric.head.losses import LAMBDA_CODE, LOSSES, Doubles, LossName, silog
from sightline.types import BoolArray

#: `disparity`: the line predicts 1/m from relative disparity; `depth`: metres from relative depth.
Space = Literal["disparity", "depth"]

#: Least value of a prediction, as in the authors' code.
LEAST = 1e-12


@dataclass(frozen=True, slots=True)
class PaperFit:
    """What the paper's fit gives.

    Attributes:
        scale: s of the metric head.
        shift: t of it, in [1/m], or [m] in depth space.
        loss: at the end.
        pixels: that were fitted.
    """

    scale: float
    shift: float
    loss: float
    pixels: int


def to_original(painted: NDArray[Any], original: NDArray[Any], strip: BoolArray) -> Alignment:
    """Bring a painting's relative disparity to the original's where nothing was painted.

    Closed form, over pixels outside the strip where both are positive (§3.3, Eq. 3). A scale that is
    not positive is the mark of a painting that changed what it should not: it is to be dropped.

    Args:
        painted: (H, W) relative disparity of the painting.
        original: (H, W) of the original.
        strip: (H, W) True where the painter was allowed to paint.
    """
    mask = ~strip & (painted > 0) & (original > 0)
    if int(mask.sum()) < 2:
        raise InputError("the painted strip leaves nothing to compare with the original")
    return align(painted, original, mask)


def fit_paper(
    values: Sequence[NDArray[Any]],
    depths: Sequence[NDArray[Any]],
    *,
    loss: LossName = "silog",
    weight: float = LAMBDA_CODE,
    space: Space = "disparity",
) -> PaperFit:
    """Fit s and t over the pixels of all paintings.

    Args:
        values: per painting, (N_n,) relative disparity, already aligned to the original's; relative
            depth in depth space. Values that are not positive do not count.
        depths: per painting, (N_n,) metres of the people's surfaces at the same pixels.
        loss: one of the paper's Table 5.
        weight: λ of `silog`; see `losses`.
        space: in which the line is straight (Table 3).
    """
    x = np.concatenate([np.ravel(v).astype(np.float64) for v in values]) if values else np.empty(0)
    z = np.concatenate([np.ravel(d).astype(np.float64) for d in depths]) if depths else np.empty(0)
    if x.shape != z.shape:
        raise InputError(f"{len(x)} values for {len(z)} depths")
    good = np.isfinite(x) & np.isfinite(z) & (x > 0) & (z > 0)
    x, z = x[good], z[good]
    if len(x) < 2:
        raise InputError("no pixel that shows a person", remedy="give pictures with people")
    target = 1 / z if space == "disparity" else z
    function = partial(silog, weight=weight) if loss == "silog" else LOSSES[loss]
    # In units in which values and targets are of order one, so that the search starts near its end.
    x_unit, unit = float(np.median(x)), float(np.median(target))
    x, target = x / x_unit, target / unit

    def value(line: Doubles) -> tuple[float, Doubles]:
        predicted = line[0] * x + line[1]
        result, slope = function(np.maximum(predicted, LEAST), target)
        slope = np.where(predicted > LEAST, slope, 0.0)
        return result, np.array([(slope * x).sum(), slope.sum()])

    found = optimize.minimize(
        value,
        np.array([1.0, 0.0]),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1000, "ftol": 1e-13, "gtol": 1e-9},
    )
    scale, shift = found.x[0] * unit / x_unit, found.x[1] * unit
    return PaperFit(float(scale), float(shift), float(found.fun), len(x))
