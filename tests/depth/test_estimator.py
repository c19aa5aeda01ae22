"""From any picture to a depth map of its size, with kind, camera and source."""

from __future__ import annotations

import logging
from dataclasses import replace

import numpy as np
import pytest
import torch

from sightline.depth.estimator import BATCH, DepthEstimator, load
from sightline.depth.preprocessing import network_size, to_input
from sightline.depth.uncertainty import SCALES
from sightline.errors import InputError
from sightline.models.cache import file_sha256
from sightline.models.entry import ModelSpec
from sightline.runtime.openvino import OpenVinoEngine
from sightline.types import Camera, CameraSource, Kind


@pytest.fixture
def estimator(conv_onnx, own_cache) -> DepthEstimator:
    return load(conv_onnx, threads=1)


class Recorded:
    """An engine that notes the shapes it is given."""

    name, device, fixed_hw = "recorded", "here", None

    def __init__(self, inner, answer=None):
        self.inner, self.answer, self.shapes = inner, answer, []

    def run(self, batch):
        self.shapes.append(batch.shape)
        result = self.inner.run(batch)
        return result if self.answer is None else self.answer(result)


def test_map_is_the_network_put_back_to_the_pictures_size(estimator, conv_onnx, conv_spec, photo):
    depth = estimator.infer(photo)
    hw = network_size(*photo.shape[:2], conv_spec)
    raw = OpenVinoEngine(conv_onnx, 1).run(to_input(photo, conv_spec, hw))
    expected = torch.nn.functional.interpolate(
        torch.from_numpy(raw)[None], photo.shape[:2], mode="bilinear", align_corners=True
    )[0, 0]
    np.testing.assert_allclose(depth.values, expected.numpy(), rtol=2e-5, atol=1e-5)
    assert depth.kind is Kind.RELATIVE_DISPARITY
    assert depth.valid.all()
    assert depth.sigma is None
    assert depth.source == f"conv@{file_sha256(conv_onnx)[:12]}"


def test_same_picture_same_bytes(estimator, photo):
    first, second = estimator.infer(photo, sigma=True), estimator.infer(photo, sigma=True)
    assert first.values.tobytes() == second.values.tobytes()
    assert first.sigma.tobytes() == second.sigma.tobytes()


def test_camera_is_the_given_one_or_the_pictures(estimator, photo):
    assert estimator.infer(photo).camera.source is CameraSource.ASSUMED
    given = Camera.from_fov(60, photo.shape[1], photo.shape[0])
    assert estimator.infer(photo, camera=given).camera is given
    for run in (
        estimator.infer,
        lambda image, camera: estimator.infer_batch([image], camera=camera),
    ):
        with pytest.raises(InputError, match="camera is for 10×10"):
            run(photo, camera=Camera.assumed(10, 10))


@pytest.mark.parametrize("shape", [(1, 1), (1, 300), (300, 1), (2, 3), (9, 500)])
def test_extreme_shapes(estimator, shape):
    depth = estimator.infer(np.full((*shape, 3), 90, np.uint8), tiles=True, sigma=True)
    assert depth.values.shape == shape
    assert depth.valid.all()
    assert (depth.sigma > 0).all()


def test_size_changes_the_network_input(conv_onnx, conv_spec, photo):
    engine = Recorded(OpenVinoEngine(conv_onnx, 1))
    DepthEstimator(engine, conv_spec, "conv").infer(photo)
    DepthEstimator(engine, conv_spec, "conv", size=128).infer(photo)
    assert engine.shapes == [(1, 3, 64, 96), (1, 3, 128, 192)]
    for size, words in ((4, "too small"), (0, "too small"), (10**6, "too large")):
        with pytest.raises(InputError, match=words):
            DepthEstimator(engine, conv_spec, "conv", size=size)


def test_batch_equals_one_by_one_and_keeps_the_order(conv_onnx, conv_spec, photo):
    engine = Recorded(OpenVinoEngine(conv_onnx, 1))
    estimator = DepthEstimator(engine, conv_spec, "conv")
    rng = np.random.default_rng(0)
    sizes = [(60, 90), (64, 96), (90, 60), (300, 450), (120, 180), (60, 91), (30, 45), (20, 20)]
    images = [rng.integers(0, 255, (*hw, 3), dtype=np.uint8) for hw in sizes]
    together = estimator.infer_batch(iter(images))
    shapes = engine.shapes
    assert max(shape[0] for shape in shapes) == BATCH
    assert sum(shape[0] for shape in shapes) == len(images)
    assert len({shape[1:] for shape in shapes}) == 3
    for image, one in zip(images, together, strict=True):
        alone = estimator.infer(image)
        assert one.values.shape == image.shape[:2]
        np.testing.assert_allclose(one.values, alone.values, rtol=1e-5, atol=1e-6)
        assert (one.source, one.kind) == (alone.source, alone.kind)
    assert estimator.infer_batch([]) == []


def test_batch_with_sigma_or_tiles(estimator, photo):
    depth = estimator.infer_batch([photo], sigma=True, tiles=True)[0]
    alone = estimator.infer(photo, sigma=True, tiles=True)
    assert np.array_equal(depth.values, alone.values)
    assert np.array_equal(depth.sigma, alone.sigma)


def test_not_a_number_is_not_valid(conv_onnx, conv_spec, photo):
    def spoil(result):
        result = result.copy()
        result[:, :20] = np.nan
        return result

    for tiles, sigma in ((False, False), (True, True)):
        estimator = DepthEstimator(Recorded(OpenVinoEngine(conv_onnx, 1), spoil), conv_spec, "bad")
        depth = estimator.infer(photo, tiles=tiles, sigma=sigma)
        assert not depth.valid[:100].any()
        assert depth.valid[200:].all()
        assert np.isfinite(depth.values).all()
    nothing = Recorded(OpenVinoEngine(conv_onnx, 1), lambda result: result * np.nan)
    depth = DepthEstimator(nothing, conv_spec, "bad").infer(photo, tiles=True, sigma=True)
    assert not depth.valid.any()


def test_metric_network(make_onnx, metric_spec, tmp_path, own_cache, photo):
    path = make_onnx(tmp_path / "metric.onnx", metric_spec)
    depth = load(path, threads=1).infer(photo, tiles=True, sigma=True)
    assert (depth.kind, depth.unit) == (Kind.METRIC_DEPTH, "m")
    assert depth.valid.all()
    assert depth.values.min() > 0
    # Metric error bars grow with distance.
    assert (depth.sigma / depth.values).min() > 0.01


def test_a_curved_output_is_straightened_about_its_zero(conv_onnx, conv_spec, photo):
    def spread(result):
        return result - result.mean() + 3.0

    plain = DepthEstimator(Recorded(OpenVinoEngine(conv_onnx, 1), spread), conv_spec, "conv")
    spec = replace(conv_spec, curve=2.0, zero=3.0)
    bent = DepthEstimator(Recorded(OpenVinoEngine(conv_onnx, 1), spread), spec, "conv")
    above = plain.predict(photo) - 3.0
    assert above.min() < 0 < above.max()
    np.testing.assert_allclose(bent.predict(photo), 3.0 + above * np.abs(above), atol=1e-5)
    one, many = bent.infer(photo), bent.infer_batch([photo])[0]
    np.testing.assert_array_equal(one.values, many.values)
    assert one.values.dtype == np.float32


def test_meters_are_in_proportion_to_the_cameras_focal_length(
    make_onnx, metric_spec, tmp_path, own_cache, photo
):
    plain = load(make_onnx(tmp_path / "plain.onnx", metric_spec), threads=1)
    spec = replace(metric_spec, focal=50.0)
    network = load(make_onnx(tmp_path / "lens.onnx", spec), threads=1)
    height, width = photo.shape[:2]
    seen = network_size(height, width, spec)[1] / width  # of a pixel, as the network sees it
    for focal in (0.5 * width, 2.0 * width):
        camera = Camera.from_focal(focal, width, height)
        ways = {"tiles": {"tiles": True}, "sigma": {"sigma": True}, "plain": {}}
        for name, way in ways.items():
            there, here = plain.infer(photo, **way), network.infer(photo, camera=camera, **way)
            if name == "plain":
                expected = there.values * (focal * seen / 50)
                np.testing.assert_allclose(here.values, expected, rtol=1e-5)
                batch = network.infer_batch([photo], camera=camera)[0]
                np.testing.assert_allclose(batch.values, here.values, rtol=1e-5)
            if name == "sigma":  # the same share of the distance at any focal length
                half = network.infer(
                    photo, camera=Camera.from_focal(focal / 2, width, height), **way
                )
                np.testing.assert_allclose(half.sigma * 2, here.sigma, rtol=1e-4)
            assert here.camera is camera
    assumed = network.infer(photo)
    raw = network.predict(photo)
    np.testing.assert_allclose(network.enlarge(raw, (height, width)), assumed.values, rtol=1e-6)


def test_fixed_size_network(make_onnx, conv_spec, tmp_path, own_cache, photo):
    path = make_onnx(tmp_path / "fixed.onnx", conv_spec, hw=(72, 80))
    depth = load(path, threads=1).infer(photo, sigma=True)
    assert depth.values.shape == photo.shape[:2]
    with pytest.raises(InputError, match="inputs of 80×72 only"):
        load(path, size=128)


def test_sigma_runs_three_more_views_and_says_that_it_is_a_guess(
    conv_onnx, conv_spec, photo, caplog
):
    engine = Recorded(OpenVinoEngine(conv_onnx, 1))
    estimator = DepthEstimator(engine, conv_spec, "conv")
    with caplog.at_level(logging.WARNING):
        depth = estimator.infer(photo, sigma=True)
        estimator.infer(photo, sigma=True)
    assert depth.source == "conv (sigma not calibrated)"
    assert depth.sigma.shape == photo.shape[:2]
    assert len(caplog.records) == 1
    assert len(engine.shapes) == 2 * (2 + len(SCALES))
    assert len(set(engine.shapes)) == 1 + len(SCALES)


def test_tiles_of_a_small_picture_change_nothing(estimator):
    image = np.random.default_rng(0).integers(0, 255, (60, 80, 3), dtype=np.uint8)
    assert np.array_equal(estimator.infer(image, tiles=True).values, estimator.infer(image).values)


def test_load_by_path_without_description(make_onnx, tmp_path, own_cache, photo):
    path = make_onnx(tmp_path / "bare.onnx", None)
    with pytest.raises(InputError, match=r"bare\.onnx: carries no description"):
        load(path)
    spec = ModelSpec("compact", size=32, multiple=8, resize="area")
    assert load(path, spec=spec).infer(photo).values.shape == photo.shape[:2]


def test_load_says_what_is_wrong(tmp_path, own_cache, conv_onnx):
    with pytest.raises(InputError, match="no such"):
        load(tmp_path / "none.onnx")
    with pytest.raises(InputError, match="nosuchmodel"):
        load("nosuchmodel")
    with pytest.raises(InputError, match="cannot run"):
        load(conv_onnx, engine="torch")
    fake = tmp_path / "fake.onnx"
    fake.write_text("<html>not found</html>")
    with pytest.raises(InputError, match="a web page, not a model"):
        load(fake)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"name_or_path": None}, "no model named"),
        ({"name_or_path": ""}, "no model named"),
        ({"size": "a"}, "number of pixels"),
        ({"size": 10**6}, "too large"),
        ({"threads": "a"}, "threads"),
    ],
)
def test_load_refuses_nonsense(own_cache, conv_onnx, options, words):
    with pytest.raises(InputError, match=words):
        load(**{"name_or_path": conv_onnx, **options})


def test_error_bars_at_the_largest_size_stay_within_it(conv_onnx, conv_spec, photo, monkeypatch):
    """One of their views is larger than the estimator's own."""
    for module in ("preprocessing", "estimator"):
        monkeypatch.setattr(f"sightline.depth.{module}.MAX_SIZE", 64)
    engine = Recorded(OpenVinoEngine(conv_onnx, 1))
    DepthEstimator(engine, conv_spec, "conv", size=64).infer(photo, sigma=True)
    assert max(min(shape[2:]) for shape in engine.shapes) == 64


def test_a_model_for_something_else_is_refused_before_it_is_fetched(monkeypatch):
    from sightline.models import download
    from sightline.models.registry import ENTRIES

    def fetched(*_):
        raise AssertionError("nothing is to be fetched")

    monkeypatch.setattr(download, "_fetched", fetched)
    other = next(entry for entry in ENTRIES if entry.purpose != "depth")
    with pytest.raises(InputError, match="not for depth"):
        load(other.name)


def test_embedded_model_orders_a_real_photograph(embedded_estimator):
    """China's temple stands before the sky, and the ground at the bottom is nearest."""
    from sklearn.datasets import load_sample_image

    depth = embedded_estimator.infer(load_sample_image("china.jpg"))
    assert depth.kind is Kind.RELATIVE_DISPARITY
    assert depth.valid.all()
    top, bottom = depth.values[:40].mean(), depth.values[-40:].mean()
    low, high = np.percentile(depth.values, [5, 95])
    assert bottom > top + 0.4 * (high - low)


def test_tiles_do_not_fall_below_what_the_network_says(conv_onnx, conv_spec, photo):
    """Networks without a last activation give negative disparities, too; those must stay."""
    engine = Recorded(OpenVinoEngine(conv_onnx, 1), lambda result: result - 8)
    estimator = DepthEstimator(engine, conv_spec, "linear")
    whole, refined = estimator.infer(photo), estimator.infer(photo, tiles=True)
    assert whole.values.min() < -5
    assert refined.values.min() >= whole.values.min()
    assert refined.values.min() < 0.6 * whole.values.min()


def test_the_embedded_model_runs_in_torch_too(photo):
    # A step between two sides enlarges what little the engines differ by: compare without.
    here = load("default", sharpen=False).infer(photo)
    there = load("default", engine="torch", device="cpu", sharpen=False).infer(photo)
    assert there.source == here.source
    np.testing.assert_allclose(there.values, here.values, atol=2e-3)


def test_the_default_model_has_calibrated_error_bars(photo):
    estimator = load("default")
    assert estimator.calibration is not None
    assert 0.5 < estimator.calibration.inside_1 < 0.85
    depth = estimator.infer(photo, sigma=True)
    assert float(depth.sigma.min()) > 0
    assert "not calibrated" not in depth.source


def test_our_models_draw_outlines_as_steps_unless_told_otherwise(photo):
    sharp, plain = load("default").infer(photo), load("default", sharpen=False).infer(photo)

    def steepest(values):
        inner = values[20:-20, 20:-20]
        return np.quantile(np.abs(np.diff(inner, axis=1)), 0.998) / np.ptp(inner)

    assert steepest(sharp.values) > 2 * steepest(plain.values)
    assert "sharpened" not in sharp.source
    assert plain.source == f"{sharp.source} (not sharpened)"
