"""Write a depth network as one ONNX file that runs at any size.

* Input `image` (N, 3, H, W) float32, normalised; output `depth` (N, H, W) float32. N, H and W are truly
  dynamic; H and W are multiples of the spec's.
* The file carries its `ModelSpec` in the metadata properties, so it describes itself.
* `half` stores matrices and kernels as float16 followed by a cast: half the bytes, computed in float32.
* The same weights give the same bytes: what the exporter notes about the machine (source paths, stack
  traces) is taken out.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sightline.depth.spec import SPEC_KEY, ModelSpec
from sightline.errors import InputError
from sightline.files.atomic import write_bytes

if TYPE_CHECKING:
    import torch
    from torch import nn

INPUT_NAME = "image"
OUTPUT_NAME = "depth"

#: LayerNormalization is there from 17 on, Gelu from 20 on: runtimes fuse less where they find less.
OPSET = 20

#: Smaller tensors stay float32: biases, norms and layer scales are where float16 hurts (the scales
#: fall below its normal range) and weigh next to nothing.
HALF_FROM = 1024

#: A protobuf message, hence an ONNX file without side files, ends here.
LARGEST_FILE = 2**31 - 1

#: Cells (of `multiple` pixels) down and across that the graph is traced with. Prime and different, so
#: that nothing divides or coincides by chance; two pictures, or the batch would be taken as always 1.
TRACED = (2, 7, 11)


def export_onnx(
    network: nn.Module, spec: ModelSpec, path: str | Path, *, half: bool = True
) -> None:
    """Export `network` to `path`.

    Args:
        network: maps (N, 3, H, W) to (N, H, W); any architecture of `ModelSpec`. Left as it was.
        spec: what the network is; goes into the file.
        path: of the `.onnx` file, written whole or not at all.
        half: store weights as float16.
    """
    weights = sum(parameter.numel() for parameter in network.parameters())
    if weights * (2 if half else 4) > LARGEST_FILE:
        raise InputError(
            f"{weights / 1e9:.1f} G parameters do not fit into one ONNX file (2 GB)",
            path=path,
            remedy="store them as float16" if half is False else "use the torch engine",
        )
    model = _trace(network, spec)
    _forget_machine(model)
    if half:
        _halve(model)
    entry = model.metadata_props.add()
    entry.key, entry.value = SPEC_KEY, spec.to_json()
    write_bytes(path, model.SerializeToString(deterministic=True))


def _trace(network: nn.Module, spec: ModelSpec) -> Any:
    """Return the network as an `onnx.ModelProto` with symbolic batch, height and width."""
    import torch
    from torch.export import Dim

    batch, rows, columns = TRACED
    like = next(network.parameters())
    example = torch.zeros(
        batch,
        3,
        rows * spec.multiple,
        columns * spec.multiple,
        dtype=like.dtype,
        device=like.device,
    )
    shape = {
        0: Dim("batch", min=1),
        2: spec.multiple * Dim("rows", min=1),
        3: spec.multiple * Dim("columns", min=1),
    }
    with _quiet_exporter():
        model = _in_eval_mode(network, example, shape).model_proto
    for value, name in ((model.graph.input[0], INPUT_NAME), (model.graph.output[0], OUTPUT_NAME)):
        if value.name != name:
            raise InputError(f"the exporter called {name} {value.name}", remedy="update torch")
    return model


@contextmanager
def _quiet_exporter() -> Iterator[None]:
    """Silence what torch's exporter says of its own insides: torchvision's absence, a deprecation."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*LeafSpec.*", category=FutureWarning)
            yield
    finally:
        log.setLevel(level)


def _in_eval_mode(network: nn.Module, example: torch.Tensor, shape: dict[int, Any]) -> Any:
    import torch

    training = network.training
    network.eval()
    try:
        return torch.onnx.export(
            network,
            (example,),
            dynamo=True,
            dynamic_shapes=(shape,),
            input_names=[INPUT_NAME],
            output_names=[OUTPUT_NAME],
            opset_version=OPSET,
            external_data=False,
            verbose=False,
        )
    finally:
        network.train(training)


def _forget_machine(model: Any) -> None:
    """Drop stack traces, source paths and guesses about inner shapes."""
    graph = model.graph
    del model.metadata_props[:]
    del graph.metadata_props[:]
    del graph.value_info[:]
    for item in (*graph.node, *graph.input, *graph.output, *graph.initializer):
        del item.metadata_props[:]
        item.doc_string = ""
    graph.name, graph.doc_string, model.doc_string = "sightline", "", ""
    model.producer_name, model.producer_version = "sightline", ""


def _halve(model: Any) -> None:
    """Store large float32 initialisers as float16, each followed by a cast back to float32."""
    from onnx import TensorProto, helper, numpy_helper

    casts = []
    for tensor in model.graph.initializer:
        if tensor.data_type != TensorProto.FLOAT or len(tensor.dims) < 2:
            continue
        values = numpy_helper.to_array(tensor)
        if values.size < HALF_FROM or np.abs(values).max() > np.finfo(np.float16).max:
            continue
        name = tensor.name
        tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}.half"))
        casts.append(
            helper.make_node(
                "Cast", [f"{name}.half"], [name], name=f"{name}.cast", to=TensorProto.FLOAT
            )
        )
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
