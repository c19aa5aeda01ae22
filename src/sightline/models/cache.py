"""The shared cache folder: paths, checksums, locks and accepted licenses.

```
<cache>/weights/dinov2-s.onnx               a file taken out of a package
<cache>/weights/<name>.pth.sha256           checksum a hub file had at its first use
<cache>/weights/.stamps/dinov2-s.onnx.json  a sha256 with the size and time of the file it is of
<cache>/weights/.locks/dinov2-s.lock        held while the file is fetched
<cache>/weights/.work/dinov2-s/             scratch of the process that holds the lock
<cache>/licenses/<name>.json                a license that was accepted
```

Hub files themselves stay in the hub's own cache. `<cache>` is the user's cache folder for `sightline`,
or the folder that `SIGHTLINE_CACHE` names.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import write_text
from sightline.models.entry import ModelEntry


def cache_folder() -> Path:
    """Return the cache folder; it may not exist yet."""
    chosen = os.environ.get("SIGHTLINE_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return platformdirs.user_cache_path("sightline", appauthor=False)


def weights_folder() -> Path:
    """Return the folder of the fetched model files."""
    return cache_folder() / "weights"


def file_sha256(path: Path) -> str:
    """Compute the sha256 of a file's content, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def known_sha256(path: Path, stamp_name: str) -> str:
    """Return the sha256 of `path`, recomputed only if its size or time has changed.

    Args:
        path: the file.
        stamp_name: key of the cached checksum, unique to this path.
    """
    stamp = weights_folder() / ".stamps" / f"{stamp_name}.json"
    try:
        return _known_sha256(path, stamp)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror or error})", path=path) from error


def _known_sha256(path: Path, stamp: Path) -> str:
    status = path.stat()
    now = {"path": str(path), "bytes": status.st_size, "mtime_ns": status.st_mtime_ns}
    with contextlib.suppress(OSError, ValueError):
        then = json.loads(stamp.read_text(encoding="utf-8"))
        if isinstance(then, dict) and now.items() <= then.items():
            return str(then["sha256"])
    digest = file_sha256(path)
    # A shared cache may be read-only: then the checksum is right all the same, only not remembered.
    with contextlib.suppress(SightlineError):
        write_text(stamp, json.dumps({**now, "sha256": digest}, indent=1) + "\n")
    return digest


def local_stamp_name(path: Path) -> str:
    """Make a stamp name for a file outside the cache: its name, and a digest of its whole path."""
    return f"{path.name}-{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"


@contextmanager
def workspace(name: str) -> Iterator[Path]:
    """Hold the lock of `name` and yield an empty temporary folder in the cache.

    Other processes that request the same model wait. Files of a killed process are removed by the next
    one; folder names are never reused, since a pip process may still write to the old folder.
    """
    from filelock import FileLock

    lock = weights_folder() / ".locks" / f"{name}.lock"
    work = weights_folder() / ".work" / name
    try:
        lock.parent.mkdir(parents=True, exist_ok=True)
        holder = FileLock(lock)
        holder.acquire()
    except OSError as error:
        raise _unwritable(error) from error
    try:
        shutil.rmtree(work, ignore_errors=True)
        try:
            work.mkdir(parents=True)
            scratch = Path(tempfile.mkdtemp(dir=work))
        except OSError as error:
            raise _unwritable(error) from error
        yield scratch
    finally:
        shutil.rmtree(work, ignore_errors=True)
        holder.release()


def _unwritable(error: OSError) -> InputError:
    return InputError(
        f"the cache cannot be written ({error.strerror or error})",
        path=cache_folder(),
        remedy="set SIGHTLINE_CACHE to a folder of yours",
    )


#: Names of models, separated by commas, whose license the user accepts.
VARIABLE = "SIGHTLINE_ACCEPT_LICENSE"


def require_accepted(entry: ModelEntry, *, accept: bool = False) -> None:
    """Check that the model's license was accepted; record the acceptance if given now.

    Args:
        entry: the model.
        accept: the user accepts its license with this call.

    Raises:
        InputError: the license forbids commercial use and has not been accepted.
    """
    if entry.commercial or is_accepted(entry):
        return
    if not accept and not _accepted_by_environment(entry):
        raise InputError(
            f"{entry.name} is not free for commercial use (license: {entry.license})",
            remedy=f"if that suits you, run `sightline models get {entry.name} --accept-license`",
        )
    write_text(_record(entry), json.dumps({"license": entry.license}) + "\n")


def is_accepted(entry: ModelEntry) -> bool:
    """Return whether this text of the license was accepted for this model."""
    with contextlib.suppress(OSError, ValueError):
        record = json.loads(_record(entry).read_text(encoding="utf-8"))
        return bool(record == {"license": entry.license})
    return False


def _accepted_by_environment(entry: ModelEntry) -> bool:
    names = os.environ.get(VARIABLE, "").split(",")
    return any(entry.answers_to(name.strip()) for name in names)


def _record(entry: ModelEntry) -> Path:
    return cache_folder() / "licenses" / f"{entry.name}.json"
