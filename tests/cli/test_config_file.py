"""`--config FILE.toml`: options from a file; the command line takes precedence."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import pytest
from cyclopts import App, Parameter

from sightline.cli.config_file import ConfigFile, apply_config_file
from sightline.errors import InputError
from sightline.training.config import to_toml


@dataclass(frozen=True, kw_only=True)
class Options:
    save_every: int = 5
    size: int | None = None
    patch: tuple[int, int, int] | None = None


@pytest.fixture
def run():
    app = App(
        config=apply_config_file,
        result_action="return_value",
        exit_on_error=False,
        print_error=False,
    )

    @app.command
    def train(
        *,
        data: list[str],
        out: Path,
        config: ConfigFile = None,
        options: Annotated[Options, Parameter(name="*")] = Options(),  # noqa: B008
    ):
        return data, out, options

    return lambda *words: app(["train", *map(str, words)])


def test_the_record_of_a_run_repeats_it(run, tmp_path):
    path = tmp_path / "config.toml"
    record = {
        "task": "student",
        "options": {"save_every": 7, "size": None, "patch": (1, 2, 3)},
        "data": {"data": ["a", "b"], "content": {"a": "0f"}},
    }
    path.write_text(to_toml(record))
    found = run("--out", "x", "--config", path)
    assert found == (["a", "b"], Path("x"), Options(save_every=7, patch=(1, 2, 3)))
    found = run("--out", "x", "--config", path, "--save-every", 9, "--data", "c")
    assert found == (["c"], Path("x"), Options(save_every=9, patch=(1, 2, 3)))
    assert run("--out", "x", "--data", "c")[2] == Options()


def test_a_file_of_options_alone_and_bad_files(run, tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("save_every = 3\n")
    assert run("--out", "x", "--data", "c", "--config", path)[2] == Options(save_every=3)
    path.write_text("save_evry = 3\n")
    with pytest.raises(Exception, match="save-evry"):
        run("--out", "x", "--data", "c", "--config", path)
    with pytest.raises(InputError, match="is not a TOML file"):
        run("--out", "x", "--data", "c", "--config", tmp_path / "none.toml")
