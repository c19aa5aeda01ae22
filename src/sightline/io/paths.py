"""Paths of inputs and outputs: local files, and everything that fsspec reaches by a URL.

`to_path` converts user input to an `AnyPath`: a `pathlib.Path` for this machine, a
`upath.UPath` with the same methods for `s3://`, `gs://`, `hf://`, `memory://` and the rest. The
plugin for a protocol (s3fs, gcsfs, …) is installed by the user.

`io.atomic` writes local and remote files whole or not at all, `io.reading` reads both.
"""

from __future__ import annotations

import errno
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING, Any, TypeAlias

from sightline.errors import InputError, SightlineError

if TYPE_CHECKING:
    from typing_extensions import TypeIs
    from upath import UPath

#: A path of this machine, or one of a remote file system.
AnyPath: TypeAlias = "Path | UPath"

_URL = re.compile(r"[a-z][a-z0-9+.:-]+://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of a listing.

    Attributes:
        url: URL of the file.
        inner: its path below the folder that was listed, as the store spells it. Object stores allow
            any name, `../../etc` too: check with `is_safe` before making a file of that name.
        size: size in bytes.
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


def to_path(place: str | AnyPath) -> AnyPath:
    """Convert a string to a path; paths are returned unchanged.

    Args:
        place: path of this machine, or URL of a protocol that fsspec knows. `file://` is local.

    Raises:
        InputError: the protocol is unknown, or its plugin is not installed.

    >>> to_path("photos/a.jpg").name, str(to_path("memory://bucket") / "a.jpg")
    ('a.jpg', 'memory://bucket/a.jpg')
    """
    if not isinstance(place, str):
        return place
    if not is_url(place):
        return Path(place)
    if place.lower().startswith("file://"):
        return Path(place[len("file://") :])
    from upath import UPath

    with remote_errors(place):
        path = UPath(place)
        path.fs  # noqa: B018  imports the plugin
        return path


def is_path(place: object) -> TypeIs[str | AnyPath]:
    """Tell a path, URL or `UPath` from bytes and streams."""
    return isinstance(place, str | Path) or hasattr(type(place), "fs")


def is_remote(path: AnyPath) -> TypeIs[UPath]:
    """Tell a remote path from one of this machine."""
    return not isinstance(path, Path)


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
        url: URL of a folder, a bucket or a file.
        recursive: also those of its subfolders.

    Raises:
        InputError: there is nothing of this name.
    """
    with remote_errors(url):
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


def _open(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL and the path in it."""
    from fsspec.core import url_to_fs

    store, path = url_to_fs(url)
    return store, path


def upload(path: UPath, source: Path | bytes) -> None:
    """Write a remote file, whole or not at all: under a hidden name first, then moved.

    Args:
        path: the file to make or replace.
        source: its bytes, or a local file that holds them.
    """
    with remote_errors(path):
        store, name = path.fs, path.path
        folder, _, last = name.rpartition("/")
        temporary = f"{folder}/.{last[:32]}.{secrets.token_hex(8)}.part"

        def put() -> None:
            if isinstance(source, bytes):
                store.pipe_file(temporary, source)
            else:
                store.put_file(str(source), temporary)

        try:
            try:
                put()
            except FileNotFoundError:  # only stores with real folders want them made first
                store.makedirs(folder, exist_ok=True)
                put()
            store.mv(temporary, name)
        except BaseException:
            with suppress(Exception):  # the first error is the one to report
                store.rm_file(temporary)
            raise


def _hidden(inner: str) -> bool:
    return any(part.startswith(".") and part != ".." for part in inner.split("/"))


@contextmanager
def remote_errors(place: str | AnyPath) -> Iterator[None]:
    """Convert errors of remote file systems to one line; every plugin has its own exceptions."""
    url = str(place)
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
