"""Which models a service has: what it was started with, and what the catalogue knows."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sightline.app.options import ServeOptions
from sightline.app.worker import Setup
from sightline.errors import InputError
from sightline.weights import catalogue
from sightline.weights.entry import Entry
from sightline.weights.sources import Embedded
from sightline.weights.store import locate, resolve

#: Packages that embedded models want, by purpose.
_PACKAGES = {
    "language": ("torch", "transformers", "safetensors"),
    "video": ("torch", "safetensors"),
}
#: For so long an answer about files on disk is believed, in [s].
_BELIEVED = 10.0


def setup_of(options: ServeOptions, spool: Path) -> Setup:
    """Find the models that a service is to have; what is wrong with them is told at the start.

    Args:
        options: of the service.
        spool: folder for temporary files.

    Raises:
        InputError: no such model.
    """
    models: dict[str, str] = {}
    for name in options.model:
        found = resolve(name, accept=options.accept_licence, purpose="depth")
        models.setdefault(found.name, str(found.path) if found.entry is None else found.name)
    ask = options.ask_model or _embedded("language")
    if options.ask_model is not None and not _there(options.ask_model):
        raise InputError("no such model", path=options.ask_model, remedy="check --ask-model")
    video = options.video_model or _embedded("video", "video")
    if options.video_model is not None and not _there(options.video_model):
        raise InputError("no such model", path=options.video_model, remedy="check --video-model")
    return Setup(
        models,
        ask,
        options.codebook,
        video,
        options.threads,
        options.accept_licence,
        options.limits,
        spool,
    )


def _embedded(purpose: str, name: str | None = None) -> str | None:
    """Return the name of the model for a purpose that is inside the package, if it can run here."""
    if not all(map(_installed, _PACKAGES[purpose])):
        return None
    for entry in catalogue.ENTRIES:
        inside = isinstance(entry.source, Embedded) and locate(entry) is not None
        if inside and entry.purpose == purpose and name in (None, entry.name):
            return entry.name
    return None


def _installed(package: str) -> bool:
    """Whether a package could be imported; nothing is."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _there(name: str) -> bool:
    """Whether a model is a file, a folder, a name of the catalogue, or one of the hub."""
    path = Path(os.path.expanduser(name))  # noqa: PTH111 - leaves an unknown ~user as it is
    hub = name.count("/") == 1 and not name.startswith((".", "/", "~"))
    return path.exists() or catalogue.find(name) is not None or hub


@dataclass(slots=True)
class Shelf:
    """What `/v1/models` says.

    Attributes:
        setup: the models of this service.
    """

    setup: Setup
    _said: dict[str, Any] | None = None
    _at: float = 0.0

    def describe(self) -> dict[str, Any]:
        """Return all models; what is on disk is looked up every few seconds at most."""
        if self._said is None or time.monotonic() - self._at > _BELIEVED:
            self._said, self._at = self._describe(), time.monotonic()
        return self._said

    def _describe(self) -> dict[str, Any]:
        setup = self.setup
        own = {*setup.models, setup.ask_model, setup.video_model}
        people = all(_here(name) for name in ("pose-detection", "pose-full"))
        rows = []
        for entry in catalogue.ENTRIES:
            here = locate(entry) is not None
            helps = here and entry.purpose in ("people", "faces", "tokens")
            rows.append(_row(entry, here=here, usable=entry.name in own or helps))
        for name, path in setup.models.items():
            if catalogue.find(name) is None:
                rows.append(_file_row(name, Path(path), "depth"))
        for given, purpose in ((setup.ask_model, "language"), (setup.video_model, "video")):
            if given is not None and catalogue.find(given) is None:
                rows.append(_file_row(Path(given).name, Path(given), purpose))
        return {
            "defaults": {
                "depth": next(iter(setup.models)),
                "ask": None if setup.ask_model is None else Path(setup.ask_model).name,
                "video": None if setup.video_model is None else Path(setup.video_model).name,
                "people": people,
            },
            "models": rows,
        }


def _here(name: str) -> bool:
    entry = catalogue.find(name)
    return entry is not None and locate(entry) is not None


def _row(entry: Entry, *, here: bool, usable: bool) -> dict[str, Any]:
    return {
        "name": entry.name,
        "purpose": entry.purpose,
        "summary": entry.summary,
        "licence": entry.licence,
        "commercial": entry.commercial,
        "bytes": entry.bytes + entry.parts_bytes,
        "trained_on": entry.trained_on,
        "here": here,
        "usable": usable,
    }


def _file_row(name: str, path: Path, purpose: str) -> dict[str, Any]:
    return {
        "name": name,
        "purpose": purpose,
        "summary": "a file that this server was started with",
        "licence": "unknown",
        "commercial": False,
        "bytes": path.stat().st_size if path.is_file() else 0,
        "trained_on": "unknown",
        "here": True,
        "usable": True,
    }
