"""Our depth network's encoder as the vision tower of a LLaVA-type model.

LLaVA takes any vision tower that transformers can build from a configuration, so this one is entered
into its register; nothing is patched. The encoder is that of an embedded depth model: a model that uses
it need not store it again, and sees with features that know about depth. Four neighbouring patches are
one token (28 × 28 pixels), so that a language model of a few million weights can afford to look; what a
reading glass for marked points sees there is added to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import AutoConfig, AutoModel, PretrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPooling

from sightline.depth.network.sizes import PATCH, SIZES
from sightline.depth.network.vit import VisionTransformer
from sightline.perception.model import glass

#: Patches along the side of a token.
MERGE = 2
#: Pixels along the side of a token.
CELL = PATCH * MERGE


class TowerConfig(PretrainedConfig):  # type: ignore[misc]  # transformers has no types
    """Configuration of `DepthTower`.

    Args:
        architecture: of the encoder: vits, vitb, vitl.
        taps: blocks (from 0) whose outputs are seen, shallow to deep; the last is as far as it runs.
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
        encoder = SIZES[architecture].width * len(self.taps) * MERGE * MERGE
        self.hidden_size = encoder + glass.CHANNELS
        super().__init__(**settings)


class DepthTower(PreTrainedModel):  # type: ignore[misc]
    """(N, 3, H, W) → one hidden state of (N, H/28 · W/28, D).

    Channels are those of all taps, of the four patches of a token one after another, then the glass's.
    """

    config_class = TowerConfig
    base_model_prefix = "tower"
    main_input_name = "pixel_values"

    def __init__(self, config: TowerConfig) -> None:
        super().__init__(config)
        self.encoder = VisionTransformer(SIZES[config.architecture])
        self.glass = glass.MarkGlass()
        self.post_init()

    def _init_weights(self, module: Any) -> None:
        """Leave them: they are filled, from a depth model and from a glass that was taught."""

    def forward(self, pixel_values: Tensor, **_: Any) -> BaseModelOutputWithPooling:
        """Look at pictures.

        Args:
            pixel_values: (N, 3, H, W) with sides that are multiples of 28; or (N, T, D), what the tower
                gave for them before: it never learns, so training need not look twice.
        """
        if pixel_values.ndim == 3:
            return _seen(pixel_values)
        maps = torch.cat(self.encoder(pixel_values, self.config.taps), dim=1)
        batch, channels, rows, columns = maps.shape
        cells = maps.view(batch, channels, rows // MERGE, MERGE, columns // MERGE, MERGE)
        tokens = cells.permute(0, 2, 4, 3, 5, 1).reshape(
            batch, (rows // MERGE) * (columns // MERGE), MERGE * MERGE * channels
        )
        marks = self.glass(pixel_values).flatten(2).transpose(1, 2)
        return _seen(torch.cat([tokens, marks.to(tokens.dtype)], dim=-1))


def _seen(tokens: Tensor) -> BaseModelOutputWithPooling:
    return BaseModelOutputWithPooling(last_hidden_state=tokens, hidden_states=(tokens,))


def register() -> None:
    """Let transformers build the tower from its configuration; a second time does nothing."""
    AutoConfig.register(TowerConfig.model_type, TowerConfig, exist_ok=True)
    AutoModel.register(TowerConfig, DepthTower, exist_ok=True)
