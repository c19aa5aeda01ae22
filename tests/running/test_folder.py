"""The folder of a run: claimed by the run that began in it, given back by one that failed at once."""

import pytest

from sightline.errors import InputError
from sightline.running.folder import claimed_run, load_checkpoint, save_checkpoint

ASKED = {"options": {"rate": 1.0}}
OTHER = {"options": {"rate": 2.0}}


def test_a_failed_start_gives_the_folder_back(tmp_path):
    out = tmp_path / "run"
    with pytest.raises(OSError, match="plug"), claimed_run(out, ASKED):
        raise OSError("the plug was pulled")
    assert not out.exists()
    with claimed_run(out, OTHER):
        pass
    assert (out / "run.json").is_file()
    with pytest.raises(InputError, match="holds a run with other rate"), claimed_run(out, ASKED):
        pass


def save_and_fail(out):
    save_checkpoint(out, {"step": 1})
    return KeyError()


def test_what_was_there_and_what_was_saved_stays(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(KeyError), claimed_run(tmp_path, ASKED):
        raise KeyError
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]
    with pytest.raises(KeyError), claimed_run(tmp_path, ASKED):
        raise save_and_fail(tmp_path)
    assert load_checkpoint(tmp_path) == {"step": 1}
    with (
        pytest.raises(InputError, match="holds a run with other rate"),
        claimed_run(tmp_path, OTHER),
    ):
        pass
