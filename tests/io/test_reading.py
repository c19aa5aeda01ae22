import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.errors import InputError
from sightline.io.reading import check_pixels, naming, read_bytes
from sightline.io.video import open_video


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


@pytest.mark.parametrize("read", [lambda path: read_bytes(path, limit=10), open_video])
def test_a_pipe_is_refused_without_waiting_for_its_writer(
    tmp_path: Path, read: Callable[[Path], object]
) -> None:
    pipe = tmp_path / "pipe.mp4"
    os.mkfifo(pipe)
    told: list[InputError] = []

    def attempt() -> None:
        with pytest.raises(InputError) as caught:
            read(pipe)
        told.append(caught.value)

    thread = threading.Thread(target=attempt, daemon=True)
    thread.start()
    thread.join(5)
    if thread.is_alive():  # let it go before failing
        os.close(os.open(pipe, os.O_RDWR))
    assert [error.problem.split(",")[0] for error in told] == ["is a pipe"]
    assert told[0].remedy


def test_every_refusal_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    for name in ("", "empty", "gone", "empty/x", "n" * 300):
        with pytest.raises(InputError) as caught:
            read_bytes(tmp_path / name, limit=10)
        assert caught.value.remedy, name
        assert "Errno" not in str(caught.value)


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
    with pytest.raises(InputError, match=r"30000×30000 .* limit of 200,000,000; .*max_pixels"):
        check_pixels(30000, 30000, 200_000_000)
    with pytest.raises(
        InputError, match=r"160×120 = 19,200 pixels, .* limit of 10; .*--max-pixels"
    ):
        check_pixels(160, 120, 10)
    with pytest.raises(InputError, match="no pixels"):
        check_pixels(0, 5, 200)
    with pytest.raises(InputError, match="makes no sense"):
        check_pixels(2**32 - 160, 120, 200)


def test_naming_adds_the_file_once() -> None:
    with pytest.raises(InputError, match=r"^a\.npz: bad; do this$"), naming("a.npz"):
        raise InputError("bad", remedy="do this")
    with pytest.raises(InputError, match=r"^b: bad$"), naming("a.npz"):
        raise InputError("bad", path="b")
