"""Run a network with OpenVINO, the default engine on CPUs; needs no torch.

* The model is compiled once with dynamic height and width. Measured with a ViT-S and the compact
  network, a model compiled for one size is at most a few percent faster, while each new size costs
  0.2–0.5 s and another copy of the weights; with dynamic sizes a new size costs about 50 ms, once.
* Images of a batch run one after the other. On a CPU a batch gains nothing (1161 ms per image in
  fours, 1067 ms alone, ViT-S), and each result is bit-identical with and without batching.
* Arithmetic is float32 even where the CPU offers bfloat16, so results do not depend on the machine.
"""

from __future__ import annotations

import functools
import sys
import tempfile
from pathlib import Path
from queue import Empty, SimpleQueue
from types import ModuleType
from typing import Any

import numpy as np

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import atomic_path
from sightline.models.entry import SPEC_KEY, ModelSpec
from sightline.runtime.weight_files import FileKind, file_kind
from sightline.types import FloatArray


def import_openvino() -> ModuleType:
    """Return the `openvino` module, imported so that it tells nobody.

    Importing OpenVINO sends an event to an analytics service: it forks a process for that, waits for
    it at exit (once, without end) and makes a folder `~/intel`. Its opt-out is a file
    in that same folder, so here the package that does the sending is made unimportable instead;
    OpenVINO and NNCF both take that for "not installed" and fall back on stubs of their own. A
    program that has imported it before has made its own choice, which stays.
    """
    # None there makes an import fail (Python reference §5.3.1); typeshed knows of modules only.
    sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]
    import openvino

    module: ModuleType = openvino
    return module


@functools.cache
def openvino_core() -> Any:
    """Return the core that everything here shares, and that is never given up.

    Every core gives its thread another stack for signal handlers (its CPU plugin does, as larger
    registers need more room) and puts back the one before when it goes. When two go in the order in
    which they came, the thread is left with the stack of the first, which is no more, and the next
    signal ends the process: a Ctrl-C, or the end of a child. One core that stays does no harm.
    """
    return import_openvino().Core()


#: OpenVINO's names of the readers for the files this engine opens.
FRONTENDS = {FileKind.ONNX: "onnx", FileKind.OPENVINO: "ir"}


class OpenVinoEngine:
    """A network in an ONNX or OpenVINO file (`.onnx`, `.xml`), compiled for this machine.

    Args:
        path: the file, known by its content. One input (N, 3, H, W), one output (N, H, W) or
            (N, 1, H, W).
        threads: maximum number of threads; None for one per core.
        cache_dir: folder for compiled models (a warm one saves seconds at the next start), or None.
        device: OpenVINO's name of it (`"CPU"`, `"GPU"`, `"NPU"`).
    """

    name = "openvino"

    def __init__(
        self,
        path: str | Path,
        threads: int | None = None,
        cache_dir: str | Path | None = None,
        device: str = "CPU",
    ) -> None:
        if threads is not None and (not isinstance(threads, int) or threads < 1):
            raise InputError(f"the number of threads must be a positive integer, got {threads!r}")
        core = openvino_core()
        self.path = Path(path)
        self.device = _known_device(core, device)
        model = read_network(core, self.path)
        self.spec = spec_of(model)
        self.fixed_hw = _fixed_size(model, self.path)
        self._compiled = compile_network(core, model, self.device, threads, cache_dir)
        # Finished requests wait here: each keeps its buffers, and no two threads share one.
        self._idle: SimpleQueue[Any] = SimpleQueue()

    def run(self, batch: FloatArray) -> FloatArray:
        """Map (N, 3, h, w) float32 normalized pixels to (N, h, w) float32 depth or disparity."""
        request = self._take()
        try:
            maps = [
                _as_map(request.infer([image], share_inputs=True)[0])
                for image in np.split(np.ascontiguousarray(batch, np.float32), len(batch))
            ]
        except RuntimeError as error:
            height, width = batch.shape[2:]
            raise SightlineError(
                f"{self.path}: OpenVINO failed on an input of {width}×{height} ({brief(error)})"
            ) from error
        self._idle.put(request)
        return np.concatenate(maps)

    def _take(self) -> Any:
        """Return an idle request, or a new one when all are at work."""
        try:
            return self._idle.get_nowait()
        except Empty:
            return self._compiled.create_infer_request()


def read_graph(core: Any, path: Path) -> Any:
    """Parse an ONNX or OpenVINO file into an `openvino.Model`; an `InputError` says what is wrong."""
    frontend = FRONTENDS.get(file_kind(path))
    if frontend is None:
        raise InputError("holds torch weights, not an ONNX or OpenVINO model", path=path)
    # `read_model` offers what its own reader refuses to all others, and those write to stderr.
    if not import_openvino().frontend.FrontEndManager().load_by_framework(frontend).supported(path):
        raise _damaged("its beginning is not that of one", path)
    try:
        return core.read_model(path)
    except RuntimeError as error:
        raise _damaged(brief(error), path) from error


def read_network(core: Any, path: Path) -> Any:
    """Parse an ONNX or OpenVINO file into an `openvino.Model` that can be a depth network.

    A file that is something else gets an `InputError` that says what.
    """
    model = read_graph(core, path)
    ranks = [port.partial_shape.rank for port in (*model.inputs, *model.outputs)]
    lengths = [rank.get_length() if rank.is_static else None for rank in ranks]
    if len(model.inputs) != 1 or len(model.outputs) != 1 or lengths not in ([4, 3], [4, 4]):
        raise InputError(
            f"is not a depth network: {len(model.inputs)} inputs and {len(model.outputs)} outputs "
            f"with {lengths} axes, where one picture (N, 3, H, W) and one map (N, H, W) are meant",
            path=path,
        )
    return model


def spec_of(model: Any) -> ModelSpec | None:
    """Read our description from the file's metadata: ONNX properties or OpenVINO's own section."""
    for place in (["framework", SPEC_KEY], [SPEC_KEY]):
        if model.has_rt_info(place):
            return ModelSpec.from_json(model.get_rt_info(place).value)
    return None


def _fixed_size(model: Any, path: Path) -> tuple[int, int] | None:
    """Return (height, width) when the file fixes them; both or none may be fixed."""
    sides = [model.inputs[0].partial_shape[axis] for axis in (2, 3)]
    if all(side.is_dynamic for side in sides):
        return None
    if any(side.is_dynamic for side in sides):
        raise InputError("fixes only one of height and width", path=path)
    return sides[0].get_length(), sides[1].get_length()


def compile_network(
    core: Any, model: Any, device: str, threads: int | None, cache_dir: str | Path | None
) -> Any:
    """Compile for low latency; a cache that cannot be used is left out."""
    config: dict[str, Any] = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",
    }
    if device == "CPU":
        # Otherwise every process ties its threads to the first cores, and two share one.
        config["ENABLE_CPU_PINNING"] = False
        # Weights stored as bytes are no leave to round activations to bytes too.
        config["DYNAMIC_QUANTIZATION_GROUP_SIZE"] = 0
        if threads is not None:
            config["INFERENCE_NUM_THREADS"] = threads
    if cache_dir is not None:
        try:
            return core.compile_model(model, device, {**config, "CACHE_DIR": str(cache_dir)})
        except RuntimeError:
            # A full disk, a folder that is gone, another process's half-written entry: compiling
            # anew costs a second or two and always works.
            pass
    try:
        return core.compile_model(model, device, config)
    except RuntimeError as error:
        raise SightlineError(f"OpenVINO cannot compile this network ({brief(error)})") from error


def _known_device(core: Any, device: str) -> str:
    """Check a device's name against what OpenVINO sees on this machine."""
    known = list(core.available_devices)
    if device.upper().split(".")[0] not in {name.split(".")[0] for name in known}:
        raise InputError(
            f"OpenVINO sees no device {device!r} here, only {', '.join(known)}",
            remedy="use --engine torch for cuda and mps" if device[:4] in ("cuda", "mps") else None,
        )
    return device.upper()


def _as_map(output: Any) -> FloatArray:
    """(1, h, w) float32 copy of an output of three or four axes."""
    values = np.array(output, dtype=np.float32)
    return values.reshape(1, *values.shape[-2:])


def _damaged(reason: str, path: Path) -> InputError:
    return InputError(
        f"is not a whole ONNX or OpenVINO model ({reason})",
        path=path,
        remedy="download or export it again",
    )


def brief(error: Exception) -> str:
    """Return the last line of OpenVINO's message: the cause, after the names of C++ files."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[-1] if lines else "no reason given")[:200]


def save_model(model: Any, path: Path) -> None:
    """Write a model in OpenVINO's own format, in full precision.

    First `.bin`, then `.xml`: whoever sees the new `.xml` finds the right weights beside it.
    """
    weights = path.with_suffix(".bin")
    # The inner one is renamed first.
    with atomic_path(path) as new_graph, atomic_path(weights) as new_weights:
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / path.name
            import_openvino().save_model(model, made, compress_to_fp16=False)
            made.with_suffix(".bin").replace(new_weights)
            made.replace(new_graph)
        # An old graph must not meet new weights, not even for the moment between two renames.
        path.unlink(missing_ok=True)
