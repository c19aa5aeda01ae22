"""Every probe: pure samples, disjoint parts, and data that say what they are."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.physics.probes import (
    PROBES,
    Cells,
    Gates,
    Plane,
    describe,
    inside_hull,
    make_probe,
    probe_of,
)

NAMES = list(PROBES)
FIELDS = ("init", "positions", "velocities", "sizes", "colors", "shapes")


def in_cells(part, init):
    """(M, cells): which samples have the radius, speed, color and shape of which cell."""
    full = np.hstack([init, np.zeros((len(init), 4 - init.shape[1]))])
    return np.array(
        [
            (full[:, 0] >= cell.radius[0])
            & (full[:, 0] <= cell.radius[1])
            & (full[:, 1] >= cell.speed[0])
            & (full[:, 1] <= cell.speed[1])
            & (full[:, 2] == cell.color)
            & (full[:, 3] == cell.shape)
            for cell in part.cells
        ]
    ).T


def in_plane(part, init):
    def within(rectangles):
        v1, v2 = init[:, 2], init[:, 3]
        inside = [(v1 >= a[0]) & (v1 <= a[1]) & (v2 >= b[0]) & (v2 <= b[1]) for a, b in rectangles]
        return np.any(inside, axis=0) if inside else np.zeros(len(init), bool)

    return within(part.inside) & ~within(part.outside)


@settings(max_examples=40)
@given(
    name=st.sampled_from(NAMES),
    part=st.sampled_from(["train", "test"]),
    seed=st.integers(0, 2**63 - 1),
    start=st.integers(0, 20),
    count=st.integers(0, 20),
)
def test_a_sample_does_not_depend_on_its_neighbors(name, part, seed, start, count):
    whole = make_probe(name, part, 40, seed).take(slice(start, start + count))
    alone = make_probe(name, part, count, seed, start)
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(whole, field), getattr(alone, field))


@pytest.mark.parametrize("name", NAMES)
def test_parts_come_from_where_they_say_and_nowhere_else(name):
    probe = PROBES[name]
    for here, there in (("train", "test"), ("test", "train")):
        init = make_probe(probe, here, 500, seed=5).init
        mine, other = getattr(probe, here), getattr(probe, there)
        if isinstance(mine, Cells):
            assert in_cells(mine, init).any(1).all()
            assert in_cells(mine, init).any(0).all()
            assert probe.control or not in_cells(other, init).any()
        elif isinstance(mine, Plane):
            assert in_plane(mine, init).all()
            assert not in_plane(other, init).any()
        elif isinstance(mine, Gates):
            margin = np.abs(init[:, 2])
            assert ((margin >= mine.margin[0]) & (margin <= mine.margin[1])).all()
            assert not ((margin >= other.margin[0]) & (margin <= other.margin[1])).any()
        else:
            assert not set(mine.kinds) & set(other.kinds)


@pytest.mark.parametrize("name", NAMES)
def test_parts_of_one_seed_share_no_sample(name):
    train, test = (make_probe(name, part, 300).positions[:, 0, 0] for part in ("train", "test"))
    assert not np.isin(train[:, 1], test[:, 1]).any()


@pytest.mark.parametrize("name", NAMES)
def test_a_probe_says_what_it_is(name):
    probe = PROBES[name]
    assert probe.name == name
    assert probe.question.endswith("?")
    assert probe.reading.figure
    assert probe.reading.measures
    assert describe(probe.train) != describe(probe.test)
    assert probe.train_count > probe.test_count > 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        probe.name = "other"


def test_the_families_are_complete():
    families = {}
    for probe in PROBES.values():
        families.setdefault(probe.family, []).append(probe.name)
    assert {name: len(members) for name, members in families.items()} == {
        "velocity-gap": 6,
        "collision-gap": 3,
        "memorization": 2,
        "conflict": 16,
        "control": 1,
        "composition": 3,
        "ambiguity": 1,
    }


def test_bands_have_even_density():
    speeds = make_probe("velocity-gap-1.25-3.75", "train", 4000).init[:, 1]
    assert (speeds < 2).mean() == pytest.approx(0.5, abs=0.03)
    speeds = make_probe("velocity-islands-3", "test", 4000).init[:, 1]
    assert (speeds < 2.4).mean() == pytest.approx(0.5, abs=0.03)
    counts, _ = np.histogram(make_probe("velocity-gap-2-3", "train", 8000).init[:, 1], 6, (1, 4))
    assert counts[2] + counts[3] == 0
    np.testing.assert_allclose(counts[[0, 1, 4, 5]], 2000, rtol=0.1)


def test_islands_and_their_gaps_fill_the_range():
    probe = PROBES["velocity-islands-4"]
    widths = [cell.speed[1] - cell.speed[0] for cell in probe.train.cells + probe.test.cells]
    assert sum(widths) == pytest.approx(3.0)
    assert len(probe.test.cells) == 3


def test_flipping_mirrors_half_of_the_training_only():
    train = make_probe("memorization-flip", "train", 1000)
    left = train.velocities[:, 0, 0, 0] < 0
    assert left.mean() == pytest.approx(0.5, abs=0.06)
    assert (train.init[:, 1] > 0).all()
    x, r = train.positions[:, 0, 0, 0], train.sizes[:, 0]
    assert ((x > 0) & (x < 10)).all()
    assert (x[left] > 10 - x[left] - 10 + r[left]).all()
    assert (make_probe("memorization-flip", "test", 100).velocities[:, :, 0, 0] > 0).all()
    assert (make_probe("memorization", "train", 100).velocities[:, :, 0, 0] > 0).all()


def test_the_hull_of_the_l_shape_is_a_triangle_short_of_the_square():
    probe = PROBES["collision-hull"]
    init = np.array([[1, 1, 2.0, 3.0], [1, 1, 3.0, 3.0], [1, 1, 2.6, 2.6], [1, 1, 4.0, 4.0]])
    assert inside_hull(probe, init).tolist() == [True, False, True, False]
    for part in ("train", "test"):
        inside = inside_hull(probe, make_probe(probe, part, 500).init)
        assert inside.all() if part == "train" else 0.2 < inside.mean() < 0.8
    square = PROBES["collision-gap-square"]
    assert inside_hull(square, make_probe(square, "test", 100).init).all()


def test_wrong_names_are_refused():
    with pytest.raises(InputError, match="no probe"):
        probe_of("velocity")
    with pytest.raises(InputError, match="train or test"):
        make_probe("memorization", "validation", 1)
    with pytest.raises(InputError, match="not about"):
        inside_hull(PROBES["memorization"], np.ones((1, 4)))
