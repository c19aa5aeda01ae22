"""Tensor names of depth checkpoints, and what file names and configs reveal about them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sightline.errors import InputError
from sightline.types import Kind

if TYPE_CHECKING:
    from torch import Tensor


class Origin(StrEnum):
    """Origin of a checkpoint, which determines the names of its tensors."""

    OFFICIAL = "official"
    HUGGING_FACE = "hugging face"
    SIGHTLINE = "sightline"


#: Wrappers that add a prefix to every name: data parallel, torch.compile, Lightning-like trainers.
WRAPPERS = ("module.", "_orig_mod.", "model.", "network.", "net.")

#: Recognizable strangers: a pattern that some name matches, what it is, what to do.
STRANGERS: tuple[tuple[str, str, str], ...] = (
    (r"lora_|\.lora\.", "a LoRA adapter, not a whole network", "merge it into its base first"),
    (
        r"^core\.core\.|conditional_log_binomial|seed_bin_regressor",
        "a ZoeDepth network, which has another head",
        "take a Depth Anything V2 metric checkpoint",
    ),
    (r"motion_modules", "a Video Depth Anything network", "take a Depth Anything V2 checkpoint"),
    (r"^pretrained\.model\.", "a MiDaS or DPT network", "take a Depth Anything V2 checkpoint"),
    (
        r"register_tokens",
        "a DINOv2 with register tokens, which Depth Anything does not use",
        "take the plain DINOv2",
    ),
)

#: Encoder names of Hugging Face without their prefix, and ours. `{n}` is the number of the block.
ENCODER_RULES: tuple[tuple[str, str], ...] = (
    (r"embeddings\.(cls_token|mask_token)", r"\1"),
    (r"embeddings\.position_embeddings", r"pos_embed"),
    (r"embeddings\.patch_embeddings\.projection\.(\w+)", r"patch_embed.proj.\1"),
    (r"encoder\.layer\.(\d+)\.(norm[12]\.\w+)", r"blocks.\1.\2"),
    (r"encoder\.layer\.(\d+)\.attention\.(?:attention\.)?qkv\.(\w+)", r"blocks.\1.attn.qkv.\2"),
    (
        r"encoder\.layer\.(\d+)\.attention\.(?:output\.dense|o_proj)\.(\w+)",
        r"blocks.\1.attn.proj.\2",
    ),
    (r"encoder\.layer\.(\d+)\.layer_scale([12])\.lambda1", r"blocks.\1.ls\2.gamma"),
    (r"encoder\.layer\.(\d+)\.mlp\.(fc[12]\.\w+)", r"blocks.\1.mlp.\2"),
    (r"encoder\.layer\.(\d+)\.mlp\.weights_in\.(\w+)", r"blocks.\1.mlp.w12.\2"),
    (r"encoder\.layer\.(\d+)\.mlp\.(?:weights_out|down_proj)\.(\w+)", r"blocks.\1.mlp.w3.\2"),
    (r"layernorm\.(\w+)", r"norm.\1"),
)

HEAD_RULES: tuple[tuple[str, str], ...] = (
    (r"neck\.reassemble_stage\.layers\.(\d)\.projection\.(\w+)", r"projects.\1.\2"),
    (r"neck\.reassemble_stage\.layers\.(\d)\.resize\.(\w+)", r"resize_layers.\1.\2"),
    (r"head\.conv1\.(\w+)", r"scratch.output_conv1.\1"),
    (r"head\.conv2\.(\w+)", r"scratch.output_conv2.0.\1"),
    (r"head\.conv3\.(\w+)", r"scratch.output_conv2.2.\1"),
)

#: Parts that Hugging Face keeps apart and we keep in one matrix, in our order.
FUSED: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("attention.", ("query", "key", "value"), "qkv"),
    ("attention.", ("q_proj", "k_proj", "v_proj"), "qkv"),
    ("mlp.", ("gate_proj", "up_proj"), "weights_in"),
)


def strip_wrappers(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Drop prefixes that every name shares, such as `module.` of data-parallel training."""
    names = list(state)
    while names:
        prefix = next((w for w in WRAPPERS if all(name.startswith(w) for name in names)), None)
        if prefix is None:
            break
        names = [name.removeprefix(prefix) for name in names]
    return dict(zip(names, state.values(), strict=True))


def recognize(names: Iterable[str], path: str | Path) -> Origin:
    """Identify the origin of a depth network by its tensor names; raise `InputError` if unknown."""
    known = set(names)
    for pattern, what, remedy in STRANGERS:
        if any(re.search(pattern, name) for name in known):
            raise InputError(what, path=path, remedy=remedy)
    roots = {name.split(".", 1)[0] for name in known}
    if {"pretrained", "depth_head"} <= roots:
        return Origin.OFFICIAL
    if {"backbone", "neck", "head"} <= roots:
        return Origin.HUGGING_FACE
    if is_encoder(known):
        raise InputError(
            "a DINOv2 encoder alone, without a depth head",
            path=path,
            remedy="take depth_anything_v2_*.pth, or train a head on it",
        )
    some = ", ".join(sorted(known)[:3]) or "none at all"
    raise InputError(f"no depth network that we know (its tensors: {some} …)", path=path)


def is_encoder(names: Iterable[str]) -> bool:
    """Return whether these are names of a DINOv2 encoder, ours or Hugging Face's, with any prefix."""
    return any(re.search(r"(^|\.)(cls_token|embeddings\.cls_token)$", name) for name in names)


def from_hugging_face(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename the tensors of a `DepthAnythingForDepthEstimation`; unknown names stay as they are."""
    ours = {}
    for name, value in _fuse(state).items():
        if name.startswith("backbone."):
            new = encoder_name(name.removeprefix("backbone."))
            ours[name if new is None else f"pretrained.{new}"] = value
        else:
            new = _head_name(name)
            ours[name if new is None else f"depth_head.{new}"] = value
    return ours


def encoder_from_hugging_face(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Rename the tensors of a `Dinov2Model` (no prefix); names that are not its own are dropped."""
    renamed = {encoder_name(name): value for name, value in _fuse(state).items()}
    return {name: value for name, value in renamed.items() if name is not None}


def encoder_name(theirs: str) -> str | None:
    """Translate one encoder name, after `_fuse`; None when it is not one."""
    return _translate(theirs, ENCODER_RULES)


def _head_name(theirs: str) -> str | None:
    # The neck counts from shallow to deep from 0, its fusion stage from deep to shallow.
    if match := re.fullmatch(r"neck\.convs\.(\d)\.weight", theirs):
        return f"scratch.layer{int(match[1]) + 1}_rn.weight"
    if match := re.fullmatch(r"neck\.fusion_stage\.layers\.(\d)\.(.+)", theirs):
        inner = re.sub(r"residual_layer(\d)\.convolution(\d)", r"resConfUnit\1.conv\2", match[2])
        inner = inner.replace("projection.", "out_conv.")
        return f"scratch.refinenet{4 - int(match[1])}.{inner}"
    return _translate(theirs, HEAD_RULES)


def _translate(theirs: str, rules: tuple[tuple[str, str], ...]) -> str | None:
    for pattern, template in rules:
        if match := re.fullmatch(pattern, theirs):
            return match.expand(template)
    return None


def _fuse(state: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Concatenate queries, keys and values into one tensor; likewise gate and value of SwiGLU."""
    import torch

    fused = dict(state)
    for owner, parts, whole in FUSED:
        for name in list(state):
            stem, found, kind = name.rpartition(f".{parts[0]}.")
            if not found or f"{owner}{parts[0]}." not in name:
                continue
            pieces = [f"{stem}.{part}.{kind}" for part in parts]
            if all(piece in fused for piece in pieces):
                fused[f"{stem}.{whole}.{kind}"] = torch.cat([fused.pop(p) for p in pieces])
    return fused


#: Metric weights by the data they were trained on and the distance in [m] their sigmoid goes up to.
RANGES: tuple[tuple[str, float], ...] = (
    ("hypersim", 20.0),
    ("indoor", 20.0),
    ("kitti", 80.0),
    ("outdoor", 80.0),
)


@dataclass(frozen=True, slots=True)
class Hints:
    """Properties inferred from file name and config: kind, maximum depth in [m], and taps."""

    kind: Kind = Kind.RELATIVE_DISPARITY
    max_depth: float | None = None
    taps: Literal["v1", "v2"] = "v2"


def hints_for(path: Path, origin: Origin, beside: frozenset[str] = frozenset()) -> Hints:
    """Gather the hints for a checkpoint.

    Args:
        path: path of the file. Hugging Face names every file `model.safetensors`, so the names of the
            parent folders, which include the repository's name, are used as well.
        origin: origin of the tensor names.
        beside: names of other entries of the file. The authors' metric trainer stores
            `previous_best`, so a file with this entry is metric whatever its name.
    """
    config = path.with_name("config.json")
    if origin is Origin.HUGGING_FACE and config.is_file():
        return _from_config(config)
    generic = path.stem in ("model", "pytorch_model")
    name = "/".join(path.parts[-4:] if generic else path.parts[-1:])
    hints = from_name(name)
    if "previous_best" in beside and hints.kind is Kind.RELATIVE_DISPARITY:
        return Hints(Kind.METRIC_DEPTH, None, hints.taps)
    return hints


def from_name(name: str) -> Hints:
    """Infer properties from a file or repository name of the authors or the hub.

    >>> from_name("depth_anything_v2_metric_hypersim_vits.pth").max_depth
    20.0
    >>> from_name("depth_anything_vits14.pth").taps
    'v1'
    """
    name = name.lower().replace("-", "_")
    first = re.search(r"depth_anything_(vit[sbl]14|small|base|large)", name)
    taps: Literal["v1", "v2"] = "v1" if first else "v2"
    if "metric" not in name:
        return Hints(taps=taps)
    distance = next((far for word, far in RANGES if word in name), None)
    return Hints(Kind.METRIC_DEPTH, distance, taps)


def _from_config(path: Path) -> Hints:
    """Read Hugging Face's `config.json`."""
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
        metric = config.get("depth_estimation_type", "relative") == "metric"
        far = float(config["max_depth"]) if metric else None
        tapped = [int(index) for index in (config.get("backbone_config") or {})["out_indices"]]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"not the config of a Depth Anything model ({type(error).__name__}: {error})",
            path=path,
            remedy="take the config.json of the same repository, or move it away",
        ) from error
    # V1 taps the last four blocks, which are neighbors; V2's are spread.
    neighbors = tapped == list(range(tapped[0], tapped[0] + 4)) if tapped else False
    kind = Kind.METRIC_DEPTH if metric else Kind.RELATIVE_DISPARITY
    return Hints(kind, far, "v1" if neighbors else "v2")
