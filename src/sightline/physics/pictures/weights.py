"""The fetched weights of a metric, or why it is not available. Nothing is downloaded here.

A score must not depend on whether a network happened to be there, nor start downloads in the middle of
a run: what is missing is reported with the command that fetches it.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

from sightline.errors import install
from sightline.physics.pictures.values import NotAvailable
from sightline.weights.cache import known_sha256
from sightline.weights.catalogue import get
from sightline.weights.store import locate


def fetched(metric: str, name: str) -> Path | NotAvailable:
    """Find the weights of a metric on this machine and compare their checksum.

    Args:
        metric: the metric's name for people.
        name: name in the registry, such as `lpips-alex`.
    """
    entry = get(name)
    command = f"sightline models get {entry.name}"
    path = locate(entry)
    if path is None:
        return NotAvailable(metric, f"the weights {entry.name} are not on this machine", command)
    if known_sha256(path, path.name) != entry.sha256:
        return NotAvailable(metric, f"the weights {entry.name} are damaged", command)
    return path


def lacking(metric: str, *packages: str) -> NotAvailable | None:
    """Say which of these packages is not installed; None when all of them are."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if not missing:
        return None
    verb = "is" if len(missing) == 1 else "are"
    return NotAvailable(metric, f"{' and '.join(missing)} {verb} not installed", install("train"))
