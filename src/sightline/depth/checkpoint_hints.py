"""What surrounds a checkpoint says of it: its name, its folder, the config beside it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sightline.depth.checkpoint_names import Origin
from sightline.errors import InputError
from sightline.types import Kind

#: Metric weights by the data they were trained on and the distance in [m] their sigmoid goes up to.
RANGES: tuple[tuple[str, float], ...] = (
    ("hypersim", 20.0),
    ("indoor", 20.0),
    ("kitti", 80.0),
    ("outdoor", 80.0),
)


@dataclass(frozen=True, slots=True)
class Hints:
    """What the surroundings suggest: kind, distance in [m] for a metric network, and taps."""

    kind: Kind = Kind.RELATIVE_DISPARITY
    max_depth: float | None = None
    taps: Literal["v1", "v2"] = "v2"


def hints_for(path: Path, origin: Origin, beside: frozenset[str] = frozenset()) -> Hints:
    """Gather the hints for a checkpoint.

    Args:
        path: of the file. Hugging Face calls every file `model.safetensors`; there the names of the
            folders above, which hold the repository's name, count too.
        origin: whose names the tensors have.
        beside: what lay in the file beside the weights. The authors' metric trainer keeps
            `previous_best` there, so such a file is metric whatever its name.
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
    """Read a name as the authors and the hub use them.

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
    # V1 taps the last four blocks, which are neighbours; V2's are spread.
    neighbours = tapped == list(range(tapped[0], tapped[0] + 4)) if tapped else False
    kind = Kind.METRIC_DEPTH if metric else Kind.RELATIVE_DISPARITY
    return Hints(kind, far, "v1" if neighbours else "v2")
