"""Files in buckets and other places that have a URL: `s3://`, `gs://`, `hf://` and others.

Whatever fsspec knows, in three verbs: `listing`, `read_bytes`, `write_bytes`. The plugin for a
protocol (s3fs, gcsfs, …) is the user's to install. Paths inside a listing use `/`.
"""

from __future__ import annotations

import errno
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePosixPath, PureWindowsPath
from typing import Any

from sightline.errors import InputError, SightlineError

_URL = re.compile(r"[a-z][a-z0-9+.:-]+://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a listing.

    Attributes:
        url: where it is, spelt as the folder was.
        inner: its path below the folder that was listed, as the store spells it. Object stores allow
            any name, `../../etc` too: check with `is_safe` before making a file of that name.
        size: in bytes.
    """

    url: str
    inner: str
    size: int


def is_url(place: str) -> bool:
    """Tell a URL from a path of this machine.

    >>> is_url("s3://bucket/a.jpg"), is_url("photos/a.jpg"), is_url("C:/photos")
    (True, False, False)
    """
    return _URL.match(place) is not None


def is_safe(inner: str) -> bool:
    r"""Tell whether a file of this name, made below a folder, stays inside it on every system.

    >>> is_safe("a/b.jpg"), is_safe("a/../../b.jpg"), is_safe("/b.jpg"), is_safe(r"..\b.jpg")
    (True, False, False, False)
    """
    if "\\" in inner or "\0" in inner or PureWindowsPath(inner).drive:
        return False
    return not any(part in ("", ".", "..") for part in inner.split("/"))


def join(folder: str, inner: str) -> str:
    """Return the URL of a file below a folder.

    >>> join("s3://bucket/labels/", "a/b.png")
    's3://bucket/labels/a/b.png'
    """
    return f"{folder.rstrip('/')}/{inner}"


def listing(url: str, *, recursive: bool = False) -> list[Entry]:
    """List the files below a folder (or the one file that `url` names), sorted, hidden ones left out.

    Args:
        url: of a folder, a bucket, or a file.
        recursive: also those of its subfolders.

    Raises:
        InputError: there is nothing of this name.
    """
    with _explained(url):
        store, root = _open(url)
        about = store.info(root)
        if about["type"] == "file":
            return [Entry(url, PurePosixPath(root).name, int(about.get("size") or 0))]
        found = store.find(root, maxdepth=None if recursive else 1, detail=True)
        prefix = root.rstrip("/") + "/"
        files = [
            (path.removeprefix(prefix), int(info.get("size") or 0))
            for path, info in sorted(found.items())
            if info["type"] == "file"
        ]
        return [Entry(join(url, name), name, size) for name, size in files if not _hidden(name)]


def read_bytes(url: str, *, limit: int) -> bytes:
    """Return the bytes of a file, refusing one of more than `limit` bytes."""
    with _explained(url):
        store, path = _open(url)
        with store.open(path, "rb") as file:
            data: bytes = file.read(limit + 1)
    if len(data) > limit:
        raise InputError(
            f"is larger than {limit / 1e6:,.0f} MB", path=url, remedy="make it smaller"
        )
    return data


def write_bytes(url: str, data: bytes) -> None:
    """Write a file, whole or not at all: under a hidden name first, then moved."""
    with _explained(url):
        store, path = _open(url)
        folder, _, name = path.rpartition("/")
        temporary = f"{folder}/.{name[:32]}.{secrets.token_hex(8)}.part"
        try:
            try:
                store.pipe_file(temporary, data)
            except FileNotFoundError:  # only stores with real folders want them made first
                store.makedirs(folder, exist_ok=True)
                store.pipe_file(temporary, data)
            store.mv(temporary, path)
        except BaseException:
            with suppress(Exception):  # the first error is the one to hear of
                store.rm_file(temporary)
            raise


def _open(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL and the path in it."""
    store, path = import_module("fsspec.core").url_to_fs(url)
    return store, path


def _hidden(inner: str) -> bool:
    return any(part.startswith(".") and part != ".." for part in inner.split("/"))


@contextmanager
def _explained(url: str) -> Iterator[None]:
    """Turn what a plugin raises into one line; each has exceptions of its own."""
    try:
        yield
    except SightlineError:
        raise
    except FileNotFoundError as error:
        raise InputError("no such file or folder", path=url, remedy="check the name") from error
    except PermissionError as error:
        raise InputError("no permission", path=url, remedy="check your credentials") from error
    except ImportError as error:
        raise InputError(f"cannot be reached ({error})", path=url) from error
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            line = f"{url}: the disk is full; free some space and run again"
            raise SightlineError(line) from error
        raise _failed(error, url) from error
    except Exception as error:  # botocore, google.auth, aiohttp: no common base
        raise _failed(error, url) from error


def _failed(error: Exception, url: str) -> SightlineError:
    reason = " ".join(str(error).split())[:200]
    if isinstance(error, ValueError):  # fsspec's word for a protocol that it does not know
        return InputError(f"cannot be reached ({reason})", path=url)
    return SightlineError(f"{url}: cannot be reached ({type(error).__name__}: {reason})")
