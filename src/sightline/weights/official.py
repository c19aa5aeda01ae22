"""Depth Anything, by the hub repositories and file names of its authors.

* We have never held these files, so their checksums are not known here: see `Entry.sha256`.
* Licences. V2: Small is Apache-2.0, Base and Large are CC-BY-NC-4.0 (its issues 27 and 81).
  Metric V2: neither the cards nor the authors state one (issue 245), so they count as not free for
  commercial use until someone does. V1: Apache-2.0 in all sizes (the V1 repository's issue 15).
* Metric weights scale with the largest distance they were trained for: 20 m indoors (Hypersim),
  80 m outdoors (Virtual KITTI 2). Taking the other number rescales every distance.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from sightline.depth.spec import ModelSpec
from sightline.types import Kind
from sightline.weights.entry import Entry
from sightline.weights.sources import HubFile


class _Size(NamedTuple):
    word: str
    encoder: Literal["vits", "vitb", "vitl"]
    parameters: int


class _Scene(NamedTuple):
    data: str
    place: str
    data_set: str
    max_depth: float


_SIZES = (
    _Size("Small", "vits", 24_800_000),
    _Size("Base", "vitb", 97_500_000),
    _Size("Large", "vitl", 335_300_000),
)
_SCENES = (
    _Scene("Hypersim", "Indoor", "Hypersim", 20.0),
    _Scene("VKITTI", "Outdoor", "VKITTI 2", 80.0),
)
_SAFETENSORS = "model.safetensors"
_UNSTATED = "unstated by its authors"


def _relative_v2(size: _Size) -> Entry:
    repo = f"depth-anything/Depth-Anything-V2-{size.word}"
    free = size.encoder == "vits"
    return Entry(
        name=f"depth-anything-v2-{size.word.lower()}",
        summary=f"Depth Anything V2 {size.word}, relative",
        purpose="depth",
        licence="Apache-2.0" if free else "CC-BY-NC-4.0",
        commercial=free,
        bytes=4 * size.parameters,
        sha256=None,
        trained_on="62 M pseudo-labelled photographs",
        source=HubFile(
            repo, f"depth_anything_v2_{size.encoder}.pth", also=((f"{repo}-hf", _SAFETENSORS),)
        ),
        format="torch",
        spec=ModelSpec(size.encoder),
        aliases=(repo, f"{repo}-hf"),
    )


def _metric_v2(scene: _Scene, size: _Size) -> Entry:
    repo = f"depth-anything/Depth-Anything-V2-Metric-{scene.data}-{size.word}"
    twin = f"depth-anything/Depth-Anything-V2-Metric-{scene.place}-{size.word}-hf"
    stem = f"depth_anything_v2_metric_{scene.data.lower()}_{size.encoder}"
    return Entry(
        name=f"depth-anything-v2-{scene.data.lower()}-{size.word.lower()}",
        summary=f"Depth Anything V2 {size.word}, metres, {scene.place.lower()}s",
        purpose="depth",
        licence=_UNSTATED,
        commercial=False,
        bytes=4 * size.parameters,
        sha256=None,
        trained_on=f"{scene.data_set} to {scene.max_depth:g} m",
        source=HubFile(repo, f"{stem}.pth", also=((twin, _SAFETENSORS),)),
        format="torch",
        spec=ModelSpec(size.encoder, kind=Kind.METRIC_DEPTH, max_depth=scene.max_depth),
        aliases=(repo, twin),
    )


def _relative_v1(size: _Size) -> Entry:
    repo = f"LiheYoung/depth-anything-{size.word.lower()}-hf"
    twin = f"LiheYoung/depth_anything_{size.encoder}14"
    return Entry(
        name=f"depth-anything-v1-{size.word.lower()}",
        summary=f"Depth Anything V1 {size.word}, relative",
        purpose="depth",
        licence="Apache-2.0",
        commercial=True,
        bytes=4 * size.parameters,
        sha256=None,
        trained_on="1.5 M labelled, 62 M pseudo-labelled",
        source=HubFile(repo, _SAFETENSORS, also=((twin, "pytorch_model.bin"),)),
        format="safetensors",
        spec=ModelSpec(size.encoder, taps="v1"),
        aliases=(repo, twin),
    )


OFFICIAL: tuple[Entry, ...] = (
    *(_relative_v2(size) for size in _SIZES),
    *(_metric_v2(scene, size) for scene in _SCENES for size in _SIZES),
    *(_relative_v1(size) for size in _SIZES),
)
