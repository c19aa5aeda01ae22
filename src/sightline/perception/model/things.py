"""A finder of things: what kinds of things are where, from the features of a depth network.

Centres and sides (after CenterNet, Zhou et al. 2019): every place of 7 × 7 px says how likely the
centre of a thing of each kind lies there, and how far its sides are. Peaks become slots, from left to
right; a language model that looks at these has a token for each thing, as it has one for each letter.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.depth.network.sizes import PATCH
from sightline.perception.questions.scanning import ENTRIES

#: Things of a picture that are seen, at most.
SLOTS = ENTRIES
#: Peaks that are looked at before those that mean the same thing are dropped.
_PEAKS = 64
#: Weaker than this nobody believes that something is there; the language model sees how strong.
LEAST = 0.15
#: Boxes that overlap by more than this share are one thing.
_SAME = 0.6
_WIDTH = 96
#: Places along the side of a patch.
_FINE = 2
#: First scores: a place in a hundred has a thing (Lin et al. 2017, focal loss).
_RARE = -4.6


class ThingFinder(nn.Module):
    """Features (N, C, R, C) and pixels (N, 3, 14 R, 14 C) → scores and sides of places.

    Args:
        channels: of the features.
        kinds: how many there are.
    """

    def __init__(self, channels: int, kinds: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, _WIDTH, 1)
        self.around = nn.Conv2d(_WIDTH, _WIDTH, 3, padding=1)
        self.enlarge = nn.Conv2d(_WIDTH, _WIDTH * _FINE * _FINE // 2, 1)
        place = PATCH // _FINE
        self.fine = nn.Conv2d(3, _WIDTH // 2, place, stride=place)
        self.both = nn.Conv2d(_WIDTH, _WIDTH, 3, padding=1)
        self.last = nn.Conv2d(_WIDTH, _WIDTH, 3, padding=1)
        self.score = nn.Conv2d(_WIDTH, kinds, 1)
        self.sides = nn.Conv2d(_WIDTH, 4, 1)
        nn.init.constant_(self.score.bias, _RARE)  # type: ignore[arg-type]

    def forward(self, features: Tensor, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return (N, K, 2 R, 2 C) scores before the sigmoid, and (N, 4, 2 R, 2 C).

        The latter are distances of left, top, right and bottom from the middle of the place, in places.
        """
        x = F.gelu(self.squeeze(features))
        x = x + F.gelu(self.around(x))
        x = F.pixel_shuffle(F.gelu(self.enlarge(x)), _FINE)
        x = F.gelu(self.both(torch.cat([x, F.gelu(self.fine(pixels))], dim=1)))
        x = x + F.gelu(self.last(x))
        return self.score(x), F.softplus(self.sides(x))


@torch.no_grad()
def slots_of(scores: Tensor, sides: Tensor) -> Tensor:
    """Turn places into things.

    Args:
        scores: (N, K, R, C), before the sigmoid.
        sides: (N, 4, R, C).

    Returns:
        (N, 24, K + 4): how likely a thing is of each kind, and its left, top, right and bottom as
        shares of the picture; from left to right, all zeros where there is no more.
    """
    heat = scores.float().sigmoid()
    best, _ = heat.max(1, keepdim=True)
    peak = best == F.max_pool2d(best, 3, stride=1, padding=1)
    ranked = (best * peak).flatten(1).topk(min(_PEAKS, best[0].numel()))
    rows, columns = heat.shape[2:]
    out = heat.new_zeros(len(heat), SLOTS, heat.shape[1] + 4)
    for number, (values, places) in enumerate(zip(ranked.values, ranked.indices, strict=True)):
        places = places[values > LEAST]  # noqa: PLW2901
        middle = torch.stack([places % columns, places // columns], dim=-1) + 0.5
        away = sides[number].flatten(1)[:, places].T.float()
        box = torch.cat([middle - away[:, :2], middle + away[:, 2:]], dim=1)
        box = (box / box.new_tensor([columns, rows, columns, rows])).clamp(0, 1 - 1e-3)
        kept = _apart(box)[:SLOTS]
        kept = kept[box[kept, 0].argsort(stable=True)]
        shares = heat[number].flatten(1)[:, places[kept]].T
        out[number, : len(kept)] = torch.cat([shares, box[kept]], dim=1)
    return out


def _apart(boxes: Tensor) -> Tensor:
    """Return which boxes to keep, strongest first: none that overlaps much with a stronger one."""
    low = torch.maximum(boxes[:, None, :2], boxes[None, :, :2])
    high = torch.minimum(boxes[:, None, 2:], boxes[None, :, 2:])
    shared = (high - low).clamp(min=0).prod(-1)
    area = (boxes[:, 2:] - boxes[:, :2]).clamp(min=0).prod(-1)
    overlap = shared / (area[:, None] + area[None] - shared).clamp(min=1e-9)
    kept: list[int] = []
    for number in range(len(boxes)):
        if all(float(overlap[number, other]) <= _SAME for other in kept):
            kept.append(number)
    return torch.tensor(kept, dtype=torch.long)
