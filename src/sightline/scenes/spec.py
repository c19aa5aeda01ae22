"""Which scenes: everything that a folder of scenes depends on, and its record in `scenes.json`.

How many there are, who makes them and in what order is no part of it: scene 17 of seed 0 is the same
picture in a folder of twenty and in one of a million.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.files.formats import PICTURE_SUFFIXES
from sightline.files.reading import read_bytes

MANIFEST = "scenes.json"

#: Sides of a picture in [px]: below, there is nothing to see; above, sixteen-bit boxes would not do.
SMALLEST, LARGEST = 16, 8192
#: Names have six digits.
MOST = 1_000_000

_MAX_MANIFEST = 1_000_000


@dataclass(frozen=True, slots=True)
class SceneSpec:
    """What makes a scene, apart from its number.

    Attributes:
        seed: of all random choices, not negative.
        width: of the pictures in [px].
        height: of the pictures in [px].
        kinds: names of the kinds of scenes to choose from, each once; None: all.
        textures: folder of photographs for some of the surfaces; None: every texture is computed.
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
            if not SMALLEST <= side <= LARGEST:
                raise InputError(f"sides must be from {SMALLEST} to {LARGEST} pixels, got {side}")
        if self.kinds is not None:
            object.__setattr__(self, "kinds", check_kinds(self.kinds))

    def record(self) -> dict[str, Any]:
        """Return what `scenes.json` holds: textures by their fingerprint, since folders may move."""
        textures = None if self.textures is None else fingerprint(self.textures)
        kinds = None if self.kinds is None else list(self.kinds)
        return {**asdict(self), "kinds": kinds, "textures": textures}


def check_kinds(names: Sequence[str]) -> tuple[str, ...]:
    """Return the names of kinds in the order of `KINDS`, each once; refuse unknown ones."""
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


def fingerprint(folder: str | Path) -> str:
    """Return a short hash of the names and sizes of the pictures in a folder of textures."""
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError("no such folder of textures", path=folder, remedy="check the name")
    found = (path for path in folder.rglob("*") if path.suffix.lower() in PICTURE_SUFFIXES)
    lines = sorted(f"{p.relative_to(folder).as_posix()} {p.stat().st_size}" for p in found)
    if not lines:
        raise InputError("no picture in this folder of textures", path=folder)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def claim(folder: Path, spec: SceneSpec) -> None:
    """Let the folder hold scenes of `spec`; refuse one that holds others, or other things' labels."""
    record = spec.record()
    path = folder / MANIFEST
    if path.exists():
        for name, value in record.items():
            held = _read(path).get(name)
            if held != value:
                raise InputError(
                    f"this folder holds scenes of {name} {_say(held)}, not {_say(value)}",
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


def _read(path: Path) -> dict[str, Any]:
    data = read_bytes(path, limit=_MAX_MANIFEST, what="list of settings")
    try:
        record = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise InputError("is damaged", path=path, remedy="choose another --out") from error
    if not isinstance(record, dict):
        raise InputError("is damaged", path=path, remedy="choose another --out")
    return record


def _say(value: object) -> str:
    """Put a setting into words."""
    if value is None:
        return "none in particular"
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
