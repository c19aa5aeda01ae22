"""Hub files: a cache laid out as huggingface-hub lays it out, and a small hub on this machine."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from sightline.errors import InputError, SightlineError
from sightline.models import hub
from sightline.models.download import locate, resolve
from sightline.models.entry import HubFile, ModelEntry

COMMIT = "0123456789abcdef0123456789abcdef01234567"
SOURCE = HubFile("someone/some-model", "model.pth", also=(("someone/twin", "model.safetensors"),))
Make = Callable[..., ModelEntry]


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "hub"
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(folder))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    return folder


@pytest.fixture
def offline(hub_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    point_to("http://127.0.0.1:9", monkeypatch)


@pytest.fixture
def entry(make_entry: Make) -> ModelEntry:
    return make_entry(source=SOURCE, sha256=None, format="torch")


def point_to(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # As HF_ENDPOINT does, which is read when the library is imported.
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", address)
    template = address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr("huggingface_hub.constants.HUGGINGFACE_CO_URL_TEMPLATE", template)


def put(hub_cache: Path, repo: str, file: str, data: bytes, digest: str | None = None) -> Path:
    """Lay a file out as huggingface-hub does; gives the blob."""
    root = hub_cache / f"models--{repo.replace('/', '--')}"
    blob = root / "blobs" / (digest or hashlib.sha256(data).hexdigest())
    link = root / "snapshots" / COMMIT / file
    for path in (blob, link, root / "refs" / "main"):
        path.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(data)
    link.unlink(missing_ok=True)
    link.symlink_to(blob)
    (root / "refs" / "main").write_text(COMMIT)
    return blob


class Hub:
    """Answers as the hub does for one file; counts the downloads."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.downloads = 0

    def __call__(self, request: BaseHTTPRequestHandler) -> None:
        if request.path != "/someone/some-model/resolve/main/model.pth":
            request.send_error(404)
            return
        request.send_response(200)
        request.send_header("X-Repo-Commit", COMMIT)
        request.send_header("ETag", f'"{hashlib.sha256(self.data).hexdigest()}"')
        request.send_header("Content-Length", str(len(self.data)))
        request.end_headers()
        if request.command == "GET":
            self.downloads += 1
            request.wfile.write(self.data)


@pytest.fixture
def server(
    content: bytes, hub_cache: Path, serve: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> Hub:
    answers = Hub(content)
    point_to(serve(answers), monkeypatch)
    return answers


def test_a_file_that_is_here_is_used_without_a_connection(
    entry: ModelEntry, hub_cache: Path, offline: None, content: bytes, cache: Path
):
    assert locate(entry) is None
    put(hub_cache, "someone/some-model", "model.pth", content)
    found = resolve("tiny-test", entries=(entry,))
    assert found.path.read_bytes() == content
    assert found.path == locate(entry)
    assert found.sha256 == hashlib.sha256(content).hexdigest()
    pin = cache / "weights" / "tiny-test.pth.sha256"
    assert pin.read_text() == f"{found.sha256}  model.pth\n"


def test_the_same_weights_under_another_name_will_do(
    entry: ModelEntry, hub_cache: Path, offline: None
):
    put(hub_cache, "someone/twin", "model.safetensors", b"the same")
    assert resolve("tiny-test", entries=(entry,)).path.name == "model.safetensors"


def test_first_use_downloads_and_the_second_does_not(
    entry: ModelEntry, server: Hub, content: bytes
):
    told: list[str] = []
    first = resolve("tiny-test", entries=(entry,), notify=told.append)
    second = resolve("tiny-test", entries=(entry,), notify=told.append)
    assert first == second
    assert first.path.read_bytes() == content
    assert server.downloads == 1
    assert told == ["fetching tiny-test (0.1 MB) from hub someone/some-model"]


def test_a_damaged_file_is_downloaded_again(
    entry: ModelEntry, server: Hub, hub_cache: Path, content: bytes
):
    path = resolve("tiny-test", entries=(entry,)).path
    path.resolve().write_bytes(content[:-1] + b"?")
    assert resolve("tiny-test", entries=(entry,)).path.read_bytes() == content
    assert server.downloads == 2


def test_damaged_and_offline_is_told(
    entry: ModelEntry, hub_cache: Path, offline: None, content: bytes
):
    put(hub_cache, SOURCE.repo, SOURCE.file, b"?", hashlib.sha256(content).hexdigest())
    with pytest.raises(InputError, match="could not be fetched"):
        resolve("tiny-test", entries=(entry,))


def test_a_file_that_changed_since_the_first_download_is_refused(
    entry: ModelEntry, hub_cache: Path, offline: None, cache: Path
):
    put(hub_cache, SOURCE.repo, SOURCE.file, b"first")
    resolve("tiny-test", entries=(entry,))
    put(hub_cache, SOURCE.repo, SOURCE.file, b"replaced")
    with pytest.raises(SightlineError, match=r"another file than at the first.*\.sha256"):
        resolve("tiny-test", entries=(entry,))
    (cache / "weights" / "tiny-test.pth.sha256").unlink()
    assert resolve("tiny-test", entries=(entry,)).path.read_bytes() == b"replaced"


def test_offline_and_not_here_is_one_line_with_what_to_do(entry: ModelEntry, offline: None):
    with pytest.raises(InputError) as caught:
        resolve("tiny-test", entries=(entry,))
    line = str(caught.value)
    assert "\n" not in line
    for part in ("cannot be reached", "model.pth of someone/some-model", "--model PATH"):
        assert part in line


def test_a_file_the_hub_does_not_have_is_told(make_entry: Make, server: Hub):
    entry = make_entry(source=HubFile("someone/some-model", "gone.pth"), sha256=None)
    with pytest.raises(InputError, match=r"the hub says: .*404"):
        resolve("tiny-test", entries=(entry,))


def test_only_blobs_named_by_a_checksum_state_one(hub_cache: Path, tmp_path: Path):
    put(hub_cache, "a/b", "x", b"x")
    small = put(hub_cache, "a/b", "config.json", b"{}", digest="0" * 40)
    snapshot = hub_cache / "models--a--b" / "snapshots" / COMMIT
    assert hub.stated_sha256(snapshot / "x") == hashlib.sha256(b"x").hexdigest()
    assert hub.stated_sha256(small) is None
