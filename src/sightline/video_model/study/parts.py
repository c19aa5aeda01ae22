"""What a study consists of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from sightline.video_model.autoencoder.options import CodecTraining
from sightline.video_model.options import BuildOptions, Text, VideoTraining

#: Pixels along each side of a latent of the paper's kind: Stable Diffusion's, or our codec of frames.
STRIDE = 8

BudgetName = Literal["cpu", "paper"]
Reading = Literal["scaling", "speeds", "plane", "kept", "conditions", "templates"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One network, trained and tested.

    Attributes:
        name: of its folder.
        words: in tables.
        data: what it is trained on, see `video_model.data`.
        tests: what it is tested on, by a word for the table; see `scoring.spec_of`.
        network: its size.
        videos: different ones of each source; None: without end.
        flip: mirror every other video; None: as the budget's training does.
        numbers: tell the network radii and speeds.
        text: tell it a sentence of what happens.
    """

    name: str
    words: str
    data: tuple[str, ...]
    tests: tuple[tuple[str, str], ...]
    network: str
    videos: int | None = None
    flip: bool | None = None
    numbers: bool = False
    text: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """What a study may cost.

    Attributes:
        trials: networks to train.
        size: width and height of videos in [px].
        build: of the networks, but for their size.
        training: of each of them.
        count: videos of each test.
        codec: of a codec of frames of the study's own, where none is given; None: the embedded one.
        at_once: videos that one process works on at a time; None: its whole share of a batch.
        fvd: compare sets of combinatorial videos, two seconds a video on a CPU.
        text_encoder: checksum of the one that sentences are embedded by; None: networks learn to read.
    """

    trials: tuple[Trial, ...]
    size: int
    build: BuildOptions
    training: VideoTraining
    count: int
    codec: CodecTraining | None = None
    at_once: int | None = None
    fvd: bool = True
    text_encoder: str | None = None

    def build_of(self, trial: Trial, stride: int) -> BuildOptions:
        """Return how a trial's network is built.

        Args:
            trial: that is to be trained.
            stride: pixels along each side of the codec's latents. A patch is declared for maps of
                latents of 8 px; others get one that fits them.
        """
        patch = self.build.patch if stride == STRIDE else None
        text: Text = "none"
        if trial.text:
            text = "words" if self.text_encoder is None else "encoder"
        return replace(
            self.build, network=trial.network, numbers=trial.numbers, patch=patch, text=text
        )

    def training_of(self, trial: Trial, processes: int = 1) -> VideoTraining:
        """Return how a trial is trained by so many processes, its batch in parts that fit memory."""
        flip = self.training.flip if trial.flip is None else trial.flip
        share = -(-self.training.batch // processes)
        parts = -(-share // (self.at_once or share))
        least = max(1, self.training.batch // processes)  # no part is empty anywhere
        return replace(self.training, flip=flip, accumulate=min(parts, least))


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
