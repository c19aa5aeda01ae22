"""Depth maps as files: the suffix selects the format, and every writer has its reader.

| suffix | values             | sigma | for                                       |
|--------|--------------------|-------|-------------------------------------------|
| `.npz` | float32, exact     | yes   | Python                                    |
| `.png` | 16 bits, half step | no    | everything that shows pictures; small     |
| `.exr` | float32, exact     | yes   | film, rendering, compositing              |

**NPZ.** Keys: `values` (H, W) float32, `valid` (H, W) bool, `kind`, `unit` and `direction` in words,
`K` (3, 3) float64 in pixels (NaN without camera), `camera_source`, `source`, and `sigma` (H, W)
float32 if known. Pickles are neither written nor read. Values are stored uncompressed: deflating
float noise takes ten times as long and saves little.

**PNG.** `value = offset + scale * pixel`; pixel 0 is invalid. The text entries `kind`, `unit`,
`direction`, `scale`, `offset`, `minimum`, `maximum`, `invalid`, `K` (nine numbers, row by row),
`camera_source`, `source` and `formula` are shown by any PNG tool. Pixels 1 and 65535 stand for the
least and the greatest valid value, so the error is at most (maximum - minimum) / 65534 / 2, plus
rounding to float32.

**EXR.** Channels: `Z` for metric depth in meters, `disparity` for both disparities, `valid` 1 or 0,
`sigma` if known. Invalid pixels are 0 rather than NaN, which would spread through every filter of a
compositing program. Attributes: `sightline:kind`, `sightline:unit`, `sightline:direction`,
`sightline:K` (3×3 doubles), `sightline:camera_source`, `sightline:source`.
"""

from __future__ import annotations

import io
import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io import exr, png
from sightline.io.atomic import atomic_path, write_bytes
from sightline.io.images import sniff
from sightline.io.paths import AnyPath, to_path
from sightline.io.reading import (
    GET_AGAIN,
    MAX_PIXELS,
    check_pixels,
    naming,
    parse_camera_source,
    parse_kind,
    read_bytes,
)
from sightline.types import Camera, CameraSource, DepthMap, FloatArray, Kind

#: Largest number of members, and of bytes of every member but the maps.
_MAX_MEMBERS = 64
_SMALL = 100_000

#: Exceptions of zipfile on damaged archives; there is no common class.
_NPZ_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    OSError,
    ValueError,
    OverflowError,
    RuntimeError,
)


def write_npz(path: str | AnyPath, depth: DepthMap) -> None:
    """Write all fields of `depth`; the same map always gives the same bytes."""
    camera = depth.camera
    arrays: dict[str, NDArray[Any]] = {
        "values": depth.values,
        "valid": depth.valid,
        "kind": np.array(str(depth.kind)),
        "unit": np.array(depth.unit),
        "direction": np.array(depth.kind.direction),
        "K": np.full((3, 3), np.nan) if camera is None else camera.K,
        "camera_source": np.array("" if camera is None else str(camera.source)),
        "source": np.array(depth.source),
    }
    if depth.sigma is not None:
        arrays["sigma"] = depth.sigma
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            # A fixed date (zip's first), so that the same map gives the same bytes.
            info = zipfile.ZipInfo(f"{name}.npy")
            if array.dtype == np.bool_:
                info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def read_npz(path: str | AnyPath, *, max_pixels: int = MAX_PIXELS) -> DepthMap:
    """Read a depth map from `.npz`.

    Needed are `values` and `kind`; without `valid`, what is finite is valid. Declared sizes are
    checked before anything is unpacked, and nothing is ever unpickled.
    """
    data = read_bytes(path, limit=max_pixels * 24 + _SMALL * _MAX_MEMBERS, what="depth file")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            arrays = _read_npz_members(archive, max_pixels, path)
    except _NPZ_DAMAGE as error:
        raise InputError(
            "is not an .npz file, or a damaged one", path=path, remedy=GET_AGAIN
        ) from error
    for name in ("values", "kind"):
        if name not in arrays:
            raise InputError(
                f"has no {name!r}",
                path=path,
                remedy="a depth .npz needs at least 'values' (H×W) and 'kind'",
            )
    with naming(path):
        return _npz_to_depth(arrays, path)


def _read_npz_members(
    archive: zipfile.ZipFile, max_pixels: int, path: str | AnyPath
) -> dict[str, NDArray[Any]]:
    """Read the known arrays, each within its size limit."""
    members = archive.infolist()
    if len(members) > _MAX_MEMBERS:
        raise InputError(f"has {len(members)} members, so is no depth file", path=path)
    maps = ("values", "valid", "sigma")
    known = {*maps, "kind", "K", "camera_source", "source"}
    arrays = {}
    for info in members:
        name = info.filename.removesuffix(".npy")
        if name not in known or name == info.filename:
            continue
        limit = max_pixels * 8 + _SMALL if name in maps else _SMALL
        if info.file_size > limit:
            raise InputError(f"declares {info.file_size:,} bytes of {name!r}: too much", path=path)
        with archive.open(info) as member:
            arrays[name] = _read_array(member.read(), name, max_pixels, path)
    return arrays


def _read_array(data: bytes, name: str, max_pixels: int, path: str | AnyPath) -> NDArray[Any]:
    """Parse one `.npy` after checking its declared shape against its length."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            read = np.lib.format.read_array_header_2_0
        shape, _, dtype = read(stream)
    except (ValueError, EOFError, TypeError, tokenize.TokenError) as error:
        raise InputError(f"has a damaged array {name!r}", path=path, remedy=GET_AGAIN) from error
    if dtype.hasobject:
        raise InputError(f"holds Python objects in {name!r}; these are never loaded", path=path)
    if len(shape) == 2 and name != "K":
        check_pixels(int(shape[1]), int(shape[0]), max_pixels, path=path)
    if math.prod(shape) * dtype.itemsize != len(data) - stream.tell():
        raise InputError(f"declares a shape of {name!r} that its bytes do not fill", path=path)
    stream.seek(0)
    array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    return array


def _npz_to_depth(arrays: dict[str, NDArray[Any]], path: str | AnyPath) -> DepthMap:
    kind = parse_kind(_text(arrays["kind"], "kind"))
    with np.errstate(
        over="ignore"
    ):  # doubles beyond float32 become infinite, and are refused below
        values = _numbers(arrays["values"], "values").astype(np.float32)
    valid = arrays.get("valid")
    if valid is not None:
        if valid.dtype != np.bool_ and valid.dtype.kind not in "iu":
            raise InputError(f"valid must be true or false, got {valid.dtype}")
        valid = valid.astype(np.bool_)
        if valid.shape == values.shape and not bool(np.isfinite(values[valid]).all()):
            raise InputError("some valid values are not finite")
    sigma = _numbers(arrays["sigma"], "sigma") if "sigma" in arrays else None
    source = _text(arrays["source"], "source") if "source" in arrays else str(path)
    return DepthMap(values, kind, valid, _npz_camera(arrays, values), sigma, source)  # type: ignore[arg-type]


def _npz_camera(arrays: dict[str, NDArray[Any]], values: NDArray[Any]) -> Camera | None:
    K = _numbers(arrays["K"], "K") if "K" in arrays else None
    if K is None or values.ndim != 2 or bool(np.isnan(K).all()):
        return None
    source = CameraSource.GIVEN
    if "camera_source" in arrays:
        source = parse_camera_source(_text(arrays["camera_source"], "camera_source"))
    return Camera(K, values.shape[1], values.shape[0], source)


def _numbers(array: NDArray[Any], name: str) -> NDArray[Any]:
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} must be numbers, got {array.dtype}")
    return array


def _text(array: NDArray[Any], name: str) -> str:
    if array.shape != () or array.dtype.kind != "U":
        raise InputError(f"{name} must be one piece of text, got {array.dtype} {array.shape}")
    return str(array)


_LEVELS = 65534  # steps between pixel 1 and pixel 65535
#: Pixels per block of the quantization, so that the doubles stay in the cache.
_BLOCK = 1 << 16

_REMEDY = (
    "only PNG files written by Sightline say what their pixels mean; "
    "read others as numbers and make a DepthMap of them"
)


def write_png16(path: str | AnyPath, depth: DepthMap) -> None:
    """Write values, validity, kind and camera (not sigma) as 16-bit gray PNG."""
    known = depth.values[depth.valid] if not depth.valid.all() else depth.values
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 0.0)
    scale = (high - low) / _LEVELS
    text = {
        "Software": "Sightline",
        "kind": str(depth.kind),
        "unit": depth.unit,
        "direction": depth.kind.direction,
        "formula": "value = offset + scale * pixel",
        "scale": repr(scale),
        "offset": repr(low - scale),
        "minimum": repr(low),
        "maximum": repr(high),
        "invalid": "0",
        "source": depth.source,
    }
    if depth.camera is not None:
        text["K"] = " ".join(repr(float(k)) for k in depth.camera.K.ravel())
        text["camera_source"] = str(depth.camera.source)
    write_bytes(path, png.encode(_quantize(depth, low, scale), text))


def _quantize(depth: DepthMap, low: float, scale: float) -> NDArray[np.uint16]:
    """Quantize to (H, W) uint16, 0 where invalid; in double precision, for an error of half a step."""
    values, valid = depth.values.reshape(-1), depth.valid.reshape(-1)
    pixels = np.empty(values.shape, np.uint16)
    inverse = 1 / scale if scale > 0 else 0.0
    for start in range(0, values.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        level = values[block].astype(np.float64)
        level -= low
        if math.isfinite(inverse):
            level *= inverse
        else:  # a range so small that one over its step overflows
            level /= scale
        level += 1.5  # truncation then rounds to the nearest
        # Where not valid, the stored zero may lie far outside the range.
        np.clip(level, 0, _LEVELS + 1, out=level)
        pixels[block] = level.astype(np.uint16) * valid[block]
    return pixels.reshape(depth.values.shape)


def read_png16(path: str | AnyPath, *, max_pixels: int = MAX_PIXELS) -> DepthMap:
    """Read a depth map that `write_png16` wrote."""
    data = read_bytes(path, limit=max_pixels * 4 + 10_000_000, what="depth file")
    header = png.read_header(data, path=path)
    check_pixels(header.width, header.height, max_pixels, path=path)
    if (header.bits, header.color) != (16, 0):
        raise InputError("is not a 16-bit gray PNG, so no depth map", path=path, remedy=_REMEDY)
    text = png.read_text(data, path=path)
    missing = [key for key in ("kind", "scale", "offset") if key not in text]
    if missing:
        raise InputError(f"has no {' and '.join(missing)} in it", path=path, remedy=_REMEDY)
    with naming(path):
        kind = parse_kind(text["kind"])
        scale, offset = _number(text, "scale"), _number(text, "offset")
        levels = offset + scale * np.arange(65536, dtype=np.float64)
        if "minimum" in text and "maximum" in text:
            # The offset is a rounded number: it must not push a tiny least depth to zero or below.
            ends = _number(text, "minimum"), _number(text, "maximum")
            levels = levels.clip(*ends)
            levels[1], levels[-1] = ends if scale else (ends[0], ends[0])
        camera = _png_camera(text, header.width, header.height)
        png.check(data, path=path)
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
        if pixels is None or pixels.shape != (header.height, header.width):
            raise InputError("is damaged", remedy=GET_AGAIN)
        values: FloatArray = np.take(levels.astype(np.float32), pixels)
        return DepthMap(values, kind, pixels > 0, camera, source=text.get("source", str(path)))


def _number(text: dict[str, str], key: str) -> float:
    try:
        value = float(text[key])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{key} is {text[key][:40]!r}, must be a number")
    return value


def _png_camera(text: dict[str, str], width: int, height: int) -> Camera | None:
    if "K" not in text:
        return None
    try:
        K = np.array([float(word) for word in text["K"].split()]).reshape(3, 3)
    except ValueError as error:
        raise InputError("K must be nine numbers") from error
    return Camera(K, width, height, parse_camera_source(text.get("camera_source", "given")))


_EXR_PREFIX = "sightline:"


def channel_name(kind: Kind) -> str:
    """Return the channel that holds the values."""
    return "Z" if kind is Kind.METRIC_DEPTH else "disparity"


def write_exr(path: str | AnyPath, depth: DepthMap) -> None:
    """Write all fields of `depth`."""
    attributes: dict[str, Any] = {
        "kind": str(depth.kind),
        "unit": depth.unit,
        "direction": depth.kind.direction,
        "source": depth.source,
    }
    if depth.camera is not None:
        attributes["K"] = np.array(depth.camera.K)
        attributes["camera_source"] = str(depth.camera.source)
    channels: dict[str, NDArray[Any]] = {
        channel_name(depth.kind): np.array(depth.values),
        "valid": depth.valid.astype(np.float16),
    }
    if depth.sigma is not None:
        channels["sigma"] = np.array(depth.sigma)
    named = {_EXR_PREFIX + key: value for key, value in attributes.items()}
    write_bytes(path, exr.encode(named, channels))


def read_exr(path: str | AnyPath, *, max_pixels: int = MAX_PIXELS) -> DepthMap:
    """Read a depth map that `write_exr` wrote."""
    data = read_bytes(path, limit=max_pixels * 16 + 10_000_000, what="depth file")
    if sniff(data, path=path) != "exr":
        raise InputError("is not an EXR file", path=path)
    header, names = exr.read_header(data, max_pixels=max_pixels, path=path)
    ours = {
        key.removeprefix(_EXR_PREFIX): header[key] for key in header if key.startswith(_EXR_PREFIX)
    }
    if not isinstance(ours.get("kind"), str):
        raise InputError(
            "does not say what its numbers mean (no attribute sightline:kind)",
            path=path,
            remedy="only EXR files written by Sightline do; read others with OpenEXR",
        )
    with naming(path):
        kind = parse_kind(ours["kind"])
        wanted = [channel_name(kind), "valid"]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise InputError(f"has no channel {missing[0]!r}")
        channels = exr.read_channels(data, [*wanted, *({"sigma"} & set(names))], path=path)
        values = channels[channel_name(kind)]
        height, width = values.shape
        source = ours.get("source")
        return DepthMap(
            values,
            kind,
            channels["valid"] > 0,
            _exr_camera(ours, width, height),
            channels.get("sigma"),
            source if isinstance(source, str) else str(path),
        )


def _exr_camera(attributes: dict[str, Any], width: int, height: int) -> Camera | None:
    K = attributes.get("K")
    if K is None:
        return None
    if not isinstance(K, np.ndarray):
        raise InputError("sightline:K is not a matrix")
    source = attributes.get("camera_source", "given")
    if not isinstance(source, str):
        raise InputError("sightline:camera_source is not text")
    return Camera(K, width, height, parse_camera_source(source))


__all__ = [
    "DEPTH_SUFFIXES",
    "is_depth_file",
    "read_depth",
    "read_exr",
    "read_npz",
    "read_png16",
    "write_depth",
    "write_exr",
    "write_npz",
    "write_png16",
]

DEPTH_SUFFIXES: frozenset[str] = frozenset({".npz", ".png", ".exr"})

#: The text of a depth PNG lies within this many bytes from the start.
_HEAD = 4096


def write_depth(path: str | AnyPath, depth: DepthMap) -> None:
    """Write `depth` in the format of the suffix; whole or not at all."""
    writers = {".npz": write_npz, ".png": write_png16, ".exr": write_exr}
    writers[_suffix(path)](path, depth)


def read_depth(path: str | AnyPath) -> DepthMap:
    """Read a depth map written by `write_depth`."""
    readers = {".npz": read_npz, ".png": read_png16, ".exr": read_exr}
    return readers[_suffix(path)](path)


def is_depth_file(path: str | AnyPath) -> bool:
    """Tell whether a file is certainly depth: an `.npz`, or a 16-bit PNG with its kind in the text.

    An `.exr` may be a photograph as well, so it is not.
    """
    suffix = to_path(path).suffix.lower()
    if suffix == ".npz":
        return True
    if suffix != ".png" or not to_path(path).is_file():
        return False
    with to_path(path).open("rb") as file:
        start = file.read(_HEAD)
    return start[24:26] == b"\x10\x00" and b"kind" in start


def _suffix(path: str | AnyPath) -> str:
    suffix = to_path(path).suffix.lower()
    if suffix not in DEPTH_SUFFIXES:
        raise InputError(
            f"depth files end in {', '.join(sorted(DEPTH_SUFFIXES))}, not {suffix or 'nothing'}",
            path=path,
        )
    return suffix
