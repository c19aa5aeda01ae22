"""Fixtures that every room's tests share."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings

from sightline.models.entry import SPEC_KEY, ModelSpec
from sightline.types import Kind

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
    """Three photographs with truth, in two sets, laid out as `sightline.io.rgbd` reads them."""
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
    """A codebook that has learned nothing, as a file."""
    import torch

    from sightline.perception.codebook import DepthCodebook, write_codebook

    path = tmp_path_factory.mktemp("codebook") / "codebook.onnx"
    torch.manual_seed(0)
    write_codebook(DepthCodebook().eval(), path)
    return path


def write_conv_onnx(path: Path, spec: ModelSpec | None, *, hw=(None, None), channel=False) -> Path:
    """Two 3 × 3 convolutions: (N, 3, H, W) to (N, H, W), or (N, 1, H, W) with `channel`."""
    from onnx import TensorProto, helper, numpy_helper, save

    rng = np.random.default_rng(5)
    first = rng.normal(0, 0.3, (4, 3, 3, 3)).astype(np.float32)
    second = np.abs(rng.normal(0, 0.3, (1, 4, 3, 3))).astype(np.float32)
    scale = np.float32(1.0 if spec is None or spec.max_depth is None else spec.max_depth)
    last = "Relu" if spec is None or spec.max_depth is None else "Sigmoid"
    nodes = [
        helper.make_node("Conv", ["image", "first"], ["a"], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Conv", ["b", "second"], ["c"], pads=[1, 1, 1, 1]),
        helper.make_node(last, ["c"], ["d"]),
        helper.make_node("Mul", ["d", "scale"], ["map"]),
        helper.make_node("Squeeze", ["map", "axes"], ["depth"]),
    ]
    name, shape = "depth", ["n", hw[0] or "h", hw[1] or "w"]
    if channel:
        nodes, name, shape = nodes[:-1], "map", ["n", 1, *shape[1:]]
    graph = helper.make_graph(
        nodes,
        "conv",
        [
            helper.make_tensor_value_info(
                "image", TensorProto.FLOAT, ["n", 3, hw[0] or "h", hw[1] or "w"]
            )
        ],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)],
        [
            numpy_helper.from_array(first, "first"),
            numpy_helper.from_array(second, "second"),
            numpy_helper.from_array(np.array(scale), "scale"),
            numpy_helper.from_array(np.array([1]), "axes"),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    if spec is not None:
        entry = model.metadata_props.add()
        entry.key, entry.value = SPEC_KEY, spec.to_json()
    save(model, str(path))
    return path


@pytest.fixture(scope="session")
def conv_spec() -> ModelSpec:
    return ModelSpec("compact", size=64, multiple=8)


@pytest.fixture(scope="session")
def metric_spec() -> ModelSpec:
    return ModelSpec("compact", Kind.METRIC_DEPTH, size=64, multiple=8, max_depth=20.0)


@pytest.fixture(scope="session")
def make_onnx():
    """Writer of small ONNX networks: (path, spec, hw=, channel=) → path."""
    return write_conv_onnx


@pytest.fixture(scope="session")
def conv_onnx(tmp_path_factory, conv_spec) -> Path:
    """A small relative network with its description inside."""
    return write_conv_onnx(tmp_path_factory.mktemp("onnx") / "conv.onnx", conv_spec)


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """A bucket of a local S3 server; the credentials and the address go through the environment."""
    from sightline.io.paths import to_path

    server = pytest.importorskip("moto.server").ThreadedMotoServer(port=0)
    pytest.importorskip("s3fs")
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        to_path("s3://sightline").fs.mkdir("sightline")
        yield "s3://sightline"
    server.stop()


@pytest.fixture(params=["memory", "s3"])
def remote_folder(request) -> str:
    if request.param == "s3":
        return f"{request.getfixturevalue('s3')}/{secrets.token_hex(4)}"
    return f"memory://bucket-{secrets.token_hex(4)}"


@pytest.fixture(scope="session")
def hub_depth_model(tmp_path_factory):
    """A folder with a tiny depth model of transformers."""
    from .tiny_depth import write_depth_folder

    folder = tmp_path_factory.mktemp("hub-depth")
    write_depth_folder(folder)
    return folder
