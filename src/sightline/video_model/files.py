"""A video model as one safetensors file: weights in half precision, everything else in its header.

Nothing in a file can run: there is no pickle, and no class but those that are known is built.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor

from sightline.errors import InputError, SightlineError
from sightline.files.atomic import atomic_path
from sightline.video_model.autoencoder.codec import latent_shape, usable_frames
from sightline.video_model.autoencoder.files import codec_from_notes, codec_notes
from sightline.video_model.autoencoder.noted import give_weights, read_noted
from sightline.video_model.model import VideoDiffusion
from sightline.video_model.options import BuildOptions
from sightline.video_model.transformer.network import VideoTransformer
from sightline.video_model.transformer.options import TransformerOptions

#: Says that a file is a video model; its value is JSON.
KEY = "sightline.video"
LAYOUT = 1
#: The finished model in the folder of a run.
MODEL = "model.safetensors"

#: Frames, and pixels along a side, that a file may ask for.
MOST = 4096

_NETWORK, _CODEC = "network.", "codec."


def write_model(model: VideoDiffusion, path: str | Path) -> None:
    """Write a model, whole or not at all; the same one gives the same bytes.

    Args:
        model: trained.
        path: of the `.safetensors` file.
    """
    about, codec = codec_notes(model.codec)
    notes: dict[str, Any] = {
        "layout": LAYOUT,
        "transformer": model.network.options.to_dict(),
        "build": asdict(model.build),
        "codec": about,
        "frames": model.frames,
        "size": model.size,
        "sampling": model.sampling,
        "notes": model.notes,
    }
    state = {_NETWORK + name: value for name, value in model.network.state_dict().items()}
    state |= {_CODEC + name: value for name, value in codec.items()}
    half = {name: value.detach().cpu().half().contiguous() for name, value in state.items()}
    for name, value in half.items():
        if not torch.isfinite(value).all():
            raise SightlineError(
                f"{path}: {name} does not fit into half precision, or is not finite; nothing is written"
            )
    with atomic_path(path) as temporary:
        save_file(half, temporary, {KEY: json.dumps(notes, sort_keys=True)})


def read_model(path: str | Path) -> VideoDiffusion:
    """Read a model that `write_model` wrote, in eval mode and full precision.

    Raises:
        InputError: the file is not there, something else, or damaged.
    """
    return read_noted(path, KEY, "video model", _rebuild)


def _rebuild(notes: dict[str, Any], state: dict[str, Tensor]) -> VideoDiffusion:
    if notes["layout"] != LAYOUT:
        raise InputError(
            f"of layout {notes['layout']}, not {LAYOUT}", remedy="use another version of sightline"
        )
    # Without memory of its own: what a damaged file asks for is compared before it costs anything.
    with torch.device("meta"):
        network = VideoTransformer(TransformerOptions.from_dict(notes["transformer"]))
    state = {name: value.float() for name, value in state.items()}
    give_weights(network, _part(state, _NETWORK), "video model")
    model = VideoDiffusion(
        network.eval(),
        codec_from_notes(notes["codec"], _part(state, _CODEC)),
        BuildOptions(**notes["build"]),
        int(notes["frames"]),
        int(notes["size"]),
        int(notes["sampling"]),
        dict(notes["notes"]),
    )
    _check(model)
    return model


def _check(model: VideoDiffusion) -> None:
    """Refuse a model whose parts contradict each other, before anything is made of their size."""
    build, options = model.build, model.network.options
    for name, value in (("frames", model.frames), ("size", model.size)):
        if not 1 <= value <= MOST:
            raise InputError(f"a damaged video model ({name} {value})")
    frames = usable_frames(model.codec, model.frames)
    try:
        shape = latent_shape(model.codec, frames, model.size)
    except InputError as error:
        raise InputError(f"a damaged video model ({error.problem})") from error
    if options.shape != shape:
        raise InputError(
            f"a damaged video model (its transformer is of latents {options.shape}, its codec and "
            f"frames make {shape})"
        )
    if not 1 <= build.condition < model.frames:
        raise InputError(
            f"a damaged video model ({build.condition} of {model.frames} frames given)"
        )
    if not 1 <= model.sampling <= build.noise_steps:
        raise InputError(
            f"a damaged video model ({model.sampling} sampling steps of {build.noise_steps})"
        )


def _part(state: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)
    }
