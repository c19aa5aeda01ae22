"""Which run a folder of videos is of."""

import json

import pytest

from sightline.errors import InputError
from sightline.physics.model_runner import RECORD, check_condition, claimed

ONE = {"model": "m:A", "data_set": "0" * 64, "condition": 3}
OTHER = {**ONE, "model": "m:B"}


def make_video(folder):
    (folder / "00000.mp4").write_bytes(b"x")


def test_a_run_goes_on_in_its_own_folder_only(tmp_path):
    for _ in range(2):
        with claimed(tmp_path, ONE):
            make_video(tmp_path)
    assert json.loads((tmp_path / RECORD).read_text()) == ONE
    with pytest.raises(InputError, match="another model"), claimed(tmp_path, OTHER):
        pass
    assert json.loads((tmp_path / RECORD).read_text()) == ONE


def test_without_a_video_nothing_is_left(tmp_path):
    with pytest.raises(KeyboardInterrupt), claimed(tmp_path / "v", ONE):
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_the_record_of_a_run_without_videos_binds_nobody(tmp_path):
    (tmp_path / RECORD).write_text(json.dumps(OTHER))
    with claimed(tmp_path, ONE):
        make_video(tmp_path)
    assert json.loads((tmp_path / RECORD).read_text()) == ONE


def test_videos_without_a_record_are_left_alone(tmp_path):
    make_video(tmp_path)
    with pytest.raises(InputError, match="holds videos already"), claimed(tmp_path, ONE):
        pass
    assert not (tmp_path / RECORD).exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"speed": 3}', "\udc80"])
def test_a_file_of_that_name_that_is_no_record_is_left_alone(tmp_path, text):
    (tmp_path / RECORD).write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(InputError, match="not the record of a run"), claimed(tmp_path, ONE):
        pass
    assert (tmp_path / RECORD).read_bytes() == text.encode(errors="surrogateescape")


def test_the_condition_of_a_run_is_that_of_its_score(tmp_path):
    check_condition(tmp_path, 5)
    (tmp_path / RECORD).write_text(json.dumps(ONE))
    check_condition(tmp_path, 3)
    with pytest.raises(InputError, match="use --condition 3"):
        check_condition(tmp_path, 5)
    (tmp_path / RECORD).write_text("somebody else's")
    check_condition(tmp_path, 5)
