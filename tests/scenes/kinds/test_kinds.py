import numpy as np
import pytest

from sightline.scenes.kinds import DEFAULT_KINDS, KINDS


def test_every_kind_has_a_weight():
    assert all(name == kind.name for name, kind in KINDS.items())
    assert sum(KINDS[name].weight for name in DEFAULT_KINDS) == pytest.approx(1)
    assert min(kind.weight for kind in KINDS.values()) > 0


def test_the_order_of_kinds_is_fixed():
    names = [
        "room",
        "tabletop",
        "objects",
        "street",
        "nature",
        "aerial",
        "people",
        "visitors",
        "collection",
        "sky",
        "wall",
        "nadir",
        "table",
        "ceiling",
        "tilted",
    ]
    assert list(KINDS)[: len(names)] == names


INDOORS = pytest.mark.parametrize(
    "build", [KINDS[name].build for name in ("room", "tabletop", "objects")]
)


@INDOORS
def test_many_worlds_are_sound(build, check_sound):
    check_sound(build, range(200))


@INDOORS
@pytest.mark.parametrize("seed", [0, 17, 123])
def test_same_seed_same_world(build, seed, check_repeats):
    check_repeats(build, seed)


@INDOORS
def test_cameras_stand_free_and_see_something(build, shares):
    near, void, spread = shares(build, range(500, 560))
    assert (near > 0.5).mean() <= 0.05, np.flatnonzero(near > 0.5) + 500
    assert void.max() == 0, np.flatnonzero(void > 0) + 500
    assert (spread > 1.3).mean() > 0.9, np.flatnonzero(spread <= 1.3) + 500
    assert np.median(spread) > 2
