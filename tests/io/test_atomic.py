"""Files appear whole or not at all, and what went wrong is said in one line."""

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import atomic_path, make_folder, write_bytes, write_text


def leftovers(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def test_writes_and_replaces(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folder" / "a.txt"
    write_text(target, "één")
    write_text(target, "twee")
    assert target.read_bytes() == b"twee"
    assert leftovers(target.parent) == ["a.txt"]


def test_temporary_keeps_suffix_and_result_has_the_usual_mode(tmp_path: Path) -> None:
    umask = os.umask(0o027)
    try:
        with atomic_path(tmp_path / "a.exr") as temporary:
            assert temporary.suffix == ".exr"
            assert temporary.parent == tmp_path
            temporary.write_bytes(b"x")
    finally:
        os.umask(umask)
    assert stat.S_IMODE((tmp_path / "a.exr").stat().st_mode) == 0o640


def test_failure_half_way_keeps_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    write_bytes(target, b"old")

    def stopped_half_way() -> None:
        with atomic_path(target) as temporary:
            temporary.write_bytes(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stopped_half_way()
    assert target.read_bytes() == b"old"
    assert leftovers(tmp_path) == ["a.bin"]


def test_killed_half_way_leaves_no_target(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    program = (
        "import os, signal, sys\n"
        "from sightline.io.atomic import atomic_path\n"
        "with atomic_path(sys.argv[1]) as temporary:\n"
        "    temporary.write_bytes(b'half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(target)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert not target.exists()
    assert all(name.startswith(".a.") for name in leftovers(tmp_path))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_full_disk(tmp_path: Path) -> None:
    target = tmp_path / "a.bin"
    with (
        pytest.raises(SightlineError, match=r"a\.bin: the disk is full") as caught,
        atomic_path(target),
        Path("/dev/full").open("wb", buffering=0) as full,
    ):
        full.write(b"x" * 4096)
    assert caught.value.exit_code == 1
    assert not isinstance(caught.value, InputError)
    assert leftovers(tmp_path) == []


def test_full_disk_at_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "replace", full)
    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(SightlineError, match="disk is full"):
        write_bytes(tmp_path / "a.bin", b"x")
    assert leftovers(tmp_path) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_no_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(InputError, match="no permission"):
            write_bytes(tmp_path / "a.bin", b"x")
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EPERM, errno.EROFS])
def test_no_permission_is_the_users_business(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("os.open", refuse)
    with pytest.raises(InputError, match="no permission to write") as caught:
        write_bytes(tmp_path / "a.bin", b"x")
    assert caught.value.exit_code == 2


@pytest.mark.parametrize("below", ["a.bin", "deeper/a.bin"])
def test_file_in_the_way_of_the_folder(tmp_path: Path, below: str) -> None:
    (tmp_path / "out").write_bytes(b"I was here first")
    with pytest.raises(InputError, match="in the way"):
        write_bytes(tmp_path / "out" / below, b"x")
    assert (tmp_path / "out").read_bytes() == b"I was here first"


def test_a_very_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("ü" * 120 + ".npz")
    write_bytes(path, b"x")
    assert path.read_bytes() == b"x"


def test_the_result_has_the_mode_of_any_new_file(tmp_path: Path) -> None:
    write_bytes(tmp_path / "ours", b"")
    (tmp_path / "other").touch()
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "other").stat().st_mode


def test_a_folder_in_the_way_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.npz" / "inside").mkdir(parents=True)
    with pytest.raises(InputError, match=r"a\.npz: a folder is in the way of this file; move it"):
        write_bytes(tmp_path / "a.npz", b"x")
    assert leftovers(tmp_path) == ["a.npz"]


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="needs /proc")
def test_a_folder_that_cannot_be_made() -> None:
    with pytest.raises(InputError, match=r"/proc/x: this folder cannot be made.*another place"):
        write_bytes("/proc/x/a.npz", b"x")


def test_a_folder_is_made_before_the_work(tmp_path: Path) -> None:
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(InputError, match="a file is in the way of this folder; choose another"):
            make_folder(place)
    with pytest.raises(InputError, match=r"/proc/x: this folder cannot be made \(.*--out"):
        make_folder(Path("/proc/x"))


def test_a_name_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the name is too long; choose a shorter one"):
        write_bytes(tmp_path / ("x" * 252 + ".npz"), b"x")
    with pytest.raises(InputError, match="the name is too long"):
        write_bytes(tmp_path / ("x" * 300) / "a.npz", b"x")
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("below", ["a.bin", "deeper/a.bin"])
def test_a_link_that_leads_back_to_itself(tmp_path: Path, below: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(InputError, match=r"in the way of this folder|leads back to itself"):
        write_bytes(tmp_path / "loop" / below, b"x")


def test_the_advice_of_a_full_disk_fits_every_command(tmp_path: Path) -> None:
    def fill() -> None:
        with atomic_path(tmp_path / "a.html"):
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(SightlineError) as caught:
        fill()
    assert "--resume" not in str(caught.value)


@pytest.mark.parametrize("free", [0, 10**9])
def test_a_full_disk_in_the_words_of_another_library(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int
) -> None:
    usage = shutil._ntuple_diskusage(10**9, 10**9 - free, free)  # type: ignore[attr-defined]
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)
    words = r"a\.pt: the disk is full" if free == 0 else "unexpected pos 5893696"
    with (
        pytest.raises((SightlineError, RuntimeError), match=words),
        atomic_path(tmp_path / "a.pt", sync=True),
    ):
        raise RuntimeError("unexpected pos 5893696 vs 5893592")
    assert not list(tmp_path.iterdir())
