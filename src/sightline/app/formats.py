"""What a result can be sent as, and how a client says which one it wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sightline.app.problems import Problem


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of answer.

    Attributes:
        name: for `?format=`.
        media: type for `Accept` and `Content-Type`.
        suffix: of the file, with dot.
        says: one line for people.
    """

    name: str
    media: str
    suffix: str
    says: str


FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format("json", "application/json", ".json", "description, without the map"),
        Format("f32", "application/octet-stream", ".f32", "raw float32, NaN where not valid"),
        Format("color", "image/jpeg", ".jpg", "the map in colours"),
        Format("png16", "image/png", ".png", "16-bit PNG that says what its numbers mean"),
        Format("npz", "application/x-npz", ".npz", "numpy arrays"),
        Format("exr", "image/x-exr", ".exr", "float EXR"),
        Format("glb", "model/gltf-binary", ".glb", "mesh"),
        Format("ply", "model/ply", ".ply", "coloured points"),
        Format("grid", "application/vnd.sightline.grid+json", ".grid.json", "thinned map in JSON"),
        Format("mp4", "video/mp4", ".mp4", "video"),
        Format("mkv", "video/x-matroska", ".mkv", "16-bit video of depth"),
        Format("png", "image/png", ".png", "picture"),
    )
}

MAP = ("json", "f32", "color", "png16", "npz", "exr", "glb", "ply", "grid")
FILM = ("json", "mp4", "mkv")
ASKED = ("json", "png")
FRAMES = ("json", "mp4", "png", "npz")
PLAIN = ("json",)


def choose(accept: str | None, asked: str | None, offered: Sequence[str]) -> str:
    """Return the name of the format that a client wants most, of those on offer.

    Args:
        accept: the `Accept` header; None or empty takes anything.
        asked: the query `format`, which wins.
        offered: names, the preferred one first.

    Raises:
        Problem: 406, naming what there is.

    >>> choose("image/png, */*;q=0.1", None, MAP)
    'png16'
    """
    if asked is not None:
        if asked in offered:
            return asked
        raise _none_fits(offered)
    best, liking = "", 0.0
    for name in offered:
        quality = _quality(accept or "*/*", FORMATS[name].media)
        if quality > liking:
            best, liking = name, quality
    if not best:
        raise _none_fits(offered)
    return best


def _none_fits(offered: Sequence[str]) -> Problem:
    kinds = ", ".join(f"{FORMATS[name].media} (format={name})" for name in offered)
    return Problem(406, f"there is no such form of this result; there is {kinds}")


def _quality(accept: str, media: str) -> float:
    """How much a header wants a media type: the q of the most specific entry that names it."""
    kind = media.partition("/")[0]
    best, found = -1, 0.0
    for entry in accept.split(",")[:64]:
        words = [word.strip() for word in entry.split(";")]
        rank = {"*/*": 0, f"{kind}/*": 1, media: 2}.get(words[0].lower(), -1)
        if rank > best:
            best, found = rank, _q(words[1:])
    return found


def _q(parameters: Sequence[str]) -> float:
    for word in parameters:
        name, _, value = word.partition("=")
        if name.strip().lower() == "q":
            try:
                return min(1.0, max(0.0, float(value)))
            except ValueError:
                return 0.0
    return 1.0
