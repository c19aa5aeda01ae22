"""The 70 templates in the order of the reference."""

import itertools
import re

import pytest

from sightline.errors import InputError
from sightline.physics.combinatorial.tasks import (
    HELD_OUT,
    SETS,
    SIX,
    THIRTY,
    TRAIN,
    ObjectKind,
    kinds_of,
    parse_templates,
)

A, B, BALLS, BAR, STANDING, STATIC, JAR, STICKS = ObjectKind

# As the specification lists them, §2.3.
LISTED = {
    10060: (A, BAR, STANDING, STATIC),
    10061: (A, B, BALLS, STANDING),
    10062: (A, B, BALLS, STICKS),
    10063: (A, B, STANDING, STICKS),
    10064: (A, BALLS, STANDING, STATIC),
    10065: (BALLS, STANDING, STATIC, JAR),
    10066: (B, BAR, JAR, STICKS),
    10067: (A, B, STATIC, STICKS),
    10068: (B, BALLS, BAR, STICKS),
    10069: (A, BAR, JAR, STICKS),
}

# As a comment of the released generator lists them.
SIX_LISTED = {
    10003: (STANDING, STATIC, JAR, STICKS),
    10005: (BALLS, BAR, STANDING, STATIC),
    10016: (BALLS, BAR, JAR, STICKS),
    10023: (A, B, BALLS, BAR),
    10024: (A, B, STANDING, STATIC),
    10053: (A, B, JAR, STICKS),
}


def test_the_held_out_ten_are_those_of_the_reference():
    assert {number: kinds_of(number) for number in HELD_OUT} == LISTED


def test_the_six_are_those_of_the_reference_and_have_every_pair():
    assert {number: kinds_of(number) for number in SIX} == SIX_LISTED
    pairs = {pair for number in SIX for pair in itertools.combinations(kinds_of(number), 2)}
    assert pairs == set(itertools.combinations(ObjectKind, 2))


def test_the_thirty_are_those_of_even_number():
    assert [n for n in range(10000, 10070) if re.fullmatch("100[0-5][02468]", str(n))] == list(
        THIRTY
    )


def test_every_choice_of_four_occurs_once():
    found = [kinds_of(number) for number in TRAIN + HELD_OUT]
    assert (len(TRAIN), len(HELD_OUT), len(set(found))) == (60, 10, 70)
    assert all(len(set(kinds)) == 4 and list(kinds) == sorted(kinds) for kinds in found)
    assert set(TRAIN).isdisjoint(HELD_OUT)


@pytest.mark.parametrize("name", SETS)
def test_sets_by_name(name):
    assert parse_templates(name) == SETS[name]


def test_ids():
    assert parse_templates("10069,10000") == (10069, 10000)


@pytest.mark.parametrize("text", ["", "7", "10070", "9999", "10003,", "10003,10003", "six"])
def test_no_such_templates(text):
    with pytest.raises(InputError, match="template"):
        parse_templates(text)
