"""A codec by its name: a file, the one of a video model, or none."""

from __future__ import annotations

from pathlib import Path

from safetensors import SafetensorError, safe_open

from sightline.errors import InputError
from sightline.video_model.autoencoder.files import KEY as CODEC_KEY
from sightline.video_model.autoencoder.files import SavedCodec, read_codec
from sightline.video_model.autoencoder.pixels import PixelCodec
from sightline.video_model.files import read_model
from sightline.weights.store import resolve

#: Name of no codec at all.
PIXELS = "pixels"


def find_codec(name: str | Path) -> tuple[SavedCodec, str]:
    """Find a codec.

    Args:
        name: `pixels`; a file of a codec or of a video model; or a registry name of the latter.

    Returns:
        The codec, and the checksum of its file (or `pixels`), for the record.
    """
    if name == PIXELS:
        return PixelCodec(), PIXELS
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
