"""Pseudo-labels: disparity predicted by a teacher, as 16-bit gray PNG files.

    value = lo + (hi - lo) * pixel / 65535        0 is the farthest and 65535 the nearest pixel

`lo`, `hi` and the teacher are stored in the PNG's text, so values can be restored to half a step.
Unlike in `io.depth_png`, every pixel is valid: a teacher predicts all of them, and students read the
pixels as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.depth.preprocessing import MAX_ASPECT
from sightline.errors import InputError, SightlineError
from sightline.io import png
from sightline.io.reading import GET_AGAIN, MAX_PIXELS, check_pixels, read_bytes
from sightline.types import FloatArray, Kind

LEVELS = 65535

#: PNG text keyword of the checksum of the teacher's weights.
CHECKSUM = "teacher_sha256"

#: The last chunk of every PNG: length, name, checksum.
_END = b"\0\0\0\0IEND\xaeB`\x82"

#: Number of bytes at the beginning that contain the text.
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Teacher:
    """A teacher network and its settings: equal teachers give equal labels.

    Attributes:
        name: name of the model.
        sha256: checksum of its weights, in hex.
        size: shorter side of the network's input in [px].
        mirror: whether predictions for the image and its mirror image are averaged.
        kind: kind of the values: relative or metric disparity.
    """

    name: str
    sha256: str
    size: int
    mirror: bool
    kind: Kind


class TeacherNetwork(Protocol):
    """Interface of teachers, implemented by `DepthEstimator` and `HubNetwork`."""

    name: str
    sha256: str
    size: int

    @property
    def kind(self) -> Kind:
        """Kind of the output."""

    def predict(self, pixels: NDArray[np.uint8], /) -> FloatArray:
        """Return the output (h, w) for an image (H, W, 3)."""

    def enlarge(self, raw: FloatArray, hw: tuple[int, int], /) -> FloatArray:
        """Resize an output to (height, width)."""


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """A label read from a file.

    Attributes:
        values: (H, W) float32 disparity, larger is nearer; in [1/m] where `kind` is metric.
        kind: relative or metric disparity.
        sha256: checksum of the teacher's weights.
    """

    values: FloatArray
    kind: Kind
    sha256: str


def predict_disparity(
    teacher: TeacherNetwork, pixels: NDArray[np.uint8], *, mirror: bool = True
) -> FloatArray:
    """Predict the disparity of an image with a teacher network.

    Args:
        teacher: the network.
        pixels: (H, W, 3) uint8 RGB.
        mirror: average with the prediction for the mirrored image. Errors of the two differ, and
            the label of a mirrored image is then the mirrored label.

    Returns:
        (h, w) float32, larger is nearer, in [1/m] for metric networks. The shorter side is that of
        the network's output; the longer one follows the image's aspect ratio, since the network
        rounds it to multiples of its patch, by up to 6 %.
    """
    raw = _to_disparity(teacher.predict(pixels), teacher.kind)
    if mirror:
        flipped = teacher.predict(np.ascontiguousarray(pixels[:, ::-1]))[:, ::-1]
        raw = (raw + _to_disparity(flipped, teacher.kind)) / np.float32(2)
    if not bool(np.isfinite(raw).all()):
        raise SightlineError(f"{teacher.name} predicted values that are not finite")
    return teacher.enlarge(raw, label_size(raw.shape, pixels.shape[:2]))


def label_size(network: tuple[int, ...], picture: tuple[int, ...]) -> tuple[int, int]:
    """Return the (height, width) of a label.

    The longer side is at most `MAX_ASPECT` times the network's shorter side.

    Args:
        network: (height, width) of the network's output.
        picture: (height, width) of the image.

    >>> label_size((256, 320), (480, 640))
    (256, 341)
    >>> label_size((256, 1024), (100, 1600))
    (64, 1024)
    """
    shorter = min(network)
    scale = min(shorter / min(picture), MAX_ASPECT * shorter / max(picture))
    return max(1, round(picture[0] * scale)), max(1, round(picture[1] * scale))


def _to_disparity(raw: FloatArray, kind: Kind) -> FloatArray:
    """Convert metric depth to disparity in [1/m]; return disparity unchanged."""
    if kind is not Kind.METRIC_DEPTH:
        return raw
    with np.errstate(divide="ignore"):
        return np.float32(1) / raw


def encode(values: FloatArray, teacher: Teacher) -> bytes:
    """Return the PNG file of a disparity map.

    Args:
        values: (H, W) float32, finite, larger is nearer.
        teacher: the teacher that predicted it.
    """
    lo, hi = float(values.min()), float(values.max())
    text = {
        "Software": "Sightline",
        "teacher": teacher.name,
        CHECKSUM: teacher.sha256,
        "kind": teacher.kind.value,
        "unit": teacher.kind.unit,
        "direction": teacher.kind.direction,
        "formula": "value = lo + (hi - lo) * pixel / 65535",
        "lo": repr(lo),
        "hi": repr(hi),
        "size": str(teacher.size),
        "mirror": "yes" if teacher.mirror else "no",
    }
    return png.encode(_quantize(values, lo, hi), text)


def _quantize(values: FloatArray, lo: float, hi: float) -> NDArray[np.uint16]:
    if not hi > lo:
        return np.zeros(values.shape, np.uint16)
    return np.rint((values.astype(np.float64) - lo) / (hi - lo) * LEVELS).astype(np.uint16)


def read_label(path: str | Path) -> Label:
    """Read a label and restore the teacher's values to half a step of (hi - lo) / 65535."""
    data = read_bytes(path, limit=MAX_PIXELS * 4, what="label")
    header = png.read_header(data, path=path)
    check_pixels(header.width, header.height, MAX_PIXELS, path=path)
    png.check(data, path=path)
    text = png.read_text(data, path=path)
    try:
        lo, hi, kind, sha256 = (
            float(text["lo"]),
            float(text["hi"]),
            Kind(text["kind"]),
            text[CHECKSUM],
        )
    except (KeyError, ValueError) as error:
        raise InputError("was not written by `sightline label`", path=path) from error
    pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.ndim != 2 or not (math.isfinite(lo) and math.isfinite(hi)):
        raise InputError("is damaged", path=path, remedy=GET_AGAIN)
    values = lo + (hi - lo) * (pixels.astype(np.float64) / LEVELS)
    return Label(values.astype(np.float32), kind, sha256)


def is_finished(path: Path, sha256: str) -> bool:
    """Return whether a complete label by the teacher of this checksum exists.

    Only beginning and end are read, so that a million finished labels are skipped quickly. Labels
    are written atomically, so that a power failure leaves an empty or truncated file.
    """
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
            file.seek(-len(_END), 2)
            tail = file.read()
    except OSError:  # missing, or shorter than the end itself
        return False
    owner = f"{CHECKSUM}\0{sha256}".encode()
    return head.startswith(png.SIGNATURE) and owner in head and tail == _END
