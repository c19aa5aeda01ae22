"""Videos find their samples."""

import pytest

from sightline.errors import InputError
from sightline.physics.scoring.inputs import VideoSource, match, number_in


def videos(*names):
    return [VideoSource(name, number_in(name), lambda: None) for name in names]


def test_by_the_number_in_the_name():
    found = match(videos("00002", "00000", "00007"), 4)
    assert [(video.name, k) for video, k in found.pairs] == [("00002", 2), ("00000", 0)]
    assert found.by == "name"
    assert [name for name, _ in found.unmatched] == ["00007"]
    assert found.missing == 2


def test_by_order_when_names_have_no_number():
    found = match(videos("a", "b", "c"), 3)
    assert [k for _, k in found.pairs] == [0, 1, 2]
    assert found.by == "order"


def test_order_needs_as_many_videos_as_samples():
    with pytest.raises(InputError, match="2 videos for 3 samples cannot be matched by order"):
        match(videos("a", "b"), 3)
    with pytest.raises(InputError, match="1 video for 3 samples"):
        match(videos("a"), 3)


def test_two_videos_of_one_sample_are_not_chosen_between():
    found = match(videos("a1", "b1", "c2", "hello"), 4)
    assert [(video.name, k) for video, k in found.pairs] == [("c2", 2)]
    assert [name for name, _ in found.unmatched] == ["a1", "b1", "hello"]


def test_two_files_of_one_name_are_told_apart():
    pair = [VideoSource("07", 7, lambda: None, suffix) for suffix in (".mp4", ".npz")]
    found = match([*pair, *videos("c2")], 9)
    why = "several videos have its number (07.mp4, 07.npz); keep one"
    assert found.unmatched == (("07.mp4", why), ("07.npz", why))


def test_numbers_of_another_data_set_are_an_error():
    with pytest.raises(InputError, match="no video has the number of a sample: 90"):
        match(videos("90", "91"), 4)
