from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import pytest

from sightline.errors import InputError
from sightline.models import cache as cache_module
from sightline.models.cache import cache_folder, file_sha256, known_sha256, workspace


def test_the_folder_is_the_users_or_the_one_that_was_chosen(
    cache: Path, monkeypatch: pytest.MonkeyPatch
):
    assert cache_folder() == cache
    monkeypatch.setenv("SIGHTLINE_CACHE", "~/somewhere")
    assert cache_folder() == Path.home() / "somewhere"
    monkeypatch.delenv("SIGHTLINE_CACHE")
    assert cache_folder().name == "sightline"
    assert cache_folder().is_absolute()


def test_a_checksum_is_computed_once_until_the_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    computed = []

    def counted(path: Path) -> str:
        computed.append(path)
        return file_sha256(path)

    monkeypatch.setattr(cache_module, "file_sha256", counted)
    path = tmp_path / "x"
    path.write_bytes(b"one")
    for _ in range(3):
        assert known_sha256(path, "x") == hashlib.sha256(b"one").hexdigest()
    assert len(computed) == 1
    path.write_bytes(b"two")
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))
    assert known_sha256(path, "x") == hashlib.sha256(b"two").hexdigest()
    assert len(computed) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00"])
def test_a_broken_stamp_is_written_anew(tmp_path: Path, cache: Path, text: str):
    path = tmp_path / "x"
    path.write_bytes(b"one")
    stamp = cache / "weights" / ".stamps" / "x.json"
    stamp.parent.mkdir(parents=True)
    stamp.write_text(text)
    assert known_sha256(path, "x") == hashlib.sha256(b"one").hexdigest()
    assert json.loads(stamp.read_text())["bytes"] == 3


def test_a_stamp_of_another_file_does_not_count(tmp_path: Path):
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_bytes(b"one")
    second.write_bytes(b"two")
    os.utime(second, ns=(0, first.stat().st_mtime_ns))
    assert known_sha256(first, "x") != known_sha256(second, "x")


def test_without_a_writable_cache_checksums_are_right_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "file").write_bytes(b"in the way")
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "file"))
    assert known_sha256(tmp_path / "file", "x") == hashlib.sha256(b"in the way").hexdigest()
    with pytest.raises(InputError, match="SIGHTLINE_CACHE"), workspace("x"):
        pass


def test_a_workspace_is_empty_and_goes_away_whatever_happens(cache: Path):
    left = cache / "weights" / ".work" / "x" / "of-a-killed-process"
    left.mkdir(parents=True)

    def fail_half_way() -> None:
        with workspace("x") as work:
            assert list(work.iterdir()) == []
            assert not left.exists()
            (work / "half").write_bytes(b"half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()
    assert list((cache / "weights" / ".work").iterdir()) == []
