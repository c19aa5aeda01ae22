"""Codecs as safetensors files: weights as they are, everything else in the header.

The metadata hold kind, options, and mean and standard deviation of the latents. Files contain no
pickles, and only known classes are built from them. `read_described` and `load_weights` are shared with
video models.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from sightline.errors import InputError
from sightline.io.atomic import atomic_path
from sightline.video_model.autoencoders.codec import NormalizedCodec, PixelCodec
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.inflated import InflatedVae
from sightline.video_model.autoencoders.moments import MomentCodec

T = TypeVar("T")


def read_described(
    path: str | Path,
    key: str,
    what: str,
    build: Callable[[dict[str, Any], dict[str, Tensor]], T],
    whole: str | None = None,
) -> T:
    """Read a safetensors file with a JSON description in its header.

    Args:
        path: file.
        key: metadata key of the description.
        what: expected content, for messages.
        build: builds the object from description and weights.
        whole: longer name of the content, for files of another kind.

    Raises:
        InputError: the file is missing, of another kind, or damaged.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("no such file", path=path, remedy="check the name")
    try:
        with safe_open(path, framework="pt") as file:
            notes = (file.metadata() or {}).get(key)
            if notes is None:
                raise InputError(f"holds no {whole or what}", path=path)
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError) as error:
        raise InputError(
            f"not a safetensors file, or a damaged one ({error})", path=path
        ) from error
    try:
        return build(json.loads(notes), state)
    except InputError as error:
        raise InputError(error.problem, path=path, remedy=error.remedy) from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"a damaged {what} (its notes: {type(error).__name__})", path=path
        ) from error


def load_weights(module: nn.Module, state: dict[str, Tensor], what: str) -> None:
    """Load weights into a module built on the meta device, after checking them.

    Args:
        module: module on `torch.device("meta")`, so that a damaged file has not allocated memory yet.
        state: weights by name.
        what: content of the file, for messages.

    Raises:
        InputError: a weight is missing, unexpected, of another shape or not finite.
    """
    wanted = {name: value.shape for name, value in module.state_dict().items()}
    for name in sorted(wanted.keys() ^ state.keys()):
        how = "is missing" if name in wanted else "does not belong there"
        raise InputError(f"a damaged {what} ({name} {how})")
    for name, value in state.items():
        if value.shape != wanted[name]:
            got, shape = tuple(value.shape), tuple(wanted[name])
            raise InputError(f"a damaged {what} ({name} is {got}, expected {shape})")
        if not torch.isfinite(value).all():
            raise InputError(f"a damaged {what} ({name} is not finite)")
    module.load_state_dict(state, assign=True)


#: Metadata key of a codec; its value is JSON.
KEY = "sightline.codec"
#: File name of a finished codec within a run.
CODEC = "codec.safetensors"
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
    """Write a codec atomically; equal codecs give equal bytes.

    Args:
        codec: codec.
        path: `.safetensors` file.
    """
    notes, state = describe_codec(codec)
    with atomic_path(path) as temporary:
        save_file(state, temporary, {KEY: json.dumps(notes, sort_keys=True)})


def describe_codec(codec: SavedCodec) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the description of a codec as plain values, and its weights in float32."""
    notes: dict[str, Any] = {"layout": LAYOUT, "kind": codec.kind, "options": codec.to_dict()}
    state: dict[str, Tensor] = {}
    if isinstance(codec, NormalizedCodec):
        stored = codec.state_dict()
        # A float32 survives the round trip through JSON's decimal digits.
        notes["statistics"] = {name: stored.pop(name).tolist() for name in _STATISTICS}
        state = {name: v.detach().float().cpu().contiguous() for name, v in stored.items()}
    return notes, state


def read_codec(path: str | Path) -> SavedCodec:
    """Read a codec written by `write_codec`, in eval mode.

    Raises:
        InputError: the file is missing, of another kind, or damaged.
    """
    return read_described(path, KEY, "codec", codec_from_description, "codec of videos")


def codec_from_description(notes: dict[str, Any], state: dict[str, Tensor]) -> SavedCodec:
    """Build a codec from the result of `describe_codec`."""
    if notes["layout"] != LAYOUT:
        raise InputError(
            f"of layout {notes['layout']}, not {LAYOUT}", remedy="use another version of sightline"
        )
    if notes["kind"] not in _KINDS:
        raise InputError(f"no codec is of the kind {notes['kind']!r}")
    # Built on the meta device, so shapes of a damaged file are checked before memory is allocated.
    with torch.device("meta"):
        codec = _KINDS[notes["kind"]].from_dict(notes["options"])
    if isinstance(codec, NormalizedCodec):
        statistics = {
            n: torch.tensor(notes["statistics"][n], dtype=torch.float32) for n in _STATISTICS
        }
        state = {name: value.float().clone() for name, value in state.items()} | statistics
        load_weights(codec, state, "codec")
        if not (codec.spread > 0).all():
            raise InputError("a damaged codec (a spread that is not positive)")
        return codec.eval()
    return codec
