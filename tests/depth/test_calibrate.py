"""The calibration run, on a small folder in the format of the validation pictures."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from calibrate import calibrate_model, main, measure, pool
from sightline.depth.estimator import DepthEstimator
from sightline.depth.uncertainty import stored_calibration
from sightline.errors import InputError
from sightline.io.rgbd import read_rgbd
from sightline.models.entry import ModelSpec
from sightline.types import Kind

SPEC = ModelSpec("compact", size=64, multiple=8, resize="area", mean=(0, 0, 0), std=(1, 1, 1))


class Brightness:
    """Takes bright for near: right but for the noise that the pictures were made with."""

    name, device, fixed_hw = "brightness", "here", None

    def run(self, batch):
        return batch.mean(axis=1) * 4 + 1


def write_sample(folder, name, rng, *, noise, meters):
    """Truth is a smooth disparity; the picture shows it with a smooth error of known size."""
    y, x = np.mgrid[0:64, 0:96] / 64
    waves = rng.normal(size=(3, 3))
    truth = 0.5 + 0.1 * sum(
        waves[i, j] * np.cos(2 * i * y + 2 * j * x) for i in range(3) for j in range(3)
    )
    truth = np.clip(truth, 0.05, 0.95)
    shown = np.clip(truth + rng.normal(0, noise, truth.shape), 0, 1)
    (folder / name).mkdir()
    gray = np.repeat((shown * 255).astype(np.uint8)[..., None], 3, axis=-1)
    Image.fromarray(gray).save(folder / name / "image.jpg", quality=95)
    known = rng.random(truth.shape) < 0.7
    if meters:
        np.savez(folder / name / "truth.npz", depth=np.where(known, 2 / truth, np.nan).astype("f4"))
    else:
        disparity = np.where(known, 30 * truth + 7, np.nan).astype("f4")
        np.savez(folder / name / "truth.npz", disparity=disparity)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("rgbd")
    rng = np.random.default_rng(3)
    index = []
    for number in range(16):
        name, group = f"s{number:02d}", "kitchen" if number < 10 else f"set{number % 3}"
        write_sample(folder, name, rng, noise=0.02, meters=number % 2 == 0)
        index.append({"sample": name, "set": group, "kind": "dense"})
    (folder / "index.json").write_text(json.dumps(index))
    return folder


@pytest.fixture
def estimator():
    return DepthEstimator(Brightness(), SPEC, "brightness", sha256="ab" * 32)


def test_measured_error_is_the_noise_that_was_put_in(folder, estimator):
    for truth in itertools.islice(read_rgbd(folder), 2):
        sample = measure(estimator, truth)
        assert 2000 < len(sample.error) <= 4000
        assert sample.doubt.shape == sample.error.shape
        assert abs(float(np.median(sample.error))) < 0.02
        again = measure(estimator, truth)
        assert np.array_equal(sample.error, again.error)


def test_calibrated_error_bars_hold_on_the_other_half(folder, estimator):
    made = calibrate_model(estimator, folder)
    assert made.weights == "ab" * 6
    assert made.inside_1 == pytest.approx(0.683, abs=0.06)
    assert made.inside_2 == pytest.approx(0.954, abs=0.04)
    assert "tested on" in made.protocol
    assert calibrate_model(estimator, folder) == made


def test_only_some_sets_are_used_when_named(folder, estimator):
    made = calibrate_model(estimator, folder, ["kitchen"])
    assert made.protocol.startswith("fitted on 10 pictures from 1 sets")
    with pytest.raises(InputError, match="has no set called bathroom"):
        calibrate_model(estimator, folder, ["kitchen", "bathroom"])


def test_every_set_counts_the_same(folder, estimator):
    truths = list(itertools.islice(read_rgbd(folder), 4))
    samples = [measure(estimator, truth) for truth in truths[:3]]
    samples.append(measure(estimator, replace(truths[3], group="other")))
    weights = pool(samples)[2]
    assert weights[-len(samples[-1].doubt) :].sum() == pytest.approx(weights.sum() / 2)


def test_a_metric_model_is_compared_in_meters_and_needs_them(folder):
    spec = replace(SPEC, kind=Kind.METRIC_DEPTH, max_depth=80.0)

    class Meters(Brightness):
        def run(self, batch):
            return 2 / np.maximum(batch.mean(axis=1), 0.02)

    metric = DepthEstimator(Meters(), spec, "meters", sha256="cd" * 32)
    in_meters, without = itertools.islice(read_rgbd(folder), 2)
    assert abs(float(np.median(measure(metric, in_meters).error))) < 0.03
    assert measure(metric, without) is None


def test_unusable_folders(tmp_path, estimator):
    with pytest.raises(InputError, match="no such file"):
        calibrate_model(estimator, tmp_path)
    (tmp_path / "index.json").write_text('["s00"]')
    with pytest.raises(InputError, match="not a list of samples"):
        calibrate_model(estimator, tmp_path)
    (tmp_path / "index.json").write_text("[]")
    with pytest.raises(InputError, match="too few"):
        calibrate_model(estimator, tmp_path)


def test_command_line(folder, conv_onnx, own_cache, tmp_path, capsys):
    arguments = ["--model", str(conv_onnx), "--data", str(folder), "--out", str(tmp_path)]
    assert main([*arguments, "--threads", "1"]) == 0
    assert "inside one sigma" in capsys.readouterr().out
    from sightline.depth.estimator import load

    sha256 = load(conv_onnx).sha256
    assert stored_calibration("conv", sha256, tmp_path).inside_1 is not None
    assert main(["--model", str(conv_onnx), "--data", str(tmp_path)]) == 2
    assert "index.json" in capsys.readouterr().err
