import dataclasses

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.laws import LAWS, check_laws, is_abnormal
from sightline.physics.laws.evidence import align
from sightline.physics.rendering import render
from sightline.physics.tracking import parse
from sightline.physics.tracking.tracks import State
from sightline.physics.worlds.simulation import sample


def test_rows_are_complete():
    assert len({law.name for law in LAWS}) == len(LAWS)
    for law in LAWS:
        assert law.unit
        assert law.says
        assert law.tolerance >= 0
        assert set(law.needs) <= {"truth", "pair"}
        with pytest.raises(dataclasses.FrozenInstanceError):
            law.name = "another"


@pytest.mark.parametrize("scenario", ["uniform", "parabola", "collision"])
@pytest.mark.parametrize("mode", ["exact", "box2d"])
def test_rendered_truth_breaks_no_law(scenario, mode):
    samples = sample(scenario, 8, seed=6, mode=mode)
    for index in range(8):
        truth = samples[index]
        scores = check_laws(parse(render(truth, 128)), truth, scenario)
        assert scores.violations == (), samples.init[index]
        assert scores.coverage == 1
        for law in LAWS:
            value = scores.values[law.name]
            assert value is None or np.isfinite(value)
            if law.needs == ("truth",):
                assert value < 0.02


@pytest.mark.parametrize("scenario", ["uniform", "parabola", "collision"])
def test_without_truth(scenario):
    truth = sample(scenario, 1, seed=7)[0]
    scores = check_laws(parse(render(truth, 128)), None, scenario)
    for law in LAWS:
        if law.needs == ("truth",):
            assert scores.values[law.name] is None
    for law in ("momentum", "total_energy", "inertia", "radius", "presence", "gravity"):
        assert scores.values[law] is not None


@pytest.mark.parametrize("scenario", ["uniform", "parabola", "collision"])
@pytest.mark.parametrize("frames", [1, 2, 3, 5])
def test_short_videos(scenario, frames):
    truth = sample(scenario, 1, seed=7)[0]
    video = render(truth, 64)[:frames]
    scores = check_laws(parse(video), None, scenario)
    assert scores.violations == ()
    assert not is_abnormal(parse(video), scenario).abnormal


def test_empty_video():
    tracks = parse(np.full((32, 64, 64, 3), 255, np.uint8))
    truth = sample("collision", 1)[0]
    assert check_laws(tracks, None, "collision").coverage == 1
    scores = check_laws(tracks, truth, "collision")
    assert scores.coverage == 0
    assert scores.violates("presence")
    assert scores.values["velocity_steps"] > 0.5  # a ball that is gone does not move
    verdict = is_abnormal(tracks, "collision")
    assert verdict.abnormal
    assert verdict.reasons == ("there is nothing in the video",)


def test_bodies_are_put_in_the_truths_order():
    truth = sample("collision", 1, seed=3)[0]
    tracks = parse(render(truth, 128))
    turned = tracks.take(np.array([1, 0]))
    for given in (tracks, turned):
        ordered = align(given, truth)
        np.testing.assert_array_equal(ordered.body_colors, truth.colors)
    alone = align(tracks.take(np.array([0])), truth)
    assert alone.bodies == 2
    assert (alone.states == State.LOST).any(axis=0).sum() == 1


def test_bad_input():
    tracks = parse(np.full((4, 16, 16, 3), 255, np.uint8))
    with pytest.raises(InputError, match="pendulum"):
        check_laws(tracks, None, "pendulum")
    with pytest.raises(InputError, match="4 frames against 32"):
        check_laws(tracks, sample("uniform", 1)[0], "uniform")
    with pytest.raises(InputError, match="same name"):
        check_laws(tracks, None, "uniform", laws=(LAWS[0], LAWS[0]))
