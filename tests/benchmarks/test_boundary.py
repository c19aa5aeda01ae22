import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.benchmarks.metrics import THRESHOLDS, boundary_f1, wide_span

seeds = st.integers(0, 2**32 - 1)


def blocks(seed=0, height=48, width=64):
    """A background at 4 m with rectangles in front of it."""
    rng = np.random.default_rng(seed)
    depth = np.full((height, width), 4.0)
    for _ in range(4):
        y, x = rng.integers(0, height - 12), rng.integers(0, width - 12)
        h, w = rng.integers(4, 12, 2)
        depth[y : y + h, x : x + w] = rng.uniform(1, 3.9)
    return depth


def all_of(depth):
    return np.ones(depth.shape, bool)


def by_hand(prediction, truth, known, span=1):
    """The measure pair by pair, as the text defines it."""
    scores, weights = [], []
    height, width = truth.shape
    for t in THRESHOLDS:
        predicted = true = both = 0
        for y in range(height):
            for x in range(width):
                for dy, dx in ((span, 0), (-span, 0), (0, span), (0, -span)):
                    v, u = y + dy, x + dx
                    if not (0 <= v < height and 0 <= u < width and known[y, x] and known[v, u]):
                        continue
                    a = prediction[v, u] / prediction[y, x] > t
                    b = truth[v, u] / truth[y, x] > t
                    predicted, true, both = predicted + a, true + b, both + (a and b)
        if predicted + true:
            precision = both / max(predicted, 1)
            recall = both / max(true, 1)
            scores.append(2 * precision * recall / (precision + recall) if both else 0.0)
            weights.append(t)
    return np.average(scores, weights=weights)


@given(seeds, st.integers(1, 3))
def test_the_truth_scores_one_whatever_its_scale(seed, span):
    truth = blocks(seed)
    assert boundary_f1(truth, truth, all_of(truth), span) == 1
    assert boundary_f1(3.7 * truth, truth, all_of(truth), span) == pytest.approx(1)
    assert boundary_f1(1 / truth, 1 / truth, all_of(truth), span) == pytest.approx(1)


@pytest.mark.parametrize("span", [1, 3])
def test_it_is_what_the_definition_says(span):
    rng = np.random.default_rng(5)
    truth = blocks(1, 16, 20)
    prediction = np.roll(blocks(1, 16, 20), 1, 0) * rng.uniform(0.97, 1.03, truth.shape)
    known = rng.random(truth.shape) > 0.1
    expected = by_hand(prediction, truth, known, span)
    assert 0 < expected < 1
    assert boundary_f1(prediction, truth, known, span) == pytest.approx(expected)


def test_blur_costs_and_more_blur_costs_more():
    truth = blocks(2)
    scores = [
        boundary_f1(cv2.GaussianBlur(truth, (0, 0), s), truth, all_of(truth)) for s in (1, 2, 4)
    ]
    assert 1 > scores[0] > scores[1] > scores[2]


def test_a_wide_span_forgives_a_ramp_but_not_a_missing_edge():
    truth = blocks(3)
    soft = cv2.GaussianBlur(truth, (0, 0), 2)
    assert boundary_f1(soft, truth, all_of(truth), 5) > 2 * boundary_f1(soft, truth, all_of(truth))
    flat = np.ones_like(truth)
    assert boundary_f1(flat, truth, all_of(truth), 5) == 0


def test_the_wrong_side_in_front_is_wrong():
    truth = np.ones((4, 8))
    truth[:, 4:] = 2.0
    assert boundary_f1(1 / truth, truth, all_of(truth)) == 0


def test_no_contour_in_either_says_nothing():
    flat = np.full((5, 5), 2.0)
    assert np.isnan(boundary_f1(flat, flat, all_of(flat)))


def test_invented_edges_score_zero():
    truth = np.full((4, 8), 2.0)
    prediction = truth.copy()
    prediction[:, 4:] = 4.0
    assert boundary_f1(prediction, truth, all_of(truth)) == 0


def test_holes_claim_nothing():
    truth = blocks(4)
    known = all_of(truth)
    known[:, 20:30] = False
    wild = truth.copy()
    wild[:, 20:30] = np.random.default_rng(0).uniform(0.1, 9, (48, 10))
    assert boundary_f1(wild, truth, known) == 1
    empty = np.where(known, truth, np.nan)
    assert boundary_f1(truth, empty, known) == 1


def test_the_wide_span_follows_the_picture():
    assert wide_span(480, 640) == 5
    assert wide_span(40, 40) == 2
    assert wide_span(4032, 6048) == 40
