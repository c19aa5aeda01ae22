"""Depth models of transformers, from the hub or a folder: `hf:REPO` or `hf:DIR`.

Only safetensors are loaded: a pickle can run code. The picture is prepared by the model's own
processor (the Pillow one: torchvision is not needed), and its answer brought back to the picture's
size by the model's own rule. Whether the answer is disparity or metres is told by the kind of
network, which `numbers` overrides: some fine-tuned networks do not say.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks.predictors import KINDS, Numbers
from sightline.benchmarks.samples import Item
from sightline.errors import InputError, SightlineError, install
from sightline.types import Camera, DepthMap, Kind
from sightline.weights.cache import file_sha256
from sightline.weights.quiet import quiet_libraries

PREFIX = "hf:"

#: Families that always answer in metres; `dpt` (MiDaS) answers in relative disparity.
_METRIC = frozenset({"zoedepth", "glpn", "depth_pro"})


class HubModel:
    """A transformers depth model on the CPU.

    Args:
        where: a repository of the hub, or a folder in its layout.
        numbers: what the network answers, if it is not what its family does.
    """

    def __init__(self, where: str, numbers: Numbers | None = None) -> None:
        folder = _folder(where)
        weights = sorted(folder.glob("*.safetensors"))
        if not weights or not (folder / "config.json").is_file():
            raise InputError(
                "holds no config.json and safetensors weights",
                path=folder,
                remedy="name a depth model of transformers",
            )
        self._pipeline = _pipeline(folder)
        self._kind = KINDS[numbers] if numbers else _kind(self._pipeline.model.config)
        digest = hashlib.sha256("".join(file_sha256(path) for path in weights).encode()).hexdigest()
        if len(weights) == 1:
            digest = file_sha256(weights[0])
        self.source = f"{where.rstrip('/').rsplit('/', 1)[-1]}@{digest[:12]} (transformers)"

    def predict(
        self,
        item: Item,  # noqa: ARG002
        pixels: NDArray[np.uint8],
        camera: Camera | None = None,  # noqa: ARG002
    ) -> DepthMap:
        """Run the network."""
        from PIL import Image

        answer = self._pipeline(Image.fromarray(pixels))["predicted_depth"]
        return DepthMap(answer.squeeze().float().numpy(), self._kind, source=self.source)


def _folder(where: str) -> Path:
    """Return the local folder of a model, fetched from the hub when it is not one already."""
    if Path(where).is_dir():
        return Path(where)
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(where, allow_patterns=["*.json", "*.safetensors"]))
    except (HfHubHTTPError, LocalEntryNotFoundError, HFValidationError, OSError) as error:
        raise InputError(
            f"{where} is no folder here, and could not be fetched from the hub",
            remedy="check the name and the connection",
        ) from error


def _pipeline(folder: Path) -> Any:
    try:
        from transformers import pipeline
    except ImportError as error:
        raise SightlineError(
            f"models of the hub need transformers; {install('perception')}"
        ) from error
    try:
        with quiet_libraries():
            return pipeline(
                "depth-estimation",
                model=str(folder),
                device="cpu",
                model_kwargs={"use_safetensors": True},
            )
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"is not a depth model ({error})", path=folder) from error


def _kind(config: Any) -> Kind:
    says = getattr(config, "depth_estimation_type", None)
    metric = says == "metric" or (says is None and config.model_type in _METRIC)
    return Kind.METRIC_DEPTH if metric else Kind.RELATIVE_DISPARITY
