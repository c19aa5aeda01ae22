"""Our depth network as the vision tower of a LLaVA-type model.

LLaVA takes any vision tower that transformers can build from a configuration, so this one is entered
into its register; nothing is patched. The network is an embedded depth model, whole: a model that uses
it need not store it again. A token is a cell of 28 × 28 pixels, so that a language model of a few
million weights can afford to look; it has

    features     of the encoder, of the four patches of the cell
    disparity    of 4 × 4 places in the cell, from the farthest (0) to the nearest (1) of the picture
    place        row and column of the cell
    marks        what a reading glass for marked points sees there

Behind the cells stands one token for each letter: the cell that its point lies in once more, with the
letter itself in channels of their own; all zeros for a letter that marks nothing. A language model of
so few weights does not learn to find one lettered cell among a hundred (docs/lab-log.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPooling

from sightline.depth.network import DepthAnything
from sightline.depth.network.sizes import PATCH, SIZES
from sightline.errors import InputError
from sightline.perception.model import glass
from sightline.perception.questions.markers import LETTERS

#: Patches along the side of a token.
MERGE = 2
#: Pixels along the side of a token.
CELL = PATCH * MERGE
#: Places along the side of a token whose disparity is seen.
PLACES = 4
#: Dimensions of what was looked at before; pictures have one more.
_LOOKED_AT = 3


def tokens_of(side: int) -> int:
    """Return how many tokens stand for a picture of this side, [px]: its cells and the letters."""
    return (side // CELL) ** 2 + len(LETTERS)


class TowerConfig(PretrainedConfig):  # type: ignore[misc]  # transformers has no types
    """Configuration of `DepthTower`.

    Args:
        architecture: of the encoder: vits, vitb, vitl.
        taps: blocks (from 0) whose outputs are seen; the depth head sees them too.
        image_size: side of the square picture, [px].
        settings: of transformers.
    """

    model_type = "sightline_depth_tower"

    def __init__(
        self,
        architecture: str = "vits",
        taps: Sequence[int] = (5, 11),
        image_size: int = 336,
        **settings: Any,
    ) -> None:
        self.architecture, self.taps, self.image_size = architecture, list(taps), image_size
        self.patch_size = CELL
        cells = image_size // CELL
        encoder = SIZES[architecture].width * len(self.taps) * MERGE * MERGE
        self.hidden_size = encoder + PLACES * PLACES + 2 * cells + glass.CHANNELS + len(LETTERS)
        super().__init__(**settings)


class DepthTower(PreTrainedModel):  # type: ignore[misc]
    """(N, 3, S, S) → one hidden state of (N, (S/28)² + 5, D).

    Channels are those of all taps, of the four patches of a token one after another; disparity; row and
    column, each a one among zeros; the glass's; and the letter.
    """

    config_class = TowerConfig
    base_model_prefix = "tower"
    main_input_name = "pixel_values"

    def __init__(self, config: TowerConfig) -> None:
        super().__init__(config)
        self.network = DepthAnything(SIZES[config.architecture])
        missing = [tap for tap in config.taps if tap not in self.network.taps]
        if missing:
            raise InputError(f"blocks {missing} are not among {self.network.taps}, which are seen")
        self.glass = glass.MarkGlass()
        self.post_init()

    @property
    def features(self) -> int:
        """How many of the channels are the encoder's."""
        return SIZES[self.config.architecture].width * len(self.config.taps) * MERGE * MERGE

    @property
    def looks(self) -> tuple[int, int]:
        """Cells of a picture, and channels that `look` gives of each."""
        return (self.config.image_size // CELL) ** 2, self.config.hidden_size - len(LETTERS)

    def _init_weights(self, module: Any) -> None:
        """Leave them: they are filled, from a depth model and from a glass that was taught."""

    def look(self, pixels: Tensor) -> Tensor:
        """(N, 3, S, S) pictures with the side of the configuration → (N, (S/28)², D - 5) cells."""
        taps = self.network.encoder(pixels, self.network.taps)
        chosen = [taps[self.network.taps.index(tap)] for tap in self.config.taps]
        cells = self.config.image_size // CELL
        parts = [
            by_cell(torch.cat(chosen, dim=1), MERGE),
            by_cell(nearness(self.network.decode(taps), cells * PLACES), PLACES),
            _rows_and_columns(cells).to(pixels).expand(len(pixels), -1, -1),
            by_cell(self.glass(pixels), 1),
        ]
        return torch.cat([part.to(pixels.dtype) for part in parts], dim=-1)

    def forward(self, pixel_values: Tensor, **_: Any) -> BaseModelOutputWithPooling:
        """Look at pictures.

        Args:
            pixel_values: (N, 3, S, S) with the side of the configuration; or (N, T, D - 5), what `look`
                gave for them before: it never learns, so training need not look twice.
        """
        cells = pixel_values if pixel_values.ndim == _LOOKED_AT else self.look(pixel_values)
        tokens = self._with_letters(cells)
        return BaseModelOutputWithPooling(last_hidden_state=tokens, hidden_states=(tokens,))

    def _with_letters(self, cells: Tensor) -> Tensor:
        """(N, T, D - 5) → (N, T + 5, D)."""
        share = self.glass.find(cells[..., -glass.CHANNELS :]).softmax(-1)[..., :-1].to(cells.dtype)
        letters = torch.diag_embed(share.sum(-1))
        return torch.cat(
            [F.pad(cells, (0, len(LETTERS))), torch.cat([share @ cells, letters], dim=-1)], dim=1
        )


def by_cell(maps: Tensor, side: int) -> Tensor:
    """(N, C, R · side, R · side) → (N, R², side² · C): what lies in each cell, place after place."""
    batch, channels, rows, columns = maps.shape
    cells = maps.view(batch, channels, rows // side, side, columns // side, side)
    return cells.permute(0, 2, 4, 3, 5, 1).reshape(batch, -1, side * side * channels)


def nearness(disparity: Tensor, side: int) -> Tensor:
    """(N, H, W) → (N, 1, side, side), from the farthest (0) to the nearest (1) of each picture."""
    means = F.adaptive_avg_pool2d(disparity.float().relu()[:, None], side)
    low, high = (values(means, dim=(2, 3), keepdim=True) for values in (torch.amin, torch.amax))
    return (means - low) / (high - low).clamp(min=1e-6)


def _rows_and_columns(cells: int) -> Tensor:
    """Return (cells², 2 · cells): a one at the row and a one at the column of each cell."""
    one = torch.eye(cells)
    rows, columns = one.repeat_interleave(cells, 0), one.repeat(cells, 1)
    return torch.cat([rows, columns], dim=1)


def register() -> None:
    """Let transformers build the tower from its configuration; a second time does nothing."""
    AutoConfig.register(TowerConfig.model_type, TowerConfig, exist_ok=True)
    AutoModel.register(TowerConfig, DepthTower, exist_ok=True)
