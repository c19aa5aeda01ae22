"""Eight clients at once, good and bad requests mixed: bounded memory, bounded waiting, no surprises."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from .conftest import running, wait_for

#: What the server and its worker may take together with every model loaded, and may grow by, in MB.
MOST, GROWTH = 2500, 300
BODY = 4_000_000


@pytest.fixture(scope="module")
def loads():
    """The load of benchmarks/service_load.py, whose figures are in the docs."""
    folder = str(Path(__file__).parents[2] / "benchmarks")
    sys.path.insert(0, folder)
    yield importlib.import_module("service_load")
    sys.path.remove(folder)


@pytest.fixture
def live(tmp_path):
    with running(tmp_path, "--model", "tiny", "--rate", 0, "--max-body-mb", 4) as one:
        one.wait_ready()
        yield one


def check(loads, live, picture, film, seconds, times):
    kinds = loads.kinds(picture, film, BODY)
    found = loads.run(live.address, live.process.pid, kinds, seconds, times)
    print(
        f"{len(found.seen)} requests in {seconds} s, {dict(found.statuses)}; 95 % within "
        f"{found.p95:.2f} times what was to be expected; {found.before:.0f} MB before, "
        f"{found.most:.0f} MB at most"
    )
    assert found.wrong(MOST, GROWTH) == []
    wait_for(lambda: live.left() == [])


def test_eight_clients_for_a_moment(loads, live, small_photo, world_film):
    check(loads, live, small_photo, world_film, 5, times=2)


@pytest.mark.slow
def test_eight_clients_for_a_minute(loads, live, coffee, world_film):
    check(loads, live, coffee, world_film, 60, times=3)


# ---------------------------------------------------------------- the checks themselves
@pytest.fixture
def found(loads):
    """A load as it should be."""
    kinds = [
        loads.Kind("depth", 1, None, frozenset({200})),
        loads.Kind("damaged picture", 1, None, frozenset({422})),
    ]
    one = loads.Outcome({"depth": 0.1, "damaged picture": 0.01}, kinds, 400.0, 450.0)
    one.seen += [loads.Seen("depth", 0.5, 0.6, 200, "") for _ in range(40)]
    one.seen += [loads.Seen("damaged picture", 0.5, 0.6, 422, "Is damaged.")]
    one.seen += [loads.Seen("depth", 0.0, 0.6, 429, "Try again.")]
    return one


def test_a_load_as_it_should_be(found):
    assert found.wrong(500, 100) == []


@pytest.mark.parametrize("status", [500, 503, 599, 422])
def test_an_answer_that_nobody_deserves_is_noticed(found, loads, status):
    found.seen.append(loads.Seen("depth", 0.5, 0.6, status, "Oh."))
    assert found.wrong(500, 100) == [f"depth was answered with {status}: Oh."]


def test_waiting_too_long_is_noticed(found, loads):
    found.seen += [loads.Seen("depth", 3.0, 0.6, 200, "") for _ in range(9)]
    assert found.wrong(500, 100) == ["95 % took up to 5.0 times what was to be expected"]


def test_what_is_never_answered_is_noticed(found):
    found.seen = [one for one in found.seen if one.status != 422]
    assert found.wrong(500, 100) == ["damaged picture was never answered"]


def test_memory_deaths_and_forgotten_requests_are_noticed(found):
    assert found.wrong(440, 100) == ["memory rose to 450 MB"]
    assert found.wrong(500, 20) == ["memory grew from 400 to 450 MB"]
    found.lost, found.waiting = 1, 2
    assert found.wrong(500, 100) == ["1 workers were lost", "2 requests still wait"]
