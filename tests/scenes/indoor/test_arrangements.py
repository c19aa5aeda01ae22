import numpy as np
import pytest

from sightline.scenes.indoor import arrangements, furniture
from sightline.scenes.indoor.arrangements import dining, lounge, rows, workplace
from sightline.scenes.layout import PropLayout

SETS = (
    arrangements.LIVING,
    arrangements.DESK,
    arrangements.KITCHEN,
    arrangements.DINING,
    arrangements.WORKSHOP,
    arrangements.PLAY,
)


@pytest.mark.parametrize("seed", range(12))
def test_things_stand_on_the_table(seed):
    rng = np.random.default_rng(seed)
    layout = PropLayout()
    table = layout.put(furniture.table(rng), 1.0, 2.0, yaw=30.0)
    arrangements.place_on(layout, table, rng, SETS[seed % len(SETS)], 12)
    things = layout.placed[1:]
    assert things
    height = table.prop.tops[0].height
    on_it = [t for t in things if -t.at[1] == pytest.approx(height)]
    # The rest lies on books or boxes.
    assert all(-t.at[1] > height - 1e-9 for t in things)
    assert len(on_it) >= len(things) / 2
    for thing in on_it:
        assert np.hypot(thing.at[0] - 1.0, thing.at[2] - 2.0) < max(table.prop.size)


@pytest.mark.parametrize("seed", range(6))
def test_things_do_not_stand_in_each_other(seed):
    rng = np.random.default_rng(seed)
    layout = PropLayout()
    table = layout.put(furniture.table(rng), 0.0, 0.0)
    arrangements.place_on(layout, table, rng, arrangements.DINING, 20)
    height = table.prop.tops[0].height
    flat = [t for t in layout.placed[1:] if -t.at[1] == pytest.approx(height)]
    for k, a in enumerate(flat):
        for b in flat[:k]:
            apart = np.hypot(a.at[0] - b.at[0], a.at[2] - b.at[2])
            reach = max(a.prop.size[0], a.prop.size[2]) + max(b.prop.size[0], b.prop.size[2])
            assert apart > 0.44 * reach


def test_litter_keeps_clear():
    rng = np.random.default_rng(3)
    layout = PropLayout((-2.0, 2.0, -2.0, 2.0))
    arrangements.scatter_on_floor(layout, rng, (-2.0, 2.0, -2.0, 2.0), 40)
    boxes = layout.boxes()
    assert len(boxes) > 8
    for k, a in enumerate(boxes):
        for b in boxes[:k]:
            overlap = np.minimum(a[1], b[1]) - np.maximum(a[0], b[0])
            assert overlap.min() < 0.0201


@pytest.mark.parametrize("seed", range(8))
def test_groups(seed):
    rng = np.random.default_rng(seed)
    for group in (dining, lounge):
        layout = PropLayout()
        group(layout, rng, 0.0, 0.0, 30.0)
        kinds = [p.prop.kind for p in layout.placed]
        assert "table" in kinds
    layout = PropLayout()
    desk = layout.put(furniture.desk(rng), 0.0, 0.0)
    workplace(layout, rng, desk)
    assert "chair" in [p.prop.kind for p in layout.placed]
    layout = PropLayout()
    rows(layout, rng, (-4.0, 4.0, -4.0, 4.0), 90.0)
    kinds = [p.prop.kind for p in layout.placed]
    assert kinds.count("desk") == kinds.count("chair") >= 4
