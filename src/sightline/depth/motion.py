"""How a video frame follows from the one before: where each pixel was, how sure that is, and cuts.

Works on small copies of the frames, by dense inverse search optical flow (Kroeger et al., "Fast
optical flow using dense inverse search", ECCV 2016, as OpenCV has it).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.types import FloatArray

#: Longer side of the small copies in [px].
WORKING_SIZE = 256

#: Grey levels by which a followed pixel may differ before trust in it fades.
_GREY_SPREAD = 20.0

#: Correlation of fine structure after following the flow. Measured: at most 0.2 across cuts, at
#: least 0.55 within a shot (pans of 10 % of the width per frame, flashes, fades, blur, noise).
_SAME_STRUCTURE = 0.35

#: Share of pixels whose colour changed (total variation of histograms). Where structure is lost too,
#: more than this is a cut (measured: from 0.25 up) and less is a pan too fast to follow.
_OTHER_COLOURS = 0.2


class Step(StrEnum):
    """How a frame follows from the one before."""

    FOLLOWED = "followed"
    LOST = "lost"
    CUT = "cut"


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A small copy of a frame: (h, w) uint8 grey and (512,) shares of colours."""

    grey: NDArray[np.uint8]
    colours: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Motion:
    """The way back from a frame to the one before.

    Attributes:
        step: whether it could be followed.
        flow: (h, w, 2) float32; pixel (x, y) was at (x, y) + flow, in pixels of the small copies.
        trust: (h, w) float32, 0 to 1; how well the pixel there looks like the one here.
    """

    step: Step
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
    colours = np.bincount(bins.ravel(), minlength=512) / bins.size
    return View(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY), colours.astype(np.float32))


def follow(before: View, now: View) -> Motion:
    """Find where the pixels of `now` were in `before`; both of the same size."""
    height, width = now.grey.shape
    still = np.zeros((height, width, 2), np.float32)
    flow = still
    if min(height, width) >= 16:  # smaller than a patch there is nothing to search with
        search = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_FAST)
        flow = search.calc(now.grey, before.grey, None)
    place, inside = places(flow)
    brought = cv2.remap(before.grey, place, None, cv2.INTER_LINEAR).astype(np.float32)
    grey = now.grey.astype(np.float32)
    trust = np.where(inside, np.exp(-(((brought - grey) / _GREY_SPREAD) ** 2)), 0)
    step = Step.FOLLOWED
    if _correlation(_fine(brought)[inside], _fine(grey)[inside]) < _SAME_STRUCTURE:
        changed = 0.5 * float(np.abs(before.colours - now.colours).sum())
        step = Step.CUT if changed > _OTHER_COLOURS else Step.LOST
    return Motion(step, flow, trust.astype(np.float32))


def places(flow: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
    """(h, w, 2) places (x, y) that a flow points to, and (h, w) whether they lie in the picture."""
    height, width = flow.shape[:2]
    place = flow.copy()
    x, y = place[..., 0], place[..., 1]
    x += np.arange(width, dtype=np.float32)
    y += np.arange(height, dtype=np.float32)[:, None]
    inside = (x >= 0) & (x <= width - 1) & (y >= 0) & (y <= height - 1)
    return place, inside


def enlarge(flow: FloatArray, size: tuple[int, int]) -> FloatArray:
    """Scale a flow to pictures of `size` (H, W): more pixels, and longer ways in pixels."""
    height, width = size
    ratio = np.array([width / flow.shape[1], height / flow.shape[0]], np.float32)
    bigger: FloatArray = cv2.resize(flow * ratio, (width, height), interpolation=cv2.INTER_LINEAR)
    return bigger


def _fine(grey: FloatArray) -> FloatArray:
    """Structure of a few pixels: without the broad light and dark, which chance can match."""
    return np.asarray(grey - cv2.GaussianBlur(grey, (0, 0), 4.0), np.float32)


def _correlation(a: FloatArray, b: FloatArray) -> float:
    """Pearson's; 0 where one side is flat."""
    if a.size < 16:
        return 0.0
    a, b = a - a.mean(), b - b.mean()
    spread = float(np.sqrt((a * a).mean() * (b * b).mean()))
    return float((a * b).mean()) / spread if spread > 0.01 else 0.0
