"""What a network starts from: random weights, a pretrained encoder, or an earlier model."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

from sightline.depth.checkpoints import read_checkpoint
from sightline.depth.compact import CompactDepth, compact_spec
from sightline.depth.encoder_weights import read_encoder
from sightline.depth.engines.choose import torch_source
from sightline.depth.file_kinds import FileKind, file_kind, safetensors_header
from sightline.depth.network import DepthAnything, build
from sightline.depth.onnx_weights import carries_weights
from sightline.depth.spec import SPEC_KEY, ModelSpec
from sightline.depth.training.options import MetricOptions, TrainOptions
from sightline.errors import InputError
from sightline.types import Kind
from sightline.weights.entry import Entry
from sightline.weights.store import resolve

NOTHING = "nothing"


def spec_for(options: TrainOptions) -> ModelSpec:
    """Describe the network to be trained."""
    max_depth, focal = None, None
    if isinstance(options, MetricOptions):
        max_depth, focal = options.max_depth, options.focal or None
    kind = Kind.RELATIVE_DISPARITY if max_depth is None else Kind.METRIC_DEPTH
    if options.network == "compact":
        base = compact_spec(kind, max_depth)
    else:
        base = ModelSpec(options.network, kind=kind, max_depth=max_depth)
    size = options.size or options.short_side
    multiple = base.multiple
    return ModelSpec(
        base.architecture,
        kind=kind,
        size=-(-size // multiple) * multiple,
        multiple=multiple,
        max_depth=max_depth,
        focal=focal,
        resize=base.resize,
        sharpen=True,
        mean=base.mean,
        std=base.std,
    )


def start_checksums(options: TrainOptions) -> dict[str, str]:
    """Return the checksums of the weights that a run starts from and is guided by, by option."""
    named = {"start": options.start, "guide": options.guide}
    return {
        option: resolve(name).sha256
        for option, name in named.items()
        if name is not None and name != NOTHING
    }


def make_network(options: TrainOptions, spec: ModelSpec) -> nn.Module:
    """Build the network with weights that follow from the seed, then load what it starts from.

    A pretrained encoder fills the encoder. A whole depth model fills everything if it is of the same
    kind. Of a relative one a metric ViT takes only the encoder, and its head starts anew (as the
    authors' metric fine-tuning does); a compact network takes all but its last layer, since its decoder
    has seen far more pictures than there are in metres.
    """
    torch.manual_seed(options.seed)
    network = build(spec)
    if options.start == NOTHING:
        return network
    path, entry = _file(options.start)
    try:
        if _is_whole_model(path, entry):
            _load_model(network, path, spec)
        elif isinstance(network, CompactDepth):
            network.encoder.load_imagenet(path)
        elif isinstance(network, DepthAnything):
            network.encoder.load_state_dict(read_encoder(path))
    except (RuntimeError, KeyError) as error:
        raise InputError(
            f"these weights do not fit the network {options.network}", path=path
        ) from error
    return network


def _file(start: str) -> tuple[Path, Entry | None]:
    """Find the weight file that torch can read, and what the registry knows of it."""
    found = resolve(start)
    # Another exporter's graph is no source of a whole network, but may hold an encoder.
    return torch_source(found.path) or found.path, found.entry


def _is_whole_model(path: Path, entry: Entry | None) -> bool:
    if entry is not None:
        return entry.purpose == "depth"
    match file_kind(path):
        case FileKind.ONNX:
            return carries_weights(path)
        case FileKind.SAFETENSORS:
            return SPEC_KEY in (safetensors_header(path).get("__metadata__") or {})
    return False


def _load_model(network: nn.Module, path: Path, spec: ModelSpec) -> None:
    checkpoint = read_checkpoint(path)
    if checkpoint.spec.architecture != spec.architecture:
        raise InputError(
            f"a {checkpoint.spec.architecture} network, not {spec.architecture}", path=path
        )
    state = {
        name: value.float() if value.is_floating_point() else value
        for name, value in checkpoint.state.items()
    }
    if checkpoint.spec.kind is not spec.kind:
        kept = {name: value for name, value in state.items() if _is_kept(network, name)}
        network.load_state_dict(kept, strict=False)
    else:
        network.load_state_dict(state)


def _is_kept(network: nn.Module, name: str) -> bool:
    """Say whether a weight of a relative network serves a metric one too, or the other way round."""
    if isinstance(network, CompactDepth):
        return not name.startswith("last.")
    return name.startswith("pretrained.")
