"""Per-pixel uncertainty from test-time augmentation, calibrated on measured depth.

The network also runs on mirrored and rescaled images. The disagreement of the outputs, together with a
constant floor for errors that all of them share, gives

    sigma = sqrt((gain · disagreement)² + floor²) · unit

`gain` and `floor` are fitted per model so that 68 % of true errors fall inside one sigma. `unit`
removes the scale: for relative disparity it is the range of the map (5th to 95th percentile), for
metric maps the value itself, because metric errors grow with distance.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.depth.preprocessing import to_picture_size
from sightline.errors import InputError, SightlineError
from sightline.geometry import align
from sightline.io.atomic import write_text
from sightline.types import FloatArray, Kind

#: Share of a normal distribution inside one sigma.
ONE_SIGMA = 0.6827

#: File beside the embedded weights: model name to calibration.
CALIBRATIONS = "calibration.json"


@dataclass(frozen=True, slots=True)
class Calibration:
    """Calibration that converts disagreement to sigma.

    Attributes:
        gain: sigma per disagreement, no unit.
        floor: sigma where the network agrees with itself, in `uncertainty.unit_scale`s.
        weights: first 12 digits of the sha256 of the weights it was fitted for; "" for any.
        inside_1: share of true errors inside one sigma on pictures not used for the fit.
        inside_2: the same for two sigma.
        protocol: description of the data of fit and test.
    """

    gain: float
    floor: float
    weights: str = ""
    inside_1: float | None = None
    inside_2: float | None = None
    protocol: str = ""

    def __post_init__(self) -> None:
        if not (self.gain >= 0 and self.floor >= 0 and self.gain + self.floor > 0):
            raise InputError(f"gain {self.gain} and floor {self.floor} must not be negative")


#: For models that were never calibrated: cautious, and said to be a guess wherever it is used.
GENERIC = Calibration(gain=2.5, floor=0.1, protocol="generic guess, not calibrated")


def calibrate(
    disagreements: NDArray[Any],
    errors: NDArray[Any],
    weights: NDArray[Any] | None = None,
    bins: int = 20,
) -> Calibration:
    """Fit gain and floor so that one sigma holds 68 % of the errors, at every disagreement.

    The 68 % quantile of |error| is taken in bins of equal weight along the disagreement, and
    gain² · disagreement² + floor² is fitted to its square, each bin counting by its relative misfit.
    Quantiles, not squares: a few gross errors of the depth sensor must not widen all error bars.

    Args:
        disagreements: (N,) from `uncertainty.disagreement`.
        errors: (N,) prediction minus truth, in `uncertainty.unit_scale`s.
        weights: (N,) weights of the samples; None for equal ones.
        bins: number of bins.
    """
    from scipy.optimize import nnls

    doubt, size, share = _samples(disagreements, errors, weights)
    order = np.argsort(doubt, kind="stable")
    doubt, size, share = doubt[order], size[order], share[order]
    edges = np.searchsorted(np.cumsum(share), np.arange(1, bins) / bins)
    pieces = [piece for piece in np.split(np.arange(len(doubt)), edges) if len(piece)]
    square = np.array([np.average(doubt[p] ** 2, weights=share[p]) for p in pieces])
    target = np.array([_quantile(size[p], share[p], ONE_SIGMA) for p in pieces]) ** 2
    relative = 1 / np.maximum(target, 1e-12 + 1e-6 * target.max())
    design = np.stack([square, np.ones_like(square)], axis=1) * relative[:, None]
    (gain2, floor2), _ = nnls(design, target * relative)
    sigma = np.sqrt(gain2 * doubt**2 + floor2)
    if not bool((sigma > 0).all()):
        # Perfect agreement and no error at all in some bin: a floor too small to matter.
        floor2 = max(floor2, 1e-12)
        sigma = np.sqrt(gain2 * doubt**2 + floor2)
    stretch = _quantile(size / sigma, share, ONE_SIGMA)
    return Calibration(float(stretch * np.sqrt(gain2)), max(float(stretch * np.sqrt(floor2)), 1e-6))


def coverage(
    calibration: Calibration,
    disagreements: NDArray[Any],
    errors: NDArray[Any],
    weights: NDArray[Any] | None = None,
) -> tuple[float, float]:
    """Return the shares of errors inside one and inside two sigma (0.683 and 0.954 if normal)."""
    doubt, size, share = _samples(disagreements, errors, weights)
    sigma = np.sqrt((calibration.gain * doubt) ** 2 + calibration.floor**2)
    return float(share[size <= sigma].sum()), float(share[size <= 2 * sigma].sum())


def _samples(
    disagreements: NDArray[Any], errors: NDArray[Any], weights: NDArray[Any] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Disagreement, |error| and weights that add up to one, of the samples that are finite."""
    doubt = np.asarray(disagreements, np.float64).ravel()
    size = np.abs(np.asarray(errors, np.float64).ravel())
    share = np.ones_like(doubt) if weights is None else np.asarray(weights, np.float64).ravel()
    if not doubt.shape == size.shape == share.shape:
        raise InputError(f"{doubt.size} disagreements, {size.size} errors, {share.size} weights")
    good = np.isfinite(doubt) & np.isfinite(size) & (share > 0)
    if not bool(good.any()):
        raise InputError("no pixel to calibrate on")
    return doubt[good], size[good], share[good] / share[good].sum()


def _quantile(values: NDArray[Any], share: NDArray[Any], level: float) -> float:
    """Weighted quantile: the smallest value that at least `level` of the weight lies at or below."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(share[order]) / share.sum()
    return float(values[order][min(int(np.searchsorted(reached, level)), len(values) - 1)])


def stored_calibration(name: str, sha256: str, folder: Path | None = None) -> Calibration | None:
    """Return the calibration of a model, or None if there is none for exactly these weights."""
    path = _store(folder)
    if not path.is_file():
        return None
    try:
        entry = json.loads(path.read_text(encoding="utf-8")).get(name)
        found = None if entry is None else Calibration(**entry)
    except (OSError, ValueError, TypeError, AttributeError, InputError) as error:
        raise SightlineError(f"{path}: not a table of calibrations ({error})") from error
    return found if found is not None and found.weights in ("", sha256[:12]) else None


def store_calibration(name: str, calibration: Calibration, folder: Path | None = None) -> Path:
    """Store a model's calibration with the embedded weights, and return the path."""
    path = _store(folder)
    table = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    table[name] = asdict(calibration)
    write_text(path, json.dumps(table, indent=1, sort_keys=True, ensure_ascii=False) + "\n")
    return path


def _store(folder: Path | None) -> Path:
    from sightline.models.registry import embedded_folder

    return (folder or embedded_folder()) / CALIBRATIONS


#: Runs the network on (H, W, 3) uint8 pixels at a shorter side in [px]; returns its own (h, w) map.
Predict = Callable[[NDArray[np.uint8], int], FloatArray]

#: Sizes the picture is shown at besides its own, as factors of the network size.
SCALES = (0.75, 1.25)


def disagreement(
    pixels: NDArray[np.uint8],
    reference: FloatArray,
    predict: Predict,
    size: int,
    kind: Kind,
    scales: Sequence[float] = SCALES,
) -> FloatArray:
    """Measure how the outputs for mirrored and rescaled images differ from the reference.

    Relative outputs are first aligned to the reference, since their scale and shift are arbitrary;
    metric outputs are not.

    Args:
        pixels: (H, W, 3) uint8 RGB.
        reference: (h, w) the network's own map of the picture.
        predict: function that runs the network.
        size: shorter side the reference was made at, in [px].
        kind: kind of the map.
        scales: factors on `size` for the rescaled copies.

    Returns:
        (h, w) float32, root mean square over the views, in units of `unit_scale`.
    """
    views = [predict(np.ascontiguousarray(pixels[:, ::-1]), size)[:, ::-1]]
    views += [predict(pixels, max(1, round(size * scale))) for scale in scales]
    squares = np.zeros_like(reference)
    for view in views:
        moved = to_picture_size(view, (reference.shape[0], reference.shape[1]))
        usable = np.isfinite(moved) & np.isfinite(reference)
        if kind is Kind.RELATIVE_DISPARITY and bool(usable.any()):
            moved = align(moved, reference, robust=True, nonnegative=True)(moved)
        squares += np.where(usable, moved - reference, 0) ** 2 / len(views)
    unit = unit_scale(reference, kind)
    return np.sqrt(_smooth(squares / unit**2)).astype(np.float32)


def _smooth(squares: FloatArray) -> FloatArray:
    """Smooth spatially, since a variance of three samples is noisy."""
    import cv2

    spread = 0.01 * min(squares.shape)
    blurred: FloatArray = cv2.GaussianBlur(squares, (0, 0), max(spread, 0.5))
    return blurred


def unit_scale(values: FloatArray, kind: Kind) -> FloatArray:
    """Return the unit of sigma: (1, 1) range of a relative map, or (H, W) metric values."""
    finite = values[np.isfinite(values)]
    if finite.size == 0:
        return np.ones((1, 1), np.float32)
    if kind is Kind.RELATIVE_DISPARITY:
        low, middle, high = np.percentile(finite, [5, 50, 95])
        # A map without any range is a network that sees nothing, not one that is certain.
        span = max(float(high - low), 0.05 * abs(float(middle)), 1e-6)
        return np.full((1, 1), span, np.float32)
    return np.maximum(np.nan_to_num(np.abs(values)), np.float32(1e-6))


def to_sigma(
    doubt: FloatArray, values: FloatArray, kind: Kind, calibration: Calibration
) -> FloatArray:
    """Return (H, W) one-sigma uncertainty in the unit of `values`, from disagreement (H, W)."""
    free = np.sqrt((calibration.gain * doubt) ** 2 + calibration.floor**2)
    return np.asarray(free * unit_scale(values, kind), np.float32)
