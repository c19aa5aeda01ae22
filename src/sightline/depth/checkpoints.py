"""Load depth networks: official `.pth`, Hugging Face `-hf` safetensors, our own safetensors and ONNX.

What a file is, is found by content. Two things the tensors of an official file do not tell, because
they are the same in both cases:

* relative or metric (only the last activation differs). Taken from, in this order: what the caller
  says; our own header; Hugging Face's `config.json` beside the file; the file's name; else relative.
  Then a small test picture is run: metric weights in a relative network give zero everywhere, which is
  caught and said.
* V1 or V2 (only the tapped blocks differ). Taken from the caller, the header, the config or the name;
  else V2. There is no way to check.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from torch import Tensor, nn

from sightline.depth.checkpoint_files import read_tensors
from sightline.depth.checkpoint_hints import Hints, hints_for
from sightline.depth.checkpoint_names import Origin, from_hugging_face, recognise
from sightline.depth.network import SIZES, PositionResize, build
from sightline.depth.network.probe import check_kind
from sightline.depth.spec import SPEC_KEY, Architecture, ModelSpec
from sightline.errors import InputError
from sightline.files.atomic import atomic_path
from sightline.types import Kind

#: Tensors that no forward pass touches; some re-savers drop them.
NEVER_USED = ("pretrained.mask_token", "depth_head.scratch.refinenet4.resConfUnit1.")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file, read and understood.

    Attributes:
        state: tensors by our names (those of the official files), in the file's dtype.
        spec: what network they are for.
        origin: whose file it was.
        path: where it was.
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
    """Read a checkpoint and work out what network it is for.

    Args:
        path: `.pth`, `.pt`, `.bin`, `.safetensors`, or `.onnx` as `export_onnx` writes it; the
            content counts, not the suffix.
        spec: what the network is, when the caller knows; overrides what the file suggests.
        kind: only whether it is relative or metric, when the caller knows that.
        max_depth: of a metric network, in [m]; implies `kind`.

    Raises:
        InputError: the file is no depth network, or not the one that `spec` says.
    """
    path = Path(path)
    tensors = read_tensors(path)
    if SPEC_KEY in tensors.metadata:
        own = ModelSpec.from_json(tensors.metadata[SPEC_KEY])
        checkpoint = Checkpoint(tensors.state, spec or own, Origin.SIGHTLINE, path)
    elif spec is not None and spec.architecture == "compact":
        checkpoint = Checkpoint(tensors.state, spec, Origin.SIGHTLINE, path)
    else:
        origin = recognise(tensors.state, path)
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
        InputError: the weights turn out to be of the other kind (relative or metric).
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
    """Put together size (from shapes), kind and taps (from the caller and the hints)."""
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
    """Read the size off the encoder's width and depth."""
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
    """Check names and shapes against the network; fill in what is missing but never used."""
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
