"""A folder for results that is there only if something is put into it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sightline.files.atomic import make_folder


@contextmanager
def results_folder(path: Path) -> Iterator[None]:
    """Make a folder, and those that it lies in; after the block, those that are empty go again.

    A folder that was there before stays.

    Args:
        path: of the folder.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    make_folder(path)
    try:
        yield
    finally:
        with suppress(OSError):  # it holds something, and so do those above it
            for folder in missing:
                folder.rmdir()
