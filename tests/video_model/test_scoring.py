"""Scores in memory are those of the testbed; speeds are read with their sign."""

from dataclasses import replace

import numpy as np
import pytest

from sightline.physics.rendering import render
from sightline.video_model.autoencoders.codec import PixelCodec
from sightline.video_model.scoring import (
    MEAN_VELOCITY,
    Validator,
    generated_speeds,
    mean_of,
    score_model,
    spec_of,
    take_coded,
    values_of,
)


class Oracle:
    """A model's outside that shows a motion of its own choice."""

    frames, size = 32, 64

    def __init__(self, spec, change=lambda motion: motion):
        from sightline.physics.datasets.spec import draw

        samples = draw(spec, 0, spec.count)
        self.motions = [change(samples[number]) for number in range(len(samples))]
        self.build = type("Build", (), {"condition": 3})
        self.uses_conditioning = False

    def continue_videos(self, truths, numbers, **_):
        made = [render(self.motions[number], self.size) for number in numbers]
        for video, truth in zip(made, truths, strict=True):
            video[:3] = truth[:3]
        return made


@pytest.mark.parametrize("word", ["uniform", "collision:ood", "probe:conflict-color-velocity"])
def test_the_truth_has_no_error_but_the_parsers(word):
    spec = spec_of(word, 4, 64, 7)
    takes = score_model(Oracle(spec), spec)
    assert mean_of(takes, "position") < 0.02
    assert mean_of(takes, MEAN_VELOCITY) < 0.1
    assert all(np.array_equal(take.made, take.truth) for take in takes)
    if word.startswith("probe"):
        assert all(take.score.kept == {"color": True, "velocity": True} for take in takes)
        assert {take.score.bucket for take in takes} == {"test"}


def test_what_coding_costs_pixels_is_nothing():
    spec = spec_of("probe:conflict-color-velocity", 3, 64, 7)
    model = Oracle(spec)
    model.codec, model.device = PixelCodec(), "cpu"
    takes = take_coded(model, spec, batch=2)
    assert len(takes) == 3
    assert all(np.array_equal(take.made, take.truth) for take in takes)
    assert all(take.score.kept == {"color": True, "velocity": True} for take in takes)


def test_a_wrong_speed_is_measured_with_its_sign():
    spec = spec_of("uniform", 4, 64, 7)

    def turned(motion):
        places = motion.positions.copy()
        places[3:] = places[2] - (places[3:] - places[2])
        return replace(motion, positions=places)

    takes = score_model(Oracle(spec, turned), spec)
    speeds = [take.score.init[1] for take in takes]
    made = generated_speeds(takes, 3)
    seen = np.isfinite(made)
    assert seen.any()
    assert np.allclose(made[seen], -np.array(speeds)[seen], atol=0.05)
    # Twice the speed as long as it is seen; then it is out of the picture and stands still.
    share = values_of(takes)[seen] / np.array(speeds)[seen]
    assert np.nanmin(share) > 1
    assert np.nanmax(share) < 2.1


def test_rows_of_the_log(make):
    model = make()
    row = Validator(("uniform", "uniform:ood"), count=2)(model)
    assert list(row) == ["uniform", "uniform mean", "uniform:ood", "uniform:ood mean"]
    assert row == Validator(("uniform", "uniform:ood"), count=2)(model)
