"""What can be set, and what a result depends on."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from sightline.batch.options import LARGEST, DepthOptions, Palette
from sightline.depth import preprocess
from sightline.errors import InputError
from sightline.files import palettes


@pytest.mark.parametrize("name", ["threads", "workers", "max_pixels"])
def test_counts_are_at_least_one(name):
    with pytest.raises(InputError, match="at least 1, got 0"):
        DepthOptions(**{name: 0})


@pytest.mark.parametrize("size", [-1, 0, 31, 4097, 1_000_000])
def test_a_size_no_network_can_use(size):
    with pytest.raises(InputError, match=f"size must be from 32 to 4096, got {size}"):
        DepthOptions(size=size)


def test_the_largest_size_is_that_of_the_network():
    assert preprocess.MAX_SIZE == LARGEST == DepthOptions(size=LARGEST).size


def test_formats_are_checked():
    with pytest.raises(InputError, match="nothing to save"):
        DepthOptions(save=())
    with pytest.raises(InputError, match="cannot save 'zip'"):
        DepthOptions(save=("npz", "zip"))


@pytest.mark.parametrize(
    "change",
    [{"size": 252}, {"fov": 60.0}, {"tiles": True}, {"sigma": True}, {"palette": "grey"}],
)
def test_what_changes_a_result_changes_the_fingerprint(change):
    options = DepthOptions()
    assert replace(options, **change).settings("sha") != options.settings("sha")


def test_what_does_not_change_a_result_keeps_the_fingerprint():
    options = DepthOptions()
    other = replace(options, workers=4, threads=2, resume=True, keep_going=True, save=("exr",))
    assert other.settings("sha") == options.settings("sha")
    assert options.settings("sha") != options.settings("another model")


def test_palettes_are_those_of_the_files():
    assert get_args(Palette) == get_args(palettes.Palette)
