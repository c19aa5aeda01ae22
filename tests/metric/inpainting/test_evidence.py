"""What becomes of paintings: counted, named, their cautions kept."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.inpainting import SHORT_SIDE, PaintConfig, painted_evidence
from sightline.metric.options import MetricConfig
from sightline.metric.people.types import BodyMesh, Person
from sightline.types import Camera, DepthMap, Kind

CAMERA = Camera.from_focal(50.0, 60, 40)
PICTURE = np.full((40, 60, 3), 100, np.uint8)
RAMP = DepthMap(
    np.linspace(0.2, 1.0, 2400).reshape(40, 60).astype(np.float32), Kind.RELATIVE_DISPARITY
)


class Plain:
    """Paints the picture white for the first `count` times, and nothing afterwards."""

    source = "plain"

    def __init__(self, count):
        self.left = count

    def paint(self, pixels, masks, prompts, seeds):
        painted = []
        for _ in masks:
            painted.append(np.full_like(pixels, 255) if self.left > 0 else pixels)
            self.left -= 1
        return painted


class Posters:
    """Takes white pictures for somebody two meters away who does not stand out, perhaps."""

    source = "posters"

    def find(self, pixels, camera):
        if pixels.max() < 255:
            return []
        corners = np.array([[-0.4, -0.4, 2], [0.4, -0.4, 2], [0.4, 0.4, 2], [-0.4, 0.4, 2]], float)
        mask = np.zeros((40, 60), bool)
        mask[12:29, 22:39] = True
        mesh = BodyMesh(corners, np.array([[0, 1, 2], [0, 2, 3]], np.int32))
        nothing = np.full((33, 2), np.nan)
        box = np.array([22, 12, 39, 29], float)
        return [Person(box, mask, 0.7, nothing, np.zeros(33), np.full((33, 3), np.nan), mesh)]


def painted(count, told=None, **config):
    return painted_evidence(
        PICTURE,
        CAMERA,
        RAMP,
        Plain(count),
        Posters(),
        lambda _: RAMP,
        PaintConfig(**config),
        told,
    )


def test_paintings_are_counted_and_named():
    told = []
    found = painted(2, lambda *now: told.append(now), wanted=3, batch=1, attempts=4)
    assert told == [(1, 1), (2, 2), (3, 2), (4, 2)]
    assert str(found) == "4 painted, 2 accepted (nobody was painted in 2)"
    said = found.to_dict()
    assert (said["made"], said["wanted"]) == (4, 3)
    assert [one["name"] for one in said["accepted"]] == ["painting 1", "painting 2"]
    assert [item.name.partition(" in ")[2] for item in found.evidence] == [
        "painting 1",
        "painting 2",
    ]


def test_cautions_about_painted_people_are_kept_once_each():
    two = painted(2, wanted=2).warnings
    both = "person 1 in painting 1 and person 1 in painting 2"
    assert f"{both}: is as far away as what is beside it: on a poster, or in a mirror?" in two
    assert f"{both}: may not be a person (30%); look at the picture" in two
    five = painted(5, wanted=5).warnings
    assert len(five) == len(two)
    assert all(line.startswith("person 1 in painting 1 and 4 others: ") for line in five)


def test_no_more_are_painted_than_are_wanted():
    painter = Plain(9)
    painted_evidence(
        PICTURE, CAMERA, RAMP, painter, Posters(), lambda _: RAMP, PaintConfig(wanted=3, batch=8)
    )
    assert painter.left == 6


def test_the_flags_have_the_papers_defaults():
    assert MetricConfig().painter_side == SHORT_SIDE
    assert MetricConfig().painter_steps is None
    with pytest.raises(InputError, match="painter-side must be from 32"):
        MetricConfig(painter_side=8)
    with pytest.raises(InputError, match="painter-steps must be at least 1"):
        MetricConfig(painter_steps=0)
