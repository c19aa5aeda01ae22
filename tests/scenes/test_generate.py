"""One scene from two numbers."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from sightline.errors import SightlineError
from sightline.scenes import generate, meshes
from sightline.scenes.generate import find_fault, make_scene, scene_kind
from sightline.scenes.world import CameraView, Light, Material, SceneKind, Sky, WorldBuilder
from sightline.types import DepthMap, Kind

SIZE = {"width": 48, "height": 40}


def table(rng):
    """A box on a chequered floor under the sky, seen from eye level."""
    builder = WorldBuilder()
    builder.add(meshes.quad([-20, 0, -20], [40, 0, 0], [0, 0, 40]), Material("checker"))
    with builder.instance("table"):
        size = rng.uniform(0.5, 1.0, 3)
        color = tuple(rng.uniform(0.2, 0.9, 3).tolist())
        builder.add(meshes.box([0, -size[1] / 2, 3], size), Material("plain", color))
    light = Light(np.array([0.3, -0.9, -0.3]), (0.8, 0.8, 0.7))
    return builder.finish(light, Sky()), CameraView((0, -1.5, 0), (0, -0.6, 3))


@pytest.fixture
def kinds(monkeypatch):
    """A kind of scene of our own beside the real ones."""
    monkeypatch.setitem(generate.KINDS, "table", SceneKind("table", table, 1.0))
    return generate.KINDS


def assert_same(a, b):
    assert np.array_equal(a.frame.pixels, b.frame.pixels)
    assert np.array_equal(a.frame.depth.values, b.frame.depth.values)
    assert np.array_equal(a.frame.instance, b.frame.instance)
    assert np.array_equal(a.frame.pose, b.frame.pose)
    assert (a.kind, a.frame.kinds) == (b.kind, b.frame.kinds)


def test_the_same_numbers_give_the_same_scene(kinds):
    first = make_scene(3, 5, kinds=["table"], **SIZE)
    make_scene(3, 6, kinds=["table"], **SIZE)  # what came between leaves no trace
    assert_same(first, make_scene(3, 5, kinds=["table"], **SIZE))
    assert (first.seed, first.index, first.kind) == (3, 5, "table")
    assert first.frame.pixels.shape == (40, 48, 3)


def test_other_numbers_give_other_scenes(kinds):
    made = [make_scene(*at, kinds=["table"], **SIZE) for at in ((0, 0), (0, 1), (1, 0))]
    pictures = {scene.frame.pixels.tobytes() for scene in made}
    depths = {scene.frame.depth.values.tobytes() for scene in made}
    assert len(pictures) == len(depths) == 3


def test_the_truth_is_as_built(kinds):
    frame = make_scene(0, 0, kinds=["table"], **SIZE).frame
    assert frame.kinds == ("table",)
    box = frame.instance == 1
    assert 0.01 < box.mean() < 0.5
    assert 2 < frame.depth.values[box].min() < 3
    assert np.array_equal(frame.depth.valid, ~frame.sky)
    assert frame.sky[0].all()


@pytest.mark.parametrize("name", generate.KINDS)
def test_every_kind_twice_the_same(name):
    first, again = (make_scene(1, 2, kinds=[name], **SIZE) for _ in range(2))
    assert first.kind == name
    assert_same(first, again)


def test_kinds_come_by_weight():
    found = Counter(scene_kind(0, index) for index in range(4000))
    assert set(found) == set(generate.DEFAULT_KINDS)
    for name in generate.DEFAULT_KINDS:
        assert found[name] / 4000 == pytest.approx(generate.KINDS[name].weight, abs=0.03)
    some = {scene_kind(0, index, ["street", "room"]) for index in range(100)}
    assert some == {"street", "room"}


def test_a_view_of_nothing_is_built_anew(kinds, monkeypatch):
    calls = []

    def third_time(rng):
        calls.append(rng.random())
        world, view = table(rng)
        return world, view if len(calls) % 3 == 0 else replace(view, target=(0, -100, 0.1))

    monkeypatch.setitem(generate.KINDS, "table", SceneKind("table", third_time, 1.0))
    first, again = (make_scene(0, 0, kinds=["table"], **SIZE) for _ in range(2))
    assert first.attempt == again.attempt == 2
    assert len(set(calls)) == 3  # each attempt has its own stream, the same in both runs
    assert calls[:3] == calls[3:]
    assert_same(first, again)


def test_a_builder_that_never_shows_anything_is_a_bug(kinds, monkeypatch):
    def up(rng):
        world, view = table(rng)
        return world, replace(view, target=(0, -100, 0.1))

    monkeypatch.setitem(generate.KINDS, "table", SceneKind("table", up, 1.0))
    with pytest.raises(SightlineError, match="100% of it is sky"):
        make_scene(0, 0, kinds=["table"], **SIZE)


def test_a_builders_mistake_is_not_swallowed(kinds, monkeypatch):
    def broken(rng):
        raise ZeroDivisionError("two chairs in one place")

    monkeypatch.setitem(generate.KINDS, "table", SceneKind("table", broken, 1.0))
    with pytest.raises(ZeroDivisionError, match="two chairs") as caught:
        make_scene(7, 11, kinds=["table"], **SIZE)
    assert caught.value.__notes__ == ["while making scene 11 of seed 7, a table"]


def test_what_is_wrong_with_a_view(kinds):
    frame = make_scene(0, 0, kinds=["table"], **SIZE).frame
    assert find_fault(frame) is None

    def fault(depth=None, pixels=None, sky=None):
        changed = frame
        if depth is not None:
            values = np.broadcast_to(np.float32(depth), frame.sky.shape)
            changed = replace(
                changed, depth=DepthMap(values, Kind.METRIC_DEPTH, None, frame.camera)
            )
        if pixels is not None:
            changed = replace(changed, pixels=np.full_like(frame.pixels, pixels))
        if sky is not None:
            changed = replace(changed, sky=np.full_like(frame.sky, sky))
        return find_fault(changed)

    ramp = np.linspace(1, 5, 48)
    assert fault(ramp, sky=False) is None
    assert fault(np.where(ramp < 2, np.nan, ramp), sky=False) == "it has holes"
    assert fault(ramp / 10, sky=False) is None
    assert fault(0.07 + ramp / 30, sky=False) == "73% of it is nearer than 0.2 m"
    touched = np.where(ramp == 5, 0.05, ramp)
    assert fault(touched, sky=False) == "something in it is nearer than 0.08 m"
    assert fault(2.5, sky=False) == "it is flat"
    assert fault(sky=True) == "100% of it is sky"
    assert fault(ramp, sky=False, pixels=128) == "it has one color"
    dark = np.zeros((1, 48, 1), np.uint8)
    dark[:, ::16] = 45
    assert fault(ramp, sky=False, pixels=dark) == "it is dark"


def test_streams_do_not_meet():
    first = {generate._stream(*path).random() for path in [(5, 0), (5, 0, 0), (5, 0, 0, 0), (5, 1)]}
    assert len(first) == 4
