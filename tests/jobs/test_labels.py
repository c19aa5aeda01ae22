"""One picture to one label."""

from __future__ import annotations

import errno
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.depth.config import LabelConfig
from sightline.depth.estimator import load
from sightline.depth.labels import Teacher, label_size, predict_disparity, read_label
from sightline.depth.preprocessing import to_picture_size
from sightline.errors import InputError, SightlineError
from sightline.io import paths
from sightline.io.atomic import write_bytes
from sightline.io.reading import read_bytes
from sightline.jobs.labels import LabelTask
from sightline.jobs.naming import BatchJob
from sightline.runtime.parallel import AbortMap
from sightline.types import Kind


@pytest.fixture(scope="module")
def estimator(conv_onnx):
    return load(conv_onnx, threads=1)


class Labeler:
    """Label one image per call, without a runner."""

    def __init__(self, model, teacher):
        self.task = LabelTask(LabelConfig())
        self.task._model, self.task._teacher = str(model), teacher

    def __call__(self, picture, label):
        self.task.open(1)
        job = BatchJob(
            paths.to_path(str(picture)), False, "a", (("png", paths.to_path(str(label))),)
        )
        data = self.task.read(job)
        self.task.write(job, data, self.task.compute(job, data))


@pytest.fixture
def labeler(conv_onnx, estimator) -> Labeler:
    teacher = Teacher("conv", estimator.sha256, 64, mirror=True, kind=Kind.RELATIVE_DISPARITY)
    return Labeler(conv_onnx, teacher)


def normalized(values):
    return (values - values.min()) / (values.max() - values.min())


def test_a_label_is_what_the_estimator_says(estimator, labeler, save_photos, tmp_path):
    picture = save_photos(1) / "000.png"
    labeler(str(picture), str(tmp_path / "labels" / "a.png"))
    pixels = cv2.cvtColor(cv2.imread(str(picture)), cv2.COLOR_BGR2RGB)
    there = estimator.predict(pixels)
    back = estimator.predict(np.ascontiguousarray(pixels[:, ::-1]))[:, ::-1]
    expected = (there + back) / 2
    stored = cv2.imread(str(tmp_path / "labels" / "a.png"), cv2.IMREAD_UNCHANGED)
    assert stored.shape == expected.shape == (64, 80)
    assert np.abs(stored / 65535 - normalized(expected)).max() <= 1 / 65535
    label = read_label(tmp_path / "labels" / "a.png")
    np.testing.assert_allclose(label.values, expected, atol=np.ptp(expected) / 65535)


def test_without_mirror_it_is_one_look(estimator, photo):
    pixels = photo[:64, :64]
    np.testing.assert_array_equal(
        predict_disparity(estimator, pixels, mirror=False), estimator.predict(pixels)
    )


def test_a_mirrored_picture_has_the_mirrored_label(estimator, photo):
    pixels = photo[:64, :96]
    label = predict_disparity(estimator, pixels)
    other = predict_disparity(estimator, np.ascontiguousarray(pixels[:, ::-1]))
    np.testing.assert_allclose(other[:, ::-1], label, rtol=1e-6, atol=1e-6)


def test_a_label_has_the_aspect_of_its_picture(estimator, photo):
    pixels = photo[:70, :101]  # the network rounds 92 columns to 96
    values = predict_disparity(estimator, pixels, mirror=False)
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


def test_a_metric_teacher_gives_one_over_meters(make_onnx, metric_spec, photo, tmp_path):
    estimator = load(make_onnx(tmp_path / "metric.onnx", metric_spec), threads=1)
    pixels = photo[:64, :64]
    meters = estimator.predict(pixels)
    np.testing.assert_allclose(
        predict_disparity(estimator, pixels, mirror=False), 1 / meters, rtol=1e-6
    )


def test_an_answer_that_is_no_number_is_no_label(estimator, photo, monkeypatch):
    bad = np.full((64, 64), np.nan, np.float32)
    monkeypatch.setattr(type(estimator), "predict", lambda *_: bad)
    with pytest.raises(SightlineError, match="predicted values that are not finite"):
        predict_disparity(estimator, photo[:64, :64])


def test_from_bucket_to_bucket(labeler, save_photos, tmp_path):
    picture = save_photos(1) / "000.png"
    write_bytes("memory://labeler/a.png", picture.read_bytes())
    labeler("memory://labeler/a.png", "memory://labeler-out/deep/a.png")
    labeler(str(picture), str(tmp_path / "a.png"))
    stored = read_bytes("memory://labeler-out/deep/a.png", limit=1_000_000)
    assert stored == (tmp_path / "a.png").read_bytes()


@pytest.mark.parametrize("where", ["{folder}/bad.jpg", "memory://labeler-bad/bad.jpg"])
def test_a_bad_picture_is_named(labeler, tmp_path, where):
    place = where.format(folder=tmp_path)
    if paths.is_url(place):
        write_bytes(place, b"this is no picture")
    else:
        Path(place).write_text("this is no picture")
    with pytest.raises(InputError, match="is text, not a picture") as caught:
        labeler(place, str(tmp_path / "labels" / "bad.png"))
    assert str(caught.value).startswith(place)
    assert not (tmp_path / "labels").exists()


def test_a_full_disk_ends_the_run(labeler, save_photos, tmp_path, monkeypatch):
    places = (str(save_photos(1) / "000.png"), str(tmp_path / "labels" / "a.png"))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full)
    with pytest.raises(AbortMap) as caught:
        labeler(*places)
    assert "the disk is full; free some space and run again" in str(caught.value.error)
    assert caught.value.error.exit_code == 1
    assert list((tmp_path / "labels").iterdir()) == []


def test_a_name_too_long_is_the_pictures_own_fault(labeler, save_photos, tmp_path):
    places = (str(save_photos(1) / "000.png"), str(tmp_path / ("a" * 300 + ".png")))
    with pytest.raises(InputError, match="the name is too long"):
        labeler(*places)


def test_other_weights_on_another_machine_end_the_run(conv_onnx, save_photos, tmp_path):
    teacher = Teacher("conv", "0" * 64, 64, mirror=True, kind=Kind.RELATIVE_DISPARITY)
    labeler = Labeler(conv_onnx, teacher)
    with pytest.raises(AbortMap) as caught:
        labeler(str(save_photos(1) / "000.png"), str(tmp_path / "a.png"))
    assert "a worker has other weights by this name" in str(caught.value.error)


def test_a_network_that_is_gone_ends_the_run(estimator, save_photos, tmp_path):
    teacher = Teacher("conv", estimator.sha256, 64, mirror=True, kind=Kind.RELATIVE_DISPARITY)
    labeler = Labeler(tmp_path / "gone.onnx", teacher)
    with pytest.raises(AbortMap) as caught:
        labeler(str(save_photos(1) / "000.png"), str(tmp_path / "a.png"))
    assert "no such model file" in str(caught.value.error)
