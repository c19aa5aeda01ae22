"""Time base of a clip: when each frame was captured, and how far that can be trusted.

A container states when frames are shown, not when they were captured. Phones record 120 or 240
frames per second, write stamps for 30 and keep the true rate in a tag; editors re-encode at another
rate; AVI files hold stamps out of order. A rate that is wrong by 4 % makes g wrong by 8 %, so every
doubt becomes a remark and a relative standard deviation of the clock, which widens all results.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError

Floats = NDArray[np.float64]

#: Relative standard deviation of the rate, by origin. "edited" is the scatter of re-encoded clips whose
#: true rate is known from their content: turntables, pendulums and falls are off by 0 to 4 %.
SIGMA = {
    "stated": 0.001,
    "tag": 0.001,
    "camera": 0.001,
    "edited": 0.02,
    "index": 0.025,
    "gif": 0.05,
}

#: Rates that `--fps` accepts in [1/s].
SLOWEST, FASTEST = 0.1, 1_000_000.0

#: Tags that hold the capture rate in [1/s].
_RATE_TAGS = ("com.android.capture.fps", "com.apple.quicktime.capture.fps", "capturefps")

#: Tags that only a camera writes; editors drop them.
_CAMERA_TAGS = ("com.android.version", "com.apple.quicktime.make", "com.apple.quicktime.model")
_GOPRO = re.compile(r"gopro", re.IGNORECASE)

#: Readout time of the sensor, top to bottom, in [µs].
_READOUT_TAG = "com.apple.quicktime.camera.framereadouttimeinmicroseconds"
_FULL_RATE_TAG = "com.apple.quicktime.full-frame-rate-playback-intent"


@dataclass(frozen=True, slots=True)
class Clock:
    """Capture times of the frames of a clip.

    Attributes:
        times: (N,) capture times in [s], the first is 0, increasing.
        rate: capture rate in [1/s], the median over the clip.
        container_rate: rate that the container plays at in [1/s].
        source: "stated", "tag", "camera", "edited", "index" or "gif".
        sigma: relative standard deviation of all durations.
        readout: time in [s] from the first to the last row of a frame, if a tag states it.
        remarks: doubts and corrections, one sentence each.
    """

    times: Floats
    rate: float
    container_rate: float
    source: str
    sigma: float
    readout: float | None = None
    remarks: tuple[str, ...] = ()

    @property
    def doubtful(self) -> bool:
        """Whether the capture rate is not known from a camera tag or the user."""
        return self.sigma > 0.005

    def doubt(self, remark: str, sigma: float) -> Clock:
        """Return the clock with a remark more and at least this relative standard deviation."""
        return replace(self, sigma=max(self.sigma, sigma), remarks=(*self.remarks, remark))


def read_clock(
    stamps: Sequence[float | None],
    container_rate: float,
    tags: Mapping[str, str],
    *,
    fps: float | None = None,
    suffix: str = "",
) -> Clock:
    """Return the capture times of frames from stamps, container rate and tags.

    Args:
        stamps: N presentation times in [s] in decoding order; None where a frame has none.
        container_rate: average rate of the container in [1/s].
        tags: metadata of container and stream, keys in lower case.
        fps: capture rate stated by the user in [1/s]; it replaces every other source.
        suffix: of the file, such as ".gif".
    """
    check_fps(fps)
    if not math.isfinite(container_rate) or container_rate <= 0:
        container_rate = 25.0
    times, repaired = repair_stamps(stamps, container_rate)
    shown = 1 / float(np.median(np.diff(times))) if len(times) > 1 else container_rate
    remarks = [repaired] if repaired else []
    tagged = _capture_rate(tags)
    if fps is not None:
        source, factor = "stated", _whole(fps / shown)
        if tagged and abs(tagged / fps - 1) > 0.02:
            remarks.append(
                f"the file's tag says {tagged:g} frames per second, not the stated {fps:g}"
            )
    elif tagged:
        source, factor = "tag", _whole(tagged / shown)
        if abs(factor - 1) > 0.02:
            remarks.append(
                f"captured at {tagged:g} frames per second by the file's tag, "
                f"stored to play at {shown:.4g}: slow motion by {factor:.3g}"
            )
    else:
        factor = 1.0
        source, doubt = _origin(tags, suffix, bool(repaired))
        remarks += doubt
    times = times / factor
    rate = shown * factor
    clock = Clock(
        times, rate, container_rate, source, SIGMA[source], _readout(tags), tuple(remarks)
    )
    ramp = rate_change(times)
    if ramp is not None and source != "stated":
        low, high = ramp
        clock = clock.doubt(
            f"the frame rate changes from {low:.3g} to {high:.3g} per second within the clip, "
            "as in exported slow motion; state the rate by --fps or cut the clip",
            0.1,
        )
    return clock


def check_fps(fps: float | None) -> None:
    """Raise InputError unless `fps` is None or a rate that a camera can have."""
    if fps is not None and not (math.isfinite(fps) and SLOWEST <= fps <= FASTEST):
        raise InputError(
            f"--fps must be between {SLOWEST:g} and {FASTEST:g} frames per second, got {fps:g}"
        )


def repair_stamps(stamps: Sequence[float | None], rate: float) -> tuple[Floats, str | None]:
    """Return (N,) increasing times in [s] from 0, and what was wrong with the stamps.

    Stamps out of order, repeated or missing are replaced by an even rate; a gap stays, because frames
    were dropped there.

    Args:
        stamps: N presentation times in [s], or None.
        rate: in [1/s], for stamps that cannot be used.
    """
    even = np.arange(len(stamps)) / rate
    if any(stamp is None for stamp in stamps):
        return even, "frames have no time stamps: an even rate is assumed"
    times = np.array([float(stamp) for stamp in stamps if stamp is not None])
    if not len(times):
        return even, None
    times = times - times[0]
    steps = np.diff(times)
    if len(steps) and steps.min() <= 0:
        return even, (
            f"{int((steps <= 0).sum())} time stamps are out of order: "
            f"the frame number at {rate:g} per second is used"
        )
    # Matroska and some phones round stamps to 1 ms; an even rate within rounding is an even rate.
    if len(steps) and np.abs(times - even).max() <= 0.0011:
        return even, None
    return times, None


def rate_change(times: Floats) -> tuple[float, float] | None:
    """Return the lowest and highest rate in [1/s] of long stretches if they differ by half or more.

    Args:
        times: (N,) in [s].
    """
    if len(times) < 24:
        return None
    size = max(6, len(times) // 12)
    steps = np.diff(times)
    blocks = [float(np.median(steps[i : i + size])) for i in range(0, len(steps) - size + 1, size)]
    low, high = 1 / max(blocks), 1 / min(blocks)
    return (low, high) if high > 1.5 * low else None


def dropped_frames(times: Floats) -> int:
    """Return how many frames are missing, from gaps of two or more periods.

    >>> dropped_frames(np.array([0.0, 0.1, 0.2, 0.4, 0.5]))
    1
    """
    if len(times) < 3:
        return 0
    steps = np.diff(times)
    return int(np.maximum(np.rint(steps / np.median(steps)) - 1, 0).sum())


def duplicated_frames(differences: Floats, floor: float = 0.02) -> NDArray[np.bool_]:
    """Return (N,) True for frames that repeat the one before.

    A frame is a copy if it differs from the one before by less than a tenth of what its neighbors do.
    In a clip without motion all differences are small and none is called a copy.

    Args:
        differences: (N,) mean absolute difference from the frame before in [gray levels].
        floor: difference in [gray levels] that neighbors must exceed.
    """
    copies = np.zeros(len(differences), bool)
    for i in range(1, len(differences)):
        around = np.r_[differences[max(1, i - 3) : i], differences[i + 1 : i + 4]]
        if len(around) >= 2:
            usual = float(np.median(around))
            copies[i] = usual > floor and differences[i] < 0.1 * usual
    return copies


def _capture_rate(tags: Mapping[str, str]) -> float | None:
    for name in _RATE_TAGS:
        try:
            rate = float(tags.get(name, ""))
        except ValueError:
            continue
        if math.isfinite(rate) and SLOWEST <= rate <= FASTEST:
            return rate
    return None


def _readout(tags: Mapping[str, str]) -> float | None:
    try:
        seconds = float(tags.get(_READOUT_TAG, "")) / 1e6
    except ValueError:
        return None
    return seconds if 0 < seconds < 0.1 else None


def _whole(factor: float) -> float:
    """Return a factor, rounded if it is within 2 % of a whole number or of one over it."""
    for value, back in ((factor, False), (1 / factor, True)):
        if value > 0.9 and abs(value / round(value) - 1) < 0.02:
            return 1 / round(value) if back else float(round(value))
    return factor


def _origin(tags: Mapping[str, str], suffix: str, repaired: bool) -> tuple[str, list[str]]:
    """Return the source of an untagged rate, and the remarks on it."""
    if suffix.lower() == ".gif":
        return "gif", ["a GIF states delays for display; the capture rate is not known: use --fps"]
    if repaired:
        return "index", []
    if any(tag in tags for tag in _CAMERA_TAGS) or any(map(_GOPRO.search, tags.values())):
        if tags.get(_FULL_RATE_TAG) == "0":
            return "camera", ["recorded for slow motion; the stamps are capture times"]
        return "camera", []
    return "edited", [
        "no camera tag: the clip was edited or re-encoded and its rate may not be the capture rate "
        "(2 % assumed; state it by --fps)"
    ]
