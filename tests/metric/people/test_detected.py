"""People as they are shown."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.people import detected as found
from sightline.metric.people.detected import describe_people, outline
from sightline.metric.people.types import Person
from sightline.types import Camera


@pytest.fixture
def person() -> Person:
    """Somebody who is a rectangle of 10 × 30 pixels."""
    mask = np.zeros((60, 40), bool)
    mask[20:50, 5:15] = True
    empty = np.full((33, 2), np.nan), np.zeros(33), np.full((33, 3), np.nan)
    return Person(np.array([5.0, 20.0, 15.0, 50.0]), mask, 0.9, *empty)


CAMERA = Camera.from_fov(60, 40, 60)


def test_outlines_begin_with_the_largest_piece(person):
    mask = person.mask.copy()
    mask[2:6, 30:34] = True
    large, small = outline(mask)
    assert set(large) == {(5, 20), (14, 20), (14, 49), (5, 49)}
    assert set(small) == {(30, 2), (33, 2), (33, 5), (30, 5)}
    assert outline(np.zeros((4, 4), bool)) == ()


def test_the_distance_is_as_unsure_as_the_lens(person, monkeypatch):
    body = SimpleNamespace(
        height=1.7, height_sigma=0.1, distance=2.0, distance_sigma=0.4, warnings=["sits"]
    )
    monkeypatch.setattr(found, "fit_body", lambda *_: body)
    (one,) = describe_people([person], CAMERA, 0.3)
    assert (one.name, one.box, one.warnings) == ("person 1", (5, 20, 15, 50), ("sits",))
    assert one.distance.sigma == pytest.approx(2 * 0.5)  # 30 % of the lens and 40 % of the body
    assert one.text == "1.70 ± 0.10 m tall, 2.0 ± 1.0 m away"


def test_somebody_without_a_body(person, monkeypatch):
    def refuse(*_):
        raise InputError("too little of the body is seen")

    monkeypatch.setattr(found, "fit_body", refuse)
    (one,) = describe_people([person], CAMERA, 0.3)
    assert (one.height, one.distance) == (None, None)
    assert one.text == "too little of the body is seen"
