"""Label files, what their numbers mean, and how the labels of several teachers become one.

Teachers know neither scale nor shift, so each is first brought to the first-named one, the sharpest,
by a robust fit. The label is their weighted mean. Where they differ by much of what the picture has in
depth at all, none of them can be believed, and the pixel counts less in the loss.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.geometry import align
from sightline.io import png
from sightline.io.reading import GET_AGAIN, MAX_PIXELS, check_pixels, read_bytes
from sightline.types import BoolArray, FloatArray

#: What a label's numbers are: millimeters of depth along the optical axis; disparity of any scale
#: and shift; or inverse depth, number · unit = 1/m, where 0 is infinitely far and known (sky).
Coding = Literal["depth_mm", "disparity", "inverse_depth"]

#: Millimeters at which 16 bits end: rendered sky, or farther than they can say.
_CLIPPED_MM = 65535

#: What a folder of labels says of its teacher, written by `sightline label`.
MANIFEST = "labels.json"

#: The first-named teacher's voice in the mean; every other one counts 1. It is named first for its
#: sharp edges, which a plain mean would soften.
FIRST_COUNTS = 2.0

#: Disagreement, in spreads of the map, at which trust has fallen to one half.
HALF_TRUST = 0.3

_MAX_MANIFEST = 100_000_000


def read_gray(path: Path) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Read a one-channel PNG of 8 or 16 bits as (H, W) in its own number type; damage is refused."""
    data = read_bytes(path, limit=MAX_PIXELS * 4, what="label")
    header = png.read_header(data, path=path)
    check_pixels(header.width, header.height, MAX_PIXELS, path=path)
    if header.color != 0 or header.bits not in (8, 16):
        raise InputError("is not a one-channel PNG of 8 or 16 bits, so no label", path=path)
    png.check(data, path=path)
    label = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if label is None or label.shape != (header.height, header.width):
        raise InputError("is damaged", path=path, remedy=GET_AGAIN)
    return np.asarray(label)


def read_label(path: Path, pixels: NDArray[np.uint8]) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Read the label of an (H, W, 3) picture: of any resolution, but the picture's aspect."""
    label = read_gray(path)
    height, width = pixels.shape[:2]
    if abs(label.shape[1] * height / (label.shape[0] * width) - 1) > 0.03:
        raise InputError(
            f"label is {label.shape[1]}×{label.shape[0]}, its picture is {width}×{height}",
            path=path,
        )
    return label


def enlarge(label: NDArray[Any], size: tuple[int, int]) -> FloatArray:
    """Interpolate a label without holes to (height, width) = `size`."""
    values = cv2.resize(label.astype(np.float32), size[::-1], interpolation=cv2.INTER_LINEAR)
    return np.asarray(values, np.float32)


def to_disparity(
    label: NDArray[Any], coding: Coding, zero_is_unknown: bool, unit: float | None
) -> tuple[FloatArray, BoolArray]:
    """Turn a label's numbers into disparity.

    Args:
        label: (H, W) as stored.
        coding: what the numbers are. Depth of 65535 mm is the end of the range: infinitely far.
        zero_is_unknown: whether 0 stands for "nothing is known" rather than for "far".
        unit: [1/m] per step, for inverse depth.

    Returns:
        (H, W) disparity, in [1/m] unless the coding is `disparity`, and (H, W) where it is known.
    """
    known = label > 0 if zero_is_unknown else np.ones(label.shape, np.bool_)
    values = label.astype(np.float32)
    if coding == "depth_mm":
        finite = (label > 0) & (label < _CLIPPED_MM)
        values = np.divide(np.float32(1000), values, out=np.zeros_like(values), where=finite)
    elif coding == "inverse_depth":
        if unit is None:
            raise InputError("inverse depth has no unit")
        values = values * np.float32(unit)
    return values, known


def check_manifest(folder: Path) -> None:
    """Refuse a folder of labels whose `labels.json` makes no sense; one without it is another's."""
    path = folder / MANIFEST
    if not path.is_file():
        return
    remedy = "label the photographs again, into a new folder"
    try:
        manifest: Any = json.loads(read_bytes(path, limit=_MAX_MANIFEST, what="label manifest"))
    except (ValueError, RecursionError) as error:
        raise InputError("is not a label manifest", path=path, remedy=remedy) from error
    fields = manifest if isinstance(manifest, dict) else {}
    if not (isinstance(fields.get("teacher"), str) and isinstance(fields.get("sha256"), str)):
        raise InputError("names no teacher and checksum", path=path, remedy=remedy)
    if fields.get("coding") != "disparity":
        raise InputError(
            f"says coding {str(fields.get('coding'))[:40]!r}, must be 'disparity'",
            path=path,
            remedy=remedy,
        )


def combine(maps: Sequence[NDArray[Any]]) -> tuple[FloatArray, NDArray[np.uint8]]:
    """Bring several teachers' maps of one picture together.

    With the maps m_k after alignment, voices v_k and the mean m, disagreement is the weighted
    standard deviation of the m_k over the spread of the first map, both per picture:

        δ = sqrt(Σ v_k (m_k - m)² / Σ v_k) / mean|m_1 - median(m_1)|
        trust = 1 / (1 + (δ / HALF_TRUST)²)

    The spread is the one that the scale-and-shift-invariant loss divides by, so δ is in units of the
    loss. A teacher whose best fit is flat or upside down is left out of the mean; its disagreement
    still counts.

    Args:
        maps: one or more (H, W) disparities, larger is nearer, any scale and shift each.

    Returns:
        (H, W) float32 disparity in the range of the first, not negative, and (H, W) uint8 trust.
    """
    first = np.asarray(maps[0], np.float32)
    aligned, voices = [first], [FIRST_COUNTS]
    for other in maps[1:]:
        # A quarter of the pixels fixes two numbers as well as all of them.
        fit = align(other[::2, ::2], first[::2, ::2], robust=True, nonnegative=True)
        aligned.append(fit(other))
        voices.append(1.0 if fit.scale > 0 else 0.0)
    stack, weights = np.stack(aligned), np.asarray(voices)
    mean = np.average(stack, axis=0, weights=weights)
    counted = np.where(weights > 0, weights, 1.0)
    variance = np.average((stack - mean) ** 2, axis=0, weights=counted)
    spread = float(np.abs(first - np.median(first)).mean())
    # A flat map has no spread, and any other map fitted to it is the same flat map: no disagreement.
    ratio = variance / max((spread * HALF_TRUST) ** 2, 1e-12)
    trust = np.rint(255 / (1 + ratio)).astype(np.uint8)
    return np.maximum(mean, 0).astype(np.float32), trust
