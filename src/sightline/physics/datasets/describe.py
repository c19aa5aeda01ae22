"""Describe the content of a data set file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from sightline.physics.datasets.reader import VideoData
from sightline.physics.datasets.spec import COMBINATORIAL, PROBE

if TYPE_CHECKING:
    from sightline.physics.combinatorial.store import CombinatorialVideos

#: Names of the columns of `init`, by their number and the number of bodies.
_COLUMNS = {
    (2, 1): ("r", "v"),
    (3, 1): ("r", "v", "color"),
    (4, 1): ("r", "v", "color", "shape"),
    (4, 2): ("r1", "r2", "v1", "v2"),
}
_PIXELS = {
    "rle": "lossless",
    "standard": "mp4 of standard quality",
    "lossless": "mp4, lossless",
}
_PIECE = 10_000  # samples whose parameters are read at a time
_LONGEST = 200  # characters of a value that somebody else may have written
_OF_ONE_LAW = ("split", "preset", "mode", "shard_seed")


def describe(data: VideoData) -> dict[str, str]:
    """Return the properties of a data set by name, as text.

    Decodes the first video and reads the parameters of all samples.
    """
    frames, height, width, _ = data.video(0).shape
    said = {
        "file": str(data.path),
        "format": data.format,
        "scenario": _text(data.scenario),
        "videos": f"{len(data):,}",
        "each": f"{frames} frames of {width}×{height}, one every {data.frame_time:.3g} s",
        "pixels": _PIXELS.get(str(data.made.get("video")), "mp4 of unknown quality"),
    }
    if data.scenario == COMBINATORIAL:
        said |= _scenes(cast("CombinatorialVideos", data))
    else:
        said |= _bodies(data)
    said |= _origin(data.made)
    said["digest"] = data.digest
    return said


def _origin(made: dict[str, Any]) -> dict[str, str]:
    """Return what there is to say about how a file was made; nothing if it is not ours."""
    left = {name: value for name, value in made.items() if value is not None}
    for name in ("count", "size", "frames", "video", "templates", "tasks"):  # the file itself shows
        left.pop(name, None)
    scenario = str(left.pop("scenario", ""))
    if scenario.startswith(PROBE):
        left = {name: value for name, value in left.items() if name not in _OF_ONE_LAW}
        left = {"probe": scenario.removeprefix(PROBE), **left}
    elif "level" in left:
        left.pop("split", None)
    said = {}
    for name in ("probe", "part", "split", "level", "seed"):
        if name in left:
            said[name] = _text(left.pop(name))
    if left:
        said["made with"] = ", ".join(f"{_text(name)} {_text(left[name])}" for name in left)
    return said


def _scenes(data: CombinatorialVideos) -> dict[str, str]:
    """Return what tasks there are."""
    keys = [key for key in data.keys if key]
    templates = sorted({_text(key.partition(":")[0]) for key in keys})
    return {"templates": ", ".join(templates) or "one", "tasks": f"{len(keys) or 1:,}"}


def _bodies(data: VideoData) -> dict[str, str]:
    """Return how many bodies there are, and least and greatest value of each parameter."""
    bodies = data.read_samples(0, 1).positions.shape[2]
    low = high = data.read_init(0, 1)[0]
    for start in range(0, len(data), _PIECE):
        init = data.read_init(start, min(start + _PIECE, len(data)))
        low, high = np.minimum(low, init.min(axis=0)), np.maximum(high, init.max(axis=0))
    columns = len(low)
    names = _COLUMNS.get((columns, bodies), tuple(f"[{k}]" for k in range(columns)))
    ranges = (f"{n} {a:.3g} to {b:.3g}" for n, a, b in zip(names, low, high, strict=True))
    return {"bodies": str(bodies), "init": ", ".join(ranges)}


def _text(value: Any) -> str:
    """Return a value of a file in one line: no control characters, and not too long."""
    words = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    shown = words if len(words) <= _LONGEST else f"{words[:_LONGEST]}…"
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in shown)
