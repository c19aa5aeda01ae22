"""Folders that are there only if something is put into them."""

import pytest

from sightline.errors import InputError
from sightline.physics.model_runner import results_folder


def test_an_empty_folder_goes_and_so_do_those_made_for_it(tmp_path):
    with results_folder(tmp_path / "a" / "b"):
        assert (tmp_path / "a" / "b").is_dir()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(KeyboardInterrupt), results_folder(tmp_path / "a" / "b"):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_what_holds_something_stays(tmp_path):
    with results_folder(tmp_path / "a" / "b"):
        (tmp_path / "a" / "file").write_text("x")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["file"]


def test_an_empty_folder_that_was_there_stays(tmp_path):
    with results_folder(tmp_path):
        pass
    assert tmp_path.is_dir()


@pytest.mark.parametrize("name", ["file", "file/below"])
def test_a_file_in_the_way_is_named(tmp_path, name):
    (tmp_path / "file").write_text("x")
    with pytest.raises(InputError, match="in the way"), results_folder(tmp_path / name):
        pass
    assert (tmp_path / "file").read_text() == "x"
