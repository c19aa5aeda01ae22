"""What happens: no going through, no energy from nothing, nothing leaves, and the same every time."""

import subprocess
import sys

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.combinatorial import simulation as module
from sightline.physics.combinatorial.objects import Body, Outline, diameter_of, is_static
from sightline.physics.combinatorial.simulation import (
    GRAVITY,
    METERS,
    make_sample,
    run_trial,
    simulate,
)
from sightline.physics.combinatorial.tasks import HELD_OUT, TRAIN, make_task

from .energy import energy
from .helpers import deepest, farthest_out

#: In [px] of 256: how deep what collides may be in each other or in a wall, for a moment.
DEPTH = 1.0
#: Share of the energy at the start by which it may grow from one frame to the next.
GROWTH = 2e-3


@pytest.fixture(scope="module")
def samples():
    """One of each template."""
    return [make_sample(template, template % 5, 1) for template in TRAIN + HELD_OUT]


def test_all_templates_can_be_made(samples):
    assert len(samples) == 70
    for sample in samples:
        assert sample.objects.shape[0] == 32
        assert 0 <= sample.objects.min() <= sample.objects.max() <= 1
        assert sample.objects[0, -1, 8] == 1  # the red ball is the last
        assert sample.objects[0, :-1, 8].sum() == 0


def test_nothing_goes_through_anything(samples):
    assert max(deepest(sample) for sample in samples) < DEPTH


def test_nothing_leaves_the_scene(samples):
    assert max(farthest_out(sample) for sample in samples) < DEPTH


def test_energy_never_grows(samples):
    for sample in samples:
        total = energy(sample).sum(1)
        assert np.diff(total).max() < GROWTH * total[0], sample.key
    lost = [1 - energy(sample).sum(1)[-1] / energy(sample).sum(1)[0] for sample in samples]
    assert np.median(lost) > 0.3  # things come to rest


def test_what_is_static_never_moves(samples):
    seen = 0
    for sample in samples:
        static = is_static(sample.objects)
        seen += static.sum()
        assert (sample.objects[:, static] == sample.objects[:1, static]).all()
        assert (sample.velocities[:, static] == 0).all()
        assert np.ptp(sample.objects[:, -1, :2], axis=0).max() > 0  # the red ball does
    assert seen > 70


def test_free_fall_is_that_of_phyre():
    """Frame k is after 1 + 20 k sub-steps of 1/60 s, in pieces that move first, then gain speed."""
    states, velocities = simulate((Body(Outline.BALL, 0.1, 0.5, 0.9),), 5)
    times = (1 + 20 * np.arange(5)) / 60
    piece = 1 / (60 * module.PIECES)
    fallen = GRAVITY / METERS * times * (times - piece) / 2
    np.testing.assert_allclose(states[:, 0, 1], 0.9 - fallen, atol=1e-12)
    np.testing.assert_allclose(velocities[:, 0, 1], -GRAVITY / METERS * times, atol=1e-12)


def test_a_ball_jumps_back_by_a_fifth_of_its_speed():
    radius = diameter_of(Outline.BALL, 0.1) / 2
    height = 0.5
    ball = Body(Outline.BALL, 2 * radius, 0.5, radius + height)
    tops = []
    for frames in range(2, 14):
        states, velocities = simulate((ball,), frames)
        total = velocities[-1, 0, 1] ** 2 / 2 + GRAVITY / METERS * (states[-1, 0, 1] - radius)
        tops.append(total / (GRAVITY / METERS))
    after = [top for top in tops if top < 0.9 * height]
    assert after[0] == pytest.approx(0.2**2 * height, rel=0.2)


def test_a_standing_bar_stays_and_a_pushed_one_falls():
    bar = Body(Outline.BAR, diameter_of(Outline.BAR, 0.3), 0.5, 0.15, np.pi / 2)
    states, _ = simulate((bar,), 32)
    np.testing.assert_allclose(states[-1, 0], (0.5, 0.15, np.pi / 2), atol=2e-3)
    ball = Body(Outline.BALL, 0.1, 0.46, 0.6, action=True)
    states, _ = simulate((bar, ball), 32)
    assert abs(states[-1, 0, 2] - np.pi / 2) > 1


def test_a_ball_stays_in_a_jar():
    jar = Body(Outline.JAR, 0.3, 0.5, 0.1)
    jar = Body(Outline.JAR, 0.3, 0.5, 0.1 - jar.box[1])
    ball = Body(Outline.BALL, 0.06, 0.5, 0.5)
    states, _ = simulate((jar, ball), 32)
    left, bottom, right, top = Body(Outline.JAR, 0.3, *states[-1, 0]).box
    assert left < states[-1, 1, 0] < right
    assert bottom < states[-1, 1, 1] < top


def test_a_mirrored_world_does_the_mirrored_thing():
    """Of one ball on one slope; with many contacts the order in which they are solved counts."""
    bar = Body(Outline.BAR, 0.4, 0.4, 0.3, 0.4, static=True)
    mirror = Body(Outline.BAR, 0.4, 0.6, 0.3, -0.4, static=True)
    one, _ = simulate((bar, Body(Outline.BALL, 0.1, 0.45, 0.7)), 20)
    two, _ = simulate((mirror, Body(Outline.BALL, 0.1, 0.55, 0.7)), 20)
    np.testing.assert_allclose(one[:, 1, 0], 1 - two[:, 1, 0], atol=1e-6)
    np.testing.assert_allclose(one[:, 1, 1], two[:, 1, 1], atol=1e-6)


PRINT = (
    "import hashlib, sys; from sightline.physics.combinatorial.simulation import make_sample\n"
    "found = hashlib.sha256()\n"
    "for words in sys.argv[1:]:\n"
    "    s = make_sample(*map(int, words.split('/')), seed=3)\n"
    "    print(words, hashlib.sha256(s.objects.tobytes() + s.velocities.tobytes()).hexdigest())\n"
)


def hashes(*addresses):
    done = subprocess.run(
        [sys.executable, "-c", PRINT, *addresses], capture_output=True, text=True, check=True
    )
    return dict(line.split() for line in done.stdout.splitlines())


def test_the_same_in_another_process_and_after_other_samples():
    first = ["10003/0/0", "10066/1/1"]
    others = ["10053/2/5", "10040/0/0"]
    assert hashes(*first) == {
        key: value for key, value in hashes(*others, *reversed(first)).items() if key in first
    }


def test_the_first_frames_do_not_depend_on_how_many_follow():
    few, many = make_sample(10003, frames=5), make_sample(10003, frames=50)
    np.testing.assert_array_equal(few.objects, many.objects[:5])
    assert many.template == 10003


def test_actions_of_ones_own():
    task = make_task(10023, 0)
    trial = run_trial(task, 4)
    again = run_trial(task, action=trial.action)
    np.testing.assert_array_equal(trial.objects, again.objects)
    for action in (np.array([2.0, 0, 0]), np.zeros(2)):
        with pytest.raises(InputError, match="out of the scene or overlaps"):
            run_trial(task, action=action)


@pytest.mark.parametrize("frames", [0, 51])
def test_too_few_or_many_frames(frames):
    with pytest.raises(InputError, match="1 to 50 frames"):
        make_sample(10000, frames=frames)
