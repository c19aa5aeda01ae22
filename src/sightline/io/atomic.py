"""Write files whole or not at all: a temporary file in the same folder, then a rename.

All functions take local paths and URLs (`io.paths`). A remote file is written to a local temporary
file first, uploaded under a hidden name, then moved.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.errors import InputError, SightlineError
from sightline.io.paths import AnyPath, is_remote, to_path, upload

#: Free space below which a disk counts as full, in [B].
_FULL = 64 * 1024


@contextmanager
def atomic_path(path: str | AnyPath, *, sync: bool = False) -> Iterator[Path]:
    """Yield a local temporary path with the same suffix; on success it is renamed to `path`.

    The folder of `path` is created if missing. A killed process leaves at most a hidden
    `.<start of name>.<random>.part<suffix>` file, never a half-written `path`.

    Args:
        path: the file.
        sync: flush to disk, so that the old or the new file survives a power failure.
    """
    path = to_path(path)
    if is_remote(path):
        with tempfile.TemporaryDirectory(prefix="sightline-") as folder:
            local = Path(folder, f"file{path.suffix}")
            yield local
            upload(path, local)
        return
    # A long name must leave room for the rest: file systems allow 255 bytes, a character takes up to 4.
    name = f".{path.stem[:32]}.{secrets.token_hex(8)}.part{path.suffix}"
    temporary = path.with_name(name)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Unlike tempfile's, this file has the mode that any other new file would have.
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        mode = temporary.stat().st_mode
    except OSError as error:
        raise _explain(error, path) from error
    try:
        yield temporary
        temporary.chmod(mode)  # some writers (safetensors) make a private file of their own
        if sync:
            _sync(temporary)
        temporary.replace(path)
    except OSError as error:
        raise _explain(error, path) from error
    except Exception as error:
        # Native writers (torch, safetensors) report a full disk by exceptions of their own.
        if shutil.disk_usage(path.parent).free < _FULL:
            raise _explain(OSError(errno.ENOSPC, ""), path) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def _sync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


def write_bytes(path: str | AnyPath, data: bytes) -> None:
    """Write `data` to `path`, whole or not at all."""
    path = to_path(path)
    if is_remote(path):
        upload(path, data)
        return
    with atomic_path(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: str | AnyPath, text: str) -> None:
    r"""Write UTF-8 `text` to `path`, whole or not at all.

    Characters that UTF-8 cannot encode, such as file names in other encodings, are escaped as `\udcff`.
    """
    write_bytes(path, text.encode(errors="backslashreplace"))


def make_folder(path: AnyPath) -> None:
    """Create the output folder before the work begins.

    Object stores have no folders: there this is a no-op, and the first write reports errors.

    Raises:
        InputError: the folder cannot be created.
    """
    if is_remote(path):
        return
    elsewhere = "choose another --out"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise InputError(
            "a file is in the way of this folder", path=path, remedy=elsewhere
        ) from error
    except OSError as error:
        raise InputError(
            f"this folder cannot be made ({error.strerror})", path=path, remedy=elsewhere
        ) from error


def _explain(error: OSError, path: Path) -> SightlineError:
    """Turn an operating system error into a one-line message with a remedy."""
    elsewhere, away = "choose another place", "move it away or choose another place"
    match error.errno:
        case errno.EEXIST | errno.ENOTDIR:
            return InputError("a file is in the way of this folder", path=path.parent, remedy=away)
        case errno.EISDIR:
            return InputError("a folder is in the way of this file", path=path, remedy=away)
        case errno.ENOENT:
            return InputError(
                "this folder cannot be made, or is gone", path=path.parent, remedy=elsewhere
            )
        case errno.ENAMETOOLONG:
            return InputError("the name is too long", path=path, remedy="choose a shorter one")
        case errno.ELOOP:
            return InputError("a link leads back to itself", path=path.parent, remedy=elsewhere)
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return InputError("no permission to write", path=path, remedy=elsewhere)
        case errno.ENOSPC | errno.EDQUOT:
            return SightlineError(f"{path}: the disk is full; free some space and run again")
    return SightlineError(f"{path}: could not be written ({error.strerror or error})")
