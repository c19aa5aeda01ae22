"""Scale and shift as Metric from Human fits them: all people of all paintings alike (§3.3).

Every painting's relative disparity D_n is first brought to the original's by masked least squares
outside the painted strip (s_n, t_n); then one s and t turn disparity into meters for all of them by
L-BFGS on a loss over all pixels that show a person. `sightline.metric.solver` does better where some
people are out of proportion; this is for comparison, and for figures like the paper's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import optimize

from sightline.errors import InputError

Doubles = NDArray[np.float64]
LossName = Literal["l1", "l2", "log_mse", "silog"]

#: Added before logarithms are taken, as the authors' code does.
EPSILON = 1e-7

#: λ of mean(g²) - λ mean(g)². The paper prints 0.15 below this formula (Eq. 5); its code computes
#: var(g) + 0.15 mean(g)², which is this formula with 0.85, and so are its published figures.
LAMBDA_CODE = 0.85
LAMBDA_PRINTED = 0.15


def l1(predicted: Doubles, target: Doubles) -> tuple[float, Doubles]:
    """Mean absolute difference."""
    off = predicted - target
    return float(np.abs(off).mean()), np.sign(off) / len(off)


def l2(predicted: Doubles, target: Doubles) -> tuple[float, Doubles]:
    """Mean squared difference."""
    off = predicted - target
    return float((off**2).mean()), 2 * off / len(off)


def log_mse(predicted: Doubles, target: Doubles) -> tuple[float, Doubles]:
    """Mean squared difference of logarithms: `silog` with λ = 0, without the root."""
    g = np.log(predicted + EPSILON) - np.log(target + EPSILON)
    return float((g**2).mean()), 2 * g / len(g) / (predicted + EPSILON)


def silog(
    predicted: Doubles, target: Doubles, weight: float = LAMBDA_CODE
) -> tuple[float, Doubles]:
    """Return 10 · sqrt(mean(g²) - λ mean(g)²) with g = ln predicted - ln target.

    Args:
        predicted: (N,) positive.
        target: (N,) positive.
        weight: λ; 1 forgives any common factor, 0 none.
    """
    g = np.log(predicted + EPSILON) - np.log(target + EPSILON)
    count, mean = len(g), g.mean()
    root = np.sqrt(max((g**2).mean() - weight * mean**2, 1e-18))
    slope = 10 / root * (g - weight * mean) / count
    return float(10 * root), slope / (predicted + EPSILON)


LOSSES: dict[LossName, Callable[[Doubles, Doubles], tuple[float, Doubles]]] = {
    "l1": l1,
    "l2": l2,
    "log_mse": log_mse,
    "silog": silog,
}


#: `disparity`: the line predicts 1/m from relative disparity; `depth`: meters from relative depth.
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
        depths: per painting, (N_n,) meters of the people's surfaces at the same pixels.
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
