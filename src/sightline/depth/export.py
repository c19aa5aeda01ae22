"""Export a depth network to an ONNX file that accepts any image size.

* Input `image` (N, 3, H, W) float32, normalized; output `depth` (N, H, W) float32. N, H and W are
  truly dynamic; H and W are multiples of the spec's.
* The file carries its `ModelSpec` in the metadata properties, and a map of its
  parameters, so that torch can load it as well (`onnx_weights`).
* Batch norms stay as they are: OpenVINO merges them when it loads the file, and training needs
  them.
* Weights are stored as halves or as bytes (`graph_storage`), and computed with in float32.
* The same weights give the same bytes: versions and source paths recorded by the
  exporter are removed.
"""

from __future__ import annotations

import copy
import tempfile
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.depth.onnx_weights import WEIGHTS_KEY, weight_map
from sightline.errors import InputError
from sightline.models.entry import SPEC_KEY, ModelSpec
from sightline.runtime.weight_files import Store, write_graph

if TYPE_CHECKING:
    from torch import nn

INPUT_NAME = "image"
OUTPUT_NAME = "depth"

#: LayerNormalization is there from 17 on, Gelu from 20 on: runtimes fuse less where they find less.
OPSET = 20

#: A protobuf message, hence an ONNX file without side files, ends here.
LARGEST_FILE = 2**31 - 1

#: Cells (of `multiple` pixels) down and across that the graph is traced with. Prime and different, so
#: that nothing divides or coincides by chance; two pictures, or the batch would be taken as always 1.
TRACED = (2, 7, 11)


def export_onnx(
    network: nn.Module, spec: ModelSpec, path: str | Path, *, store: Store = "half"
) -> None:
    """Export `network` to `path`.

    Args:
        network: maps (N, 3, H, W) to (N, H, W); any architecture of `ModelSpec`. Not modified.
        spec: spec of the network, stored in the file.
        path: path of the `.onnx` file, written whole or not at all.
        store: stored precision of the weights: `full` (float32), `half` (float16) or `bytes` (8 bit).
    """
    weights = sum(parameter.numel() for parameter in network.parameters())
    if weights * {"full": 4, "half": 2, "bytes": 1}[store] > LARGEST_FILE:
        raise InputError(
            f"{weights / 1e9:.1f} G parameters do not fit into one ONNX file (2 GB)",
            path=path,
            remedy="store them as float16" if store == "full" else "use the torch engine",
        )
    merged = _merged(network)
    model = _trace(merged, spec)
    forget_machine(model)
    notes = {SPEC_KEY: spec.to_json()}
    if spec.architecture != "other":  # of which torch has no network to read them into
        notes[WEIGHTS_KEY] = weight_map(model, merged.state_dict())
    write_graph(model, path, notes, store)


def _merged(network: nn.Module) -> nn.Module:
    """Return a ViT as a copy with merged LayerScale (`merge_scales`), any other network as it is."""
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
        network: network to export; not modified.
        examples: example inputs.
        inputs: names of the inputs and of their dynamic axes.
        outputs: names of the outputs and of their dynamic axes.
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
    """Remove versions, source paths and inferred inner shapes."""
    graph = model.graph
    del model.metadata_props[:]
    del graph.metadata_props[:]
    del graph.value_info[:]
    for item in (*graph.node, *graph.input, *graph.output, *graph.initializer):
        del item.metadata_props[:]
        item.doc_string = ""
    graph.name, graph.doc_string, model.doc_string = "sightline", "", ""
    model.producer_name, model.producer_version = "sightline", ""
