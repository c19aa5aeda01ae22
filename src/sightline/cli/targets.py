"""Files that a command will write: what is wrong with them is told before anything takes long."""

from __future__ import annotations

import os
from pathlib import Path

from sightline.errors import InputError


def check_target(path: Path | None, option: str, *, force: bool = True, suffix: str = "") -> None:
    """Refuse a file that cannot be written.

    Args:
        path: path of the file; None for no file.
        option: name of the option that gave it.
        force: write over a file that is there.
        suffix: required suffix of its name; empty for any.
    """
    if path is None:
        return
    elsewhere = f"choose another {option}"
    if suffix and path.suffix.lower() != suffix:
        kind = suffix[1:].upper()
        raise InputError(f"{option} writes {kind}", path=path, remedy=f"end its name in {suffix}")
    try:
        if path.is_dir():
            raise InputError("is a folder", path=path, remedy=f"name a file by {option}")
        if path.exists() and not force:
            raise InputError("is there already", path=path, remedy="add --force to write over it")
        above = next(one for one in path.absolute().parents if one.exists())
    except (OSError, ValueError) as error:
        raise InputError("cannot be written", path=path, remedy=elsewhere) from error
    if not above.is_dir():
        raise InputError(f"cannot be written: {above} is no folder", path=path, remedy=elsewhere)
    if not os.access(above, os.W_OK):
        raise InputError("no permission to write there", path=path, remedy=elsewhere)
