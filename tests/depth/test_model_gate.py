"""The model gate finds faults that are put in, and nothing where there are none."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from sightline.depth.checkpoints import load_network
from sightline.depth.estimator import DepthEstimator, load
from sightline.depth.model_gate import (
    LIMITS,
    Faults,
    edge_jump,
    has_no_ramp,
    measure,
    mirror_error,
    neighboring_maps,
    ramp_correlation,
    run_of,
    shift_error,
)
from sightline.examples import example_person, example_photograph
from sightline.io.images import read_picture
from sightline.models.download import resolve
from sightline.runtime.torch_engine import TorchEngine

PATCH = 14


def brightness(pixels, rows, columns):
    """A perfect network for a world in which bright is near."""
    gray = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32) / 255
    soft = cv2.GaussianBlur(gray, (0, 0), min(gray.shape) / 20)
    return cv2.resize(soft, (columns * PATCH, rows * PATCH), interpolation=cv2.INTER_LINEAR)


def striped(pixels, rows, columns):
    """The same with the fault of the first models: a stripe on the right of odd grids."""
    values = brightness(pixels, rows, columns)
    if columns % 2:
        values[:, -20:] += 0.3 * np.ptp(values) * np.linspace(0, 1, 20, dtype=np.float32)
    return values


def ramped(pixels, rows, columns):
    """The lower the nearer, whatever there is to see."""
    below = np.linspace(0, 1, rows * PATCH, dtype=np.float32)[:, None]
    return 0.2 * brightness(pixels, rows, columns) + below


def edge_jumps(run, pixels, sides):
    return [edge_jump(one, other) for one, other in neighboring_maps(run, pixels, sides)]


@pytest.fixture(scope="module")
def photograph():
    return read_picture(example_photograph()).pixels


def test_a_good_network_passes(photograph):
    found = measure(brightness, [photograph], [photograph], sides=(10, 11, 16, 17, 18))
    assert found.exceeding(LIMITS) == []
    assert found.edge_jump < 0.02
    assert found.mirror < 1e-3


def test_a_stripe_is_found_on_the_side_it_is_on(photograph):
    jumps = edge_jumps(striped, photograph, (16, 17, 18))
    assert min(jumps[:2]) > 0.15  # 16 to 17 and 17 to 18 columns
    assert max(jumps[2:]) < 0.02  # rows
    assert mirror_error(lambda p, *grid: striped(p, grid[0], 17), photograph) > 0.01


def test_an_edge_jump_is_a_share_of_the_range():
    values = np.tile(np.linspace(0, 1, 200, dtype=np.float32), (150, 1))
    other = values.copy()
    other[:, :5] += 0.5
    assert edge_jump(values, other) == pytest.approx(0.5 / 0.96, rel=0.02)
    assert edge_jump(10 * values + 3, 10 * other + 3) == pytest.approx(0.5 / 0.96, rel=0.02)
    assert edge_jump(values * 0, other) == 0


def test_a_broad_difference_is_no_edge_jump_but_counts_as_a_difference_of_grids(photograph):
    def one_sided(pixels, rows, columns):
        """A ramp; odd grids estimate the right half of the picture nearer, smoothly."""
        below = np.linspace(0, 1, rows * PATCH, dtype=np.float32)[:, None]
        x = np.linspace(0, 1, columns * PATCH, dtype=np.float32)
        return below + (columns % 2) * 0.3 / (1 + np.exp(-(x - 0.5) * 30))

    found = measure(one_sided, [photograph], sides=(26, 27, 28))
    assert found.edge_jump <= LIMITS.edge_jump
    assert found.grid > LIMITS.grid


def test_a_ramp_is_told_from_a_flat_map_and_from_other_slopes():
    down, across = np.mgrid[0:1:50j, 0:1:80j].astype(np.float32)
    assert ramp_correlation(down) == pytest.approx(1)
    assert ramp_correlation(1 - down) == pytest.approx(1)
    assert ramp_correlation(across) == pytest.approx(0, abs=1e-6)
    assert 0.6 < ramp_correlation(down + across) < 0.8
    assert ramp_correlation(1 + 0.01 * down) == 0  # nobody sees that


def test_pictures_with_a_true_ramp_are_recognized():
    down, across = np.mgrid[0:1:50j, 0:1:80j].astype(np.float32)
    assert has_no_ramp(across)
    assert has_no_ramp(0 * down)  # sky
    assert has_no_ramp(5 + 0.01 * down)  # a wall from the front
    assert not has_no_ramp(down)


def test_a_shifted_picture_gives_the_shifted_map(photograph):
    def moved(pixels, rows, columns):
        return np.roll(brightness(pixels, rows, columns), int(pixels[0, 0, 0]) % 2 * 10, axis=1)

    assert shift_error(brightness, photograph) < 0.02
    # A network whose map depends on where patches begin.
    marked = photograph.copy()
    marked[0, 0, 0], marked[11, 11, 0] = 0, 1
    assert shift_error(moved, marked) > shift_error(brightness, photograph)


def test_what_exceeds_its_limit_is_said():
    found = Faults(edge_jump=0.3, grid=0.0, mirror=0.0, shift=0.0, ramp=float("nan"))
    assert found.exceeding(LIMITS) == ["edge_jump is 0.300, at most 0.05 passes"]
    assert len(Faults(1, 1, 1, 1, 1).exceeding(LIMITS)) == 5


def test_the_shipped_model_passes_on_some_grids(photograph):
    """Three pairs of grids, as columns and as rows; `make slow` checks all of them."""
    run = run_of(load("small", threads=1))
    pictures = [photograph, read_picture(example_person()).pixels]
    for sides in ((15, 16, 17), (26, 27)):
        assert measure(run, pictures, sides=sides).exceeding(LIMITS) == []


def test_the_gate_finds_the_stripe_of_the_same_weights_without_the_replicated_edge():
    small = load("small", threads=1)
    spec = replace(small.spec, replicate_edge=False)
    striped_network = load_network(resolve("small").path, spec)
    person = read_picture(example_person()).pixels
    run = run_of(DepthEstimator(TorchEngine(striped_network, "cpu"), spec, "striped"))
    assert edge_jump(run(person, 18, 16), run(person, 18, 17)) > 3 * LIMITS.edge_jump


@pytest.mark.slow
def test_the_shipped_model_passes_on_all_grids(photograph):
    found = measure(
        run_of(load("small", threads=1)), [photograph, read_picture(example_person()).pixels]
    )
    assert found.exceeding(LIMITS) == []
