"""Initial weights of a depth network, and the average of several trained networks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import torch
from torch import nn

from sightline.depth.checkpoints import read_checkpoint, read_encoder, write_checkpoint
from sightline.depth.compact import CompactDepth, compact_spec
from sightline.depth.engines import torch_source
from sightline.depth.network import DepthAnything, build
from sightline.depth.network.vit import split_scales
from sightline.depth.onnx_weights import carries_weights
from sightline.depth.training.config import DepthTrainConfig, MetricTrainConfig
from sightline.errors import InputError
from sightline.models.download import resolve
from sightline.models.entry import SPEC_KEY, ModelEntry, ModelSpec
from sightline.runtime.weight_files import FileKind, file_kind, safetensors_header
from sightline.types import Kind

NOTHING = "nothing"

#: Added to the last bias of a relative ViT. The loss sees the map before its last ReLU; a shift
#: does not change relative disparity, and this one keeps the ReLU from cutting the map.
OUTPUT_SHIFT = 1.0

#: Name of that bias.
LAST_BIAS = "depth_head.scratch.output_conv2.2.bias"


def spec_for(config: DepthTrainConfig) -> ModelSpec:
    """Describe the network to be trained."""
    max_depth, focal = None, None
    if isinstance(config, MetricTrainConfig):
        max_depth, focal = config.max_depth, config.focal or None
    kind = Kind.RELATIVE_DISPARITY if max_depth is None else Kind.METRIC_DEPTH
    if config.network == "compact":
        base = compact_spec(kind, max_depth)
    else:
        base = ModelSpec(config.network, kind=kind, max_depth=max_depth)
    size = config.size or config.short_side
    multiple = base.multiple
    return ModelSpec(
        base.architecture,
        kind=kind,
        size=-(-size // multiple) * multiple,
        multiple=multiple,
        max_depth=max_depth,
        focal=focal,
        zero=OUTPUT_SHIFT if max_depth is None and config.network != "compact" else 0.0,
        resize=base.resize,
        sharpen=True,
        replicate_edge=config.network != "compact",
        mean=base.mean,
        std=base.std,
    )


def start_checksums(config: DepthTrainConfig) -> dict[str, str]:
    """Return the checksums of the initial weights and of the guide, by field name."""
    named = {"start": config.start, "guide": config.guide}
    return {
        option: resolve(name).sha256
        for option, name in named.items()
        if name is not None and name != NOTHING
    }


def make_network(config: DepthTrainConfig, spec: ModelSpec) -> nn.Module:
    """Build the network with random weights of the seed, then load its initial weights.

    A pretrained encoder fills the encoder; a depth model of the same kind fills everything. From a
    relative model, a metric ViT takes only the encoder, as in the authors' metric fine-tuning; a
    compact network takes everything but its last layer, because its decoder has seen far more images
    than have metric depth.
    """
    torch.manual_seed(config.seed)
    network = build(spec)
    if config.start == NOTHING:
        return network
    path, entry = _file(config.start)
    try:
        if _is_whole_model(path, entry):
            _load_model(network, path, spec)
        elif isinstance(network, CompactDepth):
            network.encoder.load_imagenet(path)
        elif isinstance(network, DepthAnything):
            network.encoder.load_state_dict(read_encoder(path))
    except (RuntimeError, KeyError) as error:
        raise InputError(
            f"these weights do not fit the network {config.network}", path=path
        ) from error
    return network


def _file(start: str) -> tuple[Path, ModelEntry | None]:
    """Find the weight file that torch can read, and its registry entry."""
    found = resolve(start)
    # A graph of another exporter cannot become a whole network, but may hold an encoder.
    return torch_source(found.path) or found.path, found.entry


def _is_whole_model(path: Path, entry: ModelEntry | None) -> bool:
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
    if LAST_BIAS in state:  # shifted when its training was finished
        state[LAST_BIAS] = state[LAST_BIAS] - checkpoint.spec.zero
    if checkpoint.spec.kind is not spec.kind:
        kept = {name: value for name, value in state.items() if _is_kept(network, name)}
        network.load_state_dict(kept, strict=False)
    else:
        network.load_state_dict(state)
    if isinstance(network, DepthAnything) and file_kind(path) is FileKind.ONNX:
        split_scales(network.encoder)


def _is_kept(network: nn.Module, name: str) -> bool:
    """Return whether a weight is shared by relative and metric networks."""
    if isinstance(network, CompactDepth):
        return not name.startswith("last.")
    return name.startswith("pretrained.")


def average_models(models: Sequence[str | Path], out: str | Path) -> None:
    """Write the average of several trained networks as a safetensors file.

    Runs that start from the same weights often end in one basin, and the average is better than each of
    them ("model soups", Wortsman et al. 2022).

    Args:
        models: Two or more safetensors, `.pth` or Sightline ONNX files of one architecture.
        out: File to write, `.safetensors`.
    """
    if Path(out).suffix != ".safetensors":
        raise InputError("an average is written as .safetensors", path=out)
    if len(models) < 2:
        raise InputError(f"an average needs two models or more, got {len(models)}")
    read = [read_checkpoint(path) for path in models]
    first = read[0]
    for path, other in zip(models[1:], read[1:], strict=True):
        mine, theirs = ({k: v.shape for k, v in one.state.items()} for one in (first, other))
        if other.spec.architecture != first.spec.architecture or mine != theirs:
            raise InputError(f"is another network than {models[0]}", path=path)
        if other.spec != first.spec:
            said = asdict(other.spec)
            names = ", ".join(k for k, value in asdict(first.spec).items() if value != said[k])
            raise InputError(f"is read in another way than {models[0]} ({names})", path=path)
    state = {
        name: torch.stack([one.state[name].double() for one in read]).mean(0).to(torch.float32)
        if value.is_floating_point()
        else value
        for name, value in first.state.items()
    }
    write_checkpoint(out, state, first.spec)
