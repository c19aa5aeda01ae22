"""Readings of single videos: what probes ask of the truth, and of videos that get it wrong."""

from dataclasses import replace

import numpy as np
import pytest

from sightline.physics.probes import PROBES
from sightline.physics.probes.samplers import make_probe
from sightline.physics.rendering import render
from sightline.physics.scoring.baselines import constant_velocity, copy_last
from sightline.physics.scoring.probe_outcomes import outcome_of, probe_made, signed_speed
from sightline.physics.scoring.sample import Case, score_video
from sightline.physics.scoring.summary import TITLES, summarize_bucket
from sightline.physics.tracking import parse, prior_of

EVENTS = ("temporal-composition", "temporal-composition-unbounced")


def read(name, samples, shown):
    """Return the readings of videos that show other motions than they should."""
    return [
        outcome_of(
            PROBES[name],
            parse(render(shown[k], 128), prior=prior_of(samples[k])),
            samples[k],
            tuple(samples.init[k]),
            3,
        )
        for k in range(len(samples))
    ]


@pytest.mark.parametrize("name", PROBES)
def test_every_figure_that_a_probe_is_read_by_is_computed(name):
    probe, samples = PROBES[name], make_probe(name, "test", 4)
    scores = []
    for k in range(len(samples)):
        case = Case(
            *(k, "test", tuple(samples.init[k].tolist()), samples[k], samples.scenario, 3),
            probe=probe,
        )
        scores.append(score_video(str(k), render(samples[k], 128), case))
    found = summarize_bucket(scores)
    computed = {*found.laws, *found.reading, *(("kept",) if found.kept else ())}
    assert set(probe.reading.measures) <= computed
    assert set(found.reading) <= set(TITLES)


def test_the_truth_passes_and_turns_as_it_should():
    samples = make_probe("visual-ambiguity", "test", 12)
    for k, one in enumerate(read("visual-ambiguity", samples, samples)):
        assert one == {"passes": float(samples.init[k, 2] > 0), "right_outcome": 1.0}


def test_at_the_gate_going_on_is_right_of_half_and_standing_still_of_none():
    samples = make_probe("visual-ambiguity", "test", 12)
    on = read("visual-ambiguity", samples, constant_velocity(samples, 3))
    assert all(one["passes"] == 1 for one in on)
    assert [one["right_outcome"] for one in on] == (samples.init[:, 2] > 0).tolist()
    still = read("visual-ambiguity", samples, copy_last(samples, 3))
    assert all(one == {"passes": 0, "right_outcome": 0} for one in still)


@pytest.mark.parametrize("name", EVENTS)
def test_events_of_the_truth_come_out_right_and_of_nobody_who_ignores_them(name):
    samples = make_probe(name, "test", 12)
    for one in read(name, samples, samples):
        assert one == dict.fromkeys(one, 1.0)
        assert {"collision_right", "all_right"} <= set(one)
    for make in (constant_velocity, copy_last):
        for one in read(name, samples, make(samples, 3)):
            assert one == dict.fromkeys(one, 0.0)


def test_a_ball_that_collides_and_then_does_not_bounce_is_right_of_one_event():
    samples = make_probe("temporal-composition-unbounced", "test", 8)
    positions = samples.positions.copy()
    for k in range(len(samples)):
        last = int(np.flatnonzero(samples.velocities[k, :, 0, 0] < 0)[-1])
        positions[k, last + 1 :, 0] = positions[k, last, 0]  # red stays at the wall
    found = read("temporal-composition-unbounced", samples, replace(samples, positions=positions))
    assert [one["collision_right"] for one in found] == [1] * 8
    assert [one["bounce_right"] for one in found] == [0] * 8
    assert [one["all_right"] for one in found] == [0] * 8


def test_an_event_whose_outcome_was_given_is_not_asked_for():
    samples = make_probe("temporal-composition-unbounced", "test", 1)
    still = copy_last(samples, 28)
    tracks = parse(render(still[0], 128), prior=prior_of(samples[0]))
    probe, init = PROBES["temporal-composition-unbounced"], tuple(samples.init[0])
    found = outcome_of(probe, tracks, samples[0], init, 28)
    assert found == {"bounce_right": 0.0, "all_right": 0.0}


def test_each_body_has_its_own_velocity_error():
    samples = make_probe("spatial-composition", "test", 6)
    positions = samples.positions.copy()
    positions[:, 3:, 1] = positions[:, 2:3, 1]  # the square stops
    found = read("spatial-composition", samples, replace(samples, positions=positions))
    for k, one in enumerate(found):
        assert one["ball_error_together"] < 0.05
        assert one["square_error_together"] == pytest.approx(samples.init[k, 4], rel=0.02)


def test_bodies_that_move_alone_are_told_apart_from_those_that_move_together():
    samples = make_probe("spatial-composition", "train", 12)
    found = read("spatial-composition", samples, samples)
    names = {name for one in found for name in one}
    assert names == {"ball_error_alone", "square_error_alone"}
    assert all(len(one) == 1 for one in found)


def test_the_speed_has_the_sign_of_the_true_way():
    samples = make_probe("memorization-flip", "train", 8)
    for k in range(8):
        motion = samples[k]
        tracks = parse(render(motion, 128), prior=prior_of(motion))
        assert signed_speed(tracks, motion, 3) == pytest.approx(samples.init[k, 1], rel=0.02)


def test_a_ball_that_goes_back_has_turned_round_and_one_that_stops_has_not():
    samples = make_probe("memorization", "test", 6)
    turned = samples.positions.copy()
    turned[:, 16:] = samples.positions[:, 15::-1]
    turned[:, 3:16] = samples.positions[:, 15:16]
    back = read("memorization", samples, replace(samples, positions=turned))
    assert [one["turned_round"] for one in back] == [1] * 6
    assert all(one["signed_speed"] < 0 for one in back)
    still = read("memorization", samples, copy_last(samples, 3))
    assert [one["turned_round"] for one in still] == [0] * 6


def test_nothing_is_said_of_a_ball_that_is_gone():
    samples = make_probe("memorization", "test", 1)
    frames = render(samples[0], 128).copy()
    frames[4:] = 255
    tracks = parse(frames, prior=prior_of(samples[0]))
    init = tuple(samples.init[0])
    assert outcome_of(PROBES["memorization"], tracks, samples[0], init, 3) == {}


def test_only_probes_are_read_this_way():
    assert probe_made("uniform") is None
    assert probe_made("") is None
    assert probe_made("probe:of-a-later-version") is None
    assert probe_made("probe:visual-ambiguity") is PROBES["visual-ambiguity"]
