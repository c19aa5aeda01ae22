"""Video models as safetensors files: weights in half precision, everything else in the header.

Files contain no pickles, and only known classes are built from them. `find_codec` opens the codec of
any of the supported files.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import atomic_path
from sightline.models.cache import file_sha256
from sightline.models.download import resolve
from sightline.video_model.autoencoders.codec import PixelCodec, latent_shape, usable_frames
from sightline.video_model.autoencoders.files import (
    CODEC,
    SavedCodec,
    codec_from_description,
    describe_codec,
    load_weights,
    read_codec,
    read_described,
)
from sightline.video_model.autoencoders.files import KEY as CODEC_KEY
from sightline.video_model.autoencoders.inflated import CONFIG, WEIGHTS, InflatedVae, inflate
from sightline.video_model.autoencoders.options import InflatedOptions
from sightline.video_model.options import BuildOptions, TransformerOptions
from sightline.video_model.pipeline import VideoDiffusion
from sightline.video_model.transformer import VideoTransformer

#: Metadata key of a video model; its value is JSON.
KEY = "sightline.video"
LAYOUT = 1
#: The finished model in the folder of a run.
MODEL = "model.safetensors"

#: Maximum frames, and pixels along a side, of a model file.
MOST = 4096

_NETWORK, _CODEC = "network.", "codec."


def write_model(model: VideoDiffusion, path: str | Path) -> None:
    """Write a model atomically; equal models give equal bytes.

    Args:
        model: trained model.
        path: `.safetensors` file.
    """
    about, codec = describe_codec(model.codec)
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
    """Read a model written by `write_model`, in eval mode and full precision.

    Raises:
        InputError: the file is missing, of another kind, or damaged.
    """
    return read_described(path, KEY, "video model", _rebuild)


def _rebuild(notes: dict[str, Any], state: dict[str, Tensor]) -> VideoDiffusion:
    if notes["layout"] != LAYOUT:
        raise InputError(
            f"of layout {notes['layout']}, not {LAYOUT}", remedy="use another version of sightline"
        )
    # Built on the meta device, so shapes of a damaged file are checked before memory is allocated.
    with torch.device("meta"):
        network = VideoTransformer(TransformerOptions.from_dict(notes["transformer"]))
    state = {name: value.float() for name, value in state.items()}
    load_weights(network, _part(state, _NETWORK), "video model")
    model = VideoDiffusion(
        network.eval(),
        codec_from_description(notes["codec"], _part(state, _CODEC)),
        BuildOptions(**notes["build"]),
        int(notes["frames"]),
        int(notes["size"]),
        int(notes["sampling"]),
        dict(notes["notes"]),
    )
    _check(model)
    return model


def _check(model: VideoDiffusion) -> None:
    """Check that the parts of a model agree."""
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


#: Name of the identity codec.
PIXELS = "pixels"


def find_codec(name: str | Path) -> tuple[SavedCodec, str]:
    """Open a codec.

    Args:
        name: `pixels`; the file of a codec or video model, or the run folder that made it; a registry
            name; or a folder with the `AutoencoderKL` of diffusers, which is inflated.

    Returns:
        The codec, and the SHA-256 of its file (or `pixels`).
    """
    if name == PIXELS:
        return PixelCodec(), PIXELS
    folder = Path(name)
    if folder.is_dir():
        inside = [folder / file for file in (CODEC, MODEL) if (folder / file).is_file()]
        if not inside:
            return inflate_known(folder)
        name = inside[0]
    found = resolve(name, purpose="video")
    try:
        with safe_open(found.path, framework="pt") as file:
            whole = CODEC_KEY not in (file.metadata() or {})
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"not a safetensors file, or a damaged one ({error})", path=found.path
        ) from error
    read = read_model(found.path).codec if whole else read_codec(found.path)
    return read, found.sha256


def inflate_known(folder: Path, options: InflatedOptions | None = None) -> tuple[InflatedVae, str]:
    """Inflate the image autoencoder of a folder and return it with a checksum of its inputs."""
    codec = inflate(folder, options)
    parts = [file_sha256(folder / CONFIG), file_sha256(folder / WEIGHTS), str(codec.options)]
    return codec, hashlib.sha256(" ".join(parts).encode()).hexdigest()
