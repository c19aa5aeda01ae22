"""What a figure means: how prediction and truth are brought together before they are compared.

| align       | fitted to each picture                          | for                              |
|-------------|-------------------------------------------------|----------------------------------|
| `disparity` | scale ≥ 0 and shift, least squares in disparity | relative models (the default)    |
| `depth`     | scale ≥ 0 and shift, least squares in depth     | affine-invariant depth           |
| `scale`     | one factor, least squares in depth              | models right but for their scale |
| `median`    | one factor, ratio of the medians in depth       | the same, as KITTI papers do     |
| `log`       | one factor, least squares in log depth          | the same; far and near count alike |
| `moge-scale` | one factor, least Σ abs(p − t) / t               | MoGe's scale-invariant depth     |
| `moge-affine` | scale ≥ 0 and shift, least Σ abs(p − t) / t     | MoGe's affine-invariant depth    |
| `none`      | nothing                                         | metric models: meters            |

`space` is where errors are then measured. Depth Anything's authors measure in disparity (spec §1.5);
most others in depth. A figure in one space says little about the other.

Scale and shift act on disparity where they are fitted to relative maps, whose inverse means nothing
before: aligned by `depth` or `log`, they are those that are best there; by `moge-affine`, those of
least Σ abs(p − t) / t in disparity.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.types import BoolArray

if TYPE_CHECKING:
    from sightline.benchmarks.samples import Benchmark

Align = Literal["disparity", "depth", "scale", "median", "log", "moge-scale", "moge-affine", "none"]
Space = Literal["depth", "disparity"]
Crop = Literal["none", "eigen", "garg", "eigen-box", "kb-garg"]


#: What is nearer [m] is no measurement; goes without saying on the line.
NEAR = 1e-3


class UnfitError(InputError):
    """A kind of prediction that a protocol cannot judge, whatever the picture."""


_ALIGN_WORDS = {
    "disparity": "affine-aligned in disparity by least squares (scale ≥ 0)",
    "depth": (
        "affine-aligned in depth by least squares (scale ≥ 0; in relative maps, "
        "scale and shift of disparity)"
    ),
    "scale": "scaled in depth by least squares",
    "median": "scaled by the ratio of medians in depth",
    "log": (
        "scaled by least squares in log depth (in relative maps, scale and shift of disparity)"
    ),
    "moge-scale": "scaled by least absolute relative error in depth",
    "moge-affine": (
        "affine-aligned by least absolute relative error in depth (scale ≥ 0; relative maps in "
        "disparity)"
    ),
    "none": "not aligned",
}
_CROP_WORDS = {
    "none": "no crop",
    "eigen": "Eigen crop",
    "garg": "Garg crop",
    "eigen-box": "Eigen's box of pixels",
    "kb-garg": "Garg crop of KITTI's benchmark crop",
}


@dataclass(frozen=True, slots=True)
class Protocol:
    """How a picture is scored.

    Attributes:
        align: see the table above.
        space: where errors are measured.
        cap: aligned predictions are limited to this distance in [m]; None for the largest true distance
            that counts in the picture.
        far: pixels whose true distance in [m] is beyond are left out; None keeps them.
        near: pixels whose true distance in [m] is below are left out; metric depth that is aligned in
            depth is limited to it.
        crop: part of the picture that counts.
    """

    align: Align = "disparity"
    space: Space = "depth"
    cap: float | None = 80.0
    far: float | None = None
    near: float = NEAR
    crop: Crop = "none"

    def __str__(self) -> str:
        """Say it in words, as printed beside every figure."""
        mask = "known pixels"
        if self.near != NEAR:
            mask += f" from {self.near:g} m"
        if self.far is not None:
            mask += f" to {self.far:g} m"
        cap = "the picture's largest true depth" if self.cap is None else f"{self.cap:g} m"
        return (
            f"{_ALIGN_WORDS[self.align]}, errors in {self.space}, cap {cap}, "
            f"{_CROP_WORDS[self.crop]}, {mask}"
        )


def crop_mask(crop: Crop, height: int, width: int) -> BoolArray:
    """Return (H, W) which pixels count.

    * `eigen`: rows 45 to 470, columns 41 to 600 of NYU's 480 × 640, by which Eigen's evaluation leaves
      out the border that the Kinect's projection does not fill; scaled for other sizes.
    * `garg`: the part of a KITTI picture that the laser reaches (Garg et al. 2016), as shares of its
      height and width.
    * `eigen-box`: the same pixels as on NYU, whatever the size of the picture.
    * `kb-garg`: Garg's shares of the 352 × 1216 pixels at the bottom and in the middle that the KITTI
      depth benchmark cuts out.
    """
    mask = np.zeros((height, width), np.bool_)
    if crop == "none":
        mask[:] = True
    elif crop == "eigen":
        y, x = height / 480, width / 640
        mask[round(45 * y) : round(471 * y), round(41 * x) : round(601 * x)] = True
    elif crop == "eigen-box":
        mask[45:471, 41:601] = True
    elif crop == "kb-garg":
        top, left = max(height - 352, 0), max((width - 1216) // 2, 0)
        inner = mask[top:, left : left + 1216]
        inner[:] = crop_mask("garg", *inner.shape)
    else:
        rows = slice(int(0.40810811 * height), int(0.99189189 * height))
        mask[rows, int(0.03594771 * width) : int(0.96405229 * width)] = True
    return mask


def counted(disparity: NDArray[Any], known: BoolArray, protocol: Protocol) -> BoolArray:
    """Return (H, W) the pixels that count: known, within the range, inside the crop.

    Args:
        disparity: (H, W) true 1/distance.
        known: (H, W).
        protocol: gives range and crop.
    """
    mask = known & np.isfinite(disparity) & (disparity > 0)
    mask &= disparity <= 1 / protocol.near
    if protocol.far is not None:
        mask &= disparity >= 1 / protocol.far
    if protocol.crop != "none":
        mask &= crop_mask(protocol.crop, *disparity.shape)
    return mask


MFH_PROTOCOLS = {
    "nyu": Protocol("none", cap=10.0, far=10.0, crop="eigen"),
    "kitti": Protocol("none", cap=80.0, far=80.0, crop="kb-garg"),
    "ibims": Protocol("none", cap=10.0, far=10.0, near=1e-6, crop="eigen"),
    "diode": Protocol("none", cap=10.0, far=10.0, crop="eigen-box"),
    "eth3d": Protocol("none", cap=80.0, far=80.0),
}


def mfh_protocol(name: str) -> Protocol:
    """Return the protocol for a set; refuse sets that the paper does not have."""
    if name not in MFH_PROTOCOLS:
        raise InputError(
            f"Metric from Human says nothing of {name}", remedy=f"use {', '.join(MFH_PROTOCOLS)}"
        )
    return MFH_PROTOCOLS[name]


def choose_protocol(
    benchmark: Benchmark,
    name: Literal["set", "mfh"] = "set",
    *,
    align: Align | None = None,
    space: Space = "depth",
    cap: float | None = None,
    crop: Crop | None = None,
) -> Protocol:
    """Return a named protocol of a benchmark with some of its settings replaced.

    Args:
        benchmark: the set.
        name: set: its usual protocol; mfh: that of Metric from Human.
        align: alignment of each image; None for that of the protocol.
        space: space in which errors are measured.
        cap: maximum depth in [m]; None for that of the protocol.
        crop: evaluated part of the image; None for that of the protocol.
    """
    own = benchmark.protocol if name == "set" else mfh_protocol(benchmark.name)
    if cap is not None and not cap > own.near:
        raise InputError(f"a cap of {cap:g} m leaves nothing", remedy="give meters, such as 10")
    protocol = replace(own, align=align or own.align, space=space, crop=crop or own.crop)
    if cap is None:
        return protocol
    return replace(protocol, cap=cap, far=None if own.far is None else cap)
