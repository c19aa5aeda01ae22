"""Read and write OpenEXR channels for images and depth files.

Pixels are read through `InputFile`, not `File`: in OpenEXR 3.5 the latter answers a damaged file
with a line on standard output and an empty list of parts instead of an error.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.io.paths import AnyPath
from sightline.io.reading import GET_AGAIN, check_pixels

_DTYPES = {"HALF": np.float16, "FLOAT": np.float32, "UINT": np.uint32}


def read_header(
    data: bytes, *, max_pixels: int, path: str | AnyPath | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the first part's attributes and the names of its full-size channels.

    Sizes are checked here, before any pixel is decoded.
    """
    import OpenEXR

    try:
        header = OpenEXR.File(io.BytesIO(data), header_only=True).header()
        whole = [c.name for c in header["channels"] if c.xSampling == 1 and c.ySampling == 1]
        low, high = header["dataWindow"]
        width, height = (int(n) for n in high.astype(np.int64) - low.astype(np.int64) + 1)
    except (RuntimeError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise InputError("is a damaged EXR file", path=path, remedy=GET_AGAIN) from error
    if header.get("type") not in (None, OpenEXR.scanlineimage, OpenEXR.tiledimage):
        raise InputError("is a deep EXR file", path=path, remedy="flatten it first")
    check_pixels(width, height, max_pixels, path=path)
    return header, whole


def read_channels(
    data: bytes, names: Iterable[str], *, path: str | AnyPath | None = None
) -> dict[str, NDArray[Any]]:
    """Return each named channel as (H, W) in its own number type. Call `read_header` first."""
    import OpenEXR

    try:
        file = OpenEXR.InputFile(io.BytesIO(data))
        header = file.header()
        window = header["dataWindow"]
        shape = (window.max.y - window.min.y + 1, window.max.x - window.min.x + 1)
        return {
            name: np.frombuffer(
                file.channel(name), _DTYPES[str(header["channels"][name].type)]
            ).reshape(shape)
            for name in names
        }
    except (OSError, RuntimeError, ValueError, TypeError) as error:
        raise InputError(
            "is a damaged or truncated EXR file", path=path, remedy=GET_AGAIN
        ) from error


def encode(attributes: dict[str, Any], channels: dict[str, NDArray[Any]]) -> bytes:
    """Return a scan-line EXR file, losslessly compressed (ZIP, which every reader knows)."""
    import OpenEXR

    header = {
        "compression": OpenEXR.ZIP_COMPRESSION,
        "type": OpenEXR.scanlineimage,
        **attributes,
    }
    stream = io.BytesIO()
    OpenEXR.File(header, channels).write(stream)
    return stream.getvalue()
