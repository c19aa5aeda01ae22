"""Label files, their numbers, and what becomes of several teachers' labels of one picture."""

import json

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from skimage import data

from sightline.errors import InputError
from sightline.training.data.labels import (
    FIRST_COUNTS,
    HALF_TRUST,
    check_manifest,
    combine,
    read_gray,
    to_disparity,
)


def smooth_map():
    """Something with the spread of a real picture: a blurred photograph, 0 to 1."""
    gray = cv2.cvtColor(data.coffee(), cv2.COLOR_RGB2GRAY)[::5, ::5]
    return cv2.GaussianBlur(gray.astype(np.float32) / 255, (0, 0), 2)


@given(st.floats(0.05, 20), st.floats(-50, 50))
def test_teachers_that_differ_in_scale_and_shift_agree(scale, shift):
    first = smooth_map()
    mean, trust = combine([first, first * np.float32(scale) + np.float32(shift)])
    np.testing.assert_allclose(mean, first, atol=1e-3)
    assert trust.min() >= 254


def test_trust_falls_where_they_differ():
    first = smooth_map()
    spread = float(np.abs(first - np.median(first)).mean())
    other = first.copy()
    other[20:30, 20:30] += 3 * spread
    mean, trust = combine([first, other])
    inside = np.s_[21:29, 21:29]
    # Closed form: two maps that differ by 3 spreads, with voices 2 and 1.
    delta = 3 * np.sqrt(FIRST_COUNTS) / (FIRST_COUNTS + 1)
    expected = 255 / (1 + (delta / HALF_TRUST) ** 2)
    assert np.abs(trust[inside] - expected).max() <= 2
    outside = np.ones(first.shape, bool)
    outside[20:30, 20:30] = False
    assert trust[outside].min() >= 250
    np.testing.assert_allclose(mean[inside] - first[inside], spread, rtol=0.05)


def test_a_teacher_that_sees_it_upside_down_does_not_change_the_label():
    first = smooth_map()
    mean, trust = combine([first, 1 - first])
    np.testing.assert_allclose(mean, first, atol=1e-6)
    assert trust.mean() < 128


def test_flat_labels_do_no_harm():
    flat = np.full((20, 30), 7.0, np.float32)
    mean, trust = combine([flat, flat * 0])
    np.testing.assert_array_equal(mean, flat)
    assert (trust == 255).all()
    mean, _ = combine([smooth_map(), smooth_map() * 0])
    np.testing.assert_array_equal(mean, smooth_map())


def test_three_teachers_count_two_one_one():
    first = smooth_map()
    noise = np.random.default_rng(0).normal(0, 0.01, (2, *first.shape)).astype(np.float32)
    mean, _ = combine([first, first + noise[0], first + noise[1]])
    np.testing.assert_allclose(mean, np.maximum(first + noise.sum(0) / 4, 0), atol=2e-3)


def test_the_numbers_of_each_coding():
    label = np.array([[0, 500, 2000, 65535]], np.uint16)
    values, known = to_disparity(label, "depth_mm", True, None)
    assert values.tolist() == [[0, 2, 0.5, 0]]  # 65535 mm is the end of the range: infinitely far
    assert known.tolist() == [[False, True, True, True]]
    values, known = to_disparity(label, "inverse_depth", False, 0.25)
    assert values.tolist() == [[0, 125, 500, 65535 / 4]]
    assert known.all()
    values, known = to_disparity(label, "disparity", True, None)
    assert values.tolist() == label.tolist()
    assert known.tolist() == [[False, True, True, True]]
    with pytest.raises(InputError, match="no unit"):
        to_disparity(label, "inverse_depth", False, None)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_labels_come_back_with_all_bits(tmp_path, dtype):
    label = np.random.default_rng(0).integers(0, np.iinfo(dtype).max, (9, 13)).astype(dtype)
    cv2.imwrite(str(tmp_path / "a.png"), label)
    found = read_gray(tmp_path / "a.png")
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, label)


def test_labels_that_are_none(tmp_path):
    label = np.random.default_rng(0).integers(0, 65535, (40, 40)).astype(np.uint16)
    cv2.imwrite(str(tmp_path / "a.png"), label)
    whole = (tmp_path / "a.png").read_bytes()
    (tmp_path / "a.png").write_bytes(whole[:-50])
    with pytest.raises(InputError, match=r"a\.png: is truncated"):
        read_gray(tmp_path / "a.png")
    (tmp_path / "a.png").write_bytes(whole[:200] + b"x" + whole[201:])
    with pytest.raises(InputError, match="checksum is wrong"):
        read_gray(tmp_path / "a.png")
    cv2.imwrite(str(tmp_path / "b.png"), np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(InputError, match=r"b\.png: is not a one-channel PNG"):
        read_gray(tmp_path / "b.png")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not a label manifest"),
        ("[]", "names no teacher"),
        ('{"teacher": "small", "coding": "disparity"}', "names no teacher and checksum"),
        ('{"teacher": "small", "sha256": "00", "coding": "depth_mm"}', "'depth_mm'"),
    ],
)
def test_a_manifest_that_makes_no_sense(tmp_path, text, message):
    (tmp_path / "labels.json").write_text(text)
    with pytest.raises(InputError, match=message):
        check_manifest(tmp_path)


def test_a_whole_manifest_or_none_is_fine(tmp_path):
    check_manifest(tmp_path)
    manifest = {"teacher": "small", "sha256": "00", "coding": "disparity", "size": 256}
    (tmp_path / "labels.json").write_text(json.dumps(manifest))
    check_manifest(tmp_path)
