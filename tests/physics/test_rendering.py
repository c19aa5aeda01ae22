"""Pictures of bodies against a plain NumPy implementation of the same formula."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.physics.rendering import HOLE, Canvas, render, render_samples
from sightline.physics.types import BLUE, RED, Motion, Samples, Shape


def motion_of(places, sizes, shapes=None, colors=None):
    """A motion from (T, N, 2) places; red, blue, green bodies."""
    positions = np.asarray(places, np.float64)
    bodies = positions.shape[1]
    palette = np.array([RED, BLUE, (30, 200, 90)], np.uint8)
    return Motion(
        positions,
        np.zeros_like(positions),
        np.asarray(sizes, np.float64),
        palette[:bodies] if colors is None else np.asarray(colors, np.uint8),
        np.zeros(bodies, np.uint8) if shapes is None else np.asarray(shapes, np.uint8),
    )


def opacity(square, r):
    return np.clip((r**2 - square) / (0.03 * r**2), 0, 1)


def by_the_formula(motion, size):
    """The whole picture for every body, in floating point, cut to whole numbers once at the end."""
    x, y = np.meshgrid(np.linspace(0, 1, size), np.linspace(0, 1, size))
    frames = np.full((len(motion.positions), size, size, 3), 255.0)
    for body, shape in enumerate(motion.shapes):
        right = x - motion.positions[:, body, 0, None, None] / 10
        up = y - motion.positions[:, body, 1, None, None] / 10
        r = motion.sizes[body] / 10
        square = np.maximum(right**2, up**2) if shape == Shape.SQUARE else right**2 + up**2
        alpha = opacity(square, r)
        if shape == Shape.RING:
            alpha = alpha * (1 - opacity(square, HOLE * r))
        alpha = alpha[..., None]
        frames = (1 - alpha) * frames + alpha * motion.colors[body]
    return frames.astype(np.uint8)[:, ::-1]


def difference(a, b):
    return np.abs(a.astype(int) - b.astype(int))


coordinates = st.floats(-4, 14)
radii = st.floats(0.05, 3)
shapes = st.sampled_from(list(Shape))


@given(coordinates, coordinates, radii, shapes, st.integers(16, 200))
def test_one_body_is_the_formula_to_the_byte_wherever_it_is(x, y, r, shape, size):
    motion = motion_of([[[x, y]]], [r], [shape])
    # Only the order of two multiplications (0.03 · r · r) may differ, in the last place.
    assert difference(render(motion, size), by_the_formula(motion, size)).max() <= 1


@given(
    st.lists(st.tuples(coordinates, coordinates, radii, shapes), min_size=1, max_size=3),
    st.sampled_from([16, 64, 128]),
)
def test_bodies_over_each_other_within_one_level_each(bodies, size):
    motion = motion_of([[b[:2] for b in bodies]], [b[2] for b in bodies], [b[3] for b in bodies])
    found = difference(render(motion, size), by_the_formula(motion, size)).max()
    assert found <= max(1, len(bodies) - 1)


@pytest.mark.parametrize("size", [16, 127, 128, 256, 1024])
def test_collisions_at_many_sizes(size, rng):
    places = rng.uniform(0, 10, (4, 2, 2))
    motion = motion_of(places, rng.uniform(0.3, 2.0, 2))
    assert difference(render(motion, size), by_the_formula(motion, size)).max() <= 1


def test_bytes_of_single_discs_are_the_references(rng):
    """No soft edge meets another, so that nothing is cut twice: the same bytes."""
    for _ in range(40):
        motion = motion_of(rng.uniform(0, 10, (3, 1, 2)), rng.uniform(0.3, 2, 1))
        np.testing.assert_array_equal(render(motion), by_the_formula(motion, 128))


def test_up_is_up_and_colors_are_rgb():
    frame = render(motion_of([[[2.0, 9.0], [8.0, 1.0]]], [0.8, 0.8]), 64)[0]
    assert frame[6, 13].tolist() == list(RED)
    assert frame[57, 50].tolist() == list(BLUE)
    assert frame[32, 32].tolist() == [255, 255, 255]


def test_later_bodies_cover_earlier_ones():
    frame = render(motion_of([[[5.0, 5.0], [5.2, 5.0]]], [1.0, 1.0]), 64)[0]
    assert frame[32, 32].tolist() == list(BLUE)


def test_a_ring_has_a_hole_and_a_square_has_corners():
    ring = render(motion_of([[[5.0, 5.0]]], [3.0], [Shape.RING]), 129)[0]
    assert ring[64, 64].tolist() == [255, 255, 255]
    assert ring[64, 64 + round(0.75 * 3 * 12.8)].tolist() == list(RED)
    square = render(motion_of([[[5.0, 5.0]]], [3.0], [Shape.SQUARE]), 129)[0]
    assert square[64 - 37, 64 + 37].tolist() == list(RED)


@pytest.mark.parametrize("place", [(-50, 5), (5, 1e12), (-1e300, 1e-300), (10.9, 10.9)])
def test_what_is_outside_leaves_a_white_picture(place):
    assert render(motion_of([[place]], [0.9]), 32).min() == 255


@given(st.lists(st.tuples(coordinates, coordinates, radii, shapes), min_size=2, max_size=6))
def test_a_canvas_forgets_what_was_painted(bodies):
    canvas = Canvas(48, 1)
    for x, y, r, shape in bodies:
        motion = motion_of([[[x, y]]], [r], [shape])
        np.testing.assert_array_equal(canvas.paint(motion), render(motion, 48))


def test_a_canvas_takes_another_number_of_bodies():
    canvas = Canvas(32, 1)
    for count in (2, 1, 3, 0, 1):
        motion = motion_of(np.full((1, count, 2), 5.0), np.full(count, 1.0))
        np.testing.assert_array_equal(canvas.paint(motion), render(motion, 32))


def test_samples_one_by_one_or_together(rng):
    places = rng.uniform(0, 10, (5, 7, 2, 2))
    sizes = rng.uniform(0.5, 1.5, (5, 2))
    colors = np.tile(np.array([RED, BLUE], np.uint8), (5, 1, 1))
    shapes = rng.integers(0, 3, (5, 2)).astype(np.uint8)
    samples = Samples("test", sizes, places, places * 0, sizes, colors, shapes)
    together = render_samples(samples, 40)
    assert together.shape == (5, 7, 40, 40, 3)
    for index, video in enumerate(together):
        np.testing.assert_array_equal(video, render(samples[index], 40))
    used = rng.integers(0, 256, together.shape).astype(np.uint8)
    assert render_samples(samples, 40, out=used) is used
    np.testing.assert_array_equal(used, together)
    with pytest.raises(InputError, match="expected contiguous uint8"):
        render_samples(samples, 40, out=used[:4])


@pytest.mark.parametrize(
    ("motion", "size", "message"),
    [
        (motion_of([[[np.nan, 5]]], [1]), 32, "not finite"),
        (motion_of([[[np.inf, 5]]], [1]), 32, "not finite"),
        (motion_of([[[5, 5]]], [0]), 32, "not positive"),
        (motion_of([[[5, 5]]], [np.nan]), 32, "not positive"),
        (motion_of([[[5, 5]]], [1], [7]), 32, "no shape"),
        (motion_of([[[5, 5]]], [1]), 8, "16 to 1024"),
        (motion_of([[[5, 5]]], [1]), 2000, "16 to 1024"),
    ],
)
def test_what_cannot_be_drawn_is_refused(motion, size, message):
    with pytest.raises(InputError, match=message):
        render(motion, size)


def test_a_canvas_is_of_one_length():
    with pytest.raises(InputError, match="a motion of 2 frames, not of 32"):
        Canvas(32).paint(motion_of(np.full((2, 1, 2), 5.0), [1]))
