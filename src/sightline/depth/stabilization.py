"""Temporal stabilization of video depth, with optical flow between frames.

A depth network sees each frame alone: its relative disparity has its own scale, shift and noise in
every frame. Each new map is

1. aligned by a robust scale and shift to the running reference, which is the last output warped by
   optical flow;
2. slowly pulled back to the network's own scale. Alignment alone would remove real changes of scale
   (approaching a wall) as if they were flicker and drift without bound: fast changes are removed,
   slow ones are kept;
3. blended with the reference where the flow is reliable and both agree.

A cut resets the reference. When the flow is lost (a whip pan), the last scale and shift are kept
and nothing is blended. Memory is one map and two small images, whatever the length. Metric maps get
a scale but no shift.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.geometry import align
from sightline.types import BoolArray, DepthMap, FloatArray, Kind

#: Longer side of the small copies in [px].
WORKING_SIZE = 256

#: Gray levels by which a followed pixel may differ before trust in it fades.
_GRAY_SPREAD = 20.0

#: Correlation of fine structure after following the flow. Measured: at most 0.2 across cuts, at
#: least 0.55 within a shot (pans of 10 % of the width per frame, flashes, fades, blur, noise).
_SAME_STRUCTURE = 0.35

#: Share of pixels whose color changed (total variation of histograms). Where structure is lost too,
#: more than this is a cut (measured: from 0.25 up) and less is a pan too fast to follow.
_OTHER_COLORS = 0.2


class MotionStatus(StrEnum):
    """Whether the motion from the previous frame could be estimated."""

    FOLLOWED = "followed"
    LOST = "lost"
    CUT = "cut"


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """Downscaled frame: (h, w) uint8 gray values and a (512,) normalized color histogram."""

    gray: NDArray[np.uint8]
    colors: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class FrameMotion:
    """Backward optical flow from a frame to the previous one.

    Attributes:
        step: whether the motion could be estimated.
        flow: (h, w, 2) float32; pixel (x, y) was at (x, y) + flow, in pixels of the small copies.
        trust: (h, w) float32 confidence from 0 to 1, by the difference of the matched pixels.
    """

    step: MotionStatus
    flow: FloatArray
    trust: FloatArray


def shrink(frame: NDArray[np.uint8]) -> View:
    """Make the small copy of an (H, W, 3) uint8 RGB frame."""
    height, width = frame.shape[:2]
    ratio = min(1.0, WORKING_SIZE / max(height, width))
    size = (max(round(width * ratio), 1), max(round(height * ratio), 1))
    small = cv2.resize(frame, size, interpolation=cv2.INTER_AREA)
    # Eight levels per channel.
    bins = (small >> 5).astype(np.int32) @ np.array([64, 8, 1], np.int32)
    colors = np.bincount(bins.ravel(), minlength=512) / bins.size
    return View(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), colors.astype(np.float32))


def follow(before: View, now: View) -> FrameMotion:
    """Find where the pixels of `now` were in `before`; both of the same size."""
    height, width = now.gray.shape
    still = np.zeros((height, width, 2), np.float32)
    flow = still
    if min(height, width) >= 16:  # smaller than a patch there is nothing to search with
        search = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
        flow = search.calc(now.gray, before.gray, None)
    place, inside = places(flow)
    brought = cv2.remap(before.gray, place, None, cv2.INTER_LINEAR).astype(np.float32)
    gray = now.gray.astype(np.float32)
    trust = np.where(inside, np.exp(-(((brought - gray) / _GRAY_SPREAD) ** 2)), 0)
    step = MotionStatus.FOLLOWED
    if _correlation(_fine(brought)[inside], _fine(gray)[inside]) < _SAME_STRUCTURE:
        changed = 0.5 * float(np.abs(before.colors - now.colors).sum())
        step = MotionStatus.CUT if changed > _OTHER_COLORS else MotionStatus.LOST
    return FrameMotion(step, flow, trust.astype(np.float32))


def places(flow: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Return (h, w, 2) target positions (x, y) of a flow, and (h, w) whether they are in the image."""
    height, width = flow.shape[:2]
    place = flow.copy()
    x, y = place[..., 0], place[..., 1]
    x += np.arange(width, dtype=np.float32)
    y += np.arange(height, dtype=np.float32)[:, None]
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    return place, inside


def enlarge(flow: FloatArray, size: tuple[int, int]) -> FloatArray:
    """Scale a flow to images of `size` (H, W), both its grid and its values."""
    height, width = size
    ratio = np.array([width / flow.shape[1], height / flow.shape[0]], np.float32)
    bigger: FloatArray = cv2.resize(flow * ratio, (width, height), interpolation=cv2.INTER_LINEAR)
    return bigger


def _fine(gray: FloatArray) -> FloatArray:
    """High-pass filter an image, since low frequencies may match by chance."""
    return np.asarray(gray - cv2.GaussianBlur(gray, (0, 0), 4.0), np.float32)


def _correlation(a: FloatArray, b: FloatArray) -> float:
    """Return Pearson's correlation; 0 if one side is constant."""
    if a.size < 16:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a * a).mean() * (b * b).mean()))
    return float((a * b).mean()) / spread if spread > 0.01 else 0.0


@dataclass(frozen=True, slots=True)
class StabilizeConfig:
    """Configuration of temporal stabilization.

    Attributes:
        memory: share of the reference in the blend where it is fully trusted, 0 to below 1. With 0
            maps are only aligned; 0.85 remembers about seven frames.
        drift_frames: time constant, in frames, of the return to the network's own scale.
        agreement: maximum difference to the reference, in units of the typical difference, up to
            which a value is blended.
    """

    memory: float = 0.85
    drift_frames: float = 5.0
    agreement: float = 90.0

    def __post_init__(self) -> None:
        if not 0 <= self.memory < 1 or self.drift_frames < 1 or self.agreement <= 0:
            raise InputError(
                "stabilizing needs 0 ≤ memory < 1, drift_frames ≥ 1 and agreement > 0, got "
                f"{self.memory:g}, {self.drift_frames:g}, {self.agreement:g}"
            )


@dataclass(frozen=True, slots=True)
class Stabilized:
    """Stabilized map, the status of its motion, and the scale and shift used."""

    depth: DepthMap
    step: MotionStatus
    scale: float
    shift: float


@dataclass(slots=True)
class _Reference:
    """State between frames: disparity of the last output, and its scale and shift."""

    view: View
    disparity: FloatArray
    valid: BoolArray
    scale: float = 1.0
    shift: float = 0.0
    # Running means of the output's gain (logarithm) and level over the network's own.
    gain: float = 0.0
    level: float = 0.0


class Stabilizer:
    """Stabilize the maps of one video, frame by frame, in order."""

    def __init__(self, config: StabilizeConfig | None = None) -> None:
        self.config = config or StabilizeConfig()
        self._reference: _Reference | None = None

    def reset(self) -> None:
        """Reset the reference, as at a cut."""
        self._reference = None

    def update(self, depth: DepthMap, frame: NDArray[np.uint8]) -> Stabilized:
        """Stabilize the next map.

        Args:
            depth: network output for this frame.
            frame: (H, W, 3) uint8 RGB, of the same size.
        """
        if frame.shape != (*depth.values.shape, 3) or frame.dtype != np.uint8:
            raise InputError(f"frame is {frame.shape}, depth map is {depth.values.shape}")
        raw, valid = _to_disparity(depth)
        view, last = shrink(frame), self._reference
        if last is None or last.disparity.shape != raw.shape:
            self._reference = _Reference(view, raw, valid)
            return Stabilized(depth, MotionStatus.CUT, 1.0, 0.0)
        motion = follow(last.view, view)
        if motion.step is MotionStatus.CUT:
            self._reference = _Reference(view, raw, valid)
            return Stabilized(depth, MotionStatus.CUT, 1.0, 0.0)
        new = _Reference(view, raw, valid, last.scale, last.shift, last.gain, last.level)
        step = motion.step
        fit = None
        if step is MotionStatus.FOLLOWED:
            reference, trust = _carry(last, motion)
            trust *= valid
            fit = _fit(raw, reference, trust, shift=not depth.is_metric)
        if fit is None:
            step = MotionStatus.LOST
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
        return Stabilized(_to_depth(new, depth), step, new.scale, new.shift)

    def _draw_back(self, new: _Reference, *, shift: bool) -> tuple[float, float]:
        """Return gain and offset that move the output slightly toward the network's own scale."""
        share = 1 / self.config.drift_frames
        raw = _thin(new.disparity)[_thin(new.valid)]
        middle = float(np.median(raw))
        center = new.scale * middle + new.shift
        new.gain += share * (float(np.log(new.scale)) - new.gain)
        new.level += share * (center - middle - new.level)
        gain = float(np.exp(-share * new.gain))
        if not shift:
            return gain, 0.0
        return gain, center * (1 - gain) - share * new.level

    def _blend(self, steady: FloatArray, reference: FloatArray, trust: FloatArray) -> FloatArray:
        """Blend with the reference where it is reliable and agrees."""
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


def _carry(last: _Reference, motion: FrameMotion) -> tuple[FloatArray, FloatArray]:
    """Warp the last output to this frame: (H, W) disparity and (H, W) trust, 0 where unknown."""
    height, width = last.disparity.shape
    place, inside = places(enlarge(motion.flow, (height, width)))
    carried = cv2.remap(last.disparity, place, None, cv2.INTER_LINEAR)
    known = cv2.remap(last.valid.astype(np.float32), place, None, cv2.INTER_LINEAR) > 0.999
    trust = cv2.resize(motion.trust, (width, height), interpolation=cv2.INTER_LINEAR)
    return carried, np.where(inside & known, trust, np.float32(0))


def _fit(
    raw: FloatArray, reference: FloatArray, trust: FloatArray, *, shift: bool
) -> tuple[float, float] | None:
    """Robust scale and shift from `raw` to `reference`; None without valid pixels.

    Both are noisy. A least-squares fit in one direction would shrink the scale a little in every frame,
    so it is done in both directions and the geometric mean of the two slopes is used.
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
    """Subsample rows and columns to about `most` pixels."""
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
    """Return the stabilized map in the kind of the input; sigma is scaled like the values."""
    values, sigma = new.disparity, given.sigma
    if given.kind is Kind.METRIC_DEPTH:
        values = np.where(new.valid, 1 / np.where(new.valid, values, 1), 0).astype(np.float32)
        sigma = None if sigma is None else sigma / np.float32(new.scale)
    elif sigma is not None:
        sigma = sigma * np.float32(new.scale)
    return DepthMap(values, given.kind, new.valid, given.camera, sigma, given.source)
