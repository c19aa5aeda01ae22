"""Detectors of the compact VLM: marked points, and objects.

Features of a depth encoder hardly distinguish letters: a linear probe tells A to E apart in half of the
cases (docs/lab-log.md). So `MarkDetector`, a small convolutional network, is trained to find rings and
letters. `ObjectDetector` predicts centers and sides on the depth encoder's features (after CenterNet,
Zhou et al. 2019); its peaks become slots from left to right, one image token each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.depth.network.vit import PATCH
from sightline.perception.questions.counting import ENTRIES
from sightline.perception.questions.hardblink import LETTERS, SIDE, draw_points
from sightline.perception.vlm.processing import ImageProcessor

#: Features of a cell.
CHANNELS = 64
_MARK_WIDTH = 32
#: Pixels along the side of a cell.
_CELL = 28


class MarkDetector(nn.Module):
    """Detect marked points: (N, 3, H, W) → features (N, 64, H/28, W/28)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2),
            nn.GELU(),
            nn.Conv2d(16, _MARK_WIDTH, 3, stride=2, padding=1),
            nn.GELU(),
        )
        # A letter stands 25 px above its ring: dilation connects them.
        self.around = nn.ModuleList(
            nn.Conv2d(_MARK_WIDTH, _MARK_WIDTH, 3, padding=reach, dilation=reach)
            for reach in (1, 2, 4)
        )
        self.cell = nn.Conv2d(_MARK_WIDTH, CHANNELS, _CELL // 4, stride=_CELL // 4)
        self.finder = nn.Sequential(
            nn.Linear(CHANNELS, CHANNELS), nn.GELU(), nn.Linear(CHANNELS, len(LETTERS))
        )
        self.place = nn.Linear(CHANNELS, 2)

    def forward(self, pixels: Tensor) -> Tensor:
        """Return the features of cells; pixels are normalized as for the depth encoder."""
        x = self.stem(pixels)
        for layer in self.around:
            x = x + F.gelu(layer(x))
        return F.gelu(self.cell(x))

    def find(self, cells: Tensor) -> Tensor:
        """Map features (N, T, 64) of T cells to scores (N, 5, T + 1): cell of each letter, or none."""
        scores = self.finder(cells).transpose(1, 2)
        return F.pad(scores, (0, 1))

    def points(self, pixels: Tensor) -> Tensor:
        """Map images (N, 3, S, S) to (N, 5, 3): probability, x and y of each letter, all in [0, 1]."""
        maps = self(pixels)
        across = maps.shape[-1]
        cells = maps.flatten(2).transpose(1, 2).float()
        shares = self.find(cells).softmax(-1)
        best = shares[..., :-1].argmax(-1)
        within = self.place(cells).gather(1, best[..., None].expand(-1, -1, 2))
        corner = torch.stack([best % across, best // across], dim=-1)
        x_and_y = ((corner + within) / across).clamp(0, 1 - 1e-3)
        return torch.cat([1 - shares[..., -1:], x_and_y], dim=-1)


def train_mark_detector(
    pictures: Sequence[NDArray[np.uint8]],
    image_processor: ImageProcessor,
    *,
    steps: int,
    batch: int = 32,
    rate: float = 3e-3,
    bfloat16: bool = False,
    seed: int = 0,
    report: Callable[[str], None] = print,
) -> MarkDetector:
    """Train a mark detector on images with randomly drawn points.

    Args:
        pictures: (336, 336, 3) sRGB each, without marks.
        image_processor: preprocessing.
        steps: number of optimizer steps.
        batch: images per step.
        rate: peak learning rate of AdamW.
        bfloat16: use mixed precision.
        seed: random seed of weights and points.
        report: called with a progress line.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    glass = MarkDetector().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimizer = torch.optim.AdamW(glass.parameters(), rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, rate, steps, pct_start=0.1)
    for step in range(1, steps + 1):
        chosen = [pictures[int(k)] for k in rng.integers(len(pictures), size=batch)]
        shown, letters, places = marked_batch(chosen, image_processor, rng)
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            maps = glass(shown.to(memory_format=torch.channels_last))
        cells = maps.float().flatten(2).transpose(1, 2)
        found, wanted = glass.find(cells), cell_of_letters(letters)
        off = _off(glass.place(cells), letters, places)
        loss = F.cross_entropy(found.flatten(0, 1), wanted.flatten()) + off
        optimizer.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        schedule.step()
        if step % 100 == 0 or step == steps:
            hits = (found.detach().argmax(-1) == wanted).float().mean()
            report(
                f"glass: step {step} of {steps}, loss {float(loss.detach()):.4f}, "
                f"letters in the right cell {float(hits):.3f}, "
                f"{float(off.detach()) * SIDE * _CELL / image_processor.side:.1f} px off"
            )
    return glass.to(memory_format=torch.contiguous_format).eval().requires_grad_(False)


def marked_batch(
    pictures: Sequence[NDArray[np.uint8]], image_processor: ImageProcessor, rng: np.random.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw up to five points into each image; some get none.

    Returns:
        Preprocessed images; (N, R, C) number of the letter in every cell, 0 for none; (N, 2, R, C)
        position of its point within the cell, in [0, 1].
    """
    cells = image_processor.side // _CELL
    drawn = []
    letters = torch.zeros(len(pictures), cells, cells, dtype=torch.long)
    places = torch.zeros(len(pictures), 2, cells, cells)
    for number, pixels in enumerate(pictures):
        points: dict[str, tuple[int, int]] = {}
        for letter in LETTERS[: int(rng.choice([0, 2, 3, 4, 5]))]:
            points[letter] = place_apart(points.values(), rng)
        drawn.append(draw_points(pixels, points))
        for letter, point in points.items():
            column, row = (int(v * cells / SIDE) for v in point)
            letters[number, row, column] = 1 + LETTERS.index(letter)
            places[number, :, row, column] = torch.tensor(point) * cells / SIDE % 1
    return image_processor.look(drawn), letters, places


def _off(where: Tensor, letters: Tensor, places: Tensor) -> Tensor:
    """Return the mean absolute error of x and y in cells with a point, in cells."""
    there = (letters > 0).flatten(1)[..., None].float()
    off = (where - places.flatten(2).transpose(1, 2)).abs() * there
    return off.sum() / there.sum().clamp(min=1) / 2


def cell_of_letters(letters: Tensor) -> Tensor:
    """Return the cell index of each letter, (N, 5), of letters (N, R, C); R · C if it is absent."""
    flat = letters.flatten(1)
    wanted = torch.arange(1, 1 + len(LETTERS), device=letters.device)
    there = flat[:, None] == wanted[:, None]
    return torch.where(there.any(-1), there.int().argmax(-1), flat.shape[1])


def place_apart(
    others: Collection[tuple[int, int]], rng: np.random.Generator, least: float = 20.0
) -> tuple[int, int]:
    """Draw a place at least 20 px from the others, as the placement rule requires."""
    while True:
        x, y = (int(v) for v in rng.integers(0, SIDE, 2))
        if all(np.hypot(x - a, y - b) >= least for a, b in others):
            return x, y


#: Maximum number of detected objects.
SLOTS = ENTRIES
#: Peaks considered before non-maximum suppression.
_PEAKS = 64
#: Minimum score of an object; the language model sees the score.
LEAST = 0.15
#: Intersection over union above which two boxes are one object.
_SAME = 0.6
_OBJECT_WIDTH = 96
#: Places along the side of a patch.
_FINE = 2
#: Initial bias: one place in a hundred has an object (Lin et al. 2017, focal loss).
_RARE = -4.6


class ObjectDetector(nn.Module):
    """Detect objects from encoder features (N, C, R, C) and pixels (N, 3, 14 R, 14 C).

    Args:
        channels: channels of the features.
        kinds: number of classes.
    """

    def __init__(self, channels: int, kinds: int) -> None:
        super().__init__()
        self.squeeze = nn.Conv2d(channels, _OBJECT_WIDTH, 1)
        self.around = nn.Conv2d(_OBJECT_WIDTH, _OBJECT_WIDTH, 3, padding=1)
        self.enlarge = nn.Conv2d(_OBJECT_WIDTH, _OBJECT_WIDTH * _FINE * _FINE // 2, 1)
        place = PATCH // _FINE
        self.fine = nn.Conv2d(3, _OBJECT_WIDTH // 2, place, stride=place)
        self.both = nn.Conv2d(_OBJECT_WIDTH, _OBJECT_WIDTH, 3, padding=1)
        self.last = nn.Conv2d(_OBJECT_WIDTH, _OBJECT_WIDTH, 3, padding=1)
        self.score = nn.Conv2d(_OBJECT_WIDTH, kinds, 1)
        self.sides = nn.Conv2d(_OBJECT_WIDTH, 4, 1)
        nn.init.constant_(self.score.bias, _RARE)  # type: ignore[arg-type]

    def forward(self, features: Tensor, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return class logits (N, K, 2 R, 2 C) and sides (N, 4, 2 R, 2 C).

        Sides are the distances of left, top, right and bottom from the center of the place, in places.
        """
        x = F.gelu(self.squeeze(features))
        x = x + F.gelu(self.around(x))
        x = F.pixel_shuffle(F.gelu(self.enlarge(x)), _FINE)
        x = F.gelu(self.both(torch.cat([x, F.gelu(self.fine(pixels))], dim=1)))
        x = x + F.gelu(self.last(x))
        return self.score(x), F.softplus(self.sides(x))


@torch.no_grad()
def slots_of(scores: Tensor, sides: Tensor) -> Tensor:
    """Decode logits to object slots.

    Args:
        scores: (N, K, R, C) class logits.
        sides: (N, 4, R, C) distances of the sides.

    Returns:
        (N, 24, K + 4): class probabilities, and left, top, right and bottom as shares of the image;
        from left to right, zero where there is no object.
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
    """Return the indices of boxes that remain after non-maximum suppression, strongest first."""
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
