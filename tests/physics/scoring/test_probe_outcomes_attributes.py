"""Conflict probes: which attribute a video keeps."""

from dataclasses import replace

import numpy as np
import pytest

from sightline.physics.probes import PROBES
from sightline.physics.probes.samplers import make_probe
from sightline.physics.rendering import render
from sightline.physics.scoring.probe_outcomes import kept_attributes
from sightline.physics.tracking import parse, prior_of
from sightline.physics.types import BLUE, RED

CONFLICTS = [probe for probe in PROBES.values() if probe.attributes is not None]


def read(probe, motion, shown, init):
    tracks = parse(render(shown, 128), prior=prior_of(motion))
    return kept_attributes(tracks, motion, tuple(init), probe)


@pytest.mark.parametrize("probe", CONFLICTS, ids=lambda probe: probe.name)
def test_the_truth_keeps_both(probe):
    samples = make_probe(probe, "test", 6, seed=1)
    for k in range(6):
        kept = read(probe, samples[k], samples[k], samples.init[k])
        assert kept == dict.fromkeys(probe.attributes, True)


def test_a_video_in_the_other_color_has_lost_its_color():
    probe = PROBES["conflict-color-size"]
    samples = make_probe(probe, "test", 4, seed=2)
    for k in range(4):
        motion = samples[k]
        other = RED if tuple(motion.colors[0]) == BLUE else BLUE
        shown = replace(motion, colors=np.array([other], np.uint8))
        assert read(probe, motion, shown, samples.init[k]) == {"color": False, "size": True}


def test_a_video_of_another_size_has_lost_its_size():
    probe = PROBES["conflict-color-size-extreme"]
    samples = make_probe(probe, "test", 4, seed=2)
    for k in range(4):
        motion = samples[k]
        shown = replace(motion, sizes=np.array([0.7 if motion.sizes[0] > 1 else 1.4]))
        kept = read(probe, motion, shown, samples.init[k])
        assert kept is None or kept == {"color": True, "size": False}


def test_a_video_at_the_trained_speed_has_lost_its_speed():
    probe = PROBES["conflict-velocity-square-extreme"]
    samples = make_probe(probe, "test", 8, seed=3)
    told = 0
    for k in range(8):
        motion = samples[k]
        if motion.velocities[0, 0, 0] < 2:
            continue  # four times as fast it would leave the picture
        start = motion.positions[:1]
        slow = start + (motion.positions - start) / 4
        shown = replace(motion, positions=slow, velocities=motion.velocities / 4)
        assert read(probe, motion, shown, samples.init[k]) == {"velocity": False, "shape": True}
        told += 1
    assert told


def test_nothing_is_said_of_a_body_that_is_gone():
    probe = PROBES["conflict-color-size"]
    samples = make_probe(probe, "test", 1, seed=2)
    tracks = parse(np.full((32, 128, 128, 3), 255, np.uint8), prior=prior_of(samples[0]))
    assert kept_attributes(tracks, samples[0], tuple(samples.init[0]), probe) is None


def test_the_given_frames_keep_nothing():
    probe = PROBES["conflict-color-size"]
    samples = make_probe(probe, "test", 1, seed=2)
    frames = render(samples[0], 128).copy()
    frames[4:] = 255  # the body is gone one frame after those that the model was given
    tracks = parse(frames, prior=prior_of(samples[0]))
    init = tuple(samples.init[0])
    assert kept_attributes(tracks, samples[0], init, probe) is None
    assert kept_attributes(tracks, samples[0], init, probe, given=0) is not None
