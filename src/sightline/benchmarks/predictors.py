"""Where predictions come from: a model of ours or a file, a transformers model, or a folder of maps."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.samples import Item, read_npy
from sightline.depth.estimator import DepthEstimator, load
from sightline.depth.hub_network import HUB_PREFIX
from sightline.errors import InputError
from sightline.io.depth_files import read_depth
from sightline.models.cache import file_sha256
from sightline.types import Camera, DepthMap, FloatArray, Kind

#: How to read numbers that do not say what they are.
Numbers = Literal["disparity", "depth"]

KINDS: dict[Numbers, Kind] = {"disparity": Kind.RELATIVE_DISPARITY, "depth": Kind.METRIC_DEPTH}

#: Tried in this order; all but the last say what their numbers mean.
_SUFFIXES = (".npz", ".exr", ".png", ".npy")


class Predictor(Protocol):
    """Gives a depth map of a sample."""

    def source(self, items: Sequence[Item]) -> str:
        """Return a name and twelve digits of a checksum; `items` are those that were predicted."""

    def predict(
        self, item: Item, pixels: NDArray[np.uint8], camera: Camera | None = None
    ) -> DepthMap:
        """Return the depth map of an (H, W, 3) picture, of any size and kind.

        `camera` is what the set says of it, for those who ask.
        """


class ModelPredictor:
    """A depth model of ours, official weights, or an ONNX file."""

    def __init__(self, estimator: DepthEstimator) -> None:
        self._estimator = estimator

    def source(self, items: Sequence[Item]) -> str:  # noqa: ARG002
        """Return name and checksum of the weights, and the settings that its answers depend on."""
        size, spec = self._estimator.size, self._estimator.spec
        other = "" if size == spec.size else f" at {size} px"
        lens = "" if spec.focal is None else " (given the cameras)"
        return f"{self._estimator.source}{other}{lens}"

    def predict(
        self,
        item: Item,  # noqa: ARG002
        pixels: NDArray[np.uint8],
        camera: Camera | None = None,
    ) -> DepthMap:
        """Run the network."""
        return self._estimator.infer(pixels, camera=camera)


class FolderPredictor:
    """A folder of predictions, each under the name of its picture: `.npz`, `.exr`, `.png` or `.npy`.

    Args:
        folder: predictions at the same relative paths as the pictures, suffixes apart.
        numbers: what plain `.npy` arrays hold; the other formats say so themselves.
    """

    def __init__(self, folder: Path, numbers: Numbers | None = None) -> None:
        if not folder.is_dir():
            raise InputError("no such folder of predictions", path=folder, remedy="check the name")
        self._folder, self._numbers = folder.absolute(), numbers

    def source(self, items: Sequence[Item]) -> str:
        """Return the folder's name and a checksum over the files of the items, in their order."""
        digest = hashlib.sha256()
        for item in items:
            digest.update(f"{item.name}\0{file_sha256(self._find(item))}\n".encode())
        return f"{self._folder.resolve().name}@{digest.hexdigest()[:12]}"

    def predict(
        self,
        item: Item,
        pixels: NDArray[np.uint8],  # noqa: ARG002
        camera: Camera | None = None,  # noqa: ARG002
    ) -> DepthMap:
        """Read the map of a sample."""
        return self._read(self._find(item))

    def _find(self, item: Item) -> Path:
        for name in (item.name, *item.aliases):
            for suffix in _SUFFIXES:
                path = self._folder / f"{name}{suffix}"
                if path.is_file():
                    return path
        raise InputError(
            "there is no prediction of this picture",
            path=self._folder / item.name,
            remedy=f"save it there with one of {', '.join(_SUFFIXES)}",
        )

    def _read(self, path: Path) -> DepthMap:
        if path.suffix != ".npy":
            return read_depth(path)
        if self._numbers is None:
            raise InputError(
                "an .npy file does not say what its numbers are",
                path=path,
                remedy="say --predictions-kind disparity or depth",
            )
        values: FloatArray = read_npy(path).squeeze().astype(np.float32)
        return DepthMap(values, KINDS[self._numbers], source=str(path))


def load_predictor(
    model: str | Path = "default",
    predictions: Path | None = None,
    numbers: Numbers | None = None,
    *,
    threads: int | None = None,
    **options: Any,
) -> Predictor:
    """Return the predictor that a command names.

    Args:
        model: registry name or weight file, or hf:REPO for a model of transformers.
        predictions: folder of depth maps to use instead of a model.
        numbers: kind of the values in plain .npy files or of a transformers model.
        threads: number of CPU threads of the network.
        options: further arguments of `sightline.load`.
    """
    if predictions is not None:
        return FolderPredictor(predictions, numbers)
    if str(model).startswith(HUB_PREFIX):
        from sightline.benchmarks.hub_models import HubModel

        return HubModel(str(model).removeprefix(HUB_PREFIX), numbers)
    return ModelPredictor(load(model, threads=threads, **options))
