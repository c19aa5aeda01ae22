"""A codec as one safetensors file: weights as they are, everything else in the header.

The header's metadata hold the kind, the options, and mean and spread of the latents. Nothing in a file
can run: there is no pickle, and no class but those that are known is built.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from sightline.errors import InputError
from sightline.files.atomic import atomic_path
from sightline.video_model.autoencoder.frames import FrameCodec
from sightline.video_model.autoencoder.inflated import InflatedVae
from sightline.video_model.autoencoder.moments import MomentCodec
from sightline.video_model.autoencoder.normalised import NormalisedCodec
from sightline.video_model.autoencoder.noted import give_weights, read_noted
from sightline.video_model.autoencoder.pixels import PixelCodec

#: Says that a file is a codec; its value is JSON.
KEY = "sightline.codec"
LAYOUT = 1

SavedCodec = FrameCodec | MomentCodec | InflatedVae | PixelCodec
_KINDS: dict[str, type[SavedCodec]] = {
    FrameCodec.kind: FrameCodec,
    MomentCodec.kind: MomentCodec,
    InflatedVae.kind: InflatedVae,
    PixelCodec.kind: PixelCodec,
}
_STATISTICS = ("mean", "spread")


def write_codec(codec: SavedCodec, path: str | Path) -> None:
    """Write a codec, whole or not at all; the same one gives the same bytes.

    Args:
        codec: trained, or of pixels.
        path: of the `.safetensors` file.
    """
    notes, state = codec_notes(codec)
    with atomic_path(path) as temporary:
        save_file(state, temporary, {KEY: json.dumps(notes, sort_keys=True)})


def codec_notes(codec: SavedCodec) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return what describes a codec, as plain values, and its weights in float32."""
    notes: dict[str, Any] = {"layout": LAYOUT, "kind": codec.kind, "options": codec.to_dict()}
    state: dict[str, Tensor] = {}
    if isinstance(codec, NormalisedCodec):
        stored = codec.state_dict()
        # A float32 in JSON's decimal digits comes back as it was.
        notes["statistics"] = {name: stored.pop(name).tolist() for name in _STATISTICS}
        state = {name: v.detach().float().cpu().contiguous() for name, v in stored.items()}
    return notes, state


def read_codec(path: str | Path) -> SavedCodec:
    """Read a codec that `write_codec` wrote, in eval mode.

    Raises:
        InputError: the file is not there, something else, or damaged.
    """
    return read_noted(path, KEY, "codec", codec_from_notes, "codec of videos")


def codec_from_notes(notes: dict[str, Any], state: dict[str, Tensor]) -> SavedCodec:
    """Build a codec from what `codec_notes` gave: first without weights, then with them."""
    if notes["layout"] != LAYOUT:
        raise InputError(
            f"of layout {notes['layout']}, not {LAYOUT}", remedy="use another version of sightline"
        )
    if notes["kind"] not in _KINDS:
        raise InputError(f"no codec is of the kind {notes['kind']!r}")
    # Without memory of its own: what a damaged file asks for is compared before it costs anything.
    with torch.device("meta"):
        codec = _KINDS[notes["kind"]].from_dict(notes["options"])
    if isinstance(codec, NormalisedCodec):
        statistics = {
            n: torch.tensor(notes["statistics"][n], dtype=torch.float32) for n in _STATISTICS
        }
        state = {name: value.float().clone() for name, value in state.items()} | statistics
        give_weights(codec, state, "codec")
        if not (codec.spread > 0).all():
            raise InputError("a damaged codec (a spread that is not positive)")
        return codec.eval()
    return codec
