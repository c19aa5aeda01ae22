"""The folder of a run: claimed by the run that started in it, released by one that failed at once."""

import pytest

from sightline.errors import InputError
from sightline.training.checkpoint import claim_folder, load_checkpoint, save_checkpoint
from sightline.training.config import read_toml

ASKED = {"options": {"rate": 1.0, "size": None}, "data": {"files": ["a", "b"]}}
OTHER = {"options": {"rate": 2.0, "size": None}, "data": {"files": ["a", "b"]}}


def test_a_failed_start_releases_the_folder(tmp_path):
    out = tmp_path / "run"
    with pytest.raises(OSError, match="plug"), claim_folder(out, ASKED):
        raise OSError("the plug was pulled")
    assert not out.exists()
    with claim_folder(out, OTHER):
        pass
    assert read_toml(out / "config.toml") == {"options": {"rate": 2.0}, "data": OTHER["data"]}
    with pytest.raises(InputError, match="holds a run with other rate"), claim_folder(out, ASKED):
        pass
    with claim_folder(out, ASKED, {"rate"}):
        pass


def save_and_fail(out):
    save_checkpoint(out, {"step": 1})
    return KeyError()


def test_what_was_there_and_what_was_saved_stays(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(KeyError), claim_folder(tmp_path, ASKED):
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(KeyError), claim_folder(tmp_path, ASKED):
        raise save_and_fail(tmp_path)
    assert load_checkpoint(tmp_path) == {"step": 1}
    with (
        pytest.raises(InputError, match="holds a run with other rate"),
        claim_folder(tmp_path, OTHER),
    ):
        pass
    other = {**ASKED, "data": {"files": ["c"]}}
    with pytest.raises(InputError, match="other data"), claim_folder(tmp_path, other):
        pass


@pytest.mark.parametrize("content", ["[1, 2]", "options = [1]", "{", "a = 1"])
def test_a_record_that_makes_no_sense(tmp_path, content):
    (tmp_path / "config.toml").write_text(content)
    with (
        pytest.raises(InputError, match="does not describe a training run"),
        claim_folder(tmp_path, ASKED),
    ):
        pass
