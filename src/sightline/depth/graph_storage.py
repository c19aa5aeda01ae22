"""How the weights of a graph are stored: in full, as halves, or as bytes.

Whatever is stored, everything is computed in float32: each stored tensor is followed by what turns it
back. Bytes are for matrices and kernels only, with a scale for every output channel, chosen so that the
largest weight of the channel is 127; a graph of bytes is a quarter of the full one, and its weights are
off by at most 0.4 % of their channel's largest.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.files.atomic import write_bytes

Store = Literal["full", "half", "bytes"]

#: What is appended to the name of a tensor that is stored as float16, or as int8 with its scales.
HALF_SUFFIX = ".half"
BYTES_SUFFIX = ".bytes"
SCALE_SUFFIX = ".scale"

#: Smaller tensors stay float32: biases, norms and layer scales are where float16 hurts (the scales
#: fall below its normal range) and weigh next to nothing.
SHRINK_FROM = 1024

#: Operators whose second input is a matrix or a kernel, and which of its axes the outputs are.
_OUTPUTS = {"MatMul": -1, "Conv": 0, "ConvTranspose": 1}


def write_graph(model: Any, path: str | Path, notes: Mapping[str, str], store: Store) -> None:
    """Write an `onnx.ModelProto` with notes in its metadata: the same graph gives the same bytes."""
    if store != "full":
        _shrink(model, store)
    for key, value in notes.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    write_bytes(path, model.SerializeToString(deterministic=True))


def _shrink(model: Any, store: Store) -> None:
    """Store large float32 tensors in fewer bytes, each followed by what turns it back."""
    from onnx import TensorProto, helper, numpy_helper

    graph = model.graph
    axes = {
        node.input[1]: _OUTPUTS[node.op_type] for node in graph.node if node.op_type in _OUTPUTS
    }
    back, scales = [], []
    for tensor in graph.initializer:
        if tensor.data_type != TensorProto.FLOAT or len(tensor.dims) < 2:
            continue
        values, name = numpy_helper.to_array(tensor), tensor.name
        if values.size < SHRINK_FROM:
            continue
        if store == "bytes" and name in axes:
            stored, scale = to_int8(values, axes[name])
            tensor.CopyFrom(numpy_helper.from_array(stored, name + BYTES_SUFFIX))
            scales.append(numpy_helper.from_array(scale, name + SCALE_SUFFIX))
            wide = name + ".wide"
            back += [
                _cast(helper, tensor.name, wide, TensorProto.FLOAT),
                helper.make_node("Mul", [wide, name + SCALE_SUFFIX], [name], name=f"{name}.scaled"),
            ]
        elif np.abs(values).max() <= np.finfo(np.float16).max:
            half = values.astype(np.float16)
            tensor.CopyFrom(numpy_helper.from_array(half, name + HALF_SUFFIX))
            back.append(_cast(helper, tensor.name, name, TensorProto.FLOAT))
    graph.initializer.extend(scales)
    nodes = [*back, *graph.node]
    del graph.node[:]
    graph.node.extend(nodes)


def to_int8(values: NDArray[np.float32], axis: int) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Return bytes and their scales, which have as many axes; `axis` is that of the outputs."""
    others = tuple(k for k in range(values.ndim) if k != axis % values.ndim)
    scale = np.abs(values).max(axis=others, keepdims=True) / 127
    scale = np.where(scale > 0, scale, 1).astype(np.float32)
    return np.rint(values / scale).astype(np.int8), scale


def _cast(helper: Any, given: str, wanted: str, kind: int) -> Any:
    return helper.make_node("Cast", [given], [wanted], name=f"{wanted}.cast", to=kind)
