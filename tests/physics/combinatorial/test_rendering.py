"""Pictures: each object is drawn where the physics has it, whatever the size."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.combinatorial.objects import (
    PALETTE,
    Body,
    Outline,
    diameter_of,
    is_static,
    track,
)
from sightline.physics.combinatorial.rendering import place_parts, render_objects, render_scene
from sightline.physics.combinatorial.simulation import make_sample

SCALES = {Outline.BALL: 0.12, Outline.BAR: 0.4, Outline.JAR: 0.25, Outline.STICKS: 0.5}


def picture(*bodies, size=256):
    return render_objects(np.stack([body.row for body in bodies])[None], size)[0]


def opacity(frame, color):
    """How much of a pixel a body of one color on white covers."""
    white = np.full(3, 255.0)
    return ((white - frame) @ (white - color)) / ((white - color) @ (white - color))


def exact(body, size, fine=8):
    """Share of each pixel inside of the outline, by counting points."""
    step = (np.arange(size * fine) + 0.5) / (size * fine)
    x, y = np.meshgrid(step, 1 - step)
    covered = np.zeros(x.shape, bool)
    for corners, radius in zip(body.corners, body.parts.radii, strict=True):
        if radius:
            covered |= np.hypot(x - body.x, y - body.y) < radius
            continue
        after = np.roll(corners, -1, axis=0)
        sides = [
            (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) > 0
            for a, b in zip(corners, after, strict=True)
        ]
        covered |= np.logical_and.reduce(sides)
    return covered.reshape(size, fine, size, fine).mean((1, 3))


@pytest.mark.parametrize("angle", [0.0, 0.3, -1.2])
@pytest.mark.parametrize("outline", list(Outline))
@pytest.mark.parametrize("size", [32, 100])
def test_pixels_are_covered_as_much_as_the_outline_covers_them(outline, angle, size):
    body = Body(outline, diameter_of(outline, SCALES[outline]), 0.52, 0.47, angle)
    drawn, wanted = opacity(picture(body, size=size), PALETTE[4]), exact(body, size)
    assert np.abs(drawn - wanted).max() < 0.3  # at corners and where parts join
    assert np.abs(drawn - wanted).mean() < 2e-3
    assert drawn.sum() == pytest.approx(wanted.sum(), rel=0.04)
    assert (drawn[wanted == 1] > 0.75).all()


def test_a_bar_along_the_axes_is_exact():
    body = Body(Outline.BAR, diameter_of(Outline.BAR, 0.3), 0.503, 0.301)
    np.testing.assert_allclose(
        opacity(picture(body, size=64), PALETTE[4]), exact(body, 64, fine=20), atol=0.05
    )


@pytest.mark.parametrize("size", [64, 128])
@pytest.mark.parametrize("template", [10003, 10053, 10066])
def test_objects_are_drawn_where_the_states_have_them(template, size):
    """Each object alone: the center of what is drawn is that of the parts' union, in every frame."""
    sample = make_sample(template, 1, 0, frames=4)
    for place in range(sample.objects.shape[1]):
        alone = sample.objects[:, place : place + 1]
        if is_static(alone)[0]:  # may be cut off by the border
            continue
        frames = render_objects(alone, size)
        covered = (255.0 - frames).sum(-1)
        rows, columns = np.mgrid[:size, :size] + 0.5
        for frame in range(len(frames)):
            weights = covered[frame] / covered[frame].sum()
            x, y = (columns * weights).sum() / size, 1 - (rows * weights).sum() / size
            wanted = center_of(alone[frame])
            assert np.hypot(x - wanted[0], y - wanted[1]) * size < 0.25


def center_of(row):
    """Center of the union of parts; where they overlap counts once, unlike in the center of mass."""
    if row[0, 6] == 0:
        return row[0, 0], row[0, 1]
    shape = Body(Outline.JAR, row[0, 3], row[0, 0], row[0, 1], 2 * np.pi * row[0, 2])
    covered = exact(shape, 300, fine=2)
    rows, columns = np.mgrid[:300, :300] + 0.5
    weights = covered / covered.sum()
    return (columns * weights).sum() / 300, 1 - (rows * weights).sum() / 300


def test_up_is_up_and_right_is_right():
    frame = picture(Body(Outline.BALL, 0.1, 0.2, 0.9), size=100)
    assert tuple(frame[10, 20]) == tuple(PALETTE[4])
    assert tuple(frame[90, 80]) == (255, 255, 255)


def test_colors_and_order():
    static = Body(Outline.BALL, 0.2, 0.4, 0.5, static=True)
    red = Body(Outline.BALL, 0.2, 0.5, 0.5, action=True)
    frame = picture(static, red)
    assert tuple(frame[128, 115]) == (243, 79, 70)  # over the black one
    assert tuple(frame[128, 90]) == (0, 0, 0)


def test_a_ball_shows_no_turning():
    states = np.array([[[0.5, 0.5, 0.0]], [[0.5, 0.5, 1.0]]])
    frames = render_objects(track((Body(Outline.BALL, 0.1, 0.5, 0.5),), states), 64)
    np.testing.assert_array_equal(frames[0], frames[1])


def test_what_is_outside_is_cut_off():
    bar = Body(Outline.BAR, 0.6, 0.1, 0.99, 0.3, static=True)
    frame = picture(bar)
    assert frame[:, 200:].min() == 255
    assert frame[:10].min() == 0
    nowhere = picture(Body(Outline.BALL, 0.1, 3.0, -3.0))
    assert nowhere.min() == 255


@pytest.mark.parametrize("size", [16, 17, 128, 300])
def test_any_size(size):
    frames = render_scene(make_sample(10061, frames=2), size)
    assert frames.shape == (2, size, size, 3)
    assert frames.min() < 120


def test_parts_are_numbered_through():
    sample = make_sample(10066, frames=3)
    corners, radii, ends = place_parts(sample.objects)
    assert corners.shape == (3, ends[-1], 4, 2)
    assert len(radii) == ends[-1]
    assert len(ends) == sample.objects.shape[1]


def test_what_cannot_be_drawn():
    objects = Body(Outline.BAR, 0.3, 0.2, 0.3).row[None, None]
    with pytest.raises(InputError, match="16 to 1024"):
        render_objects(objects, 8)
    bad = objects.copy()
    bad[..., 0] = np.nan
    with pytest.raises(InputError, match="not finite"):
        render_objects(bad)
