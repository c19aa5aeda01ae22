"""FilmStrip strips show the right frames, in the right colors, with what is wrong."""

import base64
import io
import re
from dataclasses import replace
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from PIL import Image

from sightline.errors import InputError
from sightline.physics.rendering import render
from sightline.physics.scoring.film_strips import CELL, SHOWN, draw, film_strip
from sightline.physics.tracking import parse, prior_of
from sightline.physics.worlds.simulation import sample


@pytest.fixture(scope="module")
def motion():
    return sample("collision", 1, split="id", seed=1)[0]


def strip(motion, video, size=128):
    tracks = parse(video, prior=prior_of(motion))
    return film_strip(render(motion, size), video, motion, tracks)


def picture_in(text):
    data = re.search(r"data:image/png;base64,([^\"]+)", text)[1]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def words(text):
    return [element.text for element in ET.fromstring(text).iter("text")]


def test_the_truth_beside_itself_has_no_wrong_frame(motion):
    film = strip(motion, render(motion, 128))
    assert len(film.frames) == SHOWN
    assert film.frames[0] == 0
    assert film.frames[-1] == 31
    text = draw(film, 3, "key", "a & b")
    assert "bad" not in text
    assert words(text)[:3] == ["truth", "model", "frame 0, given"]


def test_the_first_wrong_frame_is_shown_and_marked(motion):
    video = render(motion, 128).copy()
    video[11:] = video[10]
    film = strip(motion, video)
    first = min(film.wrong)
    assert first in film.frames
    text = draw(film, 3, "key", "")
    assert f"frame {first}, first wrong" in words(text)
    assert any("off by" in word for word in words(text))
    frames = [one for one in ET.fromstring(text).iter("rect") if one.get("class") == "rim bad"]
    assert len(frames) == sum(frame in film.wrong for frame in film.frames)


def test_noise_costs_no_megabytes_and_colors_stay(motion):
    rng = np.random.default_rng(0)
    video = render(motion, 128).astype(int) + rng.integers(-5, 6, (32, 128, 128, 3))
    video = video.clip(0, 255).astype(np.uint8)
    film = film_strip(video, video, motion, parse(video, prior=prior_of(motion)))
    text = draw(film, 3, "key", "")
    assert len(text) < 200_000
    shown = picture_in(text)
    for body in range(2):
        x, y = motion.positions[0, body] / 10 * 127
        assert shown[127 - round(y), round(x)].tolist() == motion.colors[body].tolist()


def test_videos_of_another_size_and_length_are_fitted(motion):
    shorter = replace(motion, positions=motion.positions[:6], velocities=motion.velocities[:6])
    film = strip(motion, render(shorter, 256))
    assert film.frames == (0, 1, 2, 3, 4, 5)
    assert film.picture.size == (6 * CELL, 2 * CELL)
    assert film.wrong == {}
    shown = np.asarray(film.picture).astype(int)
    assert abs(shown[:CELL] - shown[CELL:]).mean() < 2


def test_what_a_strip_is_called_is_escaped(motion):
    film = strip(motion, render(motion, 128))
    text = draw(film, 3, "key", "<script>&")
    assert "<script>" not in text
    assert next(ET.fromstring(text).iter("title")).text == "<script>&"


def test_a_strip_of_nothing_is_refused(motion):
    video = render(motion, 128)
    with pytest.raises(InputError):
        film_strip(video[:0], video, motion, parse(video, prior=prior_of(motion)))
