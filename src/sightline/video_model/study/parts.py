"""What a study consists of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sightline.video_model.autoencoder.options import CodecTraining
from sightline.video_model.options import BuildOptions, VideoTraining

BudgetName = Literal["cpu", "paper"]
Reading = Literal["scaling", "speeds", "plane", "kept", "conditions", "templates"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One network, trained and tested.

    Attributes:
        name: of its folder.
        words: in tables.
        data: what it is trained on, see `video_model.data`.
        tests: what it is tested on, by a word for the table; see `scoring.test_spec`.
        network: its size.
        videos: different ones of each source; None: without end.
        flip: mirror every other video.
        numbers: tell the network radii and speeds.
    """

    name: str
    words: str
    data: tuple[str, ...]
    tests: tuple[tuple[str, str], ...]
    network: str
    videos: int | None = None
    flip: bool = False
    numbers: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What a study may cost.

    Attributes:
        trials: networks to train.
        size: width and height of videos in [px].
        build: of the networks, but for their size.
        training: of each of them.
        count: videos of each test.
        codec: of a codec of frames of the study's own, trained on the first trial's videos; None: the
            one that is given.
    """

    trials: tuple[Trial, ...]
    size: int
    build: BuildOptions
    training: VideoTraining
    count: int
    codec: CodecTraining | None = None

    def build_of(self, trial: Trial) -> BuildOptions:
        """Return how a trial's network is built."""
        return replace(self.build, network=trial.network, numbers=trial.numbers)

    def training_of(self, trial: Trial) -> VideoTraining:
        """Return how a trial is trained."""
        return replace(self.training, flip=trial.flip)


@dataclass(frozen=True, slots=True)
class Study:
    """A question and how it is answered.

    Attributes:
        name: by which it is asked for.
        title: of the report.
        figure: of the paper that it reproduces.
        question: in a sentence.
        found: by the paper.
        reading: how the outcome is read.
        budgets: by name.
    """

    name: str
    title: str
    figure: str
    question: str
    found: str
    reading: Reading
    budgets: dict[str, Budget]
