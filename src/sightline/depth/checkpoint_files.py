"""Read the tensors out of a torch checkpoint, a safetensors file or an ONNX file of ours, safely.

Pickles are opened with `weights_only`: one that holds code is refused, never run.
"""

from __future__ import annotations

import pickle
import re
import struct
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from sightline.depth.checkpoint_names import strip_wrappers
from sightline.depth.file_kinds import FileKind, file_kind, safetensors_header
from sightline.depth.onnx_weights import read_weights
from sightline.errors import InputError

#: Under which key training scripts keep the weights, the likeliest first.
NESTS = ("state_dict", "model", "model_state_dict", "network", "net", "module", "weights")

#: What a damaged pickle may make the reader stumble over, besides its own error.
DAMAGE = (
    RuntimeError,
    EOFError,
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    AssertionError,
    struct.error,
    OSError,
)


@dataclass(frozen=True, slots=True)
class Tensors:
    """What a file holds.

    Attributes:
        state: names, without the prefixes of wrappers, to tensors.
        metadata: the text notes of a safetensors header or an ONNX file.
        beside: names of what lay beside nested weights: `optimizer`, `previous_best` …
    """

    state: dict[str, Tensor]
    metadata: dict[str, str] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()


def read_tensors(path: str | Path) -> Tensors:
    """Read a `.pth`, `.pt`, `.bin`, `.safetensors` or our own `.onnx` file, told apart by content.

    Tensors of a torch file are mapped from disk: copy them before the file may change.
    """
    path = Path(path)
    kind = file_kind(path)
    if kind is FileKind.SAFETENSORS:
        return _read_safetensors(path)
    if kind is FileKind.TORCH:
        return _unwrap(_read_torch(path), path)
    if kind is FileKind.ONNX and (found := read_weights(path)) is not None:
        return Tensors(*found)
    raise InputError(
        f"an {'ONNX' if kind is FileKind.ONNX else 'OpenVINO'} model, which torch cannot read",
        path=path,
        remedy="run it with the OpenVINO engine (engine='openvino')",
    )


def _read_safetensors(path: Path) -> Tensors:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    metadata = safetensors_header(path).get("__metadata__") or {}
    try:
        state = load_file(path)
    except SafetensorError as error:
        raise InputError(f"a damaged safetensors file ({error})", path=path) from error
    return Tensors(strip_wrappers(state), {str(k): str(v) for k, v in metadata.items()})


def _read_torch(path: Path) -> Any:
    try:
        # The format before torch 1.6 is a bare pickle, which cannot be mapped.
        mapped = zipfile.is_zipfile(path)
        with warnings.catch_warnings():
            # Of an unusual pickle protocol; what cannot be read is reported below.
            warnings.filterwarnings("ignore", message="Detected pickle protocol")
            return torch.load(path, map_location="cpu", weights_only=True, mmap=mapped)
    except pickle.UnpicklingError as error:
        raise _refused(error, path) from error
    except DAMAGE as error:
        raise InputError(
            f"a damaged checkpoint ({type(error).__name__})",
            path=path,
            remedy="download it again",
        ) from error


def _refused(error: pickle.UnpicklingError, path: Path) -> InputError:
    """Say in one line what the pickle wanted to call."""
    found = re.search(r"(?:GLOBAL|Unsupported global:|class)\s+(?:GLOBAL\s+)?([\w.]+)", str(error))
    what = f"holds code ({found[1]})" if found else "is not a plain pickle of tensors"
    return InputError(
        f"this checkpoint {what} and was not opened",
        path=path,
        remedy="save only the state dict: torch.save(model.state_dict(), path)",
    )


def _unwrap(content: Any, path: Path) -> Tensors:
    """Find the state dict: the content itself, or what lies under one of the usual keys."""
    if not isinstance(content, Mapping):
        raise InputError(f"holds a {type(content).__name__}, not named tensors", path=path)
    beside: set[str] = set()
    for _ in range(3):
        nest = next((key for key in NESTS if isinstance(content.get(key), Mapping)), None)
        if nest is None:
            break
        beside |= {str(key) for key in content} - {nest}
        content = content[nest]
    state = {str(key): value for key, value in content.items() if isinstance(value, Tensor)}
    if not state:
        raise InputError("holds no named tensors", path=path)
    return Tensors(strip_wrappers(state), beside=frozenset(beside))
