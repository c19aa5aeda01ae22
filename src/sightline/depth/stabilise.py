"""Make the depth of a video steady: one scale and shift for the clip, and less noise along surfaces.

A depth network sees each frame alone. Its relative disparity comes with a scale and shift of its own
per frame, and with some noise. Each new map is

1. aligned by a robust scale and shift to the running reference: the last output, carried along by
   optical flow, so that a moving camera compares each surface with itself;
2. drawn back, slowly, to the network's own scale. Alignment alone takes the true growth of disparity
   on the way to a wall for flicker and would drift without end: quick changes of scale are removed,
   slow ones are believed;
3. blended with the reference where the flow can be trusted and both agree.

A cut starts anew. When the flow is lost (a whip pan), the last scale and shift stay and nothing is
blended. Memory: one map and two small pictures, whatever the length. The same frames always give the
same maps.

Metric maps keep their zero: they get a scale and no shift, in disparity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.depth.motion import Motion, Step, View, enlarge, follow, places, shrink
from sightline.errors import InputError
from sightline.geometry import align
from sightline.types import BoolArray, DepthMap, FloatArray, Kind


@dataclass(frozen=True, slots=True)
class StabiliseConfig:
    """How strongly to hold on to what was.

    Attributes:
        memory: share of the reference in the blend where it is fully trusted, 0 to below 1. With 0
            maps are only aligned; 0.85 remembers about seven frames.
        drift_frames: over how many frames the network's own scale wins through.
        agreement: how far a value may differ from the reference, in units of the typical
            difference, before the blend leaves it alone.
    """

    memory: float = 0.85
    drift_frames: float = 5.0
    agreement: float = 90.0

    def __post_init__(self) -> None:
        if not 0 <= self.memory < 1 or self.drift_frames < 1 or self.agreement <= 0:
            raise InputError(
                "stabilising needs 0 ≤ memory < 1, drift_frames ≥ 1 and agreement > 0, got "
                f"{self.memory:g}, {self.drift_frames:g}, {self.agreement:g}"
            )


@dataclass(frozen=True, slots=True)
class Stabilised:
    """A steadied map: `depth`, how it followed from the last frame, and the scale and shift used."""

    depth: DepthMap
    step: Step
    scale: float
    shift: float


@dataclass(slots=True)
class _Reference:
    """What is carried from frame to frame: disparity of the last output and how it was reached."""

    view: View
    disparity: FloatArray
    valid: BoolArray
    scale: float = 1.0
    shift: float = 0.0
    # Running means of the output's gain (logarithm) and level over the network's own.
    gain: float = 0.0
    level: float = 0.0


class Stabiliser:
    """Steadies the maps of one video, frame by frame, in order."""

    def __init__(self, config: StabiliseConfig | None = None) -> None:
        self.config = config or StabiliseConfig()
        self._reference: _Reference | None = None

    def reset(self) -> None:
        """Forget the past, as at a cut."""
        self._reference = None

    def update(self, depth: DepthMap, frame: NDArray[np.uint8]) -> Stabilised:
        """Steady the next map.

        Args:
            depth: of this frame, as the network gave it.
            frame: (H, W, 3) uint8 RGB, of the same size.
        """
        if frame.shape != (*depth.values.shape, 3) or frame.dtype != np.uint8:
            raise InputError(f"frame is {frame.shape}, depth map is {depth.values.shape}")
        raw, valid = _to_disparity(depth)
        view, last = shrink(frame), self._reference
        if last is None or last.disparity.shape != raw.shape:
            self._reference = _Reference(view, raw, valid)
            return Stabilised(depth, Step.CUT, 1.0, 0.0)
        motion = follow(last.view, view)
        if motion.step is Step.CUT:
            self._reference = _Reference(view, raw, valid)
            return Stabilised(depth, Step.CUT, 1.0, 0.0)
        new = _Reference(view, raw, valid, last.scale, last.shift, last.gain, last.level)
        step = motion.step
        fit = None
        if step is Step.FOLLOWED:
            reference, trust = _carry(last, motion)
            trust *= valid
            fit = _fit(raw, reference, trust, shift=not depth.is_metric)
        if fit is None:
            step = Step.LOST
            steady = _line(raw, new.scale, new.shift)
        else:
            new.scale, new.shift = fit
            gain, offset = self._draw_back(new, shift=not depth.is_metric)
            new.scale, new.shift = new.scale * gain, new.shift * gain + offset
            steady = _line(raw, new.scale, new.shift)
            # The reference moves along, so that the drawing back is not blended away again.
            steady = self._blend(steady, _line(reference, gain, offset), trust)
        new.disparity = np.where(valid, steady, np.float32(0))
        self._reference = new
        return Stabilised(_to_depth(new, depth), step, new.scale, new.shift)

    def _draw_back(self, new: _Reference, *, shift: bool) -> tuple[float, float]:
        """Gain and offset that move the output a little towards the network's own scale."""
        share = 1 / self.config.drift_frames
        raw = _thin(new.disparity)[_thin(new.valid)]
        middle = float(np.median(raw))
        centre = new.scale * middle + new.shift
        new.gain += share * (float(np.log(new.scale)) - new.gain)
        new.level += share * (centre - middle - new.level)
        gain = float(np.exp(-share * new.gain))
        if not shift:
            return gain, 0.0
        return gain, centre * (1 - gain) - share * new.level

    def _blend(self, steady: FloatArray, reference: FloatArray, trust: FloatArray) -> FloatArray:
        """Mix in the reference where it is trusted and agrees."""
        if self.config.memory == 0:
            return steady
        apart = reference - steady
        sure = _thin(trust) > 0.5
        if not bool(sure.any()):
            return steady
        usual = 1.4826 * float(np.median(np.abs(_thin(apart)[sure]))) + 1e-12
        # Weight memory · trust / (1 + r²)², r being the difference over what is tolerated: a bell
        # as good as Gauss's and much quicker on large frames. In place, for the same reason.
        # Maps that hardly differ make r overflow; the weight is 0 there, as it should be.
        with np.errstate(over="ignore"):
            weight = apart * np.float32(1 / (self.config.agreement * usual))
            weight *= weight
            weight += 1
            weight *= weight
        np.divide(trust, weight, out=weight)
        weight *= apart
        weight *= np.float32(self.config.memory)
        weight += steady
        return weight


def _carry(last: _Reference, motion: Motion) -> tuple[FloatArray, FloatArray]:
    """Bring the last output to this frame: (H, W) disparity and (H, W) trust, 0 where unknown."""
    height, width = last.disparity.shape
    place, inside = places(enlarge(motion.flow, (height, width)))
    carried = cv2.remap(last.disparity, place, None, cv2.INTER_LINEAR)
    known = cv2.remap(last.valid.astype(np.float32), place, None, cv2.INTER_LINEAR) > 0.999
    trust = cv2.resize(motion.trust, (width, height), interpolation=cv2.INTER_LINEAR)
    return carried, np.where(inside & known, trust, np.float32(0))


def _fit(
    raw: FloatArray, reference: FloatArray, trust: FloatArray, *, shift: bool
) -> tuple[float, float] | None:
    """Robust scale and shift from `raw` to `reference`; None where there is nothing to fit.

    Both carry noise. A least squares fit one way would shrink the scale a little every frame, so it
    is done both ways and the geometric mean of the two slopes is taken.
    """
    mask = _thin(trust) > 0.5
    x, y = _thin(raw)[mask], _thin(reference)[mask]
    if x.size < 32:
        return None
    if not shift:
        positive = (x > 0) & (y > 0)
        if int(positive.sum()) < 32:
            return None
        return float(np.exp(np.median(np.log(y[positive]) - np.log(x[positive])))), 0.0
    there = align(x, y, robust=True, nonnegative=True).scale
    back = align(y, x, robust=True, nonnegative=True).scale
    if there <= 0 or back <= 0:
        return None
    scale = float(np.sqrt(there / back))
    return scale, float(np.median(y - scale * x))


def _thin(values: NDArray[Any], most: int = 4_000) -> NDArray[Any]:
    """Every n-th row and column, so that about `most` pixels are left."""
    step = max(1, int(np.sqrt(values.size / most)))
    return values[::step, ::step]


def _line(values: FloatArray, scale: float, shift: float) -> FloatArray:
    return np.asarray(values * np.float32(scale) + np.float32(shift), np.float32)


def _to_disparity(depth: DepthMap) -> tuple[FloatArray, BoolArray]:
    """(H, W) disparity, 0 where not valid, and (H, W) validity."""
    if depth.kind is not Kind.METRIC_DEPTH:
        return depth.values, depth.valid
    safe = np.where(depth.valid, depth.values, np.float32(1))
    return np.where(depth.valid, 1 / safe, np.float32(0)), depth.valid


def _to_depth(new: _Reference, given: DepthMap) -> DepthMap:
    """Give the steadied map in the kind of the given one; sigma is scaled as the values were."""
    values, sigma = new.disparity, given.sigma
    if given.kind is Kind.METRIC_DEPTH:
        values = np.where(new.valid, 1 / np.where(new.valid, values, 1), 0).astype(np.float32)
        sigma = None if sigma is None else sigma / np.float32(new.scale)
    elif sigma is not None:
        sigma = sigma * np.float32(new.scale)
    return DepthMap(values, given.kind, new.valid, given.camera, sigma, given.source)
