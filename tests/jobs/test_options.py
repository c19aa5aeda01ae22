"""What can be set, and what a result depends on."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from sightline.config import LARGEST, Palette, ParallelConfig, fingerprint, to_pydantic
from sightline.depth import preprocessing
from sightline.depth.config import DepthConfig, LabelConfig
from sightline.errors import InputError
from sightline.io import color
from sightline.jobs.options import BatchConfig
from sightline.metric.options import MetricConfig


@pytest.mark.parametrize("config", [DepthConfig, LabelConfig, MetricConfig])
@pytest.mark.parametrize("name", ["threads", "max_pixels"])
def test_counts_are_at_least_one(config, name):
    with pytest.raises(InputError, match="at least 1, got 0"):
        config(**{name: 0})


def test_workers_and_address():
    with pytest.raises(InputError, match="workers must be at least 1, got 0"):
        ParallelConfig(workers=0)
    with pytest.raises(InputError, match="--address is used only with --cluster"):
        ParallelConfig(address="auto")


@pytest.mark.parametrize("size", [-1, 0, 31, 4097, 1_000_000])
def test_a_size_no_network_can_use(size):
    with pytest.raises(InputError, match=f"size must be from 32 to 4096, got {size}"):
        DepthConfig(size=size)


def test_the_largest_size_is_that_of_the_network():
    assert preprocessing.MAX_SIZE == LARGEST == DepthConfig(size=LARGEST).size


def test_formats_are_checked():
    with pytest.raises(InputError, match="nothing to save"):
        BatchConfig(save=())
    with pytest.raises(InputError, match="cannot save 'zip'"):
        BatchConfig(save=("npz", "zip"))


@pytest.mark.parametrize(
    "change",
    [{"size": 252}, {"fov": 60.0}, {"tiles": True}, {"sigma": True}, {"sharpen": False}],
)
def test_what_changes_a_result_changes_the_fingerprint(change):
    config = DepthConfig()
    assert fingerprint("sha", replace(config, **change)) != fingerprint("sha", config)


def test_what_does_not_change_a_result_keeps_the_fingerprint():
    config = DepthConfig()
    other = replace(config, threads=2, device="cpu", accept_license=True, max_pixels=10)
    assert fingerprint("sha", other) == fingerprint("sha", config)
    assert fingerprint("sha", config) != fingerprint("another model", config)
    assert fingerprint("sha", config, "gray") != fingerprint("sha", config, "turbo")


def test_a_request_model_has_names_defaults_and_texts_of_its_config():
    model = to_pydantic(DepthConfig, include={"fov", "stabilize", "model"})
    assert model.__name__ == "DepthRequest"
    assert model().model_dump() == {"model": "default", "fov": None, "stabilize": True}
    assert model.model_fields["fov"].description.startswith("horizontal field of view in degrees")
    many = to_pydantic(MetricConfig, include={"length"}, name="Lengths")
    assert many.model_json_schema()["properties"]["length"]["type"] == "array"
    assert many().length == []
    with pytest.raises(ValueError, match="DepthConfig has no field 'speed'"):
        to_pydantic(DepthConfig, include={"speed"})


def test_palettes_are_those_of_the_files():
    assert get_args(Palette) == get_args(color.Palette)
