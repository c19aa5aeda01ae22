"""`sightline physics make combinatorial`."""

import h5py
import pytest

from sightline.cli import main
from sightline.physics.datasets.reader import open_dataset


def make(*words):
    return main(["physics", "make", "combinatorial", *map(str, words)])


def test_the_command_line(tmp_path, capsys):
    out = tmp_path / "a.h5"
    words = ["--templates", "10003,10061", "--tasks", 1, "--trials", "5-6", "--size", 32]
    assert make(*words, "--out", out) == 0
    assert capsys.readouterr().out.startswith("4 videos in ")
    with open_dataset(out) as data:
        assert data.place(3) == ("10061:000", 6)
        assert len(data.video(0)) == 32
    assert main(["physics", "info", str(out)]) == 0
    assert "combinatorial" in capsys.readouterr().out
    one = ["--templates", 10003, "--tasks", 1, "--trials", 1, "--size", 16, "--layout", "shard"]
    assert make(*one, "--out", tmp_path / "b.h5") == 0
    with h5py.File(tmp_path / "b.h5") as file:
        assert file["action_streams"].shape == (1, 3)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "add --templates"),
        (["--templates", "7"], "no templates are called '7'"),
        (["--templates", "6", "--tasks", "1", "--trials", "1", "--count", "7"], "1 to 6 videos"),
        (["--templates", "6", "--count", "0"], "1 to 600,000 videos, got 0"),
        (["--templates", "6", "--trials", "x"], "'x' is no number of trials"),
        (["--templates", "6", "--trials", "9-5"], "trials are numbered"),
        (["--templates", "6", "--layout", "shard"], "a shard holds one task"),
    ],
)
def test_mistakes_on_the_command_line(tmp_path, capsys, words, message):
    assert make(*words, "--out", tmp_path / "a.h5") == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line
    assert list(tmp_path.iterdir()) == []


def test_the_first_so_many(tmp_path, capsys):
    out = tmp_path / "a.h5"
    words = ["--templates", "6", "--trials", 2, "--count", 3, "--size", 16]
    assert make(*words, "--out", out) == 0
    assert capsys.readouterr().out.startswith("3 videos in ")
    with open_dataset(out) as data:
        places = [data.place(index) for index in range(len(data))]
    assert places == [("10003:000", 0), ("10003:000", 1), ("10003:001", 0)]


def test_files_that_are_not_for_this(tmp_path, capsys):
    words = ["--templates", "6", "--tasks", 1, "--trials", 1]
    assert make(*words, "--out", tmp_path / "a.mp4") == 2
    assert "no format has the suffix '.mp4'; use .h5 or .hdf5" in capsys.readouterr().err
    assert make(*words, "--quality", "rle", "--out", tmp_path / "a.h5") == 2
    assert "no quality is called 'rle'; use standard, lossless" in capsys.readouterr().err
    (tmp_path / "c.h5").write_bytes(b"precious")
    assert make(*words, "--out", tmp_path / "c.h5") == 2
    assert "is there already" in capsys.readouterr().err
    (tmp_path / "b.h5").mkdir()
    assert make(*words, "--out", tmp_path / "b.h5") == 2
    assert "is a folder" in capsys.readouterr().err
