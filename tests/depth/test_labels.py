"""Labels as PNG files."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image

from sightline.depth.labels import Teacher, encode, is_finished, read_label
from sightline.errors import InputError
from sightline.types import Kind

SHA = "ab" * 32
TEACHER = Teacher("tiny", SHA, 256, mirror=True, kind=Kind.RELATIVE_DISPARITY)

maps = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
    elements=st.floats(-1e6, 1e6, width=32),
)


@given(maps)
def test_the_values_come_back_to_half_a_step(tmp_path_factory, values):
    path = tmp_path_factory.mktemp("labels") / "a.png"
    path.write_bytes(encode(values, TEACHER))
    label = read_label(path)
    span = float(values.max()) - float(values.min())
    error = np.abs(label.values.astype(np.float64) - values)
    rounding = np.spacing(np.abs(values).max())  # of the float32 that the reader returns
    assert error.max() <= span / 65535 / 2 * (1 + 1e-6) + rounding
    assert (label.kind, label.sha256) == (Kind.RELATIVE_DISPARITY, SHA)


def test_opencv_sees_the_whole_range_nearest_brightest(tmp_path):
    values = np.linspace(3, 7, 12, dtype=np.float32).reshape(3, 4)
    path = tmp_path / "a.png"
    path.write_bytes(encode(values, TEACHER))
    pixels = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    assert pixels.dtype == np.uint16
    assert pixels.shape == (3, 4)
    assert pixels[0, 0] == 0
    assert pixels[2, 3] == 65535
    assert (np.diff(pixels.astype(int).ravel()) > 0).all()


def test_any_tool_can_tell_whose_it_is(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(encode(np.array([[0.25, 0.5]], np.float32), TEACHER))
    text = Image.open(path).text
    assert text["teacher_sha256"] == SHA
    assert (float(text["lo"]), float(text["hi"])) == (0.25, 0.5)
    assert (text["teacher"], text["size"], text["mirror"]) == ("tiny", "256", "yes")
    assert text["direction"] == "larger is nearer"


def test_a_map_without_relief(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(encode(np.full((2, 3), 5, np.float32), TEACHER))
    np.testing.assert_array_equal(read_label(path).values, 5)


def test_finished_means_whole_and_of_this_teacher(tmp_path, rng):
    path = tmp_path / "a.png"
    data = encode(rng.random((40, 50), np.float32), TEACHER)
    assert not is_finished(path, SHA)
    path.write_bytes(data)
    assert is_finished(path, SHA)
    assert not is_finished(path, "cd" * 32)
    for damaged in (b"", data[:5], data[:-1], data[: len(data) // 2], data[8:]):
        path.write_bytes(damaged)
        assert not is_finished(path, SHA)


def test_pictures_that_are_no_labels(tmp_path, rng):
    path = tmp_path / "a.png"
    cv2.imwrite(str(path), rng.integers(0, 65535, (4, 4)).astype(np.uint16))
    with pytest.raises(InputError, match="was not written by `sightline label`"):
        read_label(path)
    path.write_bytes(encode(rng.random((40, 50), np.float32), TEACHER)[:-20])
    with pytest.raises(InputError, match="is truncated"):
        read_label(path)
