import numpy as np
import pytest

from sightline.scenes.parts import clutter, tables
from sightline.scenes.parts.arrangements import dining, lounge, rows, workplace
from sightline.scenes.parts.pieces import Stage

SETS = (
    clutter.LIVING,
    clutter.DESK,
    clutter.KITCHEN,
    clutter.DINING,
    clutter.WORKSHOP,
    clutter.PLAY,
)


@pytest.mark.parametrize("seed", range(12))
def test_things_stand_on_the_table(seed):
    rng = np.random.default_rng(seed)
    stage = Stage()
    table = stage.put(tables.table(rng), 1.0, 2.0, yaw=30.0)
    clutter.dress(stage, table, rng, SETS[seed % len(SETS)], 12)
    things = stage.placed[1:]
    assert things
    height = table.piece.tops[0].height
    on_it = [t for t in things if -t.at[1] == pytest.approx(height)]
    # The rest lies on books or boxes.
    assert all(-t.at[1] > height - 1e-9 for t in things)
    assert len(on_it) >= len(things) / 2
    for thing in on_it:
        assert np.hypot(thing.at[0] - 1.0, thing.at[2] - 2.0) < max(table.piece.size)


@pytest.mark.parametrize("seed", range(6))
def test_things_do_not_stand_in_each_other(seed):
    rng = np.random.default_rng(seed)
    stage = Stage()
    table = stage.put(tables.table(rng), 0.0, 0.0)
    clutter.dress(stage, table, rng, clutter.DINING, 20)
    height = table.piece.tops[0].height
    flat = [t for t in stage.placed[1:] if -t.at[1] == pytest.approx(height)]
    for k, a in enumerate(flat):
        for b in flat[:k]:
            apart = np.hypot(a.at[0] - b.at[0], a.at[2] - b.at[2])
            reach = max(a.piece.size[0], a.piece.size[2]) + max(b.piece.size[0], b.piece.size[2])
            assert apart > 0.44 * reach


def test_litter_keeps_clear():
    rng = np.random.default_rng(3)
    stage = Stage((-2.0, 2.0, -2.0, 2.0))
    clutter.litter(stage, rng, (-2.0, 2.0, -2.0, 2.0), 40)
    boxes = stage.boxes()
    assert len(boxes) > 8
    for k, a in enumerate(boxes):
        for b in boxes[:k]:
            overlap = np.minimum(a[1], b[1]) - np.maximum(a[0], b[0])
            assert overlap.min() < 0.0201


@pytest.mark.parametrize("seed", range(8))
def test_groups(seed):
    rng = np.random.default_rng(seed)
    for group in (dining, lounge):
        stage = Stage()
        group(stage, rng, 0.0, 0.0, 30.0)
        kinds = [p.piece.kind for p in stage.placed]
        assert "table" in kinds
    stage = Stage()
    desk = stage.put(tables.desk(rng), 0.0, 0.0)
    workplace(stage, rng, desk)
    assert "chair" in [p.piece.kind for p in stage.placed]
    stage = Stage()
    rows(stage, rng, (-4.0, 4.0, -4.0, 4.0), 90.0)
    kinds = [p.piece.kind for p in stage.placed]
    assert kinds.count("desk") == kinds.count("chair") >= 4
