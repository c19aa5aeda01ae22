"""The finder on a real photograph of one person, if its networks are on this machine."""

import numpy as np
import pytest
from skimage import data

from sightline.errors import InputError
from sightline.metric.people.types import LANDMARKS
from sightline.models import registry
from sightline.models.download import locate
from sightline.types import Camera


@pytest.fixture(scope="module")
def found():
    for name in ("pose-detection", "pose-full"):
        if locate(registry.get(name)) is None:
            pytest.skip(f"{name} is not here: sightline models get pose-detection pose-full")
    from sightline.metric.people.blazepose import BlazePoseFinder

    pixels = data.astronaut()
    finder = BlazePoseFinder("pose-full", threads=1)
    return pixels, finder.find(pixels, Camera.assumed(512, 512))


def test_one_person_with_a_face_where_it_is(found):
    _, people = found
    assert len(people) == 1
    place = dict(zip(LANDMARKS, people[0].landmarks, strict=True))
    assert place["nose"] == pytest.approx([223, 115], abs=12)
    # Her right is on the left of the picture.
    assert place["shoulder.R"][0] < place["shoulder.L"][0]


def test_the_mask_is_on_her_and_not_on_the_sky(found):
    _, people = found
    mask = people[0].mask
    assert mask[120, 223]
    assert mask[400, 200]
    assert not mask[40, 20]
    assert 0.2 < mask.mean() < 0.75


def test_the_world_landmarks_are_of_human_size(found):
    _, people = found
    place = dict(zip(LANDMARKS, people[0].world, strict=True))
    wide = np.linalg.norm(place["shoulder.L"] - place["shoulder.R"])
    assert 0.2 < wide < 0.5


def test_a_camera_of_another_size(found):
    from sightline.metric.people.blazepose import BlazePoseFinder

    finder = BlazePoseFinder("pose-full", threads=1)
    with pytest.raises(InputError, match="the camera is of"):
        finder.find(found[0], Camera.assumed(10, 10))
