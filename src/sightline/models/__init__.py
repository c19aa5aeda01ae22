"""Model registry: names, licenses, checksums, download and the embedded weights.

* `entry`: what the registry knows about one model, and where its file comes from.
* `registry`: all entries; the embedded models are listed in `embedded/index.json`.
* `known_models`: entries of weights by other authors.
* `download`: from a name or path to a checked file on this machine.
* `archives`, `hub`, `cache`: package archives, the Hugging Face hub, the cache folder and licenses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sightline.lazy import lazy_exports

if TYPE_CHECKING:
    from sightline.models.download import ResolvedWeights, locate, resolve
    from sightline.models.entry import ModelEntry, ModelSpec
    from sightline.models.registry import ENTRIES, find, get

__all__ = [
    "ENTRIES",
    "ModelEntry",
    "ModelSpec",
    "ResolvedWeights",
    "find",
    "get",
    "locate",
    "resolve",
]

__getattr__, __dir__ = lazy_exports(
    __name__,
    {
        "ENTRIES": "registry",
        "find": "registry",
        "get": "registry",
        "ModelEntry": "entry",
        "ModelSpec": "entry",
        "ResolvedWeights": "download",
        "locate": "download",
        "resolve": "download",
    },
)
