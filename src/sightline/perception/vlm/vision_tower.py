"""Vision tower of the compact VLM: frozen depth model, codebook encoder and detectors.

LLaVA takes any vision tower that transformers can build from a configuration, so this one is registered
there. An image becomes

    cells      100, of 28 × 28 px: codebook vector, disparity at 4 × 4 places, row and column
    points     40, eight for each letter: the letter, its position, and the cell it lies in
    objects    24, from left to right: class probabilities and box

with zeros for absent points and objects. A language model of this size does not learn to find one
lettered cell among a hundred, so points and objects have tokens of their own. And it finds them by
distance: an answer has a line of eight tokens for each point, and rows with an entry for each
object; so points have eight tokens and objects one, and each output token has a fixed distance to
the image token it describes (docs/lab-log.md).
"""

from __future__ import annotations

import math
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
from sightline.depth.network.vit import PATCH, SIZES
from sightline.errors import InputError
from sightline.perception.codebook import SIDE, WIDTH, make_encoder
from sightline.perception.questions.hardblink import LETTERS
from sightline.perception.tokens import GRID as CODES_ACROSS
from sightline.perception.vlm.detectors import SLOTS, MarkDetector, ObjectDetector, slots_of

#: Waves over the picture.
WAVES = (1, 2, 4, 8, 16, 32, 64)
#: Channels of a number: itself, and sine and cosine of every wave.
NUMBER = 1 + 2 * len(WAVES)


def number_code(values: Tensor) -> Tensor:
    """(…,) numbers in 0 to 1 → (…, 15), between −1 and 1."""
    waves = torch.tensor(WAVES, dtype=torch.float32, device=values.device)
    phase = 2 * math.pi * values.float()[..., None] * waves
    return torch.cat([2 * values.float()[..., None] - 1, phase.sin(), phase.cos()], dim=-1)


#: Pixels along the side of a cell: two patches of the encoder.
CELL = 2 * PATCH
#: Places along the side of a cell whose disparity is encoded.
PLACES = 4
#: Tokens per point: as many as its line has in an answer.
STRIDE = 8
#: Pixels along the side of a cell in the codebook's input.
_CODE = SIDE // CODES_ACROSS
#: Values of a detected point (probability, x, y), and of a box.
_POINT, _BOX = 3, 4
#: Dimensions of cached features; images have one more.
_LOOKED_AT = 3


def tokens_of(side: int) -> int:
    """Return the number of tokens of an image with this side, [px]."""
    return (side // CELL) ** 2 + STRIDE * len(LETTERS) + SLOTS


class TowerConfig(PretrainedConfig):  # type: ignore[misc]  # transformers has no types
    """Configuration of `DepthTower`.

    Args:
        architecture: encoder: vits, vitb, vitl.
        taps: encoder blocks (from 0) that the object detector sees; a subset of those of the depth
            head.
        image_size: side of the square input, [px].
        kinds: classes of the object detector.
        curve: exponent that linearizes the depth network's maps.
        zero: output of the depth network at infinite distance (`ModelSpec`).
        settings: settings of transformers.
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
    """Map images (N, 3, S, S) to one hidden state (N, (S/28)² + 40 + 24, D).

    The channels of cells, points and objects are concatenated; a token is zero in the channels of other
    kinds, except that points also have those of the cell they lie in.
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
        self.mark_detector = MarkDetector()
        self.object_detector = ObjectDetector(
            size.width * len(config.taps), max(1, len(config.kinds))
        )
        self.post_init()

    @property
    def across(self) -> int:
        """Cells along the side of an image."""
        return int(self.config.image_size) // CELL

    @property
    def looks(self) -> tuple[int, int]:
        """Number of cells, points and objects of an image, and of the features of each."""
        numbers = WIDTH + PLACES * PLACES + _POINT + len(self.config.kinds) + _BOX
        return self.across**2 + len(LETTERS) + SLOTS, numbers

    def _init_weights(self, module: Any) -> None:
        """Do nothing: the weights are loaded from pretrained models."""

    def features(self, pixels: Tensor) -> tuple[Tensor, Tensor]:
        """Return the object detector's input, (N, C, R, R), and nearness, (N, S, S) in [0, 1]."""
        taps = self.network.encoder(pixels, self.network.taps)
        chosen = [taps[self.network.taps.index(tap)] for tap in self.config.taps]
        return torch.cat(chosen, dim=1), self._nearness(self.network.decode(taps))

    def look(self, pixels: Tensor) -> Tensor:
        """Map images (N, 3, S, S) to features (N, T, 512 + …)."""
        return self.tell(pixels, *self.features(pixels))

    def tell(self, pixels: Tensor, features: Tensor, near: Tensor) -> Tensor:
        """Combine all features, given images and the result of `features`."""
        side = self.across * _CODE
        shown = F.interpolate(near[:, None], (side, side), mode="nearest")
        vectors = by_cell(self.codes(2 * shown - 1), 1).float()
        places = by_cell(F.adaptive_avg_pool2d(near[:, None], self.across * PLACES), PLACES)
        if self.config.kinds:
            things = slots_of(*self.object_detector(features, pixels))
        else:
            things = near.new_zeros(len(near), SLOTS, _BOX)
        cells = torch.cat([vectors, places], dim=-1)
        points = self.mark_detector.points(pixels).float()
        return _side_by_side(cells, points, things)

    def forward(self, pixel_values: Tensor, **_: Any) -> BaseModelOutputWithPooling:
        """Encode images.

        Args:
            pixel_values: (N, 3, S, S) images; or (N, T, 512 + …), cached result of `look`: the tower is
                frozen, so training computes it once.
        """
        seen = pixel_values if pixel_values.ndim == _LOOKED_AT else self.look(pixel_values)
        tokens = self._spelled_out(seen.float()).to(pixel_values.dtype)
        return BaseModelOutputWithPooling(last_hidden_state=tokens, hidden_states=(tokens,))

    def _spelled_out(self, seen: Tensor) -> Tensor:
        """Expand features (N, T, 512 + …) to token channels (N, T + 35, D)."""
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
        """Linearize disparity (N, H, W) and scale each image to [0, 1], near is 1."""
        above = disparity.float() - self.config.zero
        straight = above.sign() * above.abs() ** self.config.curve
        low, high = (
            values(straight, dim=(1, 2), keepdim=True) for values in (torch.amin, torch.amax)
        )
        return (straight - low) / (high - low).clamp(min=1e-6)


def by_cell(maps: Tensor, side: int) -> Tensor:
    """Group maps by cell: (N, C, R · side, R · side) → (N, R², side² · C)."""
    batch, channels, rows, columns = maps.shape
    cells = maps.view(batch, channels, rows // side, side, columns // side, side)
    return cells.permute(0, 2, 4, 3, 5, 1).reshape(batch, -1, side * side * channels)


def with_points(seen: NDArray[np.float16], points: NDArray[np.float16]) -> NDArray[np.float16]:
    """Replace the points in the features of an image; marks hardly change its depth.

    Args:
        seen: (T, 512 + …) of `DepthTower.look`.
        points: (5, 3) of `MarkDetector.points`, of the same image with marks.
    """
    first, before = len(seen) - SLOTS - len(LETTERS), WIDTH + PLACES * PLACES
    marked = seen.copy()
    marked[first : first + len(LETTERS), before : before + _POINT] = points
    return marked


def _side_by_side(*blocks: Tensor) -> Tensor:
    """Stack blocks diagonally: (N, T1, D1), (N, T2, D2), … → (N, T1 + T2 + …, D1 + D2 + …)."""
    widths = [block.shape[-1] for block in blocks]
    return torch.cat(
        [
            F.pad(block, (sum(widths[:number]), sum(widths[number + 1 :])))
            for number, block in enumerate(blocks)
        ],
        dim=1,
    )


def _rows_and_columns(cells: int) -> Tensor:
    """Return one-hot rows and columns of all cells: (cells², 2 · cells)."""
    one = torch.eye(cells)
    rows, columns = one.repeat_interleave(cells, 0), one.repeat(cells, 1)
    return torch.cat([rows, columns], dim=1)


def register() -> None:
    """Register the tower with transformers; repeated calls do nothing."""
    AutoConfig.register(TowerConfig.model_type, TowerConfig, exist_ok=True)
    AutoModel.register(TowerConfig, DepthTower, exist_ok=True)
