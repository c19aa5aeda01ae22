import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.physics.rendering import render
from sightline.physics.tracking import Prior, State, parse, prior_of
from sightline.physics.tracking.tracks import UNSEEN_SIGMA
from sightline.physics.types import BLUE, RED, Motion, Shape

GREEN = (0, 160, 0)


def _finite(tracks):
    for field in dataclasses.fields(tracks):
        value = np.asarray(getattr(tracks, field.name))
        assert np.isfinite(value.astype(np.float64)).all(), field.name


@given(
    x=st.floats(2, 8),
    y=st.floats(2, 8),
    r=st.floats(0.5, 1.8),
    color=st.sampled_from([RED, BLUE, GREEN, (0, 0, 0), (90, 90, 90), (255, 160, 0)]),
    shape=st.sampled_from(list(Shape)),
)
def test_still_body_of_any_kind(x, y, r, color, shape):
    one = np.ones((4, 1, 1))
    motion = Motion(
        one * np.array([x, y]),
        0 * one * np.zeros(2),
        np.array([r]),
        np.array([color], np.uint8),
        np.array([shape], np.uint8),
    )
    tracks = parse(render(motion, 128))
    assert tracks.bodies == 1
    _finite(tracks)
    # A square's straight edges say less: all their pixels change at once.
    near = 0.05 if shape == Shape.SQUARE else 0.02
    assert np.abs(tracks.positions - motion.positions).max() < near
    assert abs(tracks.sizes[0] - r) < near
    assert tracks.body_shapes[0] == shape
    assert np.abs(tracks.body_colors[0].astype(int) - color).max() <= 2
    assert (tracks.states == State.SEEN).all()
    assert np.abs(tracks.velocities).max() < 1e-9


def test_two_touching_bodies(world):
    """Edges that share pixels are taken apart by color."""
    motion = world([(3.03, 5.02, 0, 0, 1.0), (5.23, 5.02, 0, 0, 1.2)], frames=3)
    tracks = parse(render(motion, 128), prior=prior_of(motion))
    np.testing.assert_allclose(tracks.positions, motion.positions, atol=0.01)
    assert (tracks.states == State.SEEN).all()


def test_overlapping_bodies(world):
    """A body half covered by another is fitted to what shows of it."""
    motion = world([(4.0, 5.0, 2.0, 0, 1.2), (6.5, 5.3, -2.0, 0, 0.9)], frames=11)
    tracks = parse(render(motion, 128), prior=prior_of(motion))
    assert tracks.bodies == 2
    deep = np.hypot(*(motion.positions[:, 1] - motion.positions[:, 0]).T) < 1.6
    assert deep.sum() >= 3
    wrong = np.abs(tracks.positions - motion.positions)
    assert wrong[:, 1].max() < 0.02  # in front
    assert wrong[:, 0][tracks.measured[:, 0]].max() < 0.1


@pytest.mark.parametrize("velocity", [(3, 0), (-3, 0), (0, 3), (0, -3), (2.5, -2.5)])
def test_leaving(world, velocity):
    motion = world([(5.1, 4.9, *velocity, 0.9)], frames=32)
    tracks = parse(render(motion, 128))
    assert tracks.bodies == 1
    _finite(tracks)
    states = list(tracks.states[:, 0])
    assert states == sorted(states)  # seen, then partly outside, then outside: the order of `State`
    assert {State.SEEN, State.PARTLY_OUTSIDE, State.OUTSIDE} == set(states)
    cut = tracks.states[:, 0] == State.PARTLY_OUTSIDE
    wrong = np.abs(tracks.positions - motion.positions)[cut, 0]
    more_than_half = (np.abs(motion.positions[cut, 0] - 5) < 5).all(axis=1)
    assert wrong[more_than_half].max() < 0.02
    outside = tracks.states[:, 0] == State.OUTSIDE
    assert (tracks.position_sigma[outside] == UNSEEN_SIGMA).all()


def test_entering(world):
    motion = world([(-1.5, 5.0, 2.0, 0, 0.8)], frames=32)
    tracks = parse(render(motion, 128))
    states = list(tracks.states[:, 0])
    assert states[0] == State.OUTSIDE
    assert states[-1] == State.SEEN
    assert State.LOST not in states
    np.testing.assert_allclose(tracks.positions[-5:], motion.positions[-5:], atol=0.005)


def test_vanishing_and_returning(world):
    motion = world([(3, 5, 1.0, 0, 1.0)], frames=16)
    frames = render(motion, 128)
    frames[6:10] = 255
    tracks = parse(frames)
    assert tracks.bodies == 1
    assert (tracks.states[6:10] == State.LOST).all()
    assert (tracks.states[[5, 10], 0] == State.SEEN).all()
    np.testing.assert_array_equal(tracks.positions[9], tracks.positions[5])


def test_appearing_in_the_middle(world):
    motion = world([(3, 3, 0, 0, 1.0), (7, 7, 0, 0, 1.0)], frames=10)
    frames = render(motion, 128)
    frames[:4, :64] = 255  # the upper half, where the second body is
    tracks = parse(frames)
    assert tracks.bodies == 2
    late = int((tracks.states[0] == State.LOST).argmax())
    assert (tracks.states[:4, late] == State.LOST).all()
    assert (tracks.states[4:, late] == State.SEEN).all()


def test_recolored(world):
    frames = render(world([(3, 5, 1, 0, 1.0)]), 128)
    green = render(world([(3, 5, 1, 0, 1.0, GREEN)]), 128)
    frames[8:] = green[8:]
    tracks = parse(frames)
    assert tracks.bodies == 1
    assert (tracks.states[:8] == State.SEEN).all()
    assert (tracks.states[8:] == State.RECOLORED).all()
    assert np.abs(tracks.colors[10, 0].astype(int) - GREEN).max() <= 2
    assert (tracks.body_colors[0] == RED).all()


@pytest.mark.parametrize("shape", [Shape.SQUARE, Shape.RING])
def test_another_shape(world, shape):
    frames = render(world([(3, 5, 1, 0, 1.0)]), 128)
    frames[8:] = render(world([(3, 5, 1, 0, 1.0, RED, shape)]), 128)[8:]
    tracks = parse(frames)
    assert tracks.bodies == 1
    assert (tracks.states[8:] == State.DEFORMED).all()
    assert (tracks.shapes[8:] == shape).all()
    assert (tracks.states[:8] == State.SEEN).all()


def test_swelling_and_squashed(world):
    frames = render(world([(5, 5, 0, 0, 1.0)]), 128)
    frames[8] = render(world([(5, 5, 0, 0, 1.3)]), 128)[0]
    squashed = frames[9, ::2].copy()
    frames[9] = 255
    frames[9, 32:96] = squashed
    tracks = parse(frames)
    assert tracks.states[8, 0] == State.DEFORMED
    assert tracks.radii[8, 0] == pytest.approx(1.3, abs=0.01)
    assert tracks.states[9, 0] == State.DEFORMED
    assert (np.delete(tracks.states[:, 0], [8, 9]) == State.SEEN).all()


def test_split(world):
    frames = render(world([(5, 5, 0, 0, 1.2)]), 128)
    frames[10:, :, 61:66] = 255
    tracks = parse(frames)
    assert tracks.bodies == 1
    assert (tracks.states[10:] == State.SPLIT).all()


def test_merged_bodies_of_one_color(world):
    motion = world([(2.5, 5, 1.5, 0, 0.8, RED), (7.5, 5, -1.5, 0, 0.8, RED)], frames=18)
    tracks = parse(render(motion, 128), prior=prior_of(motion))
    assert tracks.bodies == 2
    apart = motion.positions[:, 1, 0] - motion.positions[:, 0, 0]
    assert (tracks.states[apart > 1.8] == State.SEEN).all()
    joined = (apart < 1.4) & (apart > 0.9)
    assert joined.any()
    assert (tracks.states[joined] == State.MERGED).any(axis=1).all()


def test_hidden_behind_another(world):
    motion = world([(3, 5, 2.0, 0, 0.6), (6, 5, 0, 0, 1.8)], frames=28)
    tracks = parse(render(motion, 128), prior=prior_of(motion))
    assert tracks.bodies == 2
    hidden = np.abs(motion.positions[:, 0, 0] - 6) < 1.0
    assert (tracks.states[hidden, 0] == State.MERGED).all()
    assert tracks.states[-1, 0] == State.SEEN
    np.testing.assert_allclose(tracks.positions[-1, 0], motion.positions[-1, 0], atol=0.01)


def test_jump_is_the_same_body(world):
    frames = render(world([(2.5, 3, 1, 0, 0.9)]), 128)
    frames[8:] = render(world([(4.5, 7.5, 1, 0, 0.9)]), 128)[8:]
    tracks = parse(frames)
    assert tracks.bodies == 1
    assert (tracks.states == State.SEEN).all()
    assert np.abs(tracks.velocities[7]).max() > 10


def test_prior_keeps_order_and_missing_bodies(world):
    motion = world([(3, 3, 1, 0, 0.7, BLUE), (3, 7, 1, 0, 1.1, RED), (7, 5, 0, 0, 0.8, GREEN)])
    seen = Motion(
        motion.positions[:, :2],
        motion.velocities[:, :2],
        motion.sizes[:2],
        motion.colors[:2],
        motion.shapes[:2],
    )
    tracks = parse(render(seen, 128), prior=prior_of(motion))
    assert tracks.bodies == 3
    np.testing.assert_array_equal(tracks.body_colors, motion.colors)
    assert (tracks.states[:, 2] == State.LOST).all()
    np.testing.assert_allclose(tracks.positions[:, 2], motion.positions[:, 2], atol=1e-9)
    np.testing.assert_allclose(tracks.sizes, motion.sizes, atol=0.005)
    assert prior_of(tracks).positions.shape == (3, 2)


def test_smoothing_keeps_a_collision():
    from sightline.physics.worlds.simulation import sample

    truth = sample("collision", 1, seed=4)[0]
    tracks = parse(render(truth, 128), prior=prior_of(truth))
    inside = tracks.whole.all(axis=1)
    wrong = np.abs(tracks.smooth_velocities - truth.velocities)[inside].max(axis=(1, 2))
    assert (wrong > 0.05).sum() <= 2  # the frames on both sides of the impact at most


def test_gray_scale(world):
    color = world([(3, 5, 1, 0, 1.0, (80, 80, 80)), (7, 5, -0.2, 0, 0.8, (20, 20, 20))])
    tracks = parse(render(color, 128))
    assert tracks.bodies == 2
    assert (tracks.states == State.SEEN).all()
    assert sorted(tracks.body_colors[:, 0]) == [20, 80]


@pytest.mark.parametrize(
    "frames",
    [
        np.full((5, 64, 64, 3), 255, np.uint8),
        np.zeros((5, 64, 64, 3), np.uint8),
        np.full((1, 1, 1, 3), 255, np.uint8),
        np.zeros((1, 1, 1, 3), np.uint8),
        np.zeros((2, 1, 7, 3), np.uint8),
        np.full((3, 9, 5, 3), 128, np.uint8),
        np.random.default_rng(0).integers(0, 256, (3, 40, 40, 3)).astype(np.uint8),
    ],
    ids=["white", "black", "one white pixel", "one black pixel", "a row", "gray", "random"],
)
def test_nothing_to_see(frames):
    tracks = parse(frames)
    _finite(tracks)
    assert len(tracks) == len(frames)
    assert tracks.positions.shape == (len(frames), tracks.bodies, 2)


@pytest.mark.parametrize("level", [0, 255])
def test_blank_videos_have_no_bodies(level, world):
    frames = np.full((5, 64, 64, 3), level, np.uint8)
    assert parse(frames).bodies == 0
    tracks = parse(frames, prior=prior_of(world([(5, 5, 0, 0, 1)])))
    assert (tracks.states == State.LOST).all()
    _finite(tracks)


def test_single_frame(world):
    motion = world([(4, 6, 1, 1, 1.0)], frames=1)
    tracks = parse(render(motion, 128))
    assert tracks.bodies == 1
    np.testing.assert_allclose(tracks.positions, motion.positions, atol=0.01)
    assert (tracks.velocities == 0).all()
    assert (tracks.smooth_velocities == 0).all()


def test_views_are_read_as_they_are(world):
    motion = world([(4, 6, 1, 0, 1.0)])
    frames = np.repeat(render(motion, 128), 2, axis=0)[::2]
    assert not frames.flags.c_contiguous
    np.testing.assert_array_equal(
        parse(frames).positions, parse(np.ascontiguousarray(frames)).positions
    )


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        (np.zeros((2, 8, 8, 3), np.float32), "float32"),
        (np.zeros((2, 8, 8), np.uint8), r"\(2, 8, 8\)"),
        (np.zeros((2, 8, 8, 4), np.uint8), r"\(2, 8, 8, 4\)"),
        (np.zeros((0, 8, 8, 3), np.uint8), "nothing to see"),
        ([[1, 2]], "list"),
    ],
)
def test_no_video(frames, words):
    with pytest.raises(InputError, match=words):
        parse(frames)


def test_no_time_between_frames():
    with pytest.raises(InputError, match="positive"):
        parse(np.zeros((2, 8, 8, 3), np.uint8), frame_time=0)


def test_prior_of_wrong_shape():
    with pytest.raises(InputError, match=r"sizes|positions"):
        Prior(np.zeros((2, 2)), np.ones(1), np.zeros((2, 3), np.uint8), np.zeros(2, np.uint8))
    with pytest.raises(InputError, match="finite"):
        Prior(
            np.full((1, 2), np.nan), np.ones(1), np.zeros((1, 3), np.uint8), np.zeros(1, np.uint8)
        )


@pytest.mark.parametrize("probe", ["conflict-color-ring", "conflict-size-square"])
def test_bodies_keep_their_shape_while_they_leave_the_picture(probe):
    from sightline.physics.probes.samplers import make_probe

    samples = make_probe(probe, "test", 30, seed=1)
    left = 0
    for k in range(30):
        motion = samples[k]
        tracks = parse(render(motion, 128), prior=prior_of(motion))
        assert (tracks.shapes[:, 0] == motion.shapes[0]).all()
        assert not (tracks.states[:, 0] == State.DEFORMED).any()
        left += bool((tracks.states[:, 0] == State.PARTLY_OUTSIDE).any())
    assert left >= 5


@pytest.mark.parametrize("impact", [0.52, 0.55, 0.59])
def test_a_ball_thrown_out_of_the_picture_from_one_frame_to_the_next_has_left(impact):
    sizes, fast = np.array([0.35, 1.75]), -5.0
    light, heavy = sizes**2
    after = fast * np.array([2 * heavy, heavy - light]) / (heavy + light)
    time = 0.1 * np.arange(20)[:, None] - impact
    speeds = np.where(time < 0, [0.0, fast], after)
    x = np.array([0.75, 0.75 + sizes.sum()]) + speeds * time
    positions = np.stack([x, np.full_like(x, 4.0)], axis=-1)
    motion = Motion(
        positions,
        np.zeros_like(positions),
        sizes,
        np.array([RED, BLUE], np.uint8),
        np.zeros(2, np.uint8),
    )
    tracks = parse(render(motion, 128))
    gone = positions[:, 0, 0] < -sizes[0]
    assert gone.any()
    assert (tracks.states[gone, tracks.sizes.argmin()] == State.OUTSIDE).all()


def test_a_ball_that_is_hidden_by_another_far_from_the_border_is_merged():
    x = np.stack([np.full(20, 5.0), np.linspace(9, 1, 20)], axis=-1)
    positions = np.stack([x, np.full_like(x, 4.0)], axis=-1)
    motion = Motion(
        positions,
        np.zeros_like(positions),
        np.array([0.4, 1.75]),
        np.array([RED, BLUE], np.uint8),
        np.zeros(2, np.uint8),
    )
    tracks = parse(render(motion, 128))
    states = tracks.states[:, tracks.sizes.argmin()]
    assert (states == State.MERGED).any()
    assert not (states == State.OUTSIDE).any()
