"""What a transformer is made from; a checkpoint carries it.

Kept free of heavy imports, because the help is generated from it.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from sightline.errors import InputError
from sightline.running.checks import at_least_one, not_negative
from sightline.video_model.transformer.sizes import SIZES, Size

Attention = Literal["full", "factorised"]


@dataclass(frozen=True, slots=True)
class TransformerOptions:
    """The videos that a transformer works on, and its build.

    Attributes:
        frames: of a video, of latents or of pixels.
        height: rows of a frame.
        width: columns of a frame.
        channels: of a latent, or 3 for pixels.
        patch: frames, rows and columns that make one token.
        size: name of a size, see `sizes`.
        attention: `full`: every token looks at all of the video; `factorised`: blocks take turns in
            looking at the same frame and at the same place in all frames. The paper's is full.
        numbers: how many numbers describe a video; 0 for none.
        text: channels of the text embedding (4096 for T5-XXL); 0 for none.
        vocabulary: words that the network reads by itself; 0: text comes embedded.
        gain: how many times larger than they are given frames come in.
        hold: where no frame is given the last one that is stands beside the noise, and not zeros.
    """

    frames: int
    height: int
    width: int
    channels: int
    patch: tuple[int, int, int] = (1, 2, 2)
    size: str = "tiny"
    attention: Attention = "full"
    numbers: int = 0
    text: int = 0
    gain: float = 1.0
    hold: bool = False
    vocabulary: int = 0

    def __post_init__(self) -> None:
        at_least_one(self, "frames", "height", "width", "channels")
        not_negative(self, "numbers", "text", "vocabulary")
        if not 0 < self.gain < math.inf:
            raise InputError(f"gain must be a number above 0, got {self.gain}")
        object.__setattr__(self, "patch", tuple(self.patch))
        if len(self.patch) != 3 or min(self.patch) < 1:
            raise InputError(
                f"patch is three numbers from 1 up (frames, rows, columns), got {self.patch}"
            )
        for name, side, step in zip(
            ("frames", "height", "width"), self.shape[1:], self.patch, strict=True
        ):
            if side % step:
                raise InputError(
                    f"{name} {side} is not a multiple of the patch's {step}",
                    remedy="give another --patch, or none for one that fits",
                )
        if self.vocabulary and not self.text:
            raise InputError("a network that reads words needs channels for them")
        if self.size not in SIZES:
            raise InputError(
                f"no size is called {self.size!r}", remedy=f"give one of {', '.join(SIZES)}"
            )
        if self.attention not in get_args(Attention):
            raise InputError(f"attention is full or factorised, got {self.attention!r}")

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Channels, frames, rows and columns of a video."""
        return self.channels, self.frames, self.height, self.width

    @property
    def grid(self) -> tuple[int, int, int]:
        """Tokens along time, rows and columns."""
        time, row, column = self.patch
        return self.frames // time, self.height // row, self.width // column

    @property
    def build(self) -> Size:
        """Depth and widths."""
        return SIZES[self.size]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for a checkpoint; `from_dict` reads them."""
        return asdict(self) | {"patch": list(self.patch)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> TransformerOptions:
        """Read what `to_dict` gave; unknown or missing names are an `InputError`."""
        try:
            return cls(**values)
        except TypeError as error:
            raise InputError(f"not a description of a transformer ({error})") from error
