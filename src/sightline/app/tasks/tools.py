"""The models of a worker: each loaded when it is first needed, then kept."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.app.problems import NO_SPEAKER, NO_VIDEO_MODEL, Problem, in_words
from sightline.app.tasks.laws import Laws
from sightline.app.worker import Setup
from sightline.errors import InputError, install
from sightline.weights import catalogue
from sightline.weights.store import locate

if TYPE_CHECKING:
    from sightline.depth.estimator import DepthEstimator
    from sightline.metric.people.blazepose import BlazePoseFinder
    from sightline.metric.people.iris import IrisFinder
    from sightline.perception.codebook.tokenizer import DepthTokenizer
    from sightline.perception.model.loading import Speaker
    from sightline.physics.models import VideoModel

#: Networks that find people and irises. A request never makes the server download anything.
PEOPLE = ("pose-detection", "pose-full")
FACES = ("face-detection", "face-landmarks", "iris-landmarks")


class Tools:
    """What the jobs of a worker share.

    Args:
        setup: which models there are.
    """

    def __init__(self, setup: Setup) -> None:
        self.setup = setup
        self.limits = setup.limits
        self.laws = Laws(setup.spool)
        self._estimators: dict[str, DepthEstimator] = {}

    def warm(self) -> None:
        """Load the default model; what is wrong with it is told to whoever asks for it."""
        try:
            self.estimator(None)
        except Problem as problem:
            print(f"sightline: {problem.sentence}", file=sys.stderr, flush=True)

    def estimator(self, name: str | None) -> DepthEstimator:
        """Return a depth model by the name that a client used; the default for None."""
        name = next(iter(self.setup.models)) if name is None else name
        if name not in self._estimators:
            from sightline.depth.estimator import load

            with loading(name):
                self._estimators[name] = load(
                    self.setup.models[name],
                    threads=self.setup.threads,
                    accept_licence=self.setup.accept_licence,
                )
        return self._estimators[name]

    @cached_property
    def people(self) -> BlazePoseFinder:
        """The finder of people."""
        need(PEOPLE, "people cannot be looked for")
        from sightline.metric.people.blazepose import BlazePoseFinder

        heavy = here("pose-heavy")
        return BlazePoseFinder(
            "pose-heavy" if heavy else "pose-full", least=0.85, threads=self.setup.threads
        )

    @cached_property
    def irises(self) -> IrisFinder:
        """The finder of irises."""
        need(FACES, "irises cannot be looked for")
        from sightline.metric.people.iris import IrisFinder

        return IrisFinder(threads=self.setup.threads)

    @property
    def speaker_name(self) -> str:
        """Name of the model that answers questions."""
        if self.setup.ask_model is None:
            raise Problem(503, NO_SPEAKER)
        return Path(self.setup.ask_model).name

    @cached_property
    def speaker(self) -> Speaker:
        """The model that answers questions."""
        with loading(self.speaker_name):
            from sightline.perception.model.loading import load_speaker

            return load_speaker(str(self.setup.ask_model))

    @cached_property
    def tokenizer(self) -> DepthTokenizer:
        """The codebook of that model."""
        with loading(Path(self.setup.codebook).name):
            from sightline.perception.codebook.tokenizer import DepthTokenizer

            return DepthTokenizer(self.setup.codebook)

    @cached_property
    def video_model(self) -> VideoModel:
        """The model that continues videos."""
        if self.setup.video_model is None:
            raise Problem(503, NO_VIDEO_MODEL)
        with loading(Path(self.setup.video_model).name):
            from sightline.video_model.model import load

            return load(self.setup.video_model, device="cpu")


@contextmanager
def loading(name: str) -> Iterator[None]:
    """Turn the failure to load a model into one of ours: it is no mistake of the client's."""
    try:
        yield
    except InputError as error:
        why = in_words(error, name)
        raise Problem(503, f"the model {name} cannot be loaded: {why}") from error
    except ModuleNotFoundError as error:
        why = f"{error.name} is not installed; {install('perception')}"
        raise Problem(503, f"the model {name} cannot be loaded: {why}") from error


def here(name: str) -> bool:
    """Whether a network of the catalogue is on this machine."""
    entry = catalogue.find(name)
    return entry is not None and locate(entry) is not None


def need(names: tuple[str, ...], what: str) -> None:
    """Refuse what needs networks that are not here."""
    missing = [name for name in names if not here(name)]
    if missing:
        raise Problem(503, f"{what} on this server; run: sightline models get {' '.join(missing)}")
