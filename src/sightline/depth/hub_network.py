"""Depth networks of transformers, from the hub or a folder: `hf:REPO` or `hf:DIR`.

Only safetensors are loaded: a pickle can run code. The image is prepared by the model's own
processor (the Pillow one: torchvision is not needed), and its output is resized to the image by the
model's own rule.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError, install
from sightline.models.cache import file_sha256
from sightline.models.hub import quiet_libraries
from sightline.types import FloatArray, Kind

#: Marks a model of the hub among names of models and paths of weight files.
HUB_PREFIX = "hf:"

#: Families that always predict meters; `dpt` (MiDaS) predicts relative disparity.
_METRIC = frozenset({"zoedepth", "glpn", "depth_pro"})


class HubNetwork:
    """A depth network of transformers; a teacher for `sightline label`.

    Args:
        where: Repository of the hub, or folder in its layout.
        kind: Kind of its output; None for that of its family. Some fine-tuned networks do not say.
        size: Shorter side of labels in [px]; None for that of the network's input.
        device: Device of the network, for example cpu or cuda.
    """

    def __init__(
        self,
        where: str,
        kind: Kind | None = None,
        *,
        size: int | None = None,
        device: str | None = None,
    ) -> None:
        folder = _folder(where)
        weights = sorted(folder.glob("*.safetensors"))
        if not weights or not (folder / "config.json").is_file():
            raise InputError(
                "holds no config.json and safetensors weights",
                path=folder,
                remedy="name a depth model of transformers",
            )
        self._pipeline = _pipeline(folder, device or "cpu")
        self.kind = kind or _kind(self._pipeline.model.config)
        sums = [file_sha256(path) for path in weights]
        joined = hashlib.sha256("".join(sums).encode()).hexdigest()
        self.sha256 = sums[0] if len(sums) == 1 else joined
        self.name = where.rstrip("/").rsplit("/", 1)[-1]
        self.size = size or _input_size(self._pipeline.image_processor)

    def infer(self, pixels: NDArray[np.uint8]) -> FloatArray:
        """Return the output (H, W) of the network for an image (H, W, 3)."""
        from PIL import Image

        output = self._pipeline(Image.fromarray(pixels))["predicted_depth"]
        values: FloatArray = output.squeeze().float().cpu().numpy()
        return values

    def predict(self, pixels: NDArray[np.uint8]) -> FloatArray:
        """Return the output with a shorter side of at most `size` pixels, (h, w)."""
        values = self.infer(pixels)
        scale = min(1.0, self.size / min(values.shape))
        height, width = (max(1, round(side * scale)) for side in values.shape)
        return self.enlarge(values, (height, width))

    def enlarge(self, raw: FloatArray, hw: tuple[int, int]) -> FloatArray:
        """Resize an output to (height, width)."""
        method = cv2.INTER_AREA if hw[0] < raw.shape[0] else cv2.INTER_LINEAR
        return np.asarray(cv2.resize(raw, hw[::-1], interpolation=method), np.float32)


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


def _pipeline(folder: Path, device: str) -> Any:
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
                device=device,
                model_kwargs={"use_safetensors": True},
            )
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"is not a depth model ({error})", path=folder) from error


def _kind(config: Any) -> Kind:
    says = getattr(config, "depth_estimation_type", None)
    metric = says == "metric" or (says is None and config.model_type in _METRIC)
    return Kind.METRIC_DEPTH if metric else Kind.RELATIVE_DISPARITY


def _input_size(processor: Any) -> int:
    """Return the shorter side of a network's input in [px]."""
    size = dict(processor.size)
    return int(size.get("shortest_edge") or min(size["height"], size["width"]))
