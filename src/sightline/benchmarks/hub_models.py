"""Benchmark depth models of transformers, from the hub or a folder: `hf:REPO` or `hf:DIR`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.predictors import KINDS, Numbers
from sightline.benchmarks.samples import Item
from sightline.depth.hub_network import HubNetwork
from sightline.types import Camera, DepthMap


class HubModel:
    """A transformers depth model on the CPU.

    Args:
        where: a repository of the hub, or a folder in its layout.
        numbers: what the network answers, if it is not what its family does.
    """

    def __init__(self, where: str, numbers: Numbers | None = None) -> None:
        self._network = HubNetwork(where, KINDS[numbers] if numbers else None)
        name, digest = self._network.name, self._network.sha256
        self._source = f"{name}@{digest[:12]} (transformers)"

    def source(self, items: Sequence[Item]) -> str:  # noqa: ARG002
        """Return the name and checksum of the weights."""
        return self._source

    def predict(
        self,
        item: Item,  # noqa: ARG002
        pixels: NDArray[np.uint8],
        camera: Camera | None = None,  # noqa: ARG002
    ) -> DepthMap:
        """Run the network."""
        return DepthMap(self._network.infer(pixels), self._network.kind, source=self._source)
