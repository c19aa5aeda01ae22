import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sightline.scenes.generate import find_instances

masks = hnp.arrays(
    np.int32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 4)
)


@given(masks, st.integers(0, 2**32 - 1))
def test_each_thing_as_counted_one_by_one(mask, seed):
    depth = np.random.default_rng(seed).uniform(0.3, 50, mask.shape).astype(np.float32)
    kinds = ("chair", "table", "lamp", "chair")
    found = {thing.number: thing for thing in find_instances(mask, depth, kinds)}
    assert list(found) == [n for n in (1, 2, 3, 4) if (mask == n).any()]
    for number, thing in found.items():
        own = mask == number
        rows, columns = np.nonzero(own)
        assert thing.kind == kinds[number - 1]
        assert thing.box == (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
        assert thing.pixels == own.sum()
        assert thing.nearest == depth[own].min()
        assert thing.median == np.median(depth[own])


def test_a_scene_without_things():
    assert find_instances(np.zeros((4, 5), np.int32), np.ones((4, 5), np.float32), ()) == ()
