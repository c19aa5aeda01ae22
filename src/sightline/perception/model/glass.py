"""A reading glass for marked points: small convolutions that find rings and letters in a picture.

An encoder that was taught depth sees letters badly: a linear probe of its features tells A to E apart
in half of the cases (docs/lab-log.md). This small network looks at the same picture and is taught
nothing but marks, on pictures with points drawn into them; it says where the point of each letter lies.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from sightline.perception.model.eye import Eye
from sightline.perception.questions.markers import LETTERS, SIDE, draw_points

#: Features of a cell.
CHANNELS = 64
_WIDTH = 32
#: Pixels along a cell.
_CELL = 28


class MarkGlass(nn.Module):
    """(N, 3, H, W) → (N, 64, H/28, W/28)."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(
            nn.Conv2d(3, 16, 5, stride=2, padding=2),
            nn.GELU(),
            nn.Conv2d(16, _WIDTH, 3, stride=2, padding=1),
            nn.GELU(),
        )
        # A letter stands 25 px above its ring: dilation lets a ring see it.
        self.around = nn.ModuleList(
            nn.Conv2d(_WIDTH, _WIDTH, 3, padding=reach, dilation=reach) for reach in (1, 2, 4)
        )
        self.cell = nn.Conv2d(_WIDTH, CHANNELS, _CELL // 4, stride=_CELL // 4)
        self.finder = nn.Sequential(
            nn.Linear(CHANNELS, CHANNELS), nn.GELU(), nn.Linear(CHANNELS, len(LETTERS))
        )
        self.place = nn.Linear(CHANNELS, 2)

    def forward(self, pixels: Tensor) -> Tensor:
        """Look for marks; pixels are normalised as the encoder's."""
        x = self.stem(pixels)
        for layer in self.around:
            x = x + F.gelu(layer(x))
        return F.gelu(self.cell(x))

    def find(self, cells: Tensor) -> Tensor:
        """(N, T, 64) features of T cells → (N, 5, T + 1) scores: each letter's cell, or nowhere."""
        scores = self.finder(cells).transpose(1, 2)
        return F.pad(scores, (0, 1))

    def points(self, pixels: Tensor) -> Tensor:
        """(N, 3, S, S) → (N, 5, 3): whether each letter is there, 0 to 1, and its x and y, 0 to 1."""
        maps = self(pixels)
        across = maps.shape[-1]
        cells = maps.flatten(2).transpose(1, 2).float()
        shares = self.find(cells).softmax(-1)
        best = shares[..., :-1].argmax(-1)
        within = self.place(cells).gather(1, best[..., None].expand(-1, -1, 2))
        corner = torch.stack([best % across, best // across], dim=-1)
        x_and_y = ((corner + within) / across).clamp(0, 1 - 1e-3)
        return torch.cat([1 - shares[..., -1:], x_and_y], dim=-1)


def train_glass(
    pictures: Sequence[NDArray[np.uint8]],
    eye: Eye,
    *,
    steps: int,
    batch: int = 32,
    rate: float = 3e-3,
    bfloat16: bool = False,
    seed: int = 0,
    report: Callable[[str], None] = print,
) -> MarkGlass:
    """Teach a glass on pictures with points drawn at random.

    Args:
        pictures: (336, 336, 3) sRGB each, without marks.
        eye: how pictures are shown.
        steps: of training.
        batch: pictures of a step.
        rate: peak learning rate of AdamW.
        bfloat16: multiply in bfloat16.
        seed: of weights and points.
        report: told in a line how it goes.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    glass = MarkGlass().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    optimiser = torch.optim.AdamW(glass.parameters(), rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, steps, pct_start=0.1)
    for step in range(1, steps + 1):
        chosen = [pictures[int(k)] for k in rng.integers(len(pictures), size=batch)]
        shown, letters, places = marked_batch(chosen, eye, rng)
        with torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            maps = glass(shown.to(memory_format=torch.channels_last))
        cells = maps.float().flatten(2).transpose(1, 2)
        found, wanted = glass.find(cells), cell_of_letters(letters)
        off = _off(glass.place(cells), letters, places)
        loss = F.cross_entropy(found.flatten(0, 1), wanted.flatten()) + off
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        schedule.step()
        if step % 100 == 0 or step == steps:
            hits = (found.detach().argmax(-1) == wanted).float().mean()
            report(
                f"glass: step {step} of {steps}, loss {float(loss.detach()):.4f}, "
                f"letters in the right cell {float(hits):.3f}, "
                f"{float(off.detach()) * SIDE * _CELL / eye.side:.1f} px off"
            )
    return glass.to(memory_format=torch.contiguous_format).eval().requires_grad_(False)


def marked_batch(
    pictures: Sequence[NDArray[np.uint8]], eye: Eye, rng: np.random.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw up to five points into each picture; some have none.

    Returns:
        Pictures as the eye shows them; (N, R, C) number of the letter in every cell, 0 for none;
        (N, 2, R, C) where in the cell its point lies, 0 to 1.
    """
    cells = eye.side // _CELL
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
    return eye.look(drawn), letters, places


def _off(where: Tensor, letters: Tensor, places: Tensor) -> Tensor:
    """Mean absolute error of x and y in cells that have a point, in cells; (N, T, 2) are told."""
    there = (letters > 0).flatten(1)[..., None].float()
    off = (where - places.flatten(2).transpose(1, 2)).abs() * there
    return off.sum() / there.sum().clamp(min=1) / 2


def cell_of_letters(letters: Tensor) -> Tensor:
    """(N, R, C) letters → (N, 5) number of each letter's cell, R · C for a letter that is nowhere."""
    flat = letters.flatten(1)
    wanted = torch.arange(1, 1 + len(LETTERS), device=letters.device)
    there = flat[:, None] == wanted[:, None]
    return torch.where(there.any(-1), there.int().argmax(-1), flat.shape[1])


def place_apart(
    others: Collection[tuple[int, int]], rng: np.random.Generator, least: float = 20.0
) -> tuple[int, int]:
    """Draw a place at least 20 px from the others, as the rules of questions want it."""
    while True:
        x, y = (int(v) for v in rng.integers(0, SIDE, 2))
        if all(np.hypot(x - a, y - b) >= least for a, b in others):
            return x, y
