"""A cache of our own for every test, small real packages to fetch from, and servers on this machine."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tarfile
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from sightline.models.entry import ModelEntry, PypiMember

CONTENT = bytes(range(256)) * 400


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The cache folder of this test; no setting of the developer's own leaks in."""
    folder = tmp_path / "cache"
    for name in list(os.environ):
        if name.startswith(("PIP_", "SIGHTLINE_", "HF_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("SIGHTLINE_CACHE", str(folder))
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_CACHE_DIR", str(tmp_path / "pip"))
    return folder


@pytest.fixture
def content() -> bytes:
    return CONTENT


@pytest.fixture
def make_entry() -> Callable[..., ModelEntry]:
    """Make an entry for `CONTENT`; any field can be replaced."""

    def make(**fields: object) -> ModelEntry:
        source = PypiMember("tiny-weights", "1.2", "tiny_weights/model.onnx")
        given: dict[str, object] = {
            "name": "tiny-test",
            "summary": "a test",
            "purpose": "depth",
            "license": "MIT",
            "commercial": True,
            "bytes": len(CONTENT),
            "sha256": hashlib.sha256(CONTENT).hexdigest(),
            "trained_on": "nothing",
            "source": source,
            "format": "onnx",
        }
        return ModelEntry(**{**given, **fields})  # type: ignore[arg-type]

    return make


@pytest.fixture
def make_wheel(tmp_path: Path) -> Callable[..., Path]:
    """Build a real wheel that holds one data file, in a folder that pip can search."""

    def make(data: bytes = CONTENT, tag: str = "py3-none-any") -> Path:
        folder = tmp_path / "wheels"
        folder.mkdir(exist_ok=True)
        info = "tiny_weights-1.2.dist-info"
        files = {
            "tiny_weights/__init__.py": b"",
            "tiny_weights/model.onnx": data,
            f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-weights\nVersion: 1.2\n"
            b"Requires-Dist: a-package-that-does-not-exist\n",
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\n"
            f"Tag: {tag}\n".encode(),
        }
        record = [f"{name},{_wheel_hash(body)},{len(body)}" for name, body in files.items()]
        files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
        path = folder / f"tiny_weights-1.2-{tag}.whl"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
            for name, body in files.items():
                bundle.writestr(name, body)
        return path

    return make


def _wheel_hash(body: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(body).digest()).rstrip(b"=")
    return f"sha256={digest.decode()}"


@pytest.fixture
def make_tar() -> Callable[[Path, dict[str, bytes]], Path]:
    """Write a `.tar.gz` of the given files."""

    def make(path: Path, files: dict[str, bytes]) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(path, "w:gz") as bundle:
            for name, body in files.items():
                info = tarfile.TarInfo(name)
                info.size = len(body)
                bundle.addfile(info, io.BytesIO(body))
        return path

    return make


Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    """Start a server on this machine; gives its address. `answer` handles GET and HEAD."""
    with _servers() as start:
        yield start


@contextmanager
def _servers() -> Iterator[Callable[[Answer], str]]:
    running: list[tuple[ThreadingHTTPServer, threading.Thread]] = []

    def start(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer(self)

            def do_HEAD(self) -> None:
                answer(self)

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        running.append((server, thread))
        return f"http://127.0.0.1:{server.server_port}"

    try:
        yield start
    finally:
        for server, thread in running:
            server.shutdown()
            thread.join()
            server.server_close()
