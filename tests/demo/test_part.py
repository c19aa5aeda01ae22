"""Parts of the demo: made, or an account of why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.demo.part import Order, Part, Plan, Shown, attempt
from sightline.demo.run import PLANS, write
from sightline.errors import InputError

ORDER = Order(Path("demo"), "tiny", print)


def plan(make, extra="metric"):
    return Plan("name", "Title", "What is seen.", extra, make)


def failing(error):
    def make(_order):
        raise error

    return make


def test_a_part_that_works():
    part = attempt(plan(lambda order: Shown({"model": order.model}, ("a line",))), ORDER)
    assert (part.fields, part.lines, part.missing) == ({"model": "tiny"}, ("a line",), "")
    assert part.seconds >= 0


def test_what_is_not_installed_is_named_with_the_extra():
    part = attempt(plan(failing(ModuleNotFoundError("no", name="numba"))), ORDER)
    assert part.missing.startswith("This part needs numba")
    assert part.missing.endswith("pip install 'sightline[metric]'")
    assert not part.fields


def test_what_cannot_be_had_is_said():
    part = attempt(plan(failing(InputError("no such network", remedy="connect"))), ORDER)
    assert part.missing == "This part could not be made: no such network; connect."


@pytest.mark.parametrize(
    ("error", "extra"),
    [
        (ModuleNotFoundError("no", name="sightline.typo"), "metric"),
        (ModuleNotFoundError("no", name="numpy"), ""),
        (ValueError("a mistake of ours"), "metric"),
        (MemoryError("so much"), ""),
    ],
)
def test_mistakes_of_ours_are_kept_and_said(error, extra):
    part = attempt(plan(failing(error), extra), ORDER)
    assert part.error is error
    assert not part.fields
    assert part.missing.startswith("This part failed, which is a mistake of ours")
    assert f"{type(error).__name__}: {error}" in part.missing


def test_a_model_that_is_not_there_is_the_users_mistake():
    with pytest.raises(InputError, match="no such model"):
        attempt(plan(failing(InputError("no such model")), ""), ORDER)


def test_what_cannot_be_written_down_fails_alone(tmp_path):
    """A field that a template wants and does not get."""
    broken = Part(PLANS[1], {"exhibit": None}, ("a line",))
    lacking = Part(PLANS[2], missing="This part needs more.")
    one, other = write(tmp_path / "index.html", [broken, lacking], "sightline serve")
    assert one.error is not None
    assert other is lacking
    text = (tmp_path / "index.html").read_text()
    assert "This part failed, which is a mistake of ours" in text
    assert "This part needs more." in text
