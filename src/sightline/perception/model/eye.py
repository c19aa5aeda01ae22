"""How a model is shown a picture: squashed to its square, normalised as it was trained."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.errors import InputError
from sightline.files.reading import read_bytes
from sightline.perception.codebook.maps import square

#: CLIP's, which LLaVA-1.5 sees with.
CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)

_PROCESSOR = "preprocessor_config.json"
#: Side of a picture that a tower may want, [px].
_LARGEST = 4096


@dataclass(frozen=True, slots=True)
class Eye:
    """What a vision tower wants.

    Attributes:
        side: of the square picture, [px].
        mean: of each channel, of values in 0 to 1.
        std: of each channel.
        smooth: bring pictures to their square by areas; if not, by nearest neighbours, as the paper.
    """

    side: int = 336
    mean: tuple[float, float, float] = CLIP_MEAN
    std: tuple[float, float, float] = CLIP_STD
    smooth: bool = False

    def look(self, pictures: Sequence[NDArray[np.uint8]]) -> Tensor:
        """(H, W, 3) sRGB pictures of any size → (N, 3, side, side) as the tower wants them.

        Squashed, as the paper does, so that a coordinate of the picture is the same share of its side
        everywhere.
        """
        squares = np.stack([square(pixels, self.side, smooth=self.smooth) for pixels in pictures])
        values = torch.from_numpy(squares).permute(0, 3, 1, 2).float() / 255
        mean, std = (torch.tensor(x)[:, None, None] for x in (self.mean, self.std))
        return (values - mean) / std

    def to_dict(self) -> dict[str, Any]:
        """Return it for a JSON file; `Eye.from_dict` reads it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Eye:
        """Read what `to_dict` gave."""
        smooth, side = bool(found.get("smooth", False)), int(found["side"])
        if not 1 <= side <= _LARGEST:
            raise ValueError(f"a picture's side is {side}")
        return cls(side, _channels(found["mean"]), _channels(found["std"], above=0.0), smooth)


def read_eye(folder: Path, side: int) -> Eye:
    """Read how pictures are normalised from a model's folder, laid out as hubs do.

    Args:
        folder: of the model.
        side: of the pictures that its vision tower was built for, [px].
    """
    path = folder / _PROCESSOR
    if not path.is_file():
        return Eye(side)
    try:
        found = json.loads(read_bytes(path, limit=1_000_000, what="description of pictures"))
        return Eye(side, _channels(found["image_mean"]), _channels(found["image_std"], above=0.0))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("does not say how pictures are normalised", path=path) from error


def _channels(found: Any, above: float = -math.inf) -> tuple[float, float, float]:
    """Read a number for each of red, green and blue."""
    red, green, blue = (float(value) for value in found)
    if not all(above < value < math.inf for value in (red, green, blue)):
        raise ValueError(f"colours are normalised by {red:g}, {green:g}, {blue:g}")
    return red, green, blue
