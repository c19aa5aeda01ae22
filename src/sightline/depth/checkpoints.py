"""Load depth networks and encoders: `.pth`, Hugging Face safetensors, our safetensors and ONNX.

The format is detected from the content. Two properties cannot be read from the tensors of an
official file:

* relative or metric output (only the last activation differs). Taken, in this order, from the
  caller, our header, Hugging Face's `config.json` beside the file, the file name; else relative. A
  small test image is then run: metric weights in a relative network give zero everywhere, which is
  reported.
* V1 or V2 (only the tapped blocks differ). Taken from the caller, the header, the config or the
  name; else V2.
"""

from __future__ import annotations

import math
import pickle
import re
import struct
import warnings
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sightline.depth.checkpoint_names import (
    Hints,
    Origin,
    encoder_from_hugging_face,
    from_hugging_face,
    hints_for,
    is_encoder,
    recognize,
    strip_wrappers,
)
from sightline.depth.network import SIZES, PositionResize, build
from sightline.depth.network.probe import check_kind
from sightline.depth.onnx_weights import carries_weights, load_onnx, read_weights
from sightline.errors import InputError
from sightline.io.atomic import atomic_path
from sightline.models.entry import SPEC_KEY, Architecture, ModelSpec
from sightline.runtime.weight_files import FileKind, file_kind, safetensors_header
from sightline.types import Kind

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
    """Content of a weight file.

    Attributes:
        state: tensors by name, without prefixes of wrappers.
        metadata: metadata of a safetensors header or an ONNX file.
        beside: names of other entries of the file, such as `optimizer` or `previous_best`.
    """

    state: dict[str, Tensor]
    metadata: dict[str, str] = field(default_factory=dict)
    beside: frozenset[str] = frozenset()


def read_tensors(path: str | Path) -> Tensors:
    """Read a `.pth`, `.pt`, `.bin`, `.safetensors` or our own `.onnx` file, detected by content.

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
    """Describe in one line which function the pickle tried to call."""
    found = re.search(r"(?:GLOBAL|Unsupported global:|class)\s+(?:GLOBAL\s+)?([\w.]+)", str(error))
    what = f"holds code ({found[1]})" if found else "is not a plain pickle of tensors"
    return InputError(
        f"this checkpoint {what} and was not opened",
        path=path,
        remedy="save only the state dict: torch.save(model.state_dict(), path)",
    )


def _unwrap(content: Any, path: Path) -> Tensors:
    """Find the state dict: the content itself, or the value of one of the usual keys."""
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


#: Tensors that no forward pass touches; some re-savers drop them.
NEVER_USED = ("pretrained.mask_token", "depth_head.scratch.refinenet4.resConfUnit1.")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Parsed checkpoint of a depth network.

    Attributes:
        state: tensors by our names (those of the official files), in the file's dtype.
        spec: spec of the network.
        origin: origin of the file.
        path: path of the file.
    """

    state: dict[str, Tensor]
    spec: ModelSpec
    origin: Origin
    path: Path


def read_checkpoint(
    path: str | Path,
    spec: ModelSpec | None = None,
    *,
    kind: Kind | None = None,
    max_depth: float | None = None,
) -> Checkpoint:
    """Read a checkpoint and infer the spec of its network.

    Args:
        path: `.pth`, `.pt`, `.bin`, `.safetensors`, or `.onnx` as `export_onnx` writes it; the
            content counts, not the suffix.
        spec: spec of the network, if known; overrides the properties inferred from the file.
        kind: relative or metric output, if known.
        max_depth: maximum depth of a metric network, in [m]; implies `kind`.

    Raises:
        InputError: the file is not a depth network, or does not match `spec`.
    """
    path = Path(path)
    tensors = read_tensors(path)
    if SPEC_KEY in tensors.metadata:
        own = ModelSpec.from_json(tensors.metadata[SPEC_KEY])
        checkpoint = Checkpoint(tensors.state, spec or own, Origin.SIGHTLINE, path)
    elif spec is not None and spec.architecture == "compact":
        checkpoint = Checkpoint(tensors.state, spec, Origin.SIGHTLINE, path)
    else:
        origin = recognize(tensors.state, path)
        state = tensors.state
        if origin is Origin.HUGGING_FACE:
            state = from_hugging_face(state)
        hints = hints_for(path, origin, tensors.beside)
        found = spec or _spec(state, hints, Kind(kind) if kind else None, max_depth, path)
        checkpoint = Checkpoint(state, found, origin, path)
    return replace(checkpoint, state=_complete(checkpoint))


def load_network(
    path: str | Path,
    spec: ModelSpec | None = None,
    *,
    kind: Kind | None = None,
    max_depth: float | None = None,
    position_resize: PositionResize = "authors",
) -> nn.Module:
    """Read a checkpoint and return its network in eval mode; arguments as in `read_checkpoint`."""
    checkpoint = read_checkpoint(path, spec, kind=kind, max_depth=max_depth)
    return make_network(checkpoint, position_resize=position_resize)


def make_network(
    checkpoint: Checkpoint, *, position_resize: PositionResize = "authors"
) -> nn.Module:
    """Return the network of a checkpoint: float32, on the CPU, in eval mode.

    Raises:
        InputError: the output of the weights is of the other kind (relative or metric).
    """
    with torch.device("meta"):  # no time spent on random weights that are replaced at once
        network = build(checkpoint.spec, position_resize=position_resize)
    # Copies, because the tensors of a torch file are mapped from a file that may change.
    state = {
        name: value.to(torch.float32, copy=True) if value.is_floating_point() else value.clone()
        for name, value in checkpoint.state.items()
    }
    network.load_state_dict(state, assign=True)
    network.eval()
    if checkpoint.origin is not Origin.SIGHTLINE:
        check_kind(network, checkpoint.spec, checkpoint.path)
    return network


def write_checkpoint(path: str | Path, state: Mapping[str, Tensor], spec: ModelSpec) -> None:
    """Write tensors and their description as safetensors; the same tensors give the same bytes."""
    from safetensors.torch import save_file

    plain = {name: value.detach().cpu().contiguous() for name, value in state.items()}
    with atomic_path(path) as temporary:
        save_file(plain, temporary, metadata={SPEC_KEY: spec.to_json()})


def _spec(
    state: Mapping[str, Tensor],
    hints: Hints,
    kind: Kind | None,
    max_depth: float | None,
    path: Path,
) -> ModelSpec:
    """Build the spec: size from tensor shapes, kind and taps from the caller and the hints."""
    if kind is None and max_depth is not None:
        kind = Kind.METRIC_DEPTH
    kind = kind or hints.kind
    if kind is Kind.METRIC_DEPTH:
        max_depth = max_depth or hints.max_depth
        if max_depth is None:
            raise InputError(
                "metric weights, but nothing says up to which distance",
                path=path,
                remedy="give max_depth: 20 for indoor (Hypersim), 80 for outdoor (VKITTI) weights",
            )
    elif max_depth is not None:
        raise InputError("max_depth is for metric networks only", path=path)
    return ModelSpec(_architecture(state, path), kind, max_depth=max_depth, taps=hints.taps)


def _architecture(state: Mapping[str, Tensor], path: Path) -> Architecture:
    """Determine the model size from the encoder's width and depth."""
    token = state.get("pretrained.cls_token")
    width = 0 if token is None else int(token.shape[-1])
    blocks = {int(n.split(".")[2]) for n in state if n.startswith("pretrained.blocks.")}
    names: tuple[Architecture, ...] = ("vits", "vitb", "vitl", "vitg")
    for name in names:
        if (width, len(blocks)) == (SIZES[name].width, SIZES[name].depth):
            return name
    raise InputError(
        f"an encoder of width {width} with {len(blocks)} blocks is none of S, B, L, G", path=path
    )


def _complete(checkpoint: Checkpoint) -> dict[str, Tensor]:
    """Check names and shapes against the network; add missing tensors that are never used."""
    with torch.device("meta"):
        wanted = build(checkpoint.spec).state_dict()
    state = dict(checkpoint.state)
    for name, value in wanted.items():
        if name not in state and name.startswith(NEVER_USED):
            state[name] = torch.zeros(value.shape)
    wrong = [
        f"{name} is {_shape(state[name])} instead of {_shape(value)}"
        for name, value in wanted.items()
        if name in state and state[name].shape != value.shape
    ]
    faults = (
        ("missing", [name for name in wanted if name not in state]),
        ("unknown", [name for name in state if name not in wanted]),
        ("of the wrong shape", wrong),
    )
    found = [f"{len(names)} tensors {what} ({_few(names)})" for what, names in faults if names]
    if found:
        raise InputError(
            f"does not fit a {checkpoint.spec.architecture} network: {', '.join(found)}",
            path=checkpoint.path,
        )
    return state


def _shape(value: Tensor) -> str:
    return "×".join(str(side) for side in value.shape) or "a number"


def _few(names: list[str]) -> str:
    return ", ".join(names[:2]) + (" …" if len(names) > 2 else "")


#: What may stand before an encoder's names.
PREFIXES = ("pretrained.", "backbone.", "dinov2.", "encoder.")


def read_encoder(path: str | Path) -> dict[str, Tensor]:
    """Return an encoder's tensors, with the names of `VisionTransformer`, in float32.

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
    """Concatenate the position vectors of the class token and of the patches."""
    joined = {name for node in graph.node if node.op_type == "Concat" for name in node.input}
    shaped = {node.input[0] for node in graph.node if node.op_type == "Reshape"}
    first = [values[n] for n in joined if n in values and values[n].shape[:2] == (1, 1)]
    grids = [values[n] for n in shaped if n in values and values[n].ndim == 3]
    squares = [v for v in grids if v.shape[0] == 1 and math.isqrt(v.shape[1]) ** 2 == v.shape[1]]
    if len(first) != 1 or len(squares) != 1:
        raise InputError("the position vectors cannot be found in this ONNX file", path=path)
    return np.concatenate([first[0], squares[0]], axis=1)


def _finished(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Add the mask token, which is never used, if the file lacks it."""
    width = state["cls_token"].shape[-1]
    state.setdefault("mask_token", torch.zeros(1, width))
    return state
