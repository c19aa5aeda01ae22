"""The recipe types commands that exist, in their order, and scores what they made."""

import importlib.util
import shlex
from pathlib import Path

import pytest

from sightline.cli import build
from sightline.video_model.files import write_model

PATH = Path(__file__).parents[2] / "recipes/cpu/video.py"


@pytest.fixture
def recipe():
    spec = importlib.util.spec_from_file_location("cpu_video", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_commands_can_be_typed(recipe, tmp_path, monkeypatch, capsys):
    said = []
    monkeypatch.setattr(recipe, "sightline", lambda words: said.append(words) or 0)
    recipe.main(["--work", str(tmp_path), "--only", "codec", "train", "studies"])
    assert [words[1] for words in said[:3]] == ["codec", "codec", "train"]
    assert {words[2] for words in said[3:]} == set(recipe.STUDIES)
    for words in said:
        build().parse_args(words, exit_on_error=False, print_error=False)
    assert shlex.split(capsys.readouterr().out.splitlines()[0])[1:] == said[0]
    monkeypatch.setattr(recipe, "sightline", lambda _: 2)
    with pytest.raises(SystemExit):
        recipe.main(["--work", str(tmp_path), "--only", "codec"])


def test_it_scores_what_was_trained(recipe, make, tmp_path, monkeypatch, capsys):
    write_model(make(), tmp_path / "train/model.safetensors")
    monkeypatch.setattr(recipe, "COUNT", 2)
    recipe.main(["--work", str(tmp_path), "--only", "score"])
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split()[1] for row in rows] == list(recipe.WORLDS)
    assert all(row.count("|") == 8 for row in rows)
    (tmp_path / "train/model.safetensors").unlink()
    with pytest.raises(SystemExit, match="holds no finished model"):
        recipe.main(["--work", str(tmp_path), "--only", "score"])
