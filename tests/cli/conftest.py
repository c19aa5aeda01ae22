"""A tiny network and pictures for running the command line for real, in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sightline.models.entry import SPEC_KEY, ModelSpec

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def cache(tmp_path_factory) -> Path:
    """One cache for all processes of the session, so that the user's own is left alone."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def environment(cache) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(cache), "SIGHTLINE_CACHE": str(cache)}


@pytest.fixture(scope="session")
def command() -> list[str]:
    """How to start the command line as a process of its own."""
    return [sys.executable, "-m", "sightline"]


@pytest.fixture(scope="session")
def sightline(command, environment) -> Run:
    """Run `sightline` with the given words and return what it did."""

    def run(*words, **options) -> subprocess.CompletedProcess[str]:
        options = {"env": environment, "timeout": 120, **options}
        return subprocess.run(
            [*command, *map(str, words)], capture_output=True, text=True, check=False, **options
        )

    return run


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """A real, if small, network: two convolutions with fixed random weights, any height and width."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    rng = np.random.default_rng(0)
    first = rng.normal(0, 0.3, (8, 3, 3, 3)).astype(np.float32)
    second = np.abs(rng.normal(0, 0.3, (1, 8, 3, 3))).astype(np.float32)
    nodes = [
        helper.make_node("Conv", ["image", "first"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "second"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node("Squeeze", ["c", "axis"], ["depth"]),
    ]
    graph = helper.make_graph(
        nodes,
        "tiny",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, "h", "w"])],
        [helper.make_tensor_value_info("depth", TensorProto.FLOAT, ["n", "h", "w"])],
        [
            numpy_helper.from_array(first, "first"),
            numpy_helper.from_array(second, "second"),
            numpy_helper.from_array(np.array([1], np.int64), "axis"),
        ],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    helper.set_model_props(made, {SPEC_KEY: ModelSpec("compact", size=64, multiple=16).to_json()})
    path = tmp_path_factory.mktemp("model") / "tiny-test.onnx"
    onnx.save(made, path)
    return path


def save_pictures(folder: Path, count: int) -> list[Path]:
    """Write small pictures of various formats and sizes, cut from a real photograph."""
    from skimage import data

    photo = np.asarray(data.coffee())
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for number in range(count):
        ending = ("jpg", "png", "webp", "bmp")[number % 4]
        left, width, height = 7 * (number % 50), 90 + number % 13, 70 + number % 7
        path = folder / f"photo{number:03d}.{ending}"
        Image.fromarray(photo[40 : 40 + height, left : left + width]).save(path)
        paths.append(path)
    return paths


@pytest.fixture
def pictures(tmp_path) -> Callable[[int], list[Path]]:
    """Write so many pictures to a folder `photos` and return their paths."""
    return lambda count: save_pictures(tmp_path / "photos", count)


@pytest.fixture
def mixed(pictures) -> list[Path]:
    """Twenty pictures, two of them bad: one cut off, one no picture at all."""
    paths = pictures(20)
    paths[5].write_bytes(paths[5].read_bytes()[:60])
    paths[12].write_bytes(b"this is no picture")
    return paths
