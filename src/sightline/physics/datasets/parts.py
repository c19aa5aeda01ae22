"""Part files of a data set that is being made: finished blocks survive an interrupted run.

data.h5.parts/settings.json            settings of the data set; other settings are refused
data.h5.parts/000016-000023.part       blocks 16 to 23, written atomically data.h5.parts/lock held by
the running process

In a part file each block follows its length (8 bytes, little-endian) and its SHA-256.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import atomic_path, make_folder, write_text
from sightline.io.reading import open_file, read_bytes

_SETTINGS = "settings.json"
_NAME = re.compile(r"(\d{6,})-(\d{6,})\.part")
_LENGTH, _HASH = 8, 32


class Parts:
    """The parts folder of one data set.

    Attributes:
        folder: path of the folder.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, first: int, blocks: Sequence[bytes]) -> None:
        """Write blocks `first`, `first` + 1, … as one part file."""
        path = self.folder / f"{first:06d}-{first + len(blocks) - 1:06d}.part"
        with atomic_path(path) as temporary, temporary.open("wb") as file:
            for block in blocks:
                file.write(len(block).to_bytes(_LENGTH, "little"))
                file.write(hashlib.sha256(block).digest())
                file.write(block)

    def read(self, *, check: Container[int]) -> Iterator[bytes]:
        """Yield all blocks in order; refuse damaged ones.

        Args:
            check: numbers of the blocks whose SHA-256 is verified.
        """
        for path, numbers in self._found():
            with open_file(path, what="part of a data set") as file:
                for number in numbers:
                    length = int.from_bytes(file.read(_LENGTH), "little")
                    digest = file.read(_HASH)
                    block = file.read(min(length, path.stat().st_size))
                    if len(block) != length or (
                        number in check and hashlib.sha256(block).digest() != digest
                    ):
                        raise InputError("is damaged", path=path, remedy="delete it and run again")
                    yield block

    def finished(self) -> set[int]:
        """Return the numbers of the finished blocks."""
        return {number for _, numbers in self._found() for number in numbers}

    def _found(self) -> list[tuple[Path, range]]:
        """Return the part files in order, and the block numbers of each."""
        named = ((path, _NAME.fullmatch(path.name)) for path in self.folder.iterdir())
        found = [(path, range(int(m[1]), int(m[2]) + 1)) for path, m in named if m]
        return sorted(found, key=lambda one: one[1].start)

    def clear(self) -> None:
        """Delete all parts."""
        for path, _ in self._found():
            path.unlink()

    def size(self) -> int:
        """Return the total size of all parts in bytes."""
        return sum(path.stat().st_size for path in self.folder.glob("*.part"))

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def claimed(out: Path, settings: dict[str, Any], *, force: bool = False) -> Iterator[Parts]:
    """Lock the parts folder of a data set.

    Args:
        out: the data set to be made.
        settings: of the data set; parts made with other settings are refused.
        force: delete such parts instead.
    """
    parts = Parts(out.with_name(f"{out.name}.parts"))
    make_folder(parts.folder)
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
        _check_settings(parts, settings, force=force)
        yield parts
    finally:
        lock.release()
        if parts.folder.is_dir() and not parts.finished():
            parts.remove()


def _check_settings(parts: Parts, settings: dict[str, Any], *, force: bool) -> None:
    """Make sure that the folder holds only parts with these settings."""
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
        parts.clear()
    write_text(path, json.dumps(settings, indent=1) + "\n")


def _read(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(read_bytes(path, limit=1_000_000, what="list of settings"))
    except ValueError:
        content = None
    return content if isinstance(content, dict) else {}


def check_room(folder: Path, needed: int) -> None:
    """Refuse to join the parts when the disk has no room for the file."""
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise SightlineError(
            f"{folder}: the disk has {free / 1e9:,.1f} GB free, putting the parts together takes "
            f"{needed / 1e9:,.1f}; free some space and run again"
        )
