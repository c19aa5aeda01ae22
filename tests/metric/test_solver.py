import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.metric.evidence import DepthEvidence, LengthEvidence, PlaneEvidence, weighted_median
from sightline.metric.metric_fit import to_meters
from sightline.metric.solver import ScalePrior, fit, span_of
from sightline.types import Camera, DepthMap, Kind

SCALE, SHIFT = 0.4, 0.05
SPAN = np.array([0.1, 1.5])
PRIOR = ScalePrior(1.3, 0.9)


def disparity(depth):
    return (1 / np.asarray(depth, float) - SHIFT) / SCALE


def person(depth, number=0, sigma=0.06, wrong=1.0, focal_power=1.0):
    depths = depth + np.linspace(-0.15, 0.15, 31)
    return DepthEvidence(
        f"person {number}", "person", disparity(depths), depths * wrong, sigma, focal_power
    )


def test_two_exact_depths_give_the_line():
    evidence = [person(2.0, sigma=0.001, focal_power=0), person(9.0, sigma=0.001, focal_power=0)]
    found = fit(evidence, SPAN, PRIOR)
    assert found.scale == pytest.approx(SCALE, rel=5e-3)
    assert found.shift == pytest.approx(SHIFT, abs=2e-3)
    assert found.focal_factor == pytest.approx(1.0)
    assert found.scale_sigma < 0.01 * SCALE


@given(length=st.floats(0.1, 5.0), x=st.floats(0.05, 0.6))
@settings(max_examples=30)
def test_one_length_is_reproduced_whatever_it_is(length, x):
    item = LengthEvidence(
        "desk", np.array([[-x, 0.1], [x, 0.2]]), np.array([0.6, 0.9]), length, 0.01
    )
    found = fit([item], SPAN, PRIOR)
    assert abs(found.evidence[0].off) < 0.02
    assert not found.evidence[0].contradicts


@given(times=st.floats(1e-2, 1e4), x=st.floats(0.05, 0.6))
@settings(max_examples=25, deadline=None)
def test_everything_is_proportional_to_a_length(times, x):
    """From 1 cm to 100 m of a desk of 1 cm: depth, error bars, what is too far, and the same lens."""
    values = np.linspace(-0.2, 1.7, 48).reshape(6, 8)
    relative = DepthMap(values.astype(np.float32), Kind.RELATIVE_DISPARITY)
    camera = Camera.from_focal(10.0, 8, 6)
    made = []
    for length in (0.01, 0.01 * times):
        rays = np.array([[-x, 0.1], [x, 0.2]])
        item = LengthEvidence("desk", rays, np.array([0.6, 0.9]), length, 0.1)
        found = fit([item], SPAN, ScalePrior(1.3, 0.9, 0.3), variants=20)
        made.append(to_meters(relative, found, camera))
    one, other = made
    assert np.array_equal(one.valid, other.valid)
    assert other.values == pytest.approx(times * one.values, rel=0.01)
    assert other.sigma == pytest.approx(times * one.sigma, rel=0.01)
    assert other.camera.focal == pytest.approx(one.camera.focal, rel=0.001)


def test_two_lengths_of_any_size_are_met_alike():
    rays = np.array([[-0.2, 0.1], [0.2, 0.1]])
    far = [
        fit(
            [
                LengthEvidence("near", rays, np.array([1.4, 1.4]), 0.3 * times, 0.05),
                LengthEvidence("far", rays, np.array([0.2, 0.2]), 1.9 * times, 0.05),
            ],
            SPAN,
            ScalePrior(1.3, 0.9, 0.3),
        )
        for times in (1.0, 1e4)
    ]
    assert far[1].logs - far[0].logs == pytest.approx(np.log([1e-4, 1e-4, 1.0]), abs=1e-5)


def test_one_length_says_little_far_from_where_it_was():
    item = LengthEvidence(
        "desk", np.array([[-0.2, 0.1], [0.2, 0.1]]), np.array([1.4, 1.4]), 0.5, 0.01
    )
    sigma = fit([item], SPAN, PRIOR).relative_sigma(np.array([0.1, 1.4]))
    assert sigma[1] < 0.05
    assert sigma[0] > 0.3


def test_the_height_of_the_camera():
    rng = np.random.default_rng(0)
    tilt, height = np.radians(20), 1.5
    normal = np.array([0.0, np.cos(tilt), np.sin(tilt)])
    rays = np.column_stack([rng.uniform((-0.5, 0.1), (0.5, 1.1), (200, 2)), np.ones(200)])
    inverse = rays @ normal / height
    plane = np.linalg.lstsq(rays, (inverse - SHIFT) / SCALE, rcond=None)[0]
    depth = DepthEvidence("point", "point", disparity([4.0]), np.array([4.0]), 0.001)
    found = fit([PlaneEvidence("floor", plane, height, 0.001), depth], SPAN, PRIOR)
    assert found.scale == pytest.approx(SCALE, rel=0.02)
    assert found.shift == pytest.approx(SHIFT, abs=0.01)


def test_a_third_of_the_people_wrong_moves_it_little_and_the_plain_fit_much():
    rng = np.random.default_rng(5)
    depths = rng.uniform(2, 9, 20)
    wrong = np.where(np.arange(20) < 6, 1.4, 1.0)
    evidence = [person(d, k, wrong=w) for k, (d, w) in enumerate(zip(depths, wrong, strict=True))]
    z = np.array([2.0, 4.0, 8.0])
    off = {}
    for robust in (True, False):
        found = fit(evidence, SPAN, PRIOR, robust=robust)
        off[robust] = np.abs(1 / (found.scale * disparity(z) + found.shift) / z - 1).max()
    assert off[True] < 0.03
    assert off[False] > 0.06
    weights = [report.weight for report in fit(evidence, SPAN, PRIOR).evidence]
    assert max(weights[:6]) < 0.3 < min(weights[6:])


def test_more_people_are_surer():
    sigmas = []
    for count in (1, 4, 16):
        rng = np.random.default_rng(count)
        evidence = [
            person(d, k, wrong=w)
            for k, (d, w) in enumerate(
                zip(
                    rng.uniform(2, 9, count), np.exp(0.06 * rng.standard_normal(count)), strict=True
                )
            )
        ]
        sigmas.append(float(fit(evidence, SPAN, PRIOR).relative_sigma(disparity([4.0]))[0]))
    assert sigmas[0] > sigmas[1] > sigmas[2]


@pytest.mark.parametrize("count", [1, 3, 12])
def test_error_bars_hold_what_they_promise(count):
    """The truth lies within 1σ for 60–76 % and within 2σ for 90–98 %."""
    rng = np.random.default_rng(11)
    off = []
    for _ in range(150):
        contrast = rng.normal(1.3, 0.9)
        near = np.exp(rng.normal(-0.5, 0.5))
        far = near * np.exp(-contrast)
        scale = (near - far) / (SPAN[1] - SPAN[0])
        shift = far - scale * SPAN[0]
        common = np.exp(0.03 * rng.standard_normal())
        evidence = []
        for k in range(count):
            place = rng.uniform(*SPAN)
            said = common * np.exp(0.06 * rng.standard_normal()) / (scale * place + shift)
            evidence.append(
                DepthEvidence(f"person {k}", "person", np.array([place]), np.array([said]), 0.06)
            )
        prior = ScalePrior(1.3, 0.9, shared={"person": 0.03})
        found = fit(evidence, SPAN, prior, variants=60)
        d = np.array([0.8])
        truth = -np.log(scale * d + shift)
        said = -np.log(found.scale * d + found.shift)
        off.append(float(((said - truth) / found.relative_sigma(d))[0]))
    z = np.abs(off)
    assert 0.58 <= (z < 1).mean() <= 0.80
    assert 0.89 <= (z < 2).mean() <= 0.99


def test_contradictions_are_said_and_widen_the_bars():
    good = DepthEvidence("point A", "point", disparity([3.0]), np.array([3.0]), 0.01)
    bad = DepthEvidence("point B", "point", disparity([3.1]), np.array([6.0]), 0.01)
    with pytest.raises(InputError, match="point A and point B contradict each other"):
        fit([good, bad], SPAN, PRIOR)
    third = DepthEvidence("point C", "point", disparity([5.0]), np.array([5.0]), 0.01)
    found = fit([good, bad, third], SPAN, PRIOR)
    assert [report.contradicts for report in found.evidence] == [False, True, False]
    alone = fit([good, third], SPAN, PRIOR)
    d = disparity([3.0])
    assert found.relative_sigma(d)[0] > 1.3 * alone.relative_sigma(d)[0]


def test_people_give_way_to_what_is_known():
    point = DepthEvidence("point", "point", disparity([3.0]), np.array([3.0]), 0.02)
    found = fit([person(3.1, wrong=4.0), point], SPAN, PRIOR)
    assert found.evidence[0].contradicts
    assert not found.evidence[1].contradicts
    assert abs(found.evidence[1].off) < 0.02
    assert found.relative_sigma(disparity([3.0]))[0] < 0.5


def test_near_things_stay_nearer_whatever_two_depths_say():
    evidence = [
        DepthEvidence(f"point {z}", "point", disparity([d]), np.array([z]), 0.02)
        for d, z in ((3.0, 3.3), (3.1, 3.0))
    ]
    found = fit(evidence, SPAN, PRIOR)
    assert found.scale > 0
    assert found.relative_sigma(disparity([3.0]))[0] < 0.3


def test_an_unsure_lens_makes_people_unsure_and_points_not():
    lens = ScalePrior(1.3, 0.9, focal_sigma=0.2)
    d = disparity([4.0])
    assert fit([person(4.0)], SPAN, lens).relative_sigma(d)[0] > 0.15
    point = DepthEvidence("point", "point", d, np.array([4.0]), 0.01)
    assert fit([point], SPAN, lens).relative_sigma(d)[0] < 0.03


def test_a_measured_depth_beside_a_person_tells_the_lens():
    point = DepthEvidence("point", "point", disparity([4.0]), np.array([4.0]), 0.005)
    found = fit([person(4.0, wrong=1 / 1.25, sigma=0.02), point], SPAN, ScalePrior(1.3, 0.9, 0.3))
    assert found.focal_factor == pytest.approx(1.25, rel=0.03)
    assert found.scale * disparity([4.0])[0] + found.shift == pytest.approx(0.25, rel=0.01)


def test_pixels_of_a_clue_count_as_much_as_they_weigh():
    d, z = disparity([3.0, 3.0, 3.0, 3.0]), np.array([3.0, 3.0, 6.0, 6.0])
    for weights, depth in (([9, 9, 1, 1], 3.0), ([1, 1, 9, 9], 6.0)):
        item = DepthEvidence("table", "point", d, z, 0.05, weights=np.array(weights, float))
        found = fit([item], SPAN, PRIOR)
        assert 1 / (found.scale * d[0] + found.shift) == pytest.approx(depth, rel=0.01)


@given(values=st.lists(st.floats(-9, 9), min_size=1, max_size=9), repeats=st.integers(1, 4))
def test_a_weighted_median_is_that_of_repeated_values(values, repeats):
    numbers = np.array(values)
    weights = 1 + np.arange(len(numbers)) % repeats
    median = np.median(np.repeat(numbers, weights))
    assert weighted_median(numbers, weights.astype(float)) == pytest.approx(median)


def test_same_seed_same_answer():
    one, two = (fit([person(3.0), person(5.0)], SPAN, PRIOR, seed=4) for _ in range(2))
    assert np.array_equal(one.variants, two.variants)


def test_nothing_known_gives_no_meters():
    with pytest.raises(InputError, match="no evidence of scale"):
        fit([], SPAN, PRIOR)
    with pytest.raises(InputError, match="constant over the image"):
        span_of(np.full((4, 4), 0.3))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LengthEvidence("a", np.zeros((2, 2)), np.ones(2), 1.0, 0.1), "same pixel"),
        (lambda: LengthEvidence("a", np.eye(2), np.ones(2), 0.0, 0.1), "must be positive"),
        (lambda: PlaneEvidence("a", np.ones(3), -1.0, 0.1), "must be positive"),
        (lambda: DepthEvidence("a", "point", np.ones(1), np.array([np.nan]), 0.1), "finite"),
        (lambda: DepthEvidence("a", "point", np.ones(0), np.ones(0), 0.1), "no pixel"),
        (lambda: DepthEvidence("a", "point", np.ones(1), np.ones(1), 0.0), "uncertainty"),
        (
            lambda: DepthEvidence("a", "point", np.ones(1), np.ones(1), 0.1, weights=np.ones(2)),
            "weights",
        ),
    ],
)
def test_clues_that_make_no_sense(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_meters_for_every_pixel():
    depth = np.linspace(2, 9, 48).reshape(6, 8)
    values = disparity(depth).astype(np.float32)
    values[0, 0] = -0.2  # beyond infinity
    relative = DepthMap(values, Kind.RELATIVE_DISPARITY, sigma=np.full((6, 8), 0.02, np.float32))
    found = fit([person(2.5, sigma=0.001), person(8.0, sigma=0.001)], SPAN, PRIOR)
    meters = to_meters(relative, found, Camera.from_focal(10.0, 8, 6))
    assert meters.kind is Kind.METRIC_DEPTH
    assert not meters.valid[0, 0]
    assert meters.values[1:] == pytest.approx(depth[1:], rel=0.02)
    # The relative map's own error grows with the square of the distance.
    assert meters.sigma[5, 7] / meters.sigma[1, 0] == pytest.approx((9 / 3.2) ** 2, rel=0.25)
    with pytest.raises(InputError, match="expected relative disparity"):
        to_meters(meters, found)
    sky = DepthMap(np.full((6, 8), -9.0, np.float32), Kind.RELATIVE_DISPARITY)
    with pytest.raises(InputError, match="no pixel has a finite depth"):
        to_meters(sky, found)
