import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.scenes import shapes
from sightline.scenes.parts import seats, tables
from sightline.scenes.parts.pieces import Piece, Stage, box_of, facing, made, moved, turned
from sightline.scenes.parts.stock import VARIANTS, resized, take, variant
from sightline.scenes.world import Light, Material

RED, BLUE = Material("plain", (0.8, 0.1, 0.1)), Material("plain", (0.1, 0.1, 0.8))


def block(wide=0.4, high=0.6, deep=0.2) -> Piece:
    return made("box", [(shapes.box([0, -high / 2, 0], [wide, high, deep]), RED)])


def test_made_joins_parts_of_one_material_and_measures():
    part = shapes.box([0, -0.5, 0], [1, 1, 1])
    piece = made(
        "thing", [(part, RED), (part.moved([0.5, 0, 0]), BLUE), (part.moved([0, -1, 0]), RED)]
    )
    assert [m for _, m in piece.parts] == [RED, BLUE]
    assert piece.size == pytest.approx((2.0, 2.0, 1.0))


@given(st.floats(-360, 360), st.floats(-3, 3), st.floats(-3, 3))
def test_turned_agrees_with_shapes(yaw, x, z):
    expected = shapes.rotation(yaw) @ [x, 0, z]
    np.testing.assert_allclose(turned(x, z, yaw), expected[[0, 2]], atol=1e-9)


@given(st.floats(-np.pi, np.pi))
def test_facing_turns_the_front(angle):
    x, z = np.sin(angle), np.cos(angle)
    np.testing.assert_allclose(turned(0.0, -1.0, facing(x, z)), (x, z), atol=1e-9)


@given(st.floats(-180, 180), st.tuples(*[st.floats(0.5, 2)] * 3))
def test_moved_is_moved_one_by_one(yaw, scale):
    piece = resized(block(), *scale)
    ((shape, _),) = moved(piece, (1.0, -2.0, 3.0), yaw)
    expected = piece.parts[0][0].moved([1, -2, 3], yaw=yaw, scale=scale)
    for part in ("vertices", "faces", "normals", "uv"):
        np.testing.assert_allclose(getattr(shape, part), getattr(expected, part), atol=1e-9)
    bounds = box_of(piece, (1.0, -2.0, 3.0), yaw)
    assert (shape.vertices >= bounds[0] - 1e-9).all()
    assert (shape.vertices <= bounds[1] + 1e-9).all()


def test_stage_keeps_things_apart():
    stage = Stage()
    assert stage.try_put(block(), 0.0, 0.0) is not None
    assert stage.try_put(block(), 0.1, 0.0) is None
    assert stage.try_put(block(), 0.5, 0.0) is not None
    assert len(stage.boxes()) == 2
    assert stage.builder.finish(Light()).kinds == ("box", "box")


def test_stage_stays_within_its_area_and_off_reserved_space():
    stage = Stage((-1.0, 1.0, -1.0, 1.0))
    assert stage.try_put(block(), 0.9, 0.0) is None
    stage.reserved.append(np.array([[-1.0, -2.0, -1.0], [0.0, 0.0, 1.0]]))
    assert stage.try_put(block(), -0.5, 0.0) is None
    assert stage.try_put(block(), 0.5, 0.0) is not None


def test_a_chair_may_go_under_its_table_only():
    stage = Stage()
    table = stage.put(tables.table(np.random.default_rng(0)), 0.0, 0.0)
    chair = seats.chair(np.random.default_rng(0))
    assert stage.try_put(chair, 0.0, -0.4) is None
    assert stage.try_put(chair, 0.0, -0.4, under=table) is not None


def test_point_of_a_placed_piece():
    placed = Stage().put(block(), 2.0, 3.0, height=0.5, yaw=90.0)
    assert placed.point(0.0, 0.1, 1.0) == pytest.approx((3.0, -0.6, 3.0))


def test_stock_gives_the_same_piece_again_in_other_colours():
    assert variant(seats.chair, 3) is variant(seats.chair, 3)
    a, b = (take(np.random.default_rng(5), seats.chair) for _ in range(2))
    assert a.size == b.size
    assert [m for _, m in a.parts] == [m for _, m in b.parts]
    sizes = {take(np.random.default_rng(k), seats.chair).size for k in range(2 * VARIANTS)}
    assert len(sizes) == 2 * VARIANTS


def test_resized_scales_tops_too():
    table = tables.table(np.random.default_rng(1))
    low = resized(table, 2.0, 0.5, 1.0)
    assert low.tops[0].height == pytest.approx(table.tops[0].height / 2)
    assert low.tops[0].x[1] == pytest.approx(table.tops[0].x[1] * 2)
    assert low.size[1] == pytest.approx(table.size[1] / 2)
