"""The four sizes of Depth Anything V2 (arXiv 2406.09414; the authors' `dpt.py` and `dinov2.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: Side of a patch in [px]: every input side is a multiple of it.
PATCH = 14

#: Side in patches of the learnt position grid: 518 px.
GRID = 37


@dataclass(frozen=True, slots=True)
class Size:
    """Widths and depths of one encoder and its head.

    Attributes:
        width: channels of a token.
        depth: transformer blocks.
        heads: attention heads per block.
        taps: the four blocks (from 0) whose outputs feed the head, shallow to deep.
        head_width: channels inside the head's fusion blocks.
        tap_widths: channels of the four tapped maps after their 1 × 1 projection.
        swiglu: True when the feed-forward part is gated (giant only).
    """

    width: int
    depth: int
    heads: int
    taps: tuple[int, int, int, int]
    head_width: int
    tap_widths: tuple[int, int, int, int]
    swiglu: bool = False

    def tapped(self, version: Literal["v1", "v2"]) -> tuple[int, ...]:
        """Return the tapped blocks: spread over the depth in V2, the last four in V1."""
        return self.taps if version == "v2" else tuple(range(self.depth - 4, self.depth))


SIZES: dict[str, Size] = {
    "vits": Size(384, 12, 6, (2, 5, 8, 11), 64, (48, 96, 192, 384)),
    "vitb": Size(768, 12, 12, (2, 5, 8, 11), 128, (96, 192, 384, 768)),
    "vitl": Size(1024, 24, 16, (4, 11, 17, 23), 256, (256, 512, 1024, 1024)),
    "vitg": Size(1536, 40, 24, (9, 19, 29, 39), 384, (1536, 1536, 1536, 1536), swiglu=True),
}
