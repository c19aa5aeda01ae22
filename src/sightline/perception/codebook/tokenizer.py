"""Depth to codes and back, as users and other rooms do it: the embedded codebook on OpenVINO."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.depth.engines.openvino import compile_network, read_graph
from sightline.depth.engines.quiet_openvino import openvino_core
from sightline.errors import InputError
from sightline.perception.codebook import words
from sightline.perception.codebook.files import CHOSEN, CODEBOOK_KEY, CODES, DECODED, DEPTH
from sightline.perception.codebook.maps import map_of, square
from sightline.perception.codebook.network import GRID, SIDE
from sightline.types import DepthMap, FloatArray
from sightline.weights.store import resolve

Codes = NDArray[np.int64]


class DepthTokenizer:
    """Turns depth maps into a hundred codes each, and codes into depth maps.

    Args:
        name: registry name or path of the codebook.
        threads: of the processor; None for one per core.
    """

    def __init__(self, name: str | Path = "codebook", threads: int | None = None) -> None:
        found = resolve(str(name), purpose="tokens")
        self.path, self.sha256 = found.path, found.sha256
        core = openvino_core()
        network = read_graph(core, found.path)
        if not network.has_rt_info(["framework", CODEBOOK_KEY]):
            raise InputError("is not a depth codebook", path=found.path)
        parts = (_way(network, DEPTH, CHOSEN), _way(network, CODES, DECODED))
        self._encoder, self._decoder = (
            compile_network(core, part, "CPU", threads, None) for part in parts
        )

    def encode(self, depth: DepthMap | NDArray[np.uint8]) -> Codes:
        """Return the (10, 10) codes of a depth map.

        Args:
            depth: of any kind and size; or (H, W) bytes from the farthest (0) to the nearest (255).
        """
        if isinstance(depth, DepthMap):
            values = map_of(depth)
        elif depth.ndim == 2 and depth.dtype == np.uint8:
            values = depth if depth.shape == (SIDE, SIDE) else square(depth)
        else:
            raise InputError(f"a map of bytes is (H, W) uint8, got {depth.shape} {depth.dtype}")
        shown = (values.astype(np.float32) / 127.5 - 1.0)[None, None]
        return np.asarray(self._encoder(shown)[0], np.int64).reshape(GRID, GRID)

    def decode(self, codes: Codes) -> FloatArray:
        """Return the (320, 320) disparity of (10, 10) codes, about 0 (farthest) to 1 (nearest)."""
        words.check(codes)
        decoded = self._decoder(codes[None])[0][0, 0]
        return np.clip((decoded + 1) / 2, 0, 1).astype(np.float32)

    def to_text(self, depth: DepthMap | NDArray[np.uint8]) -> str:
        """Return the 102 tokens of a depth map."""
        return words.to_text(self.encode(depth))

    def from_text(self, text: str) -> FloatArray:
        """Return the (320, 320) disparity of the one map in a text."""
        return self.decode(words.from_text(text))


def _way(network: Any, given: str, wanted: str) -> Any:
    """Return the part of a graph that leads from one input to one output."""
    import openvino

    def called(ports: Any, name: str) -> Any:
        return next(port for port in ports if name in port.get_names())

    result = openvino.opset13.result(called(network.outputs, wanted).get_node().input_value(0))
    return openvino.Model([result], [called(network.inputs, given).get_node()], wanted)
