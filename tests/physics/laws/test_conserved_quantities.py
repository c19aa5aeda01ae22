import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.physics.laws.table import check_laws

LAWS = ("momentum", "kinetic_energy", "total_energy")


def test_an_elastic_collision_keeps_all(tracks_of, bounce):
    scores = check_laws(tracks_of(*bounce()), None, "collision")
    for law in LAWS:
        assert scores.values[law] < 0.03, law
        assert not scores.violates(law)


@given(restitution=st.floats(0.0, 0.7))
def test_an_inelastic_one_keeps_momentum_only(restitution, tracks_of, bounce):
    positions, sizes = bounce(restitution)
    scores = check_laws(tracks_of(positions, sizes), None, "collision")
    assert not scores.violates("momentum")
    m1, m2 = sizes**2
    relative = 1.6 + 1.2
    lost = 0.5 * m1 * m2 / (m1 + m2) * relative**2 * (1 - restitution**2)
    share = lost / (0.5 * (m1 * 1.6**2 + m2 * 1.2**2))
    found = next(v for v in scores.violations if v.law == "kinetic_energy")
    assert found.size == pytest.approx(share, abs=0.02)
    assert found.body == -1
    assert found.frame >= 14


@pytest.fixture
def falling():
    time = 0.1 * np.arange(24)
    return np.stack([2 + 1.5 * time, 9 - 1.25 * time**2], axis=-1)[:, None]


def test_a_falling_ball_keeps_its_total_energy(tracks_of, falling):
    scores = check_laws(tracks_of(falling, [0.8]), None, "parabola")
    assert scores.values["kinetic_energy"] is None
    assert scores.values["total_energy"] < 1e-6
    assert scores.values["momentum"] < 1e-6
    heavy = falling.copy()
    heavy[..., 1] = 9 - 2 * (9 - heavy[..., 1])
    scores = check_laws(tracks_of(heavy, [0.8]), None, "parabola")
    assert scores.violates("total_energy")
    assert not scores.violates("momentum")


def test_momentum_of_a_swerve(tracks_of, straight):
    path = straight.copy()
    path[16:, 0, 1] += 0.15 * np.arange(1, 17)
    scores = check_laws(tracks_of(path, [0.8]), None, "uniform")
    found = next(v for v in scores.violations if v.law == "momentum")
    assert found.size == pytest.approx(1.0, abs=0.02)  # 1.5 up, of 1.5 along
    assert found.frame >= 14


def test_nothing_to_say_about_glimpses(tracks_of, straight):
    scores = check_laws(tracks_of(straight[:6], [0.8]), None, "uniform")
    assert scores.values["momentum"] is None
    assert scores.values["total_energy"] is None


@pytest.mark.parametrize("scenario", ["uniform", "parabola"])
def test_a_world_that_stops_at_the_first_frame_of_its_own_has_lost_everything(
    tracks_of, straight, falling, motion_of, scenario
):
    path = straight if scenario == "uniform" else falling
    velocities = np.gradient(path, 0.1, axis=0)
    stopped = path.copy()
    stopped[3:] = path[2]
    truth = motion_of(path, velocities, [0.8])
    scores = check_laws(tracks_of(stopped, [0.8]), truth, scenario)
    assert scores.values["momentum"] == pytest.approx(1.0, abs=0.08)
    assert scores.violates("momentum")
    assert scores.violates("total_energy")
    if scenario == "uniform":
        assert scores.values["kinetic_energy"] == pytest.approx(1.0, abs=0.08)


def test_another_speed_from_the_start_is_a_change_only_where_a_truth_tells(
    tracks_of, straight, motion_of
):
    fast = straight[:1] + 1.2 * (straight - straight[:1])
    truth = motion_of(straight, (1.5, 0.0), [0.8])
    scores = check_laws(tracks_of(fast, [0.8]), truth, "uniform")
    assert scores.values["momentum"] == pytest.approx(0.2, abs=0.01)
    assert scores.values["kinetic_energy"] == pytest.approx(0.44, abs=0.02)
    alone = check_laws(tracks_of(fast, [0.8]), None, "uniform")
    assert alone.values["momentum"] < 0.01
