"""Depth as `.npz`: every field of a `DepthMap`, exactly, for numpy without us.

    with np.load("room.npz") as file:
        file["values"], str(file["kind"]), file["valid"], file["K"]

Keys: `values` (H, W) float32, `valid` (H, W) bool, `kind`, `unit` and `direction` in words, `K`
(3, 3) float64 in pixels (NaN when there is no camera), `camera_source`, `source`, and `sigma`
(H, W) float32 when there is one. No pickles, neither written nor read. Values are stored as they
are: deflating float noise takes ten times as long and saves little.
"""

from __future__ import annotations

import io
import lzma
import math
import struct
import tokenize
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.atomic import atomic_path
from sightline.files.reading import GET_AGAIN, MAX_PIXELS, check_pixels, naming, read_bytes
from sightline.types import Camera, CameraSource, DepthMap, Kind

#: More members than this is not a depth file. Small ones (all but the maps) are bounded in bytes.
_MAX_MEMBERS = 64
_SMALL = 100_000

#: What zipfile raises on damaged archives: there is no one class for it.
_DAMAGE = (
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


def write_npz(path: str | Path, depth: DepthMap) -> None:
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


def read_npz(path: str | Path, *, max_pixels: int = MAX_PIXELS) -> DepthMap:
    """Read a depth map from `.npz`.

    Needed are `values` and `kind`; without `valid`, what is finite is valid. Declared sizes are
    checked before anything is unpacked, and nothing is ever unpickled.
    """
    data = read_bytes(path, limit=max_pixels * 24 + _SMALL * _MAX_MEMBERS, what="depth file")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            arrays = _read_members(archive, max_pixels, path)
    except _DAMAGE as error:
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
        return _to_depth(arrays, path)


def _read_members(
    archive: zipfile.ZipFile, max_pixels: int, path: str | Path
) -> dict[str, NDArray[Any]]:
    """Read the arrays we know, each within the bounds its own header must agree with."""
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


def _read_array(data: bytes, name: str, max_pixels: int, path: str | Path) -> NDArray[Any]:
    """Parse one `.npy`, after its declared shape has been held against the bytes there are."""
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


def _to_depth(arrays: dict[str, NDArray[Any]], path: str | Path) -> DepthMap:
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
    return DepthMap(values, kind, valid, _camera(arrays, values), sigma, source)  # type: ignore[arg-type]


def _camera(arrays: dict[str, NDArray[Any]], values: NDArray[Any]) -> Camera | None:
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


def parse_kind(word: str) -> Kind:
    """Return the `Kind` a file names, with a message that lists what there is."""
    try:
        return Kind(word)
    except ValueError as error:
        raise InputError(f"kind is {word[:40]!r}, must be one of {', '.join(Kind)}") from error


def parse_camera_source(word: str) -> CameraSource:
    """Return the `CameraSource` a file names."""
    try:
        return CameraSource(word)
    except ValueError as error:
        choices = ", ".join(CameraSource)
        raise InputError(f"camera_source is {word[:40]!r}, must be one of {choices}") from error
