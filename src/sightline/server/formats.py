"""Result formats and content negotiation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sightline.server.errors import ServiceError

#: Default of the maximum number of points of a point cloud or mesh.
MAX_POINTS = 300_000


@dataclass(frozen=True, slots=True)
class Format:
    """A result format.

    Attributes:
        name: value of the query parameter `format`.
        media_type: media type for `Accept` and `Content-Type`.
        suffix: file suffix, with dot.
        text: description.
    """

    name: str
    media_type: str
    suffix: str
    text: str


FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format("json", "application/json", ".json", "description without the map"),
        Format("f32", "application/octet-stream", ".f32", "raw float32, NaN where invalid"),
        Format("color", "image/jpeg", ".jpg", "color map"),
        Format("png16", "image/png", ".png", "16-bit PNG with scale in its metadata"),
        Format("npz", "application/x-npz", ".npz", "numpy arrays"),
        Format("exr", "image/x-exr", ".exr", "float EXR"),
        Format("glb", "model/gltf-binary", ".glb", "mesh"),
        Format("ply", "model/ply", ".ply", "colored point cloud"),
        Format("grid", "application/vnd.sightline.grid+json", ".grid.json", "thinned map as JSON"),
        Format("mp4", "video/mp4", ".mp4", "video"),
        Format("mkv", "video/x-matroska", ".mkv", "16-bit depth video"),
        Format("png", "image/png", ".png", "picture"),
    )
}

#: Formats of each kind of result; the first is the default.
MAP_FORMATS = ("json", "f32", "color", "png16", "npz", "exr", "glb", "ply", "grid")
VIDEO_FORMATS = ("json", "mp4", "mkv")
ANSWER_FORMATS = ("json", "png")
FRAME_FORMATS = ("json", "mp4", "png", "npz")
JSON_ONLY = ("json",)


def negotiate(accept: str | None, format: str | None, offered: Sequence[str]) -> str:
    """Return the name of the offered format that a client prefers.

    Args:
        accept: `Accept` header; None or empty accepts anything.
        format: query parameter `format`, which takes precedence.
        offered: names of formats, the default first.

    Raises:
        ServiceError: 406 with the list of formats.

    >>> negotiate("image/png, */*;q=0.1", None, MAP_FORMATS)
    'png16'
    """
    if format is not None:
        if format in offered:
            return format
        raise _not_acceptable(offered)
    best, best_quality = "", 0.0
    for name in offered:
        quality = _quality(accept or "*/*", FORMATS[name].media_type)
        if quality > best_quality:
            best, best_quality = name, quality
    if not best:
        raise _not_acceptable(offered)
    return best


def _not_acceptable(offered: Sequence[str]) -> ServiceError:
    kinds = ", ".join(f"{FORMATS[name].media_type} (format={name})" for name in offered)
    return ServiceError(406, f"this format is not available; available are {kinds}")


def _quality(accept: str, media_type: str) -> float:
    """Return the q value of the most specific entry of an `Accept` header for a media type."""
    kind = media_type.partition("/")[0]
    best, found = -1, 0.0
    for entry in accept.split(",")[:64]:
        words = [word.strip() for word in entry.split(";")]
        rank = {"*/*": 0, f"{kind}/*": 1, media_type: 2}.get(words[0].lower(), -1)
        if rank > best:
            best, found = rank, _q_value(words[1:])
    return found


def _q_value(parameters: Sequence[str]) -> float:
    for word in parameters:
        name, _, value = word.partition("=")
        if name.strip().lower() == "q":
            try:
                return min(1.0, max(0.0, float(value)))
            except ValueError:
                return 0.0
    return 1.0
