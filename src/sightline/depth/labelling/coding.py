"""A label as a file: 16-bit grey PNG, 0 the farthest and 65535 the nearest of its picture.

    value = lo + (hi - lo) * pixel / 65535        larger is nearer; every pixel is known

`lo`, `hi` and who made it are in the PNG's own text, so the values can be had back to half a step.
Unlike `files.depth_png`, no pixel means "unknown": a teacher has an answer everywhere, and students
read the pixels as they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files import png
from sightline.files.native import listening
from sightline.files.reading import GET_AGAIN, MAX_PIXELS, check_pixels, read_bytes
from sightline.types import FloatArray, Kind

LEVELS = 65535

#: Keyword of the text that carries the checksum of the teacher's weights.
CHECKSUM = "teacher_sha256"

#: The last chunk of every PNG: length, name, checksum.
_END = b"\0\0\0\0IEND\xaeB`\x82"

#: The text stands at the beginning, within so many bytes.
_HEAD = 4096


@dataclass(frozen=True, slots=True)
class Teacher:
    """Who labels, and how: labels with equal teachers are alike.

    Attributes:
        name: of the model.
        sha256: of its weights, in hex.
        size: shorter side of the network's input in [px].
        mirror: whether the picture and its mirror image were averaged.
        kind: of the values: relative or metric disparity.
    """

    name: str
    sha256: str
    size: int
    mirror: bool
    kind: Kind


@dataclass(frozen=True, slots=True, eq=False)
class Label:
    """A label that was read.

    Attributes:
        values: (H, W) float32 disparity, larger is nearer; in [1/m] where `kind` is metric.
        kind: relative or metric disparity.
        sha256: of the teacher's weights.
    """

    values: FloatArray
    kind: Kind
    sha256: str


def encode(values: FloatArray, teacher: Teacher) -> bytes:
    """Return the PNG file of a disparity map.

    Args:
        values: (H, W) float32, finite, larger is nearer.
        teacher: who made it.
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
    return png.encode(_quantise(values, lo, hi), text)


def _quantise(values: FloatArray, lo: float, hi: float) -> NDArray[np.uint16]:
    if not hi > lo:
        return np.zeros(values.shape, np.uint16)
    return np.rint((values.astype(np.float64) - lo) / (hi - lo) * LEVELS).astype(np.uint16)


def read_label(path: str | Path) -> Label:
    """Read a label with its values as the teacher gave them, to half a step of (hi - lo) / 65535."""
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
    with listening():
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
    if pixels is None or pixels.ndim != 2 or not (math.isfinite(lo) and math.isfinite(hi)):
        raise InputError("is damaged", path=path, remedy=GET_AGAIN)
    values = lo + (hi - lo) * (pixels.astype(np.float64) / LEVELS)
    return Label(values.astype(np.float32), kind, sha256)


def is_finished(path: Path, sha256: str) -> bool:
    """Tell whether a whole label by the teacher of this checksum is there.

    Only beginning and end are read: a million finished labels must be passed over quickly. They are
    written whole or not at all, so what a power failure leaves is empty or cut off.
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
