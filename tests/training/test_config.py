"""Configurations as TOML."""

from pathlib import Path

import pytest

from sightline.errors import InputError
from sightline.training.config import TrainConfig, read_toml, to_toml


def test_there_and_back(tmp_path):
    values = {
        "task": "student",
        "options": {"steps": 5, "rate": 1e-4, "flip": True, "size": None, "patch": (1, 4, 4)},
        "data": {"data": ["pairs:a b@3", 'with "quotes"'], "photos": Path("x/y"), "labels": []},
    }
    (tmp_path / "config.toml").write_text(to_toml(values))
    assert read_toml(tmp_path / "config.toml") == {
        "task": "student",
        "options": {"steps": 5, "rate": 1e-4, "flip": True, "patch": [1, 4, 4]},
        "data": {"data": ["pairs:a b@3", 'with "quotes"'], "photos": "x/y", "labels": []},
    }


def test_what_is_not_toml_is_refused(tmp_path):
    path = tmp_path / "a.toml"
    path.write_text("steps =")
    with pytest.raises(InputError, match="is not a TOML file"):
        read_toml(path)
    with pytest.raises(InputError, match="is not a TOML file"):
        read_toml(tmp_path / "none.toml")


@pytest.mark.parametrize(
    "field", ["steps", "save_every", "validate_every", "accumulate", "threads"]
)
def test_counts_start_at_one(field):
    with pytest.raises(InputError, match=field):
        TrainConfig(**{field: 0})
