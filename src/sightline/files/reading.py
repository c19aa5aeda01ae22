"""Read a whole file into memory, within bounds, with one clear line when that cannot be done."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.errors import InputError

#: Largest number of pixels any reader accepts unless told otherwise.
MAX_PIXELS = 200_000_000


def read_bytes(path: str | Path, *, limit: int, what: str = "file") -> bytes:
    """Return the bytes of `path`, at most `limit` of them.

    Args:
        path: a file, or a named pipe.
        limit: refuse files larger than this, in bytes; nothing of them is read.
        what: what the file should have been, for the message ("picture", "depth file").
    """
    path = Path(path)
    try:
        mode = path.stat().st_mode
        if stat.S_ISDIR(mode):
            raise InputError(f"is a folder, not a {what}", path=path)
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise InputError(f"is a device, not a {what}", path=path)
        with path.open("rb") as file:
            if stat.S_ISREG(mode) and path.stat().st_size > limit:
                raise _too_big(path, limit, what)
            data = file.read(limit + 1)
    except FileNotFoundError as error:
        raise InputError("no such file", path=path) from error
    except NotADirectoryError as error:
        raise InputError("no such file: part of the path is not a folder", path=path) from error
    except PermissionError as error:
        raise InputError("no permission to read", path=path) from error
    except (OSError, ValueError) as error:  # ValueError: a null character in the name
        raise InputError(f"cannot be read ({error})", path=path) from error
    if len(data) > limit:
        raise _too_big(path, limit, what)
    if not data:
        raise InputError("is empty", path=path)
    return data


def _too_big(path: Path, limit: int, what: str) -> InputError:
    return InputError(f"is larger than the {limit / 1e6:,.0f} MB a {what} may have", path=path)


def check_pixels(
    width: int, height: int, max_pixels: int, *, path: str | Path | None = None
) -> None:
    """Refuse a size before anything of that size is decoded or allocated."""
    if width < 1 or height < 1:
        raise InputError(f"has no pixels ({width}×{height})", path=path)
    if width * height > max_pixels:
        raise InputError(
            f"has {width}×{height} = {width * height / 1e6:,.0f} million pixels, "
            f"more than the limit of {max_pixels / 1e6:,.0f} million",
            path=path,
            remedy="make it smaller, or raise max_pixels if you trust the file",
        )


@contextmanager
def naming(path: str | Path | None) -> Iterator[None]:
    """Add `path` to an `InputError` from within that names no file (as those of the types do)."""
    try:
        yield
    except InputError as error:
        if error.path is not None or path is None:
            raise
        raise InputError(error.problem, path=path, remedy=error.remedy) from error
