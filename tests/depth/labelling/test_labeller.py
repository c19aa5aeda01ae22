"""One picture to one label."""

from __future__ import annotations

import errno
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.depth.estimator import load
from sightline.depth.labelling.coding import Teacher, read_label
from sightline.depth.labelling.labeller import Labeller, disparity, label_size
from sightline.depth.labelling.options import LabelOptions
from sightline.depth.labelling.plan import Task
from sightline.depth.preprocess import to_picture_size
from sightline.errors import InputError, SightlineError
from sightline.files import remote
from sightline.processes import EndOfRun
from sightline.types import Kind


@pytest.fixture(scope="module")
def estimator(conv_onnx):
    return load(conv_onnx, threads=1)


@pytest.fixture
def labeller(conv_onnx, estimator) -> Labeller:
    teacher = Teacher("conv", estimator.sha256, 64, mirror=True, kind=Kind.RELATIVE_DISPARITY)
    return Labeller(LabelOptions(), str(conv_onnx), teacher, 1)


def normalised(values):
    return (values - values.min()) / (values.max() - values.min())


def test_a_label_is_what_the_estimator_says(estimator, labeller, save_photos, tmp_path):
    picture = save_photos(1) / "000.png"
    labeller(Task(str(picture), str(tmp_path / "labels" / "a.png")))
    pixels = cv2.cvtColor(cv2.imread(str(picture)), cv2.COLOR_BGR2RGB)
    there = estimator.predict(pixels)
    back = estimator.predict(np.ascontiguousarray(pixels[:, ::-1]))[:, ::-1]
    expected = (there + back) / 2
    stored = cv2.imread(str(tmp_path / "labels" / "a.png"), cv2.IMREAD_UNCHANGED)
    assert stored.shape == expected.shape == (64, 80)
    assert np.abs(stored / 65535 - normalised(expected)).max() <= 1 / 65535
    label = read_label(tmp_path / "labels" / "a.png")
    np.testing.assert_allclose(label.values, expected, atol=np.ptp(expected) / 65535)


def test_without_mirror_it_is_one_look(estimator, photo):
    pixels = photo[:64, :64]
    np.testing.assert_array_equal(
        disparity(estimator, pixels, mirror=False), estimator.predict(pixels)
    )


def test_a_mirrored_picture_has_the_mirrored_label(estimator, photo):
    pixels = photo[:64, :96]
    label = disparity(estimator, pixels)
    other = disparity(estimator, np.ascontiguousarray(pixels[:, ::-1]))
    np.testing.assert_allclose(other[:, ::-1], label, rtol=1e-6, atol=1e-6)


def test_a_label_has_the_aspect_of_its_picture(estimator, photo):
    pixels = photo[:70, :101]  # the network rounds 92 columns to 96
    values = disparity(estimator, pixels, mirror=False)
    assert estimator.predict(pixels).shape == (64, 96)
    assert values.shape == (64, 92)
    np.testing.assert_array_equal(values, to_picture_size(estimator.predict(pixels), (64, 92)))


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(32, 600))
def test_sizes_keep_the_aspect_and_stay_bounded(height, width, shorter):
    rows, columns = label_size((shorter, shorter + 32), (height, width))
    assert max(rows, columns) <= 4 * shorter + 1
    if max(height, width) <= 4 * min(height, width):
        assert min(rows, columns) == shorter
    scale = max(rows, columns) / max(height, width)
    assert abs(rows - height * scale) <= 1 + scale
    assert abs(columns - width * scale) <= 1 + scale


def test_a_metric_teacher_gives_one_over_metres(make_onnx, metric_spec, photo, tmp_path):
    estimator = load(make_onnx(tmp_path / "metric.onnx", metric_spec), threads=1)
    pixels = photo[:64, :64]
    metres = estimator.predict(pixels)
    np.testing.assert_allclose(disparity(estimator, pixels, mirror=False), 1 / metres, rtol=1e-6)


def test_an_answer_that_is_no_number_is_no_label(estimator, photo, monkeypatch):
    bad = np.full((64, 64), np.nan, np.float32)
    monkeypatch.setattr(type(estimator), "predict", lambda *_: bad)
    with pytest.raises(SightlineError, match="gave no finite answer"):
        disparity(estimator, photo[:64, :64])


def test_from_bucket_to_bucket(labeller, save_photos, tmp_path):
    picture = save_photos(1) / "000.png"
    remote.write_bytes("memory://labeller/a.png", picture.read_bytes())
    labeller(Task("memory://labeller/a.png", "memory://labeller-out/deep/a.png"))
    labeller(Task(str(picture), str(tmp_path / "a.png")))
    stored = remote.read_bytes("memory://labeller-out/deep/a.png", limit=1_000_000)
    assert stored == (tmp_path / "a.png").read_bytes()


@pytest.mark.parametrize("where", ["{folder}/bad.jpg", "memory://labeller-bad/bad.jpg"])
def test_a_bad_picture_is_named(labeller, tmp_path, where):
    place = where.format(folder=tmp_path)
    if remote.is_url(place):
        remote.write_bytes(place, b"this is no picture")
    else:
        Path(place).write_text("this is no picture")
    with pytest.raises(InputError, match="is text, not a picture") as caught:
        labeller(Task(place, str(tmp_path / "labels" / "bad.png")))
    assert str(caught.value).startswith(place)
    assert not (tmp_path / "labels").exists()


def test_a_full_disk_ends_the_run(labeller, save_photos, tmp_path, monkeypatch):
    task = Task(str(save_photos(1) / "000.png"), str(tmp_path / "labels" / "a.png"))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(EndOfRun) as caught:
        labeller(task)
    assert "the disk is full; free some space and run again" in str(caught.value.error)
    assert caught.value.error.exit_code == 1
    assert list((tmp_path / "labels").iterdir()) == []


def test_a_name_too_long_is_the_pictures_own_fault(labeller, save_photos, tmp_path):
    task = Task(str(save_photos(1) / "000.png"), str(tmp_path / ("a" * 300 + ".png")))
    with pytest.raises(InputError, match="the name is too long"):
        labeller(task)


def test_other_weights_on_another_machine_end_the_run(conv_onnx, save_photos, tmp_path):
    teacher = Teacher("conv", "0" * 64, 64, mirror=True, kind=Kind.RELATIVE_DISPARITY)
    labeller = Labeller(LabelOptions(), str(conv_onnx), teacher, 1)
    with pytest.raises(EndOfRun) as caught:
        labeller(Task(str(save_photos(1) / "000.png"), str(tmp_path / "a.png")))
    assert "a worker has other weights by this name" in str(caught.value.error)


def test_a_network_that_is_gone_ends_the_run(estimator, save_photos, tmp_path):
    teacher = Teacher("conv", estimator.sha256, 64, mirror=True, kind=Kind.RELATIVE_DISPARITY)
    labeller = Labeller(LabelOptions(), str(tmp_path / "gone.onnx"), teacher, 1)
    with pytest.raises(EndOfRun) as caught:
        labeller(Task(str(save_photos(1) / "000.png"), str(tmp_path / "a.png")))
    assert "no such model file" in str(caught.value.error)
