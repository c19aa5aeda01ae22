"""The folder that uploads and results live in, and that is gone when the server is."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path

_NAME = re.compile(r"sightline-serve-(\d+)-")


def make_spool() -> Path:
    """Make a folder that only this user can read; clear away those of servers that were killed."""
    root = Path(tempfile.gettempdir())
    for old in root.glob("sightline-serve-*"):
        found = _NAME.match(old.name)
        if found is not None and not _alive(int(found[1])):
            shutil.rmtree(old, ignore_errors=True)  # not ours: the system refuses
    return Path(tempfile.mkdtemp(prefix=f"sightline-serve-{os.getpid()}-"))


def bytes_in(folder: Path) -> int:
    """Return what the files of a folder take."""
    total = 0
    for path in folder.glob("*"):
        try:
            total += path.stat().st_size
        except OSError:  # a temporary file that is gone by now
            continue
    return total


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True
