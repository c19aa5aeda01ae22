"""Write a depth network as one ONNX file that runs at any size.

* Input `image` (N, 3, H, W) float32, normalised; output `depth` (N, H, W) float32. N, H and W are truly
  dynamic; H and W are multiples of the spec's.
* The file carries its `ModelSpec` in the metadata properties, so it describes itself; and beside it
  where each parameter is, so that torch can read it, too (`onnx_weights`).
* Batch norms stay as they are: OpenVINO merges them when it loads the file, and training needs them.
* `half` stores matrices and kernels as float16 followed by a cast: half the bytes, computed in float32.
* The same weights give the same bytes: what an exporter notes about the machine (its version, source
  paths) is taken out.
"""

from __future__ import annotations

import copy
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sightline.depth.onnx_weights import HALF_SUFFIX, WEIGHTS_KEY, weight_map
from sightline.depth.spec import SPEC_KEY, ModelSpec
from sightline.errors import InputError
from sightline.files.atomic import write_bytes

if TYPE_CHECKING:
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
    merged = _merged(network)
    model = _trace(merged, spec)
    forget_machine(model)
    notes = {SPEC_KEY: spec.to_json()}
    if spec.architecture != "other":  # of which torch has no network to read them into
        notes[WEIGHTS_KEY] = weight_map(model, merged.state_dict())
    write_graph(model, path, notes, half=half)


def write_graph(model: Any, path: str | Path, notes: Mapping[str, str], *, half: bool) -> None:
    """Write an `onnx.ModelProto` with notes in its metadata: the same graph gives the same bytes."""
    if half:
        halve(model)
    for key, value in notes.items():
        entry = model.metadata_props.add()
        entry.key, entry.value = key, value
    write_bytes(path, model.SerializeToString(deterministic=True))


def _merged(network: nn.Module) -> nn.Module:
    """Return a copy with fewer passes over its tokens, if it is a ViT; see `merge_scales`."""
    from sightline.depth.network import DepthAnything
    from sightline.depth.network.vit import merge_scales

    if not isinstance(network, DepthAnything):
        return network
    network = copy.deepcopy(network)
    merge_scales(network.pretrained)
    return network


def _trace(network: nn.Module, spec: ModelSpec) -> Any:
    """Return the network as an `onnx.ModelProto` with symbolic batch, height and width."""
    import torch

    batch, rows, columns = TRACED
    shape = (batch, 3, rows * spec.multiple, columns * spec.multiple)
    like = next(network.parameters())
    example = torch.zeros(shape, dtype=like.dtype, device=like.device)
    return trace(
        network,
        (example,),
        {INPUT_NAME: {0: "batch", 2: "height", 3: "width"}},
        {OUTPUT_NAME: {0: "batch", 1: "height", 2: "width"}},
    )


def trace(
    network: nn.Module,
    examples: tuple[Any, ...],
    inputs: dict[str, dict[int, str]],
    outputs: dict[str, dict[int, str]],
) -> Any:
    """Return a network in eval mode as an `onnx.ModelProto`.

    Args:
        network: left as it was.
        examples: of its inputs.
        inputs: their names, and the names of their dynamic axes.
        outputs: the same of what it gives.
    """
    import onnx
    import torch

    training = network.training
    network.eval()
    try:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=DeprecationWarning, module="sightline|torch")
            # The constants of a padding's shape are computed at run time instead: no matter.
            warnings.filterwarnings("ignore", message="Constant folding", category=UserWarning)
            # Parameters might not come through as they are: `weight_map` would find out.
            warnings.filterwarnings("ignore", message="It is recommended that constant folding")
            written = Path(folder) / "traced.onnx"
            torch.onnx.export(
                network,
                examples,
                written,
                # The exporter that torch calls legacy follows shapes as values; the new one reasons
                # about them symbolically. Both give a graph that runs equally fast at any size, but
                # this one takes a second for a ViT-S and the other fifteen.
                dynamo=False,
                # As it is, that is in eval mode; the exporter's own would merge the batch norms.
                training=torch.onnx.TrainingMode.PRESERVE,
                opset_version=OPSET,
                input_names=list(inputs),
                output_names=list(outputs),
                dynamic_axes=inputs | outputs,
            )
            return onnx.load(written)
    finally:
        network.train(training)


def forget_machine(model: Any) -> None:
    """Drop versions, source paths and guesses about inner shapes."""
    graph = model.graph
    del model.metadata_props[:]
    del graph.metadata_props[:]
    del graph.value_info[:]
    for item in (*graph.node, *graph.input, *graph.output, *graph.initializer):
        del item.metadata_props[:]
        item.doc_string = ""
    graph.name, graph.doc_string, model.doc_string = "sightline", "", ""
    model.producer_name, model.producer_version = "sightline", ""


def halve(model: Any) -> None:
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
        tensor.CopyFrom(numpy_helper.from_array(values.astype(np.float16), name + HALF_SUFFIX))
        casts.append(
            helper.make_node(
                "Cast", [tensor.name], [name], name=f"{name}.cast", to=TensorProto.FLOAT
            )
        )
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
