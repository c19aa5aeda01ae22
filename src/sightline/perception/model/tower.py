"""Eyes of a compact speaker, as the vision tower of a LLaVA-type model.

LLaVA takes any vision tower that transformers can build from a configuration, so this one is entered
into its register; nothing is patched. It is an embedded depth model and the encoder of the depth
codebook, both whole and frozen, so that a model that uses it need not store them again, and two small
finders of its own: one for marked points, one for things. A picture becomes

    cells     100, of 28 × 28 px: the codebook's vector, disparity of 4 × 4 places, row and column
    points    40, eight for each letter: the letter, where it is, and once more the cell that it lies in
    things    24, from left to right: how likely each is of each kind, and its box

with zeros for points and things that are not there. A language model of so few weights does not learn
by itself to find one lettered cell among a hundred, so points and things have tokens of their own. And
it finds them by their distance: an answer has a line of eight tokens for each point, and rows with an
entry for each thing, so points have eight tokens and things one, and what is to be said always stands
as far behind what it is about (docs/lab-log.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPooling

from sightline.depth.network import DepthAnything
from sightline.depth.network.sizes import PATCH, SIZES
from sightline.errors import InputError
from sightline.perception.codebook.network import GRID as CODES_ACROSS
from sightline.perception.codebook.network import SIDE, WIDTH, make_encoder
from sightline.perception.model.glass import MarkGlass
from sightline.perception.model.numbers import NUMBER, number_code
from sightline.perception.model.things import SLOTS, ThingFinder, slots_of
from sightline.perception.questions.markers import LETTERS

#: Pixels along the side of a cell: two patches of the encoder.
CELL = 2 * PATCH
#: Places along the side of a cell whose disparity is seen.
PLACES = 4
#: Tokens of a point: as many as its line has in an answer.
STRIDE = 8
#: Of the codebook's input, pixels along the side of a cell.
_CODE = SIDE // CODES_ACROSS
#: Numbers of a point that was found: whether it is there, x and y. Sides of a box.
_POINT, _BOX = 3, 4
#: Dimensions of what was looked at before; pictures have one more.
_LOOKED_AT = 3


def tokens_of(side: int) -> int:
    """Return how many tokens stand for a picture of this side, [px]."""
    return (side // CELL) ** 2 + STRIDE * len(LETTERS) + SLOTS


class TowerConfig(PretrainedConfig):  # type: ignore[misc]  # transformers has no types
    """Configuration of `DepthTower`.

    Args:
        architecture: of the encoder: vits, vitb, vitl.
        taps: blocks (from 0) whose outputs the finder of things sees; the depth head sees them too.
        image_size: side of the square picture, [px].
        kinds: of things that are found.
        curve: power that straightens the depth network's maps, and
        zero: what it says of things infinitely far away (`ModelSpec`).
        settings: of transformers.
    """

    model_type = "sightline_depth_tower"

    def __init__(
        self,
        architecture: str = "vits",
        taps: Sequence[int] = (5, 11),
        image_size: int = 280,
        kinds: Sequence[str] = (),
        curve: float = 1.0,
        zero: float = 0.0,
        **settings: Any,
    ) -> None:
        self.architecture, self.taps, self.image_size = architecture, list(taps), image_size
        self.kinds, self.curve, self.zero = list(kinds), curve, zero
        self.patch_size = CELL
        cells = image_size // CELL
        seen = WIDTH + PLACES * PLACES + 2 * cells
        points, things = len(LETTERS) + 2 * NUMBER, len(self.kinds) + _BOX * NUMBER
        self.hidden_size = seen + points + things
        super().__init__(**settings)


class DepthTower(PreTrainedModel):  # type: ignore[misc]
    """(N, 3, S, S) → one hidden state of (N, (S/28)² + 40 + 24, D).

    Channels are those of cells, of points and of things one after another; a token has zeros in those
    that are not its own, but points have those of the cell that they lie in.
    """

    config_class = TowerConfig
    base_model_prefix = "tower"
    main_input_name = "pixel_values"

    def __init__(self, config: TowerConfig) -> None:
        super().__init__(config)
        size = SIZES[config.architecture]
        self.network = DepthAnything(size)
        missing = [tap for tap in config.taps if tap not in self.network.taps]
        if missing:
            raise InputError(f"blocks {missing} are not among {self.network.taps}, which are seen")
        self.codes = make_encoder()
        self.glass = MarkGlass()
        self.finder = ThingFinder(size.width * len(config.taps), max(1, len(config.kinds)))
        self.post_init()

    @property
    def across(self) -> int:
        """Cells along the side of a picture."""
        return int(self.config.image_size) // CELL

    @property
    def looks(self) -> tuple[int, int]:
        """Cells, points and things of a picture, and numbers that `look` gives of each."""
        numbers = WIDTH + PLACES * PLACES + _POINT + len(self.config.kinds) + _BOX
        return self.across**2 + len(LETTERS) + SLOTS, numbers

    def _init_weights(self, module: Any) -> None:
        """Leave them: they are filled, from models that were taught before."""

    def features(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the finder of things sees, (N, C, R, R), and nearness, (N, S, S) in 0 to 1."""
        taps = self.network.encoder(pixels, self.network.taps)
        chosen = [taps[self.network.taps.index(tap)] for tap in self.config.taps]
        return torch.cat(chosen, dim=1), self._nearness(self.network.decode(taps))

    def look(self, pixels: Tensor) -> Tensor:
        """(N, 3, S, S) pictures with the side of the configuration → (N, T, 512 + …) numbers."""
        return self.tell(pixels, *self.features(pixels))

    def tell(self, pixels: Tensor, features: Tensor, near: Tensor) -> Tensor:
        """Put together what is seen, from pictures and what `features` gave for them."""
        side = self.across * _CODE
        shown = F.interpolate(near[:, None], (side, side), mode="nearest")
        vectors = by_cell(self.codes(2 * shown - 1), 1).float()
        places = by_cell(F.adaptive_avg_pool2d(near[:, None], self.across * PLACES), PLACES)
        if self.config.kinds:
            things = slots_of(*self.finder(features, pixels))
        else:
            things = near.new_zeros(len(near), SLOTS, _BOX)
        cells = torch.cat([vectors, places], dim=-1)
        points = self.glass.points(pixels).float()
        return _side_by_side(cells, points, things)

    def forward(self, pixel_values: Tensor, **_: Any) -> BaseModelOutputWithPooling:
        """Look at pictures.

        Args:
            pixel_values: (N, 3, S, S) with the side of the configuration; or (N, T, 512 + …), what
            `look`
                gave for them before: it never learns, so training need not look twice.
        """
        seen = pixel_values if pixel_values.ndim == _LOOKED_AT else self.look(pixel_values)
        tokens = self._spelt_out(seen.float()).to(pixel_values.dtype)
        return BaseModelOutputWithPooling(last_hidden_state=tokens, hidden_states=(tokens,))

    def _spelt_out(self, seen: Tensor) -> Tensor:
        """(N, T, 512 + …) → (N, T + 35, D): numbers become channels that can be read."""
        count, kinds, letters = self.across**2, len(self.config.kinds), len(LETTERS)
        widths = (WIDTH + PLACES * PLACES, _POINT, kinds + _BOX)
        cells, points, things = torch.split(seen, list(widths), dim=-1)
        cells, points = cells[:, :count], points[:, count : count + letters]
        things = things[:, count + letters :]
        there, where = points[..., :1], points[..., 1:]
        sides = things[..., kinds:]
        filled = (sides.sum(-1, keepdim=True) > 0).to(seen)
        grid = _rows_and_columns(self.across).to(seen)
        column, row = (where * self.across).long().clamp(0, self.across - 1).unbind(-1)
        alphabet = torch.eye(letters).to(seen).expand(len(seen), -1, -1)
        cells = torch.cat([cells, grid.expand(len(seen), -1, -1)], dim=-1)
        inside = (row * self.across + column)[..., None].expand(-1, -1, cells.shape[-1])
        tokens = _side_by_side(
            cells,
            there * torch.cat([alphabet, number_code(where).flatten(2)], dim=-1),
            torch.cat([things[..., :kinds], filled * number_code(sides).flatten(2)], dim=-1),
        )
        again = F.pad(there * cells.gather(1, inside), (0, tokens.shape[-1] - cells.shape[-1]))
        tokens = tokens + F.pad(again, (0, 0, count, SLOTS))
        often = torch.ones(tokens.shape[1], dtype=torch.long, device=tokens.device)
        often[count : count + letters] = STRIDE
        return tokens.repeat_interleave(often, dim=1)

    def _nearness(self, disparity: Tensor) -> Tensor:
        """(N, H, W) → straightened, from the farthest (0) to the nearest (1) of each picture."""
        above = disparity.float() - self.config.zero
        straight = above.sign() * above.abs() ** self.config.curve
        low, high = (
            values(straight, dim=(1, 2), keepdim=True) for values in (torch.amin, torch.amax)
        )
        return (straight - low) / (high - low).clamp(min=1e-6)


def by_cell(maps: Tensor, side: int) -> Tensor:
    """(N, C, R · side, R · side) → (N, R², side² · C): what lies in each cell, place after place."""
    batch, channels, rows, columns = maps.shape
    cells = maps.view(batch, channels, rows // side, side, columns // side, side)
    return cells.permute(0, 2, 4, 3, 5, 1).reshape(batch, -1, side * side * channels)


def with_points(seen: NDArray[np.float16], points: NDArray[np.float16]) -> NDArray[np.float16]:
    """Put other points into what was seen of a picture; marks hardly change its depth.

    Args:
        seen: (T, 512 + …) of `DepthTower.look`.
        points: (5, 3) of `MarkGlass.points`, of the same picture with marks.
    """
    first, before = len(seen) - SLOTS - len(LETTERS), WIDTH + PLACES * PLACES
    marked = seen.copy()
    marked[first : first + len(LETTERS), before : before + _POINT] = points
    return marked


def _side_by_side(*blocks: Tensor) -> Tensor:
    """(N, T1, D1), (N, T2, D2), … → (N, T1 + T2 + …, D1 + D2 + …), zeros elsewhere."""
    widths = [block.shape[-1] for block in blocks]
    return torch.cat(
        [
            F.pad(block, (sum(widths[:number]), sum(widths[number + 1 :])))
            for number, block in enumerate(blocks)
        ],
        dim=1,
    )


def _rows_and_columns(cells: int) -> Tensor:
    """Return (cells², 2 · cells): a one at the row and a one at the column of each cell."""
    one = torch.eye(cells)
    rows, columns = one.repeat_interleave(cells, 0), one.repeat(cells, 1)
    return torch.cat([rows, columns], dim=1)


def register() -> None:
    """Let transformers build the tower from its configuration; a second time does nothing."""
    AutoConfig.register(TowerConfig.model_type, TowerConfig, exist_ok=True)
    AutoModel.register(TowerConfig, DepthTower, exist_ok=True)
