"""Fixtures that every room's tests share."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

# Processes that share the cores gain nothing from threads of their own, which only wait for each other.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

# A loaded machine is no reason for a property to fail.
settings.register_profile("sightline", deadline=None, max_examples=50)
settings.load_profile("sightline")

#: Read by Python at its start, this hides packages.
_HIDE = """
import sys

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Hide())
"""

SHARED_DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The real photographs and depth beside the repository; tests that need them skip without."""
    if not SHARED_DATA.is_dir():
        pytest.skip("needs the real photographs and depth of ../shared/data, which are not here")
    return SHARED_DATA


@pytest.fixture(scope="session")
def photo() -> np.ndarray:
    """A real photograph, (400, 600, 3) uint8."""
    from skimage import data

    return np.asarray(data.coffee())


@pytest.fixture
def without(tmp_path) -> Callable[..., dict[str, str]]:
    """Environment for a process in which some packages are not installed."""

    def hide(*names: str) -> dict[str, str]:
        folder = tmp_path / "hidden"
        folder.mkdir()
        (folder / "sitecustomize.py").write_text(_HIDE.format(names=set(names)))
        return {"PYTHONPATH": f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}

    return hide


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def write_sample(folder, name, **truth):
    (folder / name).mkdir()
    height, width = next(iter(truth.values())).shape
    from PIL import Image

    Image.fromarray(np.zeros((height, width, 3), np.uint8)).save(folder / name / "image.jpg")
    np.savez(folder / name / "truth.npz", **truth)


@pytest.fixture
def rgbd_folder(tmp_path):
    """Three photographs with truth, in two sets, laid out as `sightline.files.rgbd` reads them."""
    ramp = np.linspace(1, 5, 60, dtype=np.float32).reshape(6, 10)
    holes = ramp.copy()
    holes[0, :3] = np.nan
    write_sample(tmp_path, "a0", depth=holes)
    write_sample(tmp_path, "a1", depth=ramp)
    write_sample(tmp_path, "b0", disparity=1 / ramp)
    rows = [
        {"sample": "a0", "set": "a", "kind": "dense"},
        {"sample": "a1", "set": "a", "kind": "sparse"},
        {"sample": "b0", "set": "b", "kind": "dense"},
    ]
    (tmp_path / "index.json").write_text(json.dumps(rows))
    return tmp_path


@pytest.fixture(scope="session")
def hub_folder(tmp_path_factory):
    """A LLaVA of a few thousand random weights, laid out as on a hub."""
    from .tiny_llava import write_hub_folder

    folder = tmp_path_factory.mktemp("hub") / "llava-tiny"
    write_hub_folder(folder)
    return folder


@pytest.fixture(scope="session")
def random_codebook(tmp_path_factory):
    """A codebook that has learnt nothing, as a file."""
    import torch

    from sightline.perception.codebook.files import write_codebook
    from sightline.perception.codebook.network import DepthCodebook

    path = tmp_path_factory.mktemp("codebook") / "codebook.onnx"
    torch.manual_seed(0)
    write_codebook(DepthCodebook().eval(), path)
    return path
