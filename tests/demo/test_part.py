"""Parts of the demo: made, or an account of why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from sightline.demo.part import Order, Plan, Shown, attempt
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
        (ModuleNotFoundError("no", name="sightline.typo"), "metric"),  # a mistake of ours
        (ModuleNotFoundError("no", name="numpy"), ""),
        (InputError("no such model"), ""),
        (ValueError("a mistake of ours"), "metric"),
    ],
)
def test_mistakes_are_not_hidden(error, extra):
    with pytest.raises(type(error)):
        attempt(plan(failing(error), extra), ORDER)
