"""A codec by its name: a file, the one of a video model, an image autoencoder's folder, or none."""

from __future__ import annotations

import hashlib
from pathlib import Path

from safetensors import SafetensorError, safe_open

from sightline.errors import InputError
from sightline.video_model.autoencoder.files import KEY as CODEC_KEY
from sightline.video_model.autoencoder.files import SavedCodec, read_codec
from sightline.video_model.autoencoder.inflated import CONFIG, WEIGHTS, InflatedVae, inflate
from sightline.video_model.autoencoder.options import InflatedOptions
from sightline.video_model.autoencoder.pixels import PixelCodec
from sightline.video_model.autoencoder.training import CODEC
from sightline.video_model.files import MODEL, read_model
from sightline.weights.cache import file_sha256
from sightline.weights.store import resolve

#: Name of no codec at all.
PIXELS = "pixels"


def find_codec(name: str | Path) -> tuple[SavedCodec, str]:
    """Find a codec.

    Args:
        name: `pixels`; a file of a codec or of a video model, or the folder of a run that made one; a
            registry name of the latter; or a folder with diffusers' `AutoencoderKL`, which is inflated.

    Returns:
        The codec, and the checksum of its file (or `pixels`), for the record.
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
    """Inflate the image autoencoder of a folder; return the checksum of what it is made of, too."""
    codec = inflate(folder, options)
    parts = [file_sha256(folder / CONFIG), file_sha256(folder / WEIGHTS), str(codec.options)]
    return codec, hashlib.sha256(" ".join(parts).encode()).hexdigest()
