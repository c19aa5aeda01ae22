"""Bodies, poses and people: sizes, surfaces, where points end up, and what is put into a scene."""

from importlib import resources

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.scenes.mesh_arrays import vertex_normals
from sightline.scenes.people import bodies
from sightline.scenes.people.bodies import JOINTS, LANDMARKS, REGIONS, load_body, topology
from sightline.scenes.people.clothing import BodySurface
from sightline.scenes.people.person import (
    FREE_POSES,
    ScenePerson,
    add_person,
    place_person,
    sample_figure,
    seat_height,
)
from sightline.scenes.people.poses import POSES, BodyPose, pose_body, sample_pose
from sightline.scenes.world import Light, WorldBuilder

DETAILS = ("near", "far")
numbers = st.integers(0, bodies.body_count() - 1)
seeds = st.integers(0, 2**32 - 1)


def test_the_library_covers_ages_heights_and_both_sexes():
    everyone = [load_body(k) for k in range(bodies.body_count())]
    assert len(everyone) >= 48
    heights = [b.height for b in everyone]
    assert min(heights) > 1.0
    assert max(heights) < 2.0
    assert min(heights) < 1.2
    assert max(heights) > 1.85
    assert sum(b.child for b in everyone) >= 8
    assert sum(b.age > 60 for b in everyone) >= 8
    assert sum(b.female > 0.7 for b in everyone) >= 20
    assert sum(b.female < 0.3 for b in everyone) >= 20
    assert all(12 < b.mass / b.height**2 < 40 for b in everyone)


def test_the_baked_file_is_small():
    assert (resources.files("sightline.scenes.people") / "bodies.npz").stat().st_size < 1_500_000


@pytest.mark.parametrize("detail", DETAILS)
def test_the_surface_is_closed_and_turned_outwards(detail):
    faces = topology().faces[detail]
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    there = {(int(a), int(b)) for a, b in edges}
    assert len(there) == len(edges)
    assert all((b, a) in there for a, b in there)
    a, b, c = (load_body(30).vertices[faces[:, k]] for k in range(3))
    volume = float((np.cross(a, b) * c).sum()) / 6
    assert volume == pytest.approx(load_body(30).mass / 980, rel=0.05)


@pytest.mark.parametrize("detail", DETAILS)
def test_every_region_is_there_and_where_it_belongs(detail):
    shared = topology()
    faces, region = shared.faces[detail], shared.region[detail]
    assert set(np.unique(region)) == set(range(len(REGIONS)))
    middle = load_body(40).vertices[faces].mean(1)
    up = {name: -middle[region == k, 1].mean() for k, name in enumerate(REGIONS)}
    order = ["foot", "ankle", "calf", "knee", "thigh", "hips", "torso", "collar", "neck", "face"]
    assert [up[name] for name in order] == sorted(up[name] for name in order)
    assert up["scalp"] > up["eye"] > up["lips"]
    assert len(faces) <= {"near": 2600, "far": 900}[detail]


@pytest.mark.parametrize("detail", DETAILS)
def test_the_surface_is_as_high_as_the_body_says(detail):
    used = np.unique(topology().faces[detail])
    for k in range(bodies.body_count()):
        y = load_body(k).vertices[used, 1]
        assert y.max() == 0.0
        assert -y.min() == pytest.approx(load_body(k).height, abs=1e-4)


@given(numbers)
def test_a_pose_without_aims_is_the_body_itself(number):
    own = load_body(number)
    figure = pose_body(own, BodyPose("rest", {}))
    shift = own.joints[0] * [1, 0, 1]
    count = len(figure.vertices)
    np.testing.assert_allclose(figure.vertices, own.vertices[:count] - shift, atol=1e-9)
    np.testing.assert_allclose(figure.joints, own.joints - shift, atol=1e-9)


@given(numbers, st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda d: np.linalg.norm(d) > 0.1))
@settings(max_examples=50)
def test_limbs_point_where_they_are_aimed_and_keep_their_length(number, aim):
    own = load_body(number)
    figure = pose_body(own, BodyPose("test", {"forearm.R": aim, "forearm.L": aim, "shin.R": aim}))
    for start, end, side in (
        ("forearm.R", "hand.R", 1),
        ("forearm.L", "hand.L", -1),
        ("shin.R", "foot.R", 1),
    ):
        limb = figure.joint(end) - figure.joint(start)
        wanted = np.array([side * aim[0], aim[1], aim[2]])
        np.testing.assert_allclose(
            limb / np.linalg.norm(limb), wanted / np.linalg.norm(wanted), atol=1e-6
        )
        names = list(JOINTS)
        rest = own.joints[names.index(end)] - own.joints[names.index(start)]
        assert np.linalg.norm(limb) == pytest.approx(np.linalg.norm(rest))


@given(numbers, st.sampled_from(sorted(POSES)), seeds)
@settings(max_examples=80)
def test_figures_are_finite_stand_on_the_ground_and_stay_in_one_piece(number, name, seed):
    figure = pose_body(load_body(number), sample_pose(np.random.default_rng(seed), name))
    height = figure.body.height
    assert np.isfinite(figure.vertices).all()
    assert figure.vertices[:, 1].max() == pytest.approx(0.0, abs=1e-9)
    assert -figure.vertices[:, 1].min() < 1.4 * height
    np.testing.assert_allclose(figure.joint("pelvis")[[0, 2]], 0, atol=1e-9)
    for turn in figure.turns:
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-9)
        assert np.linalg.det(turn) == pytest.approx(1.0)
    # No edge is torn: those of the rest grow at most a few times.
    faces = topology().faces["far"]
    before, after = (
        np.linalg.norm(v[faces] - v[np.roll(faces, 1, 1)], axis=-1).max()
        for v in (figure.body.vertices, figure.vertices)
    )
    assert after < 2.5 * before


def test_poses_look_like_their_names():
    rng = np.random.default_rng(0)

    def posed(name):
        return [pose_body(load_body(k), sample_pose(rng, name)) for k in range(20, 60, 4)]

    def high(figure, name):
        return -figure.joint(name)[1] / figure.body.height

    assert all(high(f, "head") > 0.8 for f in posed("standing"))
    assert all(0.2 < high(f, "pelvis") < 0.4 for f in posed("sitting"))
    assert all(high(f, "pelvis") < 0.32 for f in posed("crouching"))
    assert all(high(f, "head") < 0.3 for f in posed("lying"))
    assert all(max(high(f, "hand.L"), high(f, "hand.R")) > 0.8 for f in posed("raised"))
    for figure in posed("walking"):
        assert abs(figure.joint("foot.L")[2] - figure.joint("foot.R")[2]) > 0.1
    for figure in posed("sitting"):
        assert 0.18 * figure.body.height < seat_height(figure) < 0.32 * figure.body.height


def test_an_unknown_pose_is_named():
    with pytest.raises(InputError, match=r"somersault.*standing"):
        sample_pose(np.random.default_rng(0), "somersault")


def test_normals_point_out_and_layers_stand_off():
    figure = sample_figure(np.random.default_rng(1), "standing", number=35)
    skin = BodySurface(figure, "near")
    ball = figure.vertices / np.linalg.norm(figure.vertices, axis=1, keepdims=True)
    np.testing.assert_allclose(
        np.linalg.norm(vertex_normals(ball, topology().faces["near"]), axis=1), 1.0
    )
    bare, cloth = skin.layer("torso"), skin.layer("torso", thickness=0.02)
    np.testing.assert_allclose(np.linalg.norm(cloth.vertices - bare.vertices, axis=1), 0.02)
    middle = bare.vertices.mean(0)
    farther = np.linalg.norm(cloth.vertices - middle, axis=1) > np.linalg.norm(
        bare.vertices - middle, axis=1
    )
    assert farther.mean() > 0.95


def _world(seed: int, detail: str = "far", pose: str | None = None):
    builder = WorldBuilder()
    person = add_person(
        builder, np.random.default_rng(seed), (2.0, 0.0, 5.0), 40.0, pose=pose, detail=detail
    )
    return builder.finish(Light()), person


@pytest.mark.parametrize("detail", DETAILS)
def test_people_are_whole_and_stand_at_their_place(detail):
    for seed in range(100):
        world, person = _world(seed, detail)
        assert world.kinds == ("person",)
        assert set(world.instance) == {1}
        assert np.isfinite(world.vertices).all()
        assert np.isfinite(world.uv).all()
        np.testing.assert_allclose(np.linalg.norm(world.normals, axis=1), 1.0, atol=1e-6)
        assert world.faces.min() >= 0
        assert world.faces.max() < len(world.vertices)
        assert len(world.faces) < {"near": 5500, "far": 2700}[detail]
        assert -0.02 < world.vertices[:, 1].max() < 0.02
        top = -world.vertices[:, 1].min()
        assert 0.4 * person.height < top < person.height + 1.8
        np.testing.assert_allclose(person.point("pelvis")[[0, 2]], [2.0, 5.0], atol=1e-9)
        assert all(0 <= c <= 1 for m in world.materials for c in (*m.tint, *m.second))


@pytest.mark.parametrize("pose", sorted(POSES))
def test_every_pose_can_be_dressed(pose):
    for seed in range(4):
        world, person = _world(seed, "near", pose)
        assert person.figure.pose.name == pose
        assert len(world.faces) > 2000


def test_the_same_seed_gives_the_same_person():
    for seed in range(5):
        (a, first), (b, second) = _world(seed), _world(seed)
        assert first.height == second.height
        np.testing.assert_array_equal(a.vertices, b.vertices)
        assert a.materials == b.materials
    assert _world(0)[0].vertices.shape != _world(1)[0].vertices.shape


@given(seeds, st.floats(-180, 180))
@settings(max_examples=25)
def test_points_of_a_person_turn_and_move_with_it(seed, yaw):
    rng = np.random.default_rng(seed)
    figure = sample_figure(rng, "standing")
    person = place_person(WorldBuilder(), rng, figure, (1.0, -0.5, 3.0), yaw)
    assert isinstance(person, ScenePerson)
    assert person.point("crown")[1] == pytest.approx(
        -0.5 - person.lift + figure.landmark("crown")[1], abs=1e-9
    )
    # The nose is where the face looks: about +z at yaw 0, +x at yaw 90.
    ahead = (person.point("nose") - person.point("head"))[[0, 2]]
    away = figure.landmark("nose") - figure.joint("head")
    own = np.degrees(np.arctan2(away[0], away[2]))
    found = np.degrees(np.arctan2(*ahead))
    assert (found - own - yaw + 180) % 360 - 180 == pytest.approx(0, abs=1e-6)
    assert set(LANDMARKS).isdisjoint(JOINTS)


def test_free_poses_exist():
    assert {name for name, _ in FREE_POSES} <= set(POSES)
