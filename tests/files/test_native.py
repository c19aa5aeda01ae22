"""What decoders in C say is heard, and nobody else is silenced."""

import os
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import pytest

from sightline.files.native import listening

CORRUPT = b"Corrupt JPEG data: bad Huffman code\n"


def test_hears_libraries_and_passes_on_the_rest(capfd: pytest.CaptureFixture[str]) -> None:
    with listening() as said:
        os.write(2, b"a.jpg: done\n" + CORRUPT + b"50 %\r")
        os.write(2, b"tempfile.tif: Using code not yet in table.\n\n")
        warnings.warn("Truncated File Read", UserWarning, stacklevel=1)
    assert said == [CORRUPT.decode().strip(), "tempfile.tif: Using code not yet in table."]
    os.write(2, b"after\n")
    assert capfd.readouterr().err == "a.jpg: done\n50 %\rafter\n"


def descriptors() -> int:
    """How many files this process has open; 0 where the system does not say."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


def test_the_screen_comes_back_after_an_error(capfd: pytest.CaptureFixture[str]) -> None:
    before = descriptors()
    with pytest.raises(KeyError), listening():
        raise KeyError
    with listening() as outer, listening() as inner:
        os.write(2, CORRUPT)
    assert (len(inner), len(outer)) == (1, 0)
    os.write(2, b"here\n")
    assert capfd.readouterr().err == "here\n"
    assert descriptors() == before


def test_each_thread_hears_its_own() -> None:
    heard: dict[int, list[str]] = {}

    def decode(number: int) -> None:
        for _ in range(20):
            with listening() as said:
                os.write(2, b"TIFFRead: %d\n" % number)
            heard.setdefault(number, []).extend(said)

    threads = [threading.Thread(target=decode, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == {n: [f"TIFFRead: {n}"] * 20 for n in range(4)}


@pytest.mark.skipif(sys.platform != "linux", reason="files in memory are Linux's")
def test_works_without_a_folder_for_temporary_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/surely/not/here")
    with listening() as said:
        os.write(2, CORRUPT)
    assert len(said) == 1


def test_works_without_standard_error() -> None:
    saved = os.dup(2)
    os.close(2)
    try:
        with listening() as said:
            pass
    finally:
        os.dup2(saved, 2)
        os.close(saved)
    assert said == []
