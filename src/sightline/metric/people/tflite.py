"""Run a small TensorFlow Lite network in OpenVINO, without TensorFlow."""

from __future__ import annotations

from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.runtime.engine import writable_cache
from sightline.runtime.openvino import brief, openvino_core
from sightline.types import FloatArray


class TfliteNetwork:
    """Network for square color images, compiled for the CPU.

    Args:
        path: `.tflite` file with one input (1, S, S, 3) float32.
        threads: maximum number of CPU threads; None for one per core.
    """

    def __init__(self, path: Path, threads: int | None = None) -> None:
        self.path = path
        core = openvino_core()
        model = _read(core, path)
        self.size = int(model.inputs[0].shape[1])
        self._compiled = _compile(core, model, threads)
        # Pool of idle requests: each has its own buffers, and threads never share one.
        self._idle: SimpleQueue[Any] = SimpleQueue()

    def run(self, picture: FloatArray) -> list[NDArray[np.float32]]:
        """Run the network on one (S, S, 3) float32 image; returns its outputs in the order of the file.

        The outputs are copies without the leading axis of one.
        """
        try:
            request = self._idle.get_nowait()
        except Empty:
            request = self._compiled.create_infer_request()
        try:
            results = request.infer([np.ascontiguousarray(picture[None], np.float32)])
            outputs = [np.array(results[port][0]) for port in self._compiled.outputs]
        except RuntimeError as error:
            raise SightlineError(f"{self.path}: OpenVINO failed ({brief(error)})") from error
        self._idle.put(request)
        return outputs


def _read(core: Any, path: Path) -> Any:
    if not path.is_file():
        raise InputError("no such model file", path=path)
    with path.open("rb") as file:
        known = file.read(8)[4:] == b"TFL3"
    if not known:
        raise InputError("is not a TensorFlow Lite model", path=path, remedy="fetch it again")
    try:
        model = core.read_model(path)
    except RuntimeError as error:
        raise InputError(
            f"is not a whole TensorFlow Lite model ({brief(error)})",
            path=path,
            remedy="fetch it again",
        ) from error
    shapes = [list(port.shape) for port in model.inputs if port.partial_shape.is_static]
    if len(shapes) != 1 or len(shapes[0]) != 4 or shapes[0] != [1, *[shapes[0][1]] * 2, 3]:
        raise InputError(
            f"does not take one square color image (its inputs are {shapes})", path=path
        )
    return model


def _compile(core: Any, model: Any, threads: int | None) -> Any:
    config: dict[str, Any] = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32",  # the same on every machine
        # Otherwise all processes pin their threads to the same cores.
        "ENABLE_CPU_PINNING": False,
    }
    if threads is not None:
        config["INFERENCE_NUM_THREADS"] = threads
    folder = writable_cache("openvino")
    if folder is not None:
        try:
            return core.compile_model(model, "CPU", {**config, "CACHE_DIR": str(folder)})
        except RuntimeError:
            pass  # the cache is full or being written: compile without it
    try:
        return core.compile_model(model, "CPU", config)
    except RuntimeError as error:
        raise SightlineError(f"OpenVINO cannot compile this network ({brief(error)})") from error
