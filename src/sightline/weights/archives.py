"""Take one file out of a downloaded archive that may be hostile.

The member is found by its exact name and streamed to a path of our choosing, so names inside the
archive never become paths on this disk. What is unpacked on the way is counted, not trusted.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sightline.errors import SightlineError

#: Unpacked size of the archive in [B] that we read at most on the way to the member.
TOTAL_LIMIT = 512 * 2**20

_CHUNK = 1 << 20

#: What the standard library raises on an archive that is cut short, flipped or made up.
_DAMAGE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    zlib.error,
    EOFError,
    ValueError,
    NotImplementedError,
)


def extract_member(
    archive: Path, member: str, out: Path, *, limit: int, total_limit: int = TOTAL_LIMIT
) -> str:
    """Write `member` of a `.whl`, `.zip`, `.tar.gz` or `.tgz` archive to `out`.

    Args:
        archive: the archive.
        member: exact name inside the archive, with forward slashes.
        out: file to write; the caller makes it atomic.
        limit: largest size of the member in [B].
        total_limit: most that is unpacked on the way in [B], against tar bombs.

    Returns:
        The sha256 of what was written, in hex.
    """
    opener = _zip_member if archive.suffix in (".whl", ".zip") else _tar_member
    try:
        with opener(archive, member, limit, total_limit) as source, out.open("wb") as target:
            return _copy(source, target, limit, f"{archive.name}: {member}")
    except _DAMAGE as error:
        raise SightlineError(
            f"{archive.name}: the downloaded archive is damaged ({error}); run again"
        ) from error


@contextmanager
def _zip_member(archive: Path, member: str, limit: int, _: int) -> Iterator[IO[bytes]]:
    with zipfile.ZipFile(archive) as bundle:
        try:
            info = bundle.getinfo(member)
        except KeyError:
            raise _missing(archive, member) from None
        if info.flag_bits & 1 or info.is_dir() or info.file_size > limit:
            raise _refused(archive, member, info.file_size, limit)
        with bundle.open(info) as stream:
            yield stream


@contextmanager
def _tar_member(archive: Path, member: str, limit: int, total_limit: int) -> Iterator[IO[bytes]]:
    # Stream mode reads every byte once and in order, through a counter that stops at the limit.
    with (
        gzip.open(archive) as unpacked,
        tarfile.open(fileobj=_Counted(unpacked, archive, total_limit), mode="r|") as bundle,
    ):
        for info in bundle:
            if info.name != member:
                continue
            stream = bundle.extractfile(info) if info.isreg() else None
            if stream is None or info.size > limit:
                raise _refused(archive, member, info.size, limit)
            yield stream
            return
        raise _missing(archive, member)


class _Counted(io.BufferedIOBase):
    """A reader that refuses to unpack more than `left` bytes of `stream`."""

    def __init__(self, stream: gzip.GzipFile, archive: Path, left: int) -> None:
        self._stream, self._archive, self._left = stream, archive, left

    def read(self, size: int | None = -1, /) -> bytes:
        data = self._stream.read(_CHUNK if size is None or size < 0 else size)
        self._left -= len(data)
        if self._left < 0:
            raise SightlineError(
                f"{self._archive.name}: unpacks to far more than it should; refused"
            )
        return data


def _copy(source: IO[bytes], target: IO[bytes], limit: int, what: str) -> str:
    digest = hashlib.sha256()
    size = 0
    while chunk := source.read(_CHUNK):
        size += len(chunk)
        if size > limit:  # a header may claim less than the stream holds
            raise SightlineError(f"{what} is larger than the {limit} bytes expected; refused")
        digest.update(chunk)
        target.write(chunk)
    return digest.hexdigest()


def _missing(archive: Path, member: str) -> SightlineError:
    return SightlineError(f"{archive.name}: holds no {member}; is it the right version?")


def _refused(archive: Path, member: str, size: int, limit: int) -> SightlineError:
    return SightlineError(
        f"{archive.name}: {member} is not a plain file of at most {limit} bytes (it claims {size});"
        " refused"
    )
