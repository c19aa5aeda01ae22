"""The worst cases, and their strips."""

from dataclasses import replace

import numpy as np

from sightline.physics.scoring.film_strips import draw, scene_strip, worst_cases
from sightline.physics.video_metrics.frame_metrics import NotAvailable


def pictured(result, metrics):
    rows = [
        replace(one, values={}, abnormal=None, violations=(), pictures=pictures)
        for one, pictures in zip(result.scores["model"], metrics, strict=True)
    ]
    return replace(result, scenario="combinatorial", scores={"model": rows})


def test_abnormal_ones_come_first_then_large_errors(make_result):
    assert [one.index for one in worst_cases(make_result(), 4)] == [5, 3, 1, 4]


def test_worlds_without_laws_are_ordered_by_their_pixels(make_result):
    result = make_result(inits=[(1.0, 2.0)] * 3, scenario="uniform")
    likeness = pictured(result, [{"psnr": value} for value in (30.0, 20.0, 40.0)])
    assert [one.index for one in worst_cases(likeness)] == [1, 0, 2]
    distance = pictured(result, [{"lpips": value} for value in (0.3, 0.2, 0.4)])
    assert [one.index for one in worst_cases(distance)] == [2, 0, 1]
    absent = NotAvailable("LPIPS", "no weights", "sightline models get lpips-alex")
    assert len(worst_cases(pictured(result, [{"lpips": absent}] * 3))) == 3


def test_a_strip_without_bodies_has_the_likeness_of_each_frame():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 256, (10, 32, 32, 3)).astype(np.uint8)
    video = truth.copy()
    video[5:] = 255 - video[5:]
    film = scene_strip(truth, video)
    assert film.frames[0] == 0
    assert film.frames[-1] == 9
    assert film.bodies == []
    assert film.notes[0] == "100.0 dB"
    assert float(film.notes[9].split()[0]) < 10
    text = draw(film, 1, "key", "")
    assert "100.0 dB" in text
    assert 'class="rim bad"' not in text
    assert "frame 0, given" in text


def test_videos_of_another_size_have_no_likeness():
    truth = np.zeros((4, 32, 32, 3), np.uint8)
    assert scene_strip(truth, np.zeros((4, 64, 64, 3), np.uint8)).notes == {}
