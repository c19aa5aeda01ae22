import pytest

from sightline.scenes.kinds import KINDS, WEIGHTS


def test_every_kind_has_a_weight():
    assert list(KINDS) == list(WEIGHTS)
    assert sum(WEIGHTS.values()) == pytest.approx(1)
    assert min(WEIGHTS.values()) > 0
