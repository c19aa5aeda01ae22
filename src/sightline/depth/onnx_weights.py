"""Read ONNX files that we exported back into torch.

An exporter renames and transposes tensors, so a graph alone does not identify its parameters.
`weight_map` matches them at export by comparing contents bit for bit, and fails if a parameter has no
match. The map is stored in the metadata under `WEIGHTS_KEY`, and `read_weights` converts it back to a
state dict, so one file serves OpenVINO and torch.

The network that is read back computes the same outputs as the file. Its tensors are those that were
exported, with one exception: the LayerScale of a ViT was merged into its matrices (`merge_scales`) and
is 1.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.models.entry import SPEC_KEY, Architecture, ModelSpec
from sightline.runtime.weight_files import BYTES_SUFFIX, HALF_SUFFIX, SCALE_SUFFIX

if TYPE_CHECKING:
    from torch import Size, Tensor

WEIGHTS_KEY = "sightline.weights"

#: What a map that is none may make its reader stumble over.
NOT_A_MAP = (ValueError, TypeError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class TensorSource:
    """Tensors of the ONNX graph that hold a parameter.

    Attributes:
        tensors: names of the graph's tensors, concatenated in this order.
        transposed: whether the matrix is stored transposed.
    """

    tensors: tuple[str, ...]
    transposed: bool = False


def weight_map(model: Any, state: Mapping[str, Tensor]) -> str:
    """Find every parameter among a graph's tensors.

    Args:
        model: an `onnx.ModelProto`, its tensors still in the precision of `state`.
        state: state dict of the exported network.

    Returns:
        JSON for `WEIGHTS_KEY`: parameter names to tensor names and whether transposed.

    Raises:
        SightlineError: a parameter is not in the graph.
    """
    from onnx import numpy_helper

    from sightline.depth.checkpoints import NEVER_USED

    held: dict[bytes, str] = {}
    for tensor in model.graph.initializer:
        held.setdefault(_digest(numpy_helper.to_array(tensor)), tensor.name)
    found: dict[str, tuple[tuple[str, ...], bool]] = {}
    for name, value in state.items():
        if name.startswith(NEVER_USED) or not value.is_floating_point():  # batch norm's counters
            continue
        source = _search(value.detach().cpu().numpy(), held)
        if source is None:
            raise SightlineError(f"{name} got lost in the export: it is nowhere in the graph")
        found[name] = (source.tensors, source.transposed)
    return json.dumps(found, sort_keys=True, separators=(",", ":"))


def load_onnx(path: str | Path, *, side_files: bool = False) -> Any:
    """Parse an ONNX file into an `onnx.ModelProto`, with the tensors of its side files if wanted."""
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        return onnx.load(path, load_external_data=side_files)
    except (DecodeError, onnx.checker.ValidationError, ValueError, OSError, RuntimeError) as error:
        raise InputError(
            "a damaged ONNX file", path=path, remedy="download or export it again"
        ) from error


def carries_weights(path: str | Path) -> bool:
    """Return whether an ONNX file has a map of its parameters, so that torch can read it."""
    return _is_ours(graph_notes(load_onnx(path)))


def read_weights(path: str | Path) -> tuple[dict[str, Tensor], dict[str, str]] | None:
    """Read the parameters out of an ONNX file that `export_onnx` wrote.

    Returns:
        State dict in float32, without unused tensors, and the file's metadata; None for a file without
        spec or map, such as one of another exporter.

    Raises:
        InputError: the file is damaged: map, spec and tensors are inconsistent.
    """
    import torch

    from sightline.depth.network import SIZES, build

    model = load_onnx(path)
    metadata = graph_notes(model)
    if not _is_ours(metadata):
        return None
    spec = _spec(metadata[SPEC_KEY], path)
    with torch.device("meta"):
        shapes = {name: value.shape for name, value in build(spec).state_dict().items()}
    state = stored_state(model, shapes, path, f"a {spec.architecture} network")
    for name, shape in shapes.items():
        if name.endswith("num_batches_tracked"):
            state[name] = torch.zeros(shape, dtype=torch.int64)
    if spec.architecture in SIZES:
        _separate_scales(state, shapes, SIZES[spec.architecture].heads)
    return state, metadata


def stored_state(
    model: Any, shapes: Mapping[str, Size], path: str | Path, what: str
) -> dict[str, Tensor]:
    """Read the parameters that the file's map names.

    Args:
        model: an `onnx.ModelProto` with a map of its weights.
        shapes: shapes of the network's parameters.
        path: path of the file, for error messages.
        what: name of the network, for error messages.

    Returns:
        Names to float32 values; only those that the map names.
    """
    stored = {
        tensor.name.removesuffix(HALF_SUFFIX).removesuffix(BYTES_SUFFIX): tensor
        for tensor in model.graph.initializer
    }
    state = {}
    for name, source in _sources(graph_notes(model)[WEIGHTS_KEY], path).items():
        if name not in shapes:
            raise _damaged(f"{name} is no part of {what}", path)
        state[name] = _value(name, source, shapes[name], stored, path)
    return state


def _separate_scales(state: dict[str, Tensor], shapes: Mapping[str, Size], heads: int) -> None:
    """Undo `merge_scales`, in place: attention divides by √width again, LayerScale is 1.

    The width of a head is 64, so the division and its inverse are exact.
    """
    import torch

    for name, shape in shapes.items():
        if name.endswith((".ls1.gamma", ".ls2.gamma")):
            state[name] = torch.ones(shape)
        elif ".attn.qkv." in name and name in state:
            width = shape[0] // 3
            state[name][:width] *= (width // heads) ** 0.5


def _search(value: NDArray[Any], held: Mapping[bytes, str]) -> TensorSource | None:
    """Find a parameter as it is, transposed (the matrix of a linear layer) or split in two.

    The position vectors of a ViT (1, 1 + cells, D) are split: class token, then grid.
    """
    if tensor := held.get(_digest(value)):
        return TensorSource((tensor,))
    if value.ndim == 2 and (tensor := held.get(_digest(value.T))):
        return TensorSource((tensor,), transposed=True)
    if value.ndim == 3:
        parts = [held.get(_digest(part)) for part in (value[:, :1], value[:, 1:])]
        if all(parts):
            return TensorSource(tuple(part for part in parts if part))
    return None


def _digest(value: NDArray[Any]) -> bytes:
    """Return the hash of the values in order, independent of the shape."""
    return hashlib.sha256(np.ascontiguousarray(value).tobytes()).digest()


def graph_notes(model: Any) -> dict[str, str]:
    """Return the metadata properties of a graph."""
    return {entry.key: entry.value for entry in model.metadata_props}


def _is_ours(metadata: Mapping[str, str]) -> bool:
    return SPEC_KEY in metadata and WEIGHTS_KEY in metadata


def _spec(text: str, path: str | Path) -> ModelSpec:
    try:
        spec = ModelSpec.from_json(text)
    except InputError as error:
        raise _damaged(str(error), path) from error
    if spec.architecture not in get_args(Architecture):
        raise _damaged(f"no network is called {spec.architecture!r}", path)
    return spec


def _sources(text: str, path: str | Path) -> dict[str, TensorSource]:
    """Parse the output of `weight_map`."""
    try:
        return {
            name: TensorSource(tuple(map(str, tensors)), bool(transposed))
            for name, (tensors, transposed) in json.loads(text).items()
        }
    except NOT_A_MAP as error:
        raise _damaged("its map of the weights cannot be read", path) from error


def _value(
    name: str, source: TensorSource, shape: Size, stored: Mapping[str, Any], path: str | Path
) -> Tensor:
    """Assemble a parameter from its tensors."""
    import torch

    parts = [_numbers(tensor, stored, path) for tensor in source.tensors]
    flat = np.concatenate([*parts, np.empty(0, np.float32)])
    if flat.size != shape.numel():
        raise _damaged(f"{flat.size} numbers for {name}, not {shape.numel()}", path)
    values = torch.from_numpy(flat)
    if source.transposed:
        return values.reshape(tuple(reversed(shape))).permute(*range(len(shape))[::-1]).contiguous()
    return values.reshape(shape)


def _numbers(name: str, stored: Mapping[str, Any], path: str | Path) -> NDArray[np.float32]:
    """Return the values of one stored tensor in order, as float32."""
    from onnx import TensorProto

    tensor = stored.get(name)
    if tensor is None:
        raise _damaged(f"it has no tensor {name}", path)
    known = {TensorProto.FLOAT: "<f4", TensorProto.FLOAT16: "<f2", TensorProto.INT8: "i1"}
    dtype = known.get(tensor.data_type)
    if dtype is None or tensor.data_location == TensorProto.EXTERNAL:
        raise _damaged(f"the tensor {name} is not stored in it as float32, float16 or int8", path)
    if len(tensor.raw_data) % np.dtype(dtype).itemsize:
        raise _damaged(f"the tensor {name} is cut short", path)
    values = np.frombuffer(tensor.raw_data, dtype).astype(np.float32)
    if tensor.data_type != TensorProto.INT8:
        return values
    scale_name = name + SCALE_SUFFIX
    scale = _numbers(scale_name, stored, path)
    try:
        return (values.reshape(tensor.dims) * scale.reshape(stored[scale_name].dims)).ravel()
    except ValueError as error:
        raise _damaged(f"the bytes of {name} and their scales do not fit", path) from error


def _damaged(reason: str, path: str | Path) -> InputError:
    return InputError(
        f"a damaged ONNX file ({reason})", path=path, remedy="download or export it again"
    )
