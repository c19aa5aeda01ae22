"""Which engine runs a weight file, and how the file gets into a form that the engine reads.

A file's content decides, not its suffix.

* ONNX and OpenVINO models (`.onnx`, `.xml`) go to OpenVINO. Where torch is asked for, it takes the
  safetensors file of the same name beside them, or reads the weights out of an ONNX file of ours.
* Torch weights (`.pth`, `.safetensors`) go to torch when there is a CUDA or Apple GPU, else they
  are exported to ONNX once, kept in the cache under their checksum, and run by OpenVINO. From then
  on they need no torch.
"""

from __future__ import annotations

import hashlib
import importlib.util
import logging
import os
import platform
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from sightline.errors import InputError, install
from sightline.models.entry import SPEC_KEY, ModelSpec
from sightline.runtime.engine import Engine, writable_cache
from sightline.runtime.openvino import OpenVinoEngine, openvino_core, save_model
from sightline.runtime.weight_files import FileKind, file_kind, is_graph

EngineName = Literal["auto", "openvino", "torch"]

#: An ONNX file cannot hold more than this, in [B]; larger checkpoints run in torch.
ONNX_LIMIT = 1_900_000_000

_log = logging.getLogger(__name__)


def open_engine(
    path: Path,
    sha256: str,
    *,
    engine: EngineName = "auto",
    device: str | None = None,
    threads: int | None = None,
    spec: ModelSpec | None = None,
) -> tuple[Engine, ModelSpec]:
    """Open a weight file.

    Args:
        path: ONNX, OpenVINO or torch weights.
        sha256: checksum of the file in hex: the name under which its conversion is kept.
        engine: `"auto"` chooses as the module says.
        device: torch's or OpenVINO's name; None for the best one.
        threads: number of CPU threads.
        spec: how to feed and read the network, where the file itself does not say.

    Returns:
        The engine, and the description of its network.
    """
    if choose_engine(path, engine, device) == "torch":
        return _open_torch(torch_source(path) or path, device, spec)
    place, compiled = device or "CPU", writable_cache("openvino")
    if is_graph(path):
        opened = OpenVinoEngine(path, threads, compiled, place)
    else:
        with converted(path, sha256, spec) as graph:
            opened = OpenVinoEngine(graph, threads, compiled, place)
    found = opened.spec or spec
    if found is None:
        raise InputError(
            "carries no description of its input and output",
            path=path,
            remedy="give one (spec=ModelSpec(…)), or export it with sightline",
        )
    return opened, found


def choose_engine(
    path: Path, engine: EngineName, device: str | None
) -> Literal["openvino", "torch"]:
    """Choose the engine by file type, request and machine; raise `InputError` if they conflict."""
    if engine not in ("auto", "openvino", "torch"):
        raise InputError(f"no engine {engine!r}", remedy="use auto, openvino or torch")
    graph = is_graph(path)
    gpu_of_torch = device is not None and device.lower().startswith(("cuda", "mps"))
    if graph and (engine == "torch" or gpu_of_torch) and torch_source(path) is None:
        raise InputError(
            f"is an OpenVINO or ONNX model, which {device or 'torch'} cannot run here",
            path=path,
            remedy="use --engine openvino on the CPU, or .pth or .safetensors weights",
        )
    if engine == "openvino" and gpu_of_torch:
        raise InputError(f"OpenVINO does not run on {device}", remedy="use --engine torch")
    if engine != "auto":
        return engine
    if graph and not gpu_of_torch:
        return "openvino"
    if gpu_of_torch or (device is None and _accelerator_here()):
        return "torch"
    return "torch" if path.stat().st_size > ONNX_LIMIT else "openvino"


def torch_source(path: Path) -> Path | None:
    """Return the file from which torch reads the weights of `path`; None if there is none.

    Torch weights are their own source. A graph's is the safetensors file of the same name beside it,
    which may hold them in full precision, else the graph itself if it is an ONNX file of ours.
    """
    if not is_graph(path):
        return path
    twin = path.with_suffix(".safetensors")
    if twin.is_file() and not is_graph(twin):
        return twin
    if file_kind(path) is not FileKind.ONNX:
        return None
    _need("onnx", path)
    from sightline.depth.onnx_weights import carries_weights

    return path if carries_weights(path) else None


@contextmanager
def converted(path: Path, sha256: str, spec: ModelSpec | None = None) -> Iterator[Path]:
    """Give torch weights as an OpenVINO model: from the cache, or made now and kept there.

    Without a writable cache it lives only as long as the context. Two processes that want the same
    file make it once.
    """
    from filelock import FileLock

    folder = writable_cache("converted")
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="sightline-") as scratch:
            yield _export(path, Path(scratch) / f"{path.stem}.xml", spec)
        return
    kept = folder / f"{sha256}-{_digest(path, spec)}.xml"
    if not kept.is_file():
        with FileLock(f"{kept}.lock"):
            if not kept.is_file():
                _export(path, kept, spec)
    yield kept


def _digest(path: Path, spec: ModelSpec | None) -> str:
    """Short hash of what, besides its bytes, decides how a weight file is read.

    That is the caller's description or, where there is none, the file's name and Hugging Face's
    config beside it (see `checkpoint_hints`): the same bytes may be relative or metric.
    """
    if spec is not None:
        return hashlib.sha256(spec.to_json().encode()).hexdigest()[:12]
    config = path.with_name("config.json")
    beside = config.read_bytes() if config.is_file() else b""
    return hashlib.sha256("/".join(path.parts[-4:]).encode() + beside).hexdigest()[:12]


def _export(path: Path, target: Path, spec: ModelSpec | None) -> Path:
    """Write the weights in full precision to `target` (.xml, with .bin beside it).

    OpenVINO's own format, because a ViT-S opens in half the time that it takes as ONNX.
    """
    _need("torch", path)
    from sightline.depth.checkpoints import make_network, read_checkpoint
    from sightline.depth.export import export_onnx

    checkpoint = read_checkpoint(path, spec)
    _log.info("%s: converting for OpenVINO; this takes up to a minute, once", path)
    with tempfile.TemporaryDirectory(prefix="sightline-") as scratch:
        graph = Path(scratch) / "network.onnx"
        export_onnx(make_network(checkpoint), checkpoint.spec, graph, store="full")
        model = openvino_core().read_model(graph)
        model.set_rt_info(checkpoint.spec.to_json(), SPEC_KEY)
        save_model(model, target)
    return target


def _open_torch(path: Path, device: str | None, spec: ModelSpec | None) -> tuple[Engine, ModelSpec]:
    _need("torch", path)
    from sightline.depth.checkpoints import make_network, read_checkpoint
    from sightline.runtime.torch_engine import TorchEngine, pick_device

    place = str(pick_device(device))  # before the seconds it takes to read the weights
    checkpoint = read_checkpoint(path, spec)
    return TorchEngine(make_network(checkpoint), place), checkpoint.spec


def _need(package: str, path: Path) -> None:
    """Say what to install where torch or onnx is missing; the `train` extra has both."""
    if importlib.util.find_spec(package) is None:
        raise InputError(
            f"can only be read by {package}, which is not installed",
            path=path,
            remedy=install("train"),
        )


def _accelerator_here() -> bool:
    """Ask torch for a GPU, but only where there may be one: importing torch takes seconds."""
    apple = platform.system() == "Darwin" and platform.machine() == "arm64"
    maybe = apple or os.name == "nt" or any(map(os.path.exists, ("/dev/nvidiactl", "/dev/kfd")))
    if not maybe or importlib.util.find_spec("torch") is None:
        return False
    from sightline.runtime.torch_engine import best_accelerator

    return best_accelerator() is not None
