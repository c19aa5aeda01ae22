"""`sightline` itself: speed, help, version, and the exit code of every way to end."""

from __future__ import annotations

import resource
import subprocess
import sys

import pytest

import sightline
from sightline import cli
from sightline.errors import InputError, SightlineError

HEAVY = ("numpy", "PIL", "cv2", "openvino", "av", "torch", "scipy", "pydantic", "jinja2")


def test_version(sightline):
    result = sightline("--version")
    assert (result.returncode, result.stdout.strip()) == (0, sightline_version())


def sightline_version() -> str:
    return sightline.__version__


@pytest.mark.parametrize("words", [["--help"], [], ["depth", "--help"], ["demo", "--help"]])
def test_help_imports_nothing_heavy(words):
    code = (
        "import sys; from sightline.cli import main; "
        f"code = main({words!r}); "
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules]); sys.exit(code)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0
    assert result.stdout.splitlines()[-1] == "HEAVY []"
    assert "Usage: sightline" in result.stdout


def test_help_answers_at_once(command):
    """Under 0.3 s of processor time; on a slow machine, in twice what its two libraries take alone."""

    def spent() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    def least(words: list[str]) -> float:
        times = []
        for _ in range(4):
            start = spent()
            subprocess.run(words, capture_output=True, check=True)
            times.append(spent() - start)
        return min(times)

    alone = least([sys.executable, "-c", "import cyclopts, rich.console"])
    assert least([*command, "--help"]) < max(0.3, 2 * alone)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["nope"], 'Unknown command "nope"'),
        (["--nope"], 'Unknown command "--nope"'),
        (["depth"], "requires an argument"),
        (["depth", "a.jpg", "--fov", "wide"], 'unable to convert "wide" into float'),
        (["depth", "a.jpg", "--save", "zip"], '"zip" is not one of npz, png'),
        (["depth", "a.jpg", "--engine", "abacus"], "--engine"),
        (["depth", "a.jpg", "--workers", "0"], "workers must be at least 1"),
        (["depth", "a.jpg", "--keep-goin"], "Did you mean --keep-going?"),
        (["depth", "surely/not/here.jpg"], "surely/not/here.jpg: no such file or folder"),
        (["view", "surely/not/here"], "surely/not/here: no such file or folder"),
        (["view", "x" * 300], "xxx: no such file or folder"),
        (["depth", "a.jpg", "--size", "1000000"], "size must be from 32 to 4096, got 1000000"),
        (
            ["models", "int8", "tiny", "--pictures", ".", "--out", "o.xml", "--most", "0"],
            "at least 2",
        ),
        (["depth", ""], "an empty argument (after depth); is a shell variable unset?"),
        (["depth", "a.jpg", "--out", ""], "an empty argument (after --out)"),
        (["depth", "a.jpg", "--out="], "an empty argument (--out=)"),
        (["depth", "a.jpg", "--model", ""], "an empty argument (after --model)"),
        (["view", ""], "an empty argument (after view)"),
        ([""], "an empty argument (the first)"),
    ],
)
def test_mistakes_exit_with_2_and_one_line(sightline, words, part):
    result = sightline(*words)
    assert result.returncode == 2
    assert result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert line.startswith("sightline: ")
    assert part in line


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InputError("is bad", path="a.jpg", remedy="mend it"), 2, "a.jpg: is bad; mend it"),
        (SightlineError("the disk\nis full"), 1, "the disk is full"),
        (KeyboardInterrupt(), 130, "stopped"),
        (KeyboardInterrupt("stopped with 3 done"), 130, "stopped with 3 done"),
        (cli.Terminated(), 143, "stopped"),
        (cli.Terminated("stopped with 3 done"), 143, "stopped with 3 done"),
        (ValueError("odd"), 1, "ValueError: odd; run with SIGHTLINE_DEBUG=1 for the traceback"),
    ],
)
def test_errors_become_a_line_and_a_code(monkeypatch, capsys, error, code, line):
    def fail(_arguments):
        raise error

    monkeypatch.delenv("SIGHTLINE_DEBUG", raising=False)
    monkeypatch.setattr(cli, "build", lambda: fail)
    assert cli.main([]) == code
    assert capsys.readouterr().err == f"sightline: {line}\n"


def test_debugging_shows_the_traceback(monkeypatch, capsys):
    def fail(_arguments):
        raise ValueError("odd")

    monkeypatch.setenv("SIGHTLINE_DEBUG", "1")
    monkeypatch.setattr(cli, "build", lambda: fail)
    assert cli.main([]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_a_reader_that_goes_away_is_no_drama(command, environment):
    """`sightline --help | head -0`: no traceback."""
    process = subprocess.Popen(
        [*command, "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    )
    assert process.stdout is not None
    process.stdout.close()
    _, errors = process.communicate(timeout=60)
    assert errors == b""


def test_ctrl_c_while_the_command_line_is_put_together():
    """In the first moments, when Python is still importing."""
    code = (
        "import sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'cyclopts': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from sightline.cli import main\n"
        "sys.exit(main(['--help']))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stderr) == (130, "sightline: stopped\n")


@pytest.mark.parametrize(
    "words",
    [
        "physics make uniform --out x.h5 --count 1.5",
        "train student --photos a --labels b --out c --steps 10.5",
        "depth a.jpg --workers 1e400",
    ],
)
def test_no_number_is_rounded_in_silence(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(words.split()) == 2
    *_, name, value = words.split()
    assert f"{name} takes a whole number, got {value}" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "words",
    [
        "scenes make --out s3://bucket/o",
        "physics make uniform --out s3://bucket/o.h5",
        "physics score videos --truth a.h5 --out s3://bucket/o",
        "train student --photos a --labels b --out s3://bucket/o",
    ],
)
def test_a_url_is_refused_where_only_local_paths_work(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert cli.main(words.split()) == 2
    assert "--out must be on a local disk, got s3://bucket/o" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_package_that_is_not_there_is_named_with_its_remedy(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "numba", None)
    for name in [name for name in sys.modules if name.startswith("sightline.physics")]:
        monkeypatch.delitem(sys.modules, name)
    assert cli.main(["physics", "make", "uniform", "--count", "1", "--out", "x.h5"]) == 2
    said = capsys.readouterr().err
    assert "this needs numba" in said
    assert "pip install 'sightline[physics]'" in said


@pytest.mark.parametrize("name", ["depth", "metric", "measure", "label", "serve", "bench"])
def test_help_shows_defaults_without_python_syntax(sightline, name):
    text = sightline(name, "--help").stdout
    assert "[default:" in text
    for word in ("True]", "False]", "()]", "',)", "PosixPath", "None]"):
        assert word not in text, word
