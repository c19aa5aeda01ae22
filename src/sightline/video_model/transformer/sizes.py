"""Sizes of the transformer: the paper's four (PhyWorld, Table 1) and four for machines without a GPU.

The paper gives 22.5, 89.5, 310 and 456 M parameters. A block of width D has about 12·D² of them besides
its modulation; a modulation of its own, as in DiT (6·D² more), would make 33, 130, 458 and 675 M. One
modulation shared by all blocks and a learnt vector per block (`adaLN-single`, PixArt-α, arXiv
2310.00426, §2.3) make the paper's numbers; so this is what we build.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Size:
    """Depth and width of a transformer.

    Attributes:
        depth: blocks; an even number, so that attention can alternate between space and time.
        width: channels of a token.
        heads: attention heads of a block.
    """

    depth: int
    width: int
    heads: int


SIZES: dict[str, Size] = {
    "nano": Size(2, 32, 1),
    "micro": Size(2, 96, 3),
    "tiny": Size(4, 160, 5),
    "mini": Size(6, 256, 4),
    "S": Size(12, 384, 6),
    "B": Size(12, 768, 12),
    "L": Size(24, 1024, 16),
    "XL": Size(28, 1152, 16),
}
