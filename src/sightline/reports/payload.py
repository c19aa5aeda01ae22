"""What the page carries: pictures as data addresses, and the depth map as a grid of 16-bit numbers.

The grid is what the pointer reads and what the point cloud is made of. It is thinned to a few hundred
pixels a side, which is more than the page can show; the full map is in the linked files.
"""

from __future__ import annotations

import base64
import io
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.geometry import depth_for_view, edges
from sightline.io.color import Palette, colorize, range_for_display
from sightline.types import Camera, DepthMap

#: Longer side of pictures on the page in [px].
PICTURE_SIDE = 1280

#: Longer side of the grid.
GRID_SIDE = 400

_TOP = 65535


def camera_of(depth: DepthMap) -> Camera:
    """Return the map's camera, or the assumed one."""
    return depth.camera or Camera.assumed(depth.width, depth.height)


def picture(pixels: NDArray[np.uint8]) -> str:
    """Return (H, W, 3) uint8 RGB as the data address of a JPEG that fits the page."""
    image = Image.fromarray(np.ascontiguousarray(pixels))
    image.thumbnail((PICTURE_SIDE, PICTURE_SIDE), Image.Resampling.LANCZOS)
    return _address(image, "JPEG", quality=88, subsampling=0)


def color(depth: DepthMap, palette: Palette) -> str:
    """Return the map in colors as the data address of a JPEG."""
    return picture(colorize(depth, palette=palette))


def legend(depth: DepthMap, palette: Palette) -> dict[str, str]:
    """Return the color bar from near to far: `image`, and the values `near` and `far` as text.

    Numbers without a unit tell a reader nothing, so a relative map has none there.
    """
    low, high = range_for_display(depth)
    near, far = (high, low) if depth.kind.larger_is_nearer else (low, high)
    ramp = np.linspace(near, far, 256, dtype=np.float32)[None]
    colors = colorize(DepthMap(ramp, depth.kind), lo=low, hi=high, palette=palette)
    image = Image.fromarray(np.ascontiguousarray(colors))
    near_text, far_text = (
        f"{value:.3g} {depth.unit}" if depth.is_metric else "" for value in (near, far)
    )
    return {"image": _address(image, "PNG"), "near": near_text, "far": far_text}


def grid(depth: DepthMap) -> dict[str, Any]:
    """Return the thinned map for the page's script.

    `values` and `inverse` are base64 of little-endian uint16, row by row: 0 is "nothing here", 1 to
    65535 run from `…Low` to `…High`. `inverse` is one over the distance used for the 3D view, without
    the points that fly at edges. `focal` and `center` are (x, y) in cells of the grid.
    """
    step = math.ceil(max(depth.width, depth.height) / GRID_SIDE)
    z = depth_for_view(depth)
    solid = z > 0
    solid &= ~edges(z, solid)
    inverse = np.where(solid, 1 / np.where(solid, z, 1), 0)
    thin = (slice(None, None, step), slice(None, None, step))
    values, low, high = _pack(depth.values[thin], depth.valid[thin])
    packed, inverse_low, inverse_high = _pack(inverse[thin], solid[thin])
    rows, columns = depth.values[thin].shape
    K = camera_of(depth).K
    return {
        "width": columns,
        "height": rows,
        "unit": depth.unit,
        "relative": not depth.is_metric,
        "values": values,
        "low": low,
        "high": high,
        "inverse": packed,
        "inverseLow": inverse_low,
        "inverseHigh": inverse_high,
        "focal": [float(K[0, 0]) / step, float(K[1, 1]) / step],
        "center": [float(K[0, 2]) / step, float(K[1, 2]) / step],
    }


def _pack(values: NDArray[Any], valid: NDArray[np.bool_]) -> tuple[str, float, float]:
    """Quantize to 1–65535 between the lowest and highest valid value; 0 where not valid."""
    low, high = (0.0, 1.0)
    if bool(valid.any()):
        low, high = float(values[valid].min()), float(values[valid].max())
    span = high - low or 1.0
    codes = np.rint((values - low) / span * (_TOP - 1)).clip(0, _TOP - 1) + 1
    data = np.where(valid, codes, 0).astype("<u2").tobytes()
    return base64.b64encode(data).decode(), low, high


def _address(image: Image.Image, form: str, **options: Any) -> str:
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    return f"data:image/{form.lower()};base64,{base64.b64encode(buffer.getvalue()).decode()}"
