"""Models of the service: which ones exist (server process), and loading them (worker process)."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.errors import InputError, install
from sightline.models import registry
from sightline.models.download import locate, resolve
from sightline.models.entry import Embedded, ModelEntry
from sightline.server.config import ServeConfig
from sightline.server.errors import (
    NO_ASK_MODEL,
    NO_VIDEO_MODEL,
    ServiceError,
    describe_input_error,
)
from sightline.server.worker import WorkerSettings

if TYPE_CHECKING:
    from sightline.depth.estimator import DepthEstimator
    from sightline.metric.people.blazepose import BlazePoseFinder
    from sightline.metric.people.iris import IrisFinder
    from sightline.perception.codebook import DepthTokenizer
    from sightline.perception.vlm.model import PerceptionVLM
    from sightline.physics.model_runner import VideoModel
    from sightline.server.tasks.laws import LawCompiler

#: Packages that embedded models need, by purpose.
_PACKAGES = {
    "language": ("torch", "transformers", "safetensors"),
    "video": ("torch", "safetensors"),
}
#: Networks for people and irises. Requests never cause downloads.
_PEOPLE = ("pose-detection", "pose-full")
_FACES = ("face-detection", "face-landmarks", "iris-landmarks")
#: Time for which the list of models on disk is cached in [s].
_CACHE_SECONDS = 10.0


def worker_settings(config: ServeConfig, folder: Path) -> WorkerSettings:
    """Resolve the models of a server.

    Args:
        config: settings of the server.
        folder: folder for temporary files.

    Raises:
        InputError: a model does not exist.
    """
    models: dict[str, str] = {}
    for name in config.model:
        found = resolve(name, accept=config.accept_license, purpose="depth")
        models.setdefault(found.name, str(found.path) if found.entry is None else found.name)
    for given, flag in ((config.ask_model, "--ask-model"), (config.video_model, "--video-model")):
        if given is not None and not _exists(given):
            raise InputError("no such model", path=given, remedy=f"check {flag}")
    return WorkerSettings(
        models,
        config.ask_model or _embedded_model("language"),
        config.codebook,
        config.video_model or _embedded_model("video", "video"),
        config.engine,
        config.device,
        config.threads,
        config.accept_license,
        config.limits,
        folder,
    )


def _embedded_model(purpose: str, name: str | None = None) -> str | None:
    """Return the name of the embedded model for a purpose if its packages are installed."""
    if not all(map(_is_installed, _PACKAGES[purpose])):
        return None
    for entry in registry.ENTRIES:
        embedded = isinstance(entry.source, Embedded) and locate(entry) is not None
        if embedded and entry.purpose == purpose and name in (None, entry.name):
            return entry.name
    return None


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def _exists(name: str) -> bool:
    """Return whether a model is a file, a folder, a registered name, or a name of the hub."""
    path = Path(os.path.expanduser(name))  # noqa: PTH111 - keeps an unknown ~user as it is
    hub = name.count("/") == 1 and not name.startswith((".", "/", "~"))
    return path.exists() or registry.find(name) is not None or hub


def _is_downloaded(name: str) -> bool:
    entry = registry.find(name)
    return entry is not None and locate(entry) is not None


class ModelCatalog:
    """The list of models for `/v1/models`.

    Args:
        settings: models of the server.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings = settings
        self._cached: dict[str, Any] | None = None
        self._cached_at = 0.0

    def describe(self) -> dict[str, Any]:
        """Return all models; the disk is checked every few seconds at most."""
        if self._cached is None or time.monotonic() - self._cached_at > _CACHE_SECONDS:
            self._cached, self._cached_at = self._describe(), time.monotonic()
        return self._cached

    def _describe(self) -> dict[str, Any]:
        settings = self.settings
        used = {*settings.models, settings.ask_model, settings.video_model}
        rows = []
        for entry in registry.ENTRIES:
            downloaded = locate(entry) is not None
            helper = downloaded and entry.purpose in ("people", "faces", "tokens")
            usable = entry.name in used or helper
            rows.append(_registered_row(entry, downloaded=downloaded, usable=usable))
        files = [(name, path, "depth") for name, path in settings.models.items()]
        for given, purpose in ((settings.ask_model, "language"), (settings.video_model, "video")):
            if given is not None:
                files.append((given, given, purpose))
        rows += [
            _file_row(Path(name).name, Path(path), purpose)
            for name, path, purpose in files
            if registry.find(name) is None
        ]
        return {
            "defaults": {
                "depth": next(iter(settings.models)),
                "ask": None if settings.ask_model is None else Path(settings.ask_model).name,
                "video": None if settings.video_model is None else Path(settings.video_model).name,
                "people": all(map(_is_downloaded, _PEOPLE)),
            },
            "models": rows,
        }


def _registered_row(entry: ModelEntry, *, downloaded: bool, usable: bool) -> dict[str, Any]:
    return {
        "name": entry.name,
        "purpose": entry.purpose,
        "summary": entry.summary,
        "license": entry.license,
        "commercial": entry.commercial,
        "bytes": entry.bytes + entry.parts_bytes,
        "trained_on": entry.trained_on,
        "downloaded": downloaded,
        "usable": usable,
    }


def _file_row(name: str, path: Path, purpose: str) -> dict[str, Any]:
    return {
        "name": name,
        "purpose": purpose,
        "summary": "file given at the start of the server",
        "license": "unknown",
        "commercial": False,
        "bytes": path.stat().st_size if path.is_file() else 0,
        "trained_on": "unknown",
        "downloaded": True,
        "usable": True,
    }


class LoadedModels:
    """Models of a worker, each loaded at its first use and then kept.

    Args:
        settings: models of the worker.
    """

    def __init__(self, settings: WorkerSettings) -> None:
        self.settings, self.limits = settings, settings.limits
        self._estimators: dict[str, DepthEstimator] = {}

    @cached_property
    def law_compiler(self) -> LawCompiler:
        """Background compilation of the physics kernels."""
        from sightline.server.tasks.laws import LawCompiler

        return LawCompiler(self.settings.folder)

    def load_default(self) -> None:
        """Load the default depth model; its requests report an error if that fails."""
        try:
            self.estimator(None)
        except ServiceError as error:
            print(f"sightline: {error.message}", file=sys.stderr, flush=True)

    def estimator(self, name: str | None) -> DepthEstimator:
        """Return a depth model by its name; the default for None."""
        name = next(iter(self.settings.models)) if name is None else name
        if name not in self._estimators:
            from sightline.depth.estimator import load

            with model_errors(name):
                self._estimators[name] = load(
                    self.settings.models[name],
                    engine=self.settings.engine,
                    device=self.settings.device,
                    threads=self.settings.threads,
                    accept_license=self.settings.accept_license,
                )
        return self._estimators[name]

    @cached_property
    def people(self) -> BlazePoseFinder:
        """Person detector."""
        _require_downloaded(_PEOPLE, "people cannot be detected")
        from sightline.metric.people.blazepose import BlazePoseFinder

        return BlazePoseFinder(
            "pose-heavy" if _is_downloaded("pose-heavy") else "pose-full",
            min_confidence=0.85,
            threads=self.settings.threads,
        )

    @cached_property
    def irises(self) -> IrisFinder:
        """Iris detector."""
        _require_downloaded(_FACES, "irises cannot be detected")
        from sightline.metric.people.iris import IrisFinder

        return IrisFinder(threads=self.settings.threads)

    @property
    def vlm_name(self) -> str:
        """Name of the model that answers questions."""
        if self.settings.ask_model is None:
            raise ServiceError(503, NO_ASK_MODEL)
        return Path(self.settings.ask_model).name

    @cached_property
    def vlm(self) -> PerceptionVLM:
        """The model that answers questions."""
        with model_errors(self.vlm_name):
            from sightline.perception.vlm.model import load_vlm

            return load_vlm(str(self.settings.ask_model))

    @cached_property
    def tokenizer(self) -> DepthTokenizer:
        """Codebook of that model."""
        with model_errors(Path(self.settings.codebook).name):
            from sightline.perception.codebook import DepthTokenizer

            return DepthTokenizer(self.settings.codebook)

    @cached_property
    def video_model(self) -> VideoModel:
        """The model that continues videos."""
        if self.settings.video_model is None:
            raise ServiceError(503, NO_VIDEO_MODEL)
        with model_errors(Path(self.settings.video_model).name):
            from sightline.video_model.pipeline import load

            return load(self.settings.video_model, device="cpu")


@contextmanager
def model_errors(name: str) -> Iterator[None]:
    """Turn errors of loading a model into 503: they are not errors of the client."""
    try:
        yield
    except InputError as error:
        reason = describe_input_error(error, name)
        raise ServiceError(503, f"the model {name} cannot be loaded: {reason}") from error
    except ModuleNotFoundError as error:
        reason = f"{error.name} is not installed; {install('perception')}"
        raise ServiceError(503, f"the model {name} cannot be loaded: {reason}") from error


def _require_downloaded(names: tuple[str, ...], what: str) -> None:
    missing = [name for name in names if not _is_downloaded(name)]
    if missing:
        message = f"{what} on this server; run: sightline models get {' '.join(missing)}"
        raise ServiceError(503, message)
