"""What the code around a depth network must know of it: input size, normalisation, kind of output.

Our own weight files carry their `ModelSpec` as JSON under the key `sightline.spec` (in an ONNX file's
metadata properties, in a safetensors header), so a file on disk describes itself. Official files carry
none; `depth.checkpoints` recognises them by content.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from sightline.errors import InputError
from sightline.types import Kind

SPEC_KEY = "sightline.spec"

Architecture = Literal["vits", "vitb", "vitl", "vitg", "compact", "other"]

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """How to feed a depth network and how to read it.

    Attributes:
        architecture: `vits` … `vitg` are Depth Anything V2's; `compact` is our small student;
            `other` is a network that only comes as a graph (ONNX), such as a baseline.
        kind: unit and direction of the output.
        size: the network input's shorter side in [px]; the longer follows the picture's aspect.
        multiple: both sides are multiples of this (the patch size, or the encoder's stride).
        max_depth: for metric networks the distance in [m] that the last sigmoid is scaled by.
        focal: the output is metres as a camera of this focal length in [px] of the network's input
            would see them; another camera's are in proportion to its own. None: metres as they are.
        curve: a relative network that squeezes the near together is straightened by this power of
            what its output is above `zero`; 1 leaves it as it is.
        zero: what the network says of things infinitely far away.
        resize: `cubic` as the authors of Depth Anything do (no antialiasing), or `area`.
        sharpen: draw outlines as steps when the map is enlarged (`depth.sharpen`); the authors'
            networks are left as published.
        taps: which blocks of a ViT feed the head: V2 spreads them, V1 takes the last four.
        mean: per-channel mean of RGB in 0–1.
        std: per-channel standard deviation.
    """

    architecture: Architecture
    kind: Kind = Kind.RELATIVE_DISPARITY
    size: int = 518
    multiple: int = 14
    max_depth: float | None = None
    focal: float | None = None
    curve: float = 1.0
    zero: float = 0.0
    resize: Literal["cubic", "area"] = "cubic"
    sharpen: bool = False
    taps: Literal["v1", "v2"] = "v2"
    mean: tuple[float, float, float] = IMAGENET_MEAN
    std: tuple[float, float, float] = IMAGENET_STD

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))
        object.__setattr__(self, "mean", tuple(self.mean))
        object.__setattr__(self, "std", tuple(self.std))
        if self.architecture not in get_args(Architecture):
            raise InputError(f"no network is called {self.architecture!r}")
        if self.size < self.multiple or self.multiple < 1:
            raise InputError(f"network size {self.size} is below its multiple {self.multiple}")
        if (self.kind is Kind.METRIC_DEPTH) != (self.max_depth is not None):
            raise InputError("metric networks need max_depth, relative ones have none")
        if self.focal is not None and not (
            self.max_depth is not None and 0 < self.focal < math.inf
        ):
            raise InputError("a focal length is a positive number, for metric networks only")
        if not (0 < self.curve < math.inf and math.isfinite(self.zero)):
            raise InputError(f"a curve of {self.curve} above {self.zero} makes no sense")
        if self.curve != 1 and self.kind is not Kind.RELATIVE_DISPARITY:
            raise InputError("only a relative network's output may be straightened")

    def to_json(self) -> str:
        """One line of JSON, keys sorted."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> ModelSpec:
        """Read what `to_json` wrote; unknown or missing keys are an `InputError`."""
        try:
            return cls(**json.loads(text))
        except (TypeError, ValueError) as error:
            raise InputError(f"not a model description ({error})") from error
