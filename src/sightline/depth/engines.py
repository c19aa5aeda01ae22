"""Choose the engine for a weight file, and convert the file for that engine.

The content of the file determines its format, not its suffix.

* ONNX and OpenVINO models (`.onnx`, `.xml`) run on OpenVINO. If torch is requested, it reads the
  safetensors file of the same name in the same folder, or the weights of an ONNX file that we exported.
* Torch weights (`.pth`, `.safetensors`) run on torch if there is a CUDA or Apple GPU. Otherwise they
  are exported once, cached by checksum, and run by OpenVINO; torch is not needed afterward.
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
        sha256: checksum of the file in hex; key of its conversion in the cache.
        engine: `"auto"` chooses as described above.
        device: device name of torch or OpenVINO; None for the best one.
        threads: number of CPU threads.
        spec: spec of the network, if the file does not contain it.

    Returns:
        The engine and the spec of its network.
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
    """Yield torch weights as an OpenVINO model, from the cache or newly converted.

    Without a writable cache the file is deleted with the context. Concurrent processes convert the same
    file only once.
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
    """Return a short hash of everything besides its bytes that affects how a weight file is read.

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
    """Explain what to install if torch or onnx is missing; the `train` extra has both."""
    if importlib.util.find_spec(package) is None:
        raise InputError(
            f"can only be read by {package}, which is not installed",
            path=path,
            remedy=install("train"),
        )


def _accelerator_here() -> bool:
    """Return whether torch has a GPU; torch is imported only if there may be one."""
    apple = platform.system() == "Darwin" and platform.machine() == "arm64"
    maybe = apple or os.name == "nt" or any(map(os.path.exists, ("/dev/nvidiactl", "/dev/kfd")))
    if not maybe or importlib.util.find_spec("torch") is None:
        return False
    from sightline.runtime.torch_engine import best_accelerator

    return best_accelerator() is not None
