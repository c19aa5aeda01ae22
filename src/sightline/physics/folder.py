"""A folder for results that is there only if something is put into it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sightline.errors import InputError


@contextmanager
def results_folder(path: Path) -> Iterator[None]:
    """Make a folder, and those that it lies in; after the block, those that are empty go again.

    A folder that was there before stays.

    Args:
        path: of the folder.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(
            "a file is in the way of this folder", path=path, remedy="choose another --out"
        ) from error
    except OSError as error:
        raise InputError(
            f"this folder cannot be made ({error.strerror})",
            path=path,
            remedy="choose another --out",
        ) from error
    try:
        yield
    finally:
        with suppress(OSError):  # it holds something, and so do those above it
            for folder in missing:
                folder.rmdir()
