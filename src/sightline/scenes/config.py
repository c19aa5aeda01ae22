"""Settings of a data set of scenes, and their record in `scenes.json`.

The number of scenes is not a setting: scene 17 of seed 0 is the same in a folder of twenty and in one
of a million.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.io.atomic import write_text
from sightline.io.images import PICTURE_SUFFIXES
from sightline.io.reading import read_bytes

MANIFEST = "scenes.json"

#: Smallest and largest side of a picture, [px].
MIN_SIDE, MAX_SIDE = 16, 8192
#: File names have six digits.
MAX_SCENES = 1_000_000

_MAX_MANIFEST = 1_000_000


@dataclass(frozen=True, slots=True)
class SceneSpec:
    """Settings that a data set of scenes depends on.

    Attributes:
        seed: random seed, not negative.
        width: picture width, [px].
        height: picture height, [px].
        kinds: names of the scene kinds to choose from; None for the default mix.
        textures: folder of photographs for some of the surfaces; None for procedural textures only.
    """

    seed: int = 0
    width: int = 320
    height: int = 256
    kinds: tuple[str, ...] | None = None
    textures: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**63:
            raise InputError(f"seed must be from 0 to 2^63 − 1, got {self.seed}")
        for side in (self.width, self.height):
            if not MIN_SIDE <= side <= MAX_SIDE:
                raise InputError(f"sides must be from {MIN_SIDE} to {MAX_SIDE} pixels, got {side}")
        if self.kinds is not None:
            object.__setattr__(self, "kinds", check_kinds(self.kinds))

    def record(self) -> dict[str, Any]:
        """Return the contents of `scenes.json`; textures by fingerprint, since folders may move."""
        textures = None if self.textures is None else texture_fingerprint(self.textures)
        kinds = None if self.kinds is None else list(self.kinds)
        return {**asdict(self), "kinds": kinds, "textures": textures}


def check_kinds(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of kinds in the order of `KINDS`, each once; raise for unknown ones."""
    from sightline.scenes.kinds import KINDS

    for name in names:
        if name not in KINDS:
            raise InputError(
                f"no kind of scene is called {name!r}", remedy=f"use {', '.join(KINDS)}"
            )
    if not names:
        raise InputError("no kind of scene to choose from", remedy=f"use {', '.join(KINDS)}")
    return tuple(name for name in KINDS if name in names)


#: Of a side of a picture.
_MOST_DIGITS = 12


def parse_size(text: str) -> tuple[int, int]:
    """Read `320x256` (or `320×256`) as (width, height) in [px].

    >>> parse_size("320x256")
    (320, 256)
    """
    sides = text.lower().replace("×", "x").split("x")
    if len(sides) != 2 or not all(
        side.isascii() and side.isdigit() and len(side) <= _MOST_DIGITS for side in sides
    ):
        raise InputError(f"a size is width x height, such as 320x256, got {text!r}")
    return int(sides[0]), int(sides[1])


def texture_fingerprint(folder: str | Path) -> str:
    """Return a short hash of the names and sizes of the pictures in a folder of textures."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("no such folder of textures", path=folder, remedy="check the name")
    found = (path for path in folder.rglob("*") if path.suffix.lower() in PICTURE_SUFFIXES)
    lines = sorted(f"{p.relative_to(folder).as_posix()} {p.stat().st_size}" for p in found)
    if not lines:
        raise InputError("no picture in this folder of textures", path=folder)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def claim_folder(folder: Path, spec: SceneSpec) -> None:
    """Record `spec` in the folder; raise `InputError` if it holds other scenes or other data."""
    record = spec.record()
    path = folder / MANIFEST
    if path.exists():
        for name, value in record.items():
            held = _read_manifest(path).get(name)
            if held != value:
                raise InputError(
                    f"the folder holds scenes with {name} = {_format_value(held)}, "
                    f"not {_format_value(value)}",
                    path=folder,
                    remedy="choose another --out, or the same settings",
                )
        return
    if (folder / "index.csv").exists():
        raise InputError(
            f"has an index.csv but no {MANIFEST}, so its pictures are not scenes of ours",
            path=folder,
            remedy="choose another --out",
        )
    write_text(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def _read_manifest(path: Path) -> dict[str, Any]:
    data = read_bytes(path, limit=_MAX_MANIFEST, what="list of settings")
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError("is damaged", path=path, remedy="choose another --out") from error
    if not isinstance(record, dict):
        raise InputError("is damaged", path=path, remedy="choose another --out")
    return record


def _format_value(value: object) -> str:
    """Put a setting into words."""
    if value is None:
        return "none in particular"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
