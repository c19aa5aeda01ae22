import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.benchmarks import scoring
from sightline.benchmarks.protocol import Protocol, UnfitError
from sightline.benchmarks.scoring import predicted_disparity, score
from sightline.errors import InputError
from sightline.io.rgbd import Truth
from sightline.types import DepthMap, Kind

seeds = st.integers(0, 2**32 - 1)


def truth_of(depth, known=None, **changes):
    depth = np.asarray(depth, np.float32)
    known = np.isfinite(depth) if known is None else known
    disparity = np.where(known, 1 / np.where(known, depth, 1), 0).astype(np.float32)
    pixels = np.zeros((*depth.shape, 3), np.uint8)
    truth = Truth("one", "all", pixels, disparity, known, metric=True, dense=True)
    return dataclasses.replace(truth, **changes)


def scene(seed, shape=(12, 14)):
    return np.random.default_rng(seed).uniform(1, 10, shape)


def relative(values):
    return DepthMap(values, Kind.RELATIVE_DISPARITY)


def meters(values):
    return DepthMap(values, Kind.METRIC_DEPTH)


def perfect(found, *, tolerance=2e-5):
    assert found.abs_rel == pytest.approx(0, abs=tolerance)
    assert found.rmse_log == pytest.approx(0, abs=tolerance)
    assert found.delta1 == 1


@given(st.floats(0.1, 10), st.floats(-5, 5), seeds)
def test_an_affine_copy_of_disparity_is_perfect(scale, shift, seed):
    depth = scene(seed)
    found = score(relative(scale / depth + shift), truth_of(depth), Protocol())
    assert found.spearman == pytest.approx(1, abs=1e-4)
    assert found.abs_rel == pytest.approx(0, abs=1e-3)
    assert found.delta1 == 1
    assert found.boundary_f1 == pytest.approx(1, abs=0.02)


def test_known_errors_give_known_figures():
    truth = np.array([[1.0, 1.0, 0.5, 0.5]])
    prediction = np.array([[1.0, 0.8, 0.5, 0.7]])
    found = score(relative(prediction), truth_of(1 / truth), Protocol())
    slope, intercept = np.polyfit(prediction[0], truth[0], 1)
    aligned = slope * prediction[0] + intercept
    assert found.abs_rel == pytest.approx(np.mean(np.abs(truth[0] / aligned - 1)), rel=1e-5)
    ratio = np.maximum(aligned / truth[0], truth[0] / aligned)
    assert found.delta1 == pytest.approx(np.mean(ratio < 1.25))
    disparity = score(relative(prediction), truth_of(1 / truth), Protocol(space="disparity"))
    assert disparity.abs_rel == pytest.approx(
        np.mean(np.abs(aligned - truth[0]) / truth[0]), rel=1e-5
    )


def test_a_map_turned_around_is_not_turned_back():
    depth = np.linspace(1, 10, 50)[None]
    found = score(relative(-1 / depth), truth_of(depth), Protocol())
    assert found.spearman == pytest.approx(-1)
    assert found.delta1 < 0.5


def test_unknown_pixels_do_not_count():
    depth = np.array([[2.0, 1.0, 5.0, np.nan]])
    found = score(relative(np.array([[0.5, 1.0, 0.2, 77.0]])), truth_of(depth), Protocol())
    assert found.delta1 == 1


@pytest.mark.parametrize("align", ["none", "scale", "median", "depth", "disparity"])
def test_meters_that_are_right_are_right_by_every_protocol(align):
    depth = scene(1)
    perfect(score(meters(depth), truth_of(depth), Protocol(align=align)))


@pytest.mark.parametrize("align", ["scale", "median", "depth", "disparity"])
def test_a_wrong_factor_costs_only_without_alignment(align):
    depth = scene(2)
    perfect(score(meters(1.7 * depth), truth_of(depth), Protocol(align=align)))
    found = score(meters(1.7 * depth), truth_of(depth), Protocol(align="none"))
    assert found.abs_rel == pytest.approx(0.7, abs=1e-5)
    assert found.si_log == pytest.approx(0, abs=1e-3)


def test_an_offset_of_meters_is_forgiven_in_depth_only():
    depth = scene(3)
    perfect(score(meters(depth + 2), truth_of(depth), Protocol(align="depth")))
    for align in ("scale", "median", "disparity", "none"):
        assert score(meters(depth + 2), truth_of(depth), Protocol(align=align)).abs_rel > 0.02


def test_relative_disparity_aligned_in_depth():
    depth = scene(4)
    noise = np.random.default_rng(0).normal(0, 0.02, depth.shape)
    prediction = relative(2 / depth + noise + 1)
    perfect(
        score(relative(2 / depth + 1), truth_of(depth), Protocol(align="depth")), tolerance=1e-3
    )
    in_depth = score(prediction, truth_of(depth), Protocol(align="depth"))
    in_disparity = score(prediction, truth_of(depth), Protocol())
    assert in_depth.rmse < in_disparity.rmse  # that is what it is fitted for
    swapped = Protocol(align="depth", space="disparity")
    assert score(prediction, truth_of(depth), swapped).rmse > (
        score(prediction, truth_of(depth), Protocol(space="disparity")).rmse
    )


def test_in_relative_maps_scale_and_shift_are_of_disparity():
    """As the protocol line says: an affine copy of depth is mended in meters, not in disparity."""
    depth = scene(7)
    way = Protocol(align="depth")
    assert "in relative maps, scale and shift of disparity" in str(way)
    for shift in (0.5, 3):
        perfect(score(relative(2 / depth + shift), truth_of(depth), way), tolerance=1e-3)
        perfect(score(meters(2 * depth + shift), truth_of(depth), way))
        assert score(relative(1 / (2 * depth + shift)), truth_of(depth), way).abs_rel > 1e-3
    found = score(relative(-1 / depth), truth_of(depth), way)
    assert found.delta1 < 0.7  # scale ≥ 0


@pytest.mark.parametrize("align", ["scale", "median", "none"])
def test_relative_disparity_needs_a_shift(align):
    with pytest.raises(UnfitError, match="unknown shift"):
        score(relative(np.ones((3, 3))), truth_of(np.ones((3, 3))), Protocol(align=align))


def test_predictions_are_limited_to_the_cap():
    depth = np.array([[1.0, 2.0, 4.0, 9.0]])
    found = score(
        meters(np.array([[1.0, 2.0, 4.0, 500.0]])), truth_of(depth), Protocol("none", cap=9)
    )
    perfect(found)


def test_pixels_without_an_answer_are_infinitely_far():
    depth = np.array([[1.0, 2.0, 4.0, 10.0]])
    answer = DepthMap(depth, Kind.METRIC_DEPTH, valid=np.array([[True, True, True, False]]))
    assert predicted_disparity(answer).tolist() == [[1.0, 0.5, 0.25, 0.0]]
    found = score(answer, truth_of(depth), Protocol("none", cap=20))
    assert found.delta1 == 0.75
    assert found.abs_rel == pytest.approx(0.25)


def test_a_prediction_of_another_size_is_resized():
    depth = np.tile(np.linspace(1, 5, 33), (17, 1))
    small = relative((1 / depth)[::2, ::2])
    assert score(small, truth_of(depth), Protocol()).abs_rel < 0.01


def test_truth_without_a_unit_has_no_meters_to_be_wrong_by():
    depth = scene(5)
    found = score(relative(1 / depth), truth_of(depth, metric=False), Protocol())
    assert np.isnan(found.rmse)
    assert found.abs_rel == pytest.approx(0, abs=1e-4)


def test_edges_are_judged_on_dense_truth_only():
    depth = scene(6)
    assert np.isnan(
        score(relative(1 / depth), truth_of(depth, dense=False), Protocol()).boundary_f1
    )
    assert np.isnan(score(relative(1 / depth), truth_of(depth), Protocol(), edges=False).wide_f1)


def test_nothing_known_is_an_error_that_names_the_picture():
    with pytest.raises(InputError, match="one: no pixel of known depth"):
        score(relative(np.ones((2, 2))), truth_of(np.full((2, 2), np.nan)), Protocol())


def _least_line(x, y):
    """Scale ≥ 0 and shift of the least Σ |s·x + b − y| / y, as a linear program."""
    from scipy.optimize import linprog

    n = len(x)
    design = np.column_stack([x, np.ones(n)]) / y[:, None]
    upper = np.block([[design, -np.eye(n)], [-design, -np.eye(n)]])
    cost = np.r_[0, 0, np.ones(n)]
    bounds = [(0, None), (None, None), *[(0, None)] * n]
    return linprog(cost, upper, np.r_[np.ones(n), -np.ones(n)], bounds=bounds).fun


def test_the_robust_line_is_that_of_a_linear_program(rng):
    x = rng.uniform(1, 5, 120)
    y = 2 * x + 1 + rng.normal(0, 0.3, 120)
    y[:25] *= 3
    scale, shift = scoring.least_relative_line(x, y)
    loss = np.sum(np.abs(scale * x + shift - y) / y)
    assert loss == pytest.approx(_least_line(x, y), rel=1e-3)


def test_the_robust_scale_is_the_best_of_many(rng):
    z = rng.uniform(1, 5, 200)
    t = 3 * z * np.exp(rng.normal(0, 0.4, 200))
    scale = scoring.weighted_median(t / z, z / t)
    loss = [np.sum(np.abs(s * z - t) / t) for s in (scale, *np.linspace(0.5, 6, 400))]
    assert loss[0] == min(loss)


@pytest.mark.parametrize("align", ["log", "moge-affine"])
def test_new_alignments_forgive_scale_and_shift_of_relative_maps(align, rng):
    target = rng.uniform(0.1, 1, (8, 9))
    known = np.ones(target.shape, np.bool_)
    found = scoring.to_truth(
        (target - 0.05) / 3, target, known, Protocol(align), Kind.RELATIVE_DISPARITY
    )
    np.testing.assert_allclose(found, target, rtol=1e-3)


@pytest.mark.parametrize("align", ["log", "moge-scale", "moge-affine", "median"])
def test_new_alignments_forgive_the_scale_of_depth(align, rng):
    target = rng.uniform(0.1, 1, (8, 9))
    known = np.ones(target.shape, np.bool_)
    found = scoring.to_truth(target * 4, target, known, Protocol(align), Kind.METRIC_DEPTH)
    np.testing.assert_allclose(found, target, rtol=1e-3)
