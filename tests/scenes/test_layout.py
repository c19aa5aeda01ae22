import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.scenes import meshes
from sightline.scenes.indoor import furniture
from sightline.scenes.layout import (
    PROP_VARIANTS,
    Prop,
    PropLayout,
    bounding_box,
    make_prop,
    placed_parts,
    prop_variant,
    resize_prop,
    rotate_xz,
    sample_prop,
    yaw_towards,
)
from sightline.scenes.world import Light, Material

RED, BLUE = Material("plain", (0.8, 0.1, 0.1)), Material("plain", (0.1, 0.1, 0.8))


def block(wide=0.4, high=0.6, deep=0.2) -> Prop:
    return make_prop("box", [(meshes.box([0, -high / 2, 0], [wide, high, deep]), RED)])


def test_made_joins_parts_of_one_material_and_measures():
    part = meshes.box([0, -0.5, 0], [1, 1, 1])
    prop = make_prop(
        "thing", [(part, RED), (part.moved([0.5, 0, 0]), BLUE), (part.moved([0, -1, 0]), RED)]
    )
    assert [m for _, m in prop.parts] == [RED, BLUE]
    assert prop.size == pytest.approx((2.0, 2.0, 1.0))


@given(st.floats(-360, 360), st.floats(-3, 3), st.floats(-3, 3))
def test_turned_agrees_with_shapes(yaw, x, z):
    expected = meshes.rotation(yaw) @ [x, 0, z]
    np.testing.assert_allclose(rotate_xz(x, z, yaw), expected[[0, 2]], atol=1e-9)


@given(st.floats(-np.pi, np.pi))
def test_facing_turns_the_front(angle):
    x, z = np.sin(angle), np.cos(angle)
    np.testing.assert_allclose(rotate_xz(0.0, -1.0, yaw_towards(x, z)), (x, z), atol=1e-9)


@given(st.floats(-180, 180), st.tuples(*[st.floats(0.5, 2)] * 3))
def test_moved_is_moved_one_by_one(yaw, scale):
    prop = resize_prop(block(), *scale)
    ((shape, _),) = placed_parts(prop, (1.0, -2.0, 3.0), yaw)
    expected = prop.parts[0][0].moved([1, -2, 3], yaw=yaw, scale=scale)
    for part in ("vertices", "faces", "normals", "uv"):
        np.testing.assert_allclose(getattr(shape, part), getattr(expected, part), atol=1e-9)
    bounds = bounding_box(prop, (1.0, -2.0, 3.0), yaw)
    assert (shape.vertices >= bounds[0] - 1e-9).all()
    assert (shape.vertices <= bounds[1] + 1e-9).all()


def test_stage_keeps_things_apart():
    layout = PropLayout()
    assert layout.try_put(block(), 0.0, 0.0) is not None
    assert layout.try_put(block(), 0.1, 0.0) is None
    assert layout.try_put(block(), 0.5, 0.0) is not None
    assert len(layout.boxes()) == 2
    assert layout.builder.finish(Light()).kinds == ("box", "box")


def test_stage_stays_within_its_area_and_off_reserved_space():
    layout = PropLayout((-1.0, 1.0, -1.0, 1.0))
    assert layout.try_put(block(), 0.9, 0.0) is None
    layout.reserved.append(np.array([[-1.0, -2.0, -1.0], [0.0, 0.0, 1.0]]))
    assert layout.try_put(block(), -0.5, 0.0) is None
    assert layout.try_put(block(), 0.5, 0.0) is not None


def test_a_chair_may_go_under_its_table_only():
    layout = PropLayout()
    table = layout.put(furniture.table(np.random.default_rng(0)), 0.0, 0.0)
    chair = furniture.chair(np.random.default_rng(0))
    assert layout.try_put(chair, 0.0, -0.4) is None
    assert layout.try_put(chair, 0.0, -0.4, under=table) is not None


def test_point_of_a_placed_piece():
    placed = PropLayout().put(block(), 2.0, 3.0, height=0.5, yaw=90.0)
    assert placed.point(0.0, 0.1, 1.0) == pytest.approx((3.0, -0.6, 3.0))


def test_stock_gives_the_same_piece_again_in_other_colors():
    assert prop_variant(furniture.chair, 3) is prop_variant(furniture.chair, 3)
    a, b = (sample_prop(np.random.default_rng(5), furniture.chair) for _ in range(2))
    assert a.size == b.size
    assert [m for _, m in a.parts] == [m for _, m in b.parts]
    sizes = {
        sample_prop(np.random.default_rng(k), furniture.chair).size
        for k in range(2 * PROP_VARIANTS)
    }
    assert len(sizes) == 2 * PROP_VARIANTS


def test_resized_scales_tops_too():
    table = furniture.table(np.random.default_rng(1))
    low = resize_prop(table, 2.0, 0.5, 1.0)
    assert low.tops[0].height == pytest.approx(table.tops[0].height / 2)
    assert low.tops[0].x[1] == pytest.approx(table.tops[0].x[1] * 2)
    assert low.size[1] == pytest.approx(table.size[1] / 2)


def test_every_prop_maker_has_a_stream_of_its_own():
    from sightline.scenes import kinds, layout

    assert kinds.KINDS  # imports every maker
    assert len(set(layout._STREAMS.values())) == len(layout._STREAMS) > 80
