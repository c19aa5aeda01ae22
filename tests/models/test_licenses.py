from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from sightline.errors import InputError
from sightline.models.cache import VARIABLE, is_accepted, require_accepted
from sightline.models.entry import ModelEntry

Make = Callable[..., ModelEntry]


@pytest.fixture
def entry(make_entry: Make) -> ModelEntry:
    return make_entry(license="CC-BY-NC-4.0", commercial=False, aliases=("other",))


def test_free_models_need_no_word(make_entry: Make, cache: Path):
    require_accepted(make_entry())
    assert not cache.exists()


def test_refusal_is_one_line_that_names_license_and_command(entry: ModelEntry):
    with pytest.raises(InputError) as caught:
        require_accepted(entry)
    assert "CC-BY-NC-4.0" in str(caught.value)
    assert "sightline models get tiny-test --accept-license" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_accepted_once_is_accepted(entry: ModelEntry):
    require_accepted(entry, accept=True)
    assert is_accepted(entry)
    require_accepted(entry)


@pytest.mark.parametrize("value", ["tiny-test", "x, Other ,y"])
def test_the_environment_accepts_by_name(
    entry: ModelEntry, monkeypatch: pytest.MonkeyPatch, value: str
):
    monkeypatch.setenv(VARIABLE, value)
    require_accepted(entry)
    monkeypatch.delenv(VARIABLE)
    require_accepted(entry)


@pytest.mark.parametrize("value", ["", ",", "another", "1"])
def test_the_environment_accepts_nothing_else(
    entry: ModelEntry, monkeypatch: pytest.MonkeyPatch, value: str
):
    monkeypatch.setenv(VARIABLE, value)
    with pytest.raises(InputError):
        require_accepted(entry)


def test_another_license_for_the_same_model_is_asked_for_again(entry: ModelEntry, make_entry: Make):
    require_accepted(entry, accept=True)
    with pytest.raises(InputError, match="stricter"):
        require_accepted(make_entry(license="stricter", commercial=False))
