import os
from pathlib import Path

import pytest

from sightline.errors import InputError
from sightline.files.reading import check_pixels, naming, read_bytes


def test_reads_up_to_the_limit(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"12345")
    assert read_bytes(tmp_path / "a", limit=5) == b"12345"
    with pytest.raises(InputError, match="larger than"):
        read_bytes(tmp_path / "a", limit=4)


def test_what_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name, words in {
        "": "folder",
        "empty": "empty",
        "gone": "no such",
        "empty/x": "no such",
    }.items():
        with pytest.raises(InputError, match=words):
            read_bytes(tmp_path / name, limit=10, what="picture")
    with pytest.raises(InputError, match="cannot be read"):
        read_bytes("nul\0l", limit=10)
    if Path("/dev/zero").exists():
        with pytest.raises(InputError, match="device"):
            read_bytes("/dev/zero", limit=10)


def test_endless_pipe_stops_at_the_limit(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ends = os.open(pipe, os.O_RDWR)
    try:
        os.write(ends, b"x" * 100)
        with pytest.raises(InputError, match="larger"):
            read_bytes(pipe, limit=10)
    finally:
        os.close(ends)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_unreadable(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1")
    (tmp_path / "a").chmod(0)
    with pytest.raises(InputError, match="no permission"):
        read_bytes(tmp_path / "a", limit=10)


def test_unreadable_by_the_systems_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    (tmp_path / "a").write_bytes(b"1")
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InputError, match="no permission to read"):
        read_bytes(tmp_path / "a", limit=10)


def test_pixel_limit_names_size_limit_and_remedy() -> None:
    check_pixels(10, 20, 200)
    with pytest.raises(InputError, match=r"30000×30000 .* limit of 200 million; .*max_pixels"):
        check_pixels(30000, 30000, 200_000_000)
    with pytest.raises(InputError, match="no pixels"):
        check_pixels(0, 5, 200)


def test_naming_adds_the_file_once() -> None:
    with pytest.raises(InputError, match=r"^a\.npz: bad; do this$"), naming("a.npz"):
        raise InputError("bad", remedy="do this")
    with pytest.raises(InputError, match=r"^b: bad$"), naming("a.npz"):
        raise InputError("bad", path="b")
