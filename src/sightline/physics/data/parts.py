"""Blocks on their way to a data set: a folder of parts beside the file, which a killed run leaves.

data.h5.parts/settings.json    what the data set is; another one is refused
data.h5.parts/000017.part      block 17, written whole or not at all
data.h5.parts/lock             held by the run that is at work
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sightline.errors import InputError, SightlineError
from sightline.files.atomic import atomic_path, write_text
from sightline.files.reading import open_file, read_bytes

_SETTINGS = "settings.json"
_HASH = 32


class Parts:
    """The folder of parts of one data set.

    Attributes:
        folder: where they are.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, number: int) -> Path:
        """Return where block `number` is or will be."""
        return self.folder / f"{number:06d}.part"

    def write(self, number: int, block: bytes) -> None:
        """Keep a block; its hash is taken here, where workers share the work."""
        with atomic_path(self.path(number)) as temporary, temporary.open("wb") as file:
            file.write(block)
            file.write(hashlib.sha256(block).digest())

    def read(self, number: int, *, check: bool = True) -> tuple[bytes, str]:
        """Return a block and its sha256; if told to check, refuse one that is not what was written."""
        path = self.path(number)
        with open_file(path, what="part of a data set") as file:
            block = file.read(max(0, path.stat().st_size - _HASH))
            digest = file.read(_HASH)
        if check and hashlib.sha256(block).digest() != digest:
            raise InputError("is damaged", path=path, remedy="delete it and run again")
        return block, digest.hex()

    def finished(self) -> set[int]:
        """Return the numbers of the blocks that are there."""
        names = (path.name for path in self.folder.iterdir())
        return {int(m[1]) for name in names if (m := re.fullmatch(r"(\d{6,})\.part", name))}

    def size(self) -> int:
        """Return how many bytes all parts take."""
        return sum(path.stat().st_size for path in self.folder.glob("*.part"))

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def claimed(out: Path, settings: dict[str, Any], *, force: bool = False) -> Iterator[Parts]:
    """Have the parts of `out` for oneself.

    Args:
        out: the data set that is to be.
        settings: that it depends on; parts of other settings are refused.
        force: delete those instead.
    """
    parts = Parts(out.with_name(f"{out.name}.parts"))
    _make_folder(parts.folder)
    lock = FileLock(parts.folder / "lock", timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        raise InputError(
            "another run is making this data set",
            path=out,
            remedy="wait for it, or choose another --out",
        ) from error
    try:
        _settle(parts, settings, force=force)
        yield parts
    finally:
        lock.release()
        if parts.folder.is_dir() and not parts.finished():
            parts.remove()


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"this folder cannot be made ({error.strerror})",
            path=folder,
            remedy="choose another --out",
        ) from error


def _settle(parts: Parts, settings: dict[str, Any], *, force: bool) -> None:
    """Let the folder hold parts of these settings only."""
    path = parts.folder / _SETTINGS
    if path.exists():
        held = _read(path)
        if held == settings:
            return
        if not force:
            differing = next(k for k in {**settings, **held} if settings.get(k) != held.get(k))
            raise InputError(
                f"holds an unfinished data set of {differing} {held.get(differing)}, "
                f"not {settings.get(differing)}",
                path=parts.folder,
                remedy="finish that one, delete the folder, or add --force",
            )
        for number in parts.finished():
            parts.path(number).unlink()
    write_text(path, json.dumps(settings, indent=1) + "\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_bytes(path, limit=1_000_000, what="list of settings"))
    except (ValueError, RecursionError):
        content = None
    return content if isinstance(content, dict) else {}


def check_room(folder: Path, needed: int) -> None:
    """Refuse to begin a file that the disk has no room for."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SightlineError(
            f"{folder}: the disk has {free / 1e9:,.1f} GB free, putting the parts together takes "
            f"{needed / 1e9:,.1f}; free some space and run again"
        )
