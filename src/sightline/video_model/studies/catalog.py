"""Studies by name: PhyWorld Table 2 and Figures 3, 5 to 9 and 12, with two budgets.

The `cpu` budget works with moment latents of 64 px videos and one token for four frames. The `paper`
budget has the paper's sizes, videos, steps and mirroring (§2.2, §3) and needs GPUs. Without
`--codec` it trains a codec of single frames; the paper inflates an image autoencoder (`sightline
video codec --kind inflated`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

from sightline.errors import InputError
from sightline.video_model.autoencoders.options import CodecTraining
from sightline.video_model.options import BuildOptions, Text, VideoTraining

#: Pixels along each side of a latent, of Stable Diffusion's autoencoder and of our codec of frames.
STRIDE = 8

BudgetName = Literal["cpu", "paper"]
Reading = Literal["scaling", "speeds", "plane", "kept", "conditions", "templates"]


@dataclass(frozen=True, slots=True)
class Trial:
    """One network to train and test.

    Attributes:
        name: name of its folder.
        words: label in tables.
        data: training data, see `video_model.data`.
        tests: label and name of each test, see `scoring.spec_of`.
        network: network size.
        videos: distinct videos of each source; None for endless.
        flip: mirror videos at random; None for the setting of the budget.
        numbers: condition on radii and speeds.
        text: condition on a sentence.
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
    """Scale of a study.

    Attributes:
        trials: networks to train.
        size: width and height of videos in [px].
        build: network options, except for the size.
        training: training options.
        count: videos of each test.
        codec: training options of the study's own codec if none is given; None for the embedded codec.
        at_once: videos per forward pass of one process; None for its whole share of a batch.
        fvd: compute FVD of combinatorial videos, two seconds per video on a CPU.
        text_encoder: checksum of the text encoder; None if networks embed words themselves.
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
        """Return the network options of a trial.

        Args:
            trial: trial.
            stride: pixels along each side of the codec's latents. The patch of the budget is for a
                stride of 8; others get one that fits.
        """
        patch = self.build.patch if stride == STRIDE else None
        text: Text = "none"
        if trial.text:
            text = "words" if self.text_encoder is None else "encoder"
        return replace(
            self.build, network=trial.network, numbers=trial.numbers, patch=patch, text=text
        )

    def training_of(self, trial: Trial, processes: int = 1) -> VideoTraining:
        """Return the training options of a trial, with batches split to fit in memory."""
        flip = self.training.flip if trial.flip is None else trial.flip
        share = -(-self.training.batch // processes)
        parts = -(-share // (self.at_once or share))
        least = max(1, self.training.batch // processes)  # no part is empty anywhere
        return replace(self.training, flip=flip, accumulate=min(parts, least))


@dataclass(frozen=True, slots=True)
class Study:
    """A research question and the trials that answer it.

    Attributes:
        name: name of the study.
        title: title of the report.
        figure: figure or table of the paper.
        question: question in a sentence.
        found: finding of the paper.
        reading: kind of analysis.
        budgets: budgets by name.
    """

    name: str
    title: str
    figure: str
    question: str
    found: str
    reading: Reading
    budgets: dict[str, Budget]


#: One vector per frame and one token for four frames.
CPU_BUILD = BuildOptions(says="video")
CPU_TRAINING = VideoTraining(
    steps=1_200,
    batch=64,
    rate=2e-3,
    mean_decay=0.998,
    keep=100_000,
    save_every=500,
    validate_every=1_200,
)
CPU_SIZE, CPU_COUNT = 64, 64

PAPER_BUILD = BuildOptions(patch=(1, 2, 2))
PAPER_TRAINING = VideoTraining(
    steps=100_000,
    batch=256,
    rate=1e-4,
    warm_up=1_000,
    mean_decay=0.9999,
    flip=True,
    precision="bfloat16",
    keep=0,
    sampling=50,
    save_every=1_000,
    validate_every=5_000,
)
PAPER_SIZE, PAPER_COUNT = 128, 1_000
#: The paper's autoencoder was trained on web images; without it, a codec of frames is trained.
PAPER_CODEC = CodecTraining(steps=50_000, save_every=1_000)
#: Videos of 2,048 and of 8,192 tokens that fit into 40 GB of GPU memory.
PAPER_AT_ONCE, PAPER_AT_ONCE_256 = 8, 2

SCENARIOS = ("uniform", "collision", "parabola")


def _budgets(cpu: tuple[Trial, ...], paper: tuple[Trial, ...]) -> dict[str, Budget]:
    return {
        "cpu": Budget(cpu, CPU_SIZE, CPU_BUILD, CPU_TRAINING, CPU_COUNT),
        "paper": Budget(
            paper,
            PAPER_SIZE,
            PAPER_BUILD,
            PAPER_TRAINING,
            PAPER_COUNT,
            codec=PAPER_CODEC,
            at_once=PAPER_AT_ONCE,
        ),
    }


def _scaling(
    scenarios: tuple[str, ...], networks: tuple[str, ...], counts: tuple[int, ...]
) -> tuple[Trial, ...]:
    return tuple(
        Trial(
            f"{scenario}-{network}-{count}",
            f"{scenario}, {network}, {count:,} videos",
            (scenario,),
            (("in range", scenario), ("out of range", f"{scenario}:ood")),
            network,
            count,
        )
        for scenario in scenarios
        for network in networks
        for count in counts
    )


def _probes(
    names: tuple[str, ...], network: str, count: int, *, flip: bool | None = None
) -> tuple[Trial, ...]:
    """Return trials that train on the training part of each probe and test on both parts."""
    return tuple(
        Trial(
            name,
            name.replace("-", " "),
            (f"probe:{name}",),
            (("not seen", f"probe:{name}"), ("seen", f"probe:{name}:train")),
            network,
            count,
            flip,
        )
        for name in names
    )


_GAPS = ("velocity-gap-1.25-3.75", "velocity-gap-2-3", "velocity-islands-3")
_ALL_GAPS = (
    *("velocity-gap-1.25-3.75", "velocity-gap-1.5-3.5", "velocity-gap-1.75-3.25"),
    *("velocity-gap-2-3", "velocity-islands-3", "velocity-islands-4"),
)
_CONFLICTS = ("conflict-color-square", "conflict-color-velocity")
_ALL_CONFLICTS = (
    *("conflict-color-square", "conflict-color-size", "conflict-color-velocity"),
    *("conflict-size-velocity", "conflict-size-square", "conflict-velocity-square"),
    *("conflict-color-ring", "control-color-velocity"),
)
_COLLISIONS = ("collision-gap-square", "collision-hull")
_ALL_COLLISIONS = ("collision-gap-square", "collision-gap-rectangles", "collision-hull")
_SLOW = ("memorization", "memorization-flip")
_NUMBERS = (("in range", "collision"), ("out of range", "collision:ood"))


def _conditions(network: str, count: int) -> tuple[Trial, ...]:
    kinds = (
        ("frames", "frames alone"),
        ("numbers", "frames, radii and speeds"),
        ("text", "frames, and the same in words"),
    )
    return tuple(
        Trial(
            name,
            words,
            ("collision",),
            _NUMBERS,
            network,
            count,
            numbers=name == "numbers",
            text=name == "text",
        )
        for name, words in kinds
    )


def _templates(network: str, count: int | None) -> tuple[Trial, ...]:
    return tuple(
        Trial(
            f"templates-{number}",
            f"{number} templates",
            (f"combinatorial:{number}",),
            (
                ("in template", f"combinatorial:{number}:test"),
                ("out of template", "combinatorial:held-out"),
            ),
            network,
            count,
        )
        for number in (6, 30, 60)
    )


_STUDIES = (
    Study(
        "scaling",
        "Do more videos and larger networks help, in range and out of it?",
        "Fig. 3",
        "How does the velocity error change with the size of the network and the number of videos?",
        "in range it falls with both; out of range it stays an order of magnitude larger, whatever "
        "the size",
        "scaling",
        _budgets(
            (
                *_scaling(("uniform",), ("nano", "micro"), (100, 1_000, 10_000)),
                *_scaling(("collision",), ("nano", "micro"), (100, 10_000)),
                *_scaling(("parabola",), ("nano",), (100, 10_000)),
            ),
            _scaling(SCENARIOS, ("S", "B", "L"), (30_000, 300_000, 3_000_000)),
        ),
    ),
    Study(
        "combinatorial",
        "More templates or more of the same",
        "Table 2",
        "Does a model that saw more combinations of objects do better on combinations it never saw?",
        "out of template it does: SSIM .943, .950, .951 and PSNR 25.5, 27.1, 27.3 dB with 6, 30 and 60 "
        "templates; in template nothing changes",
        "templates",
        {
            "cpu": Budget(
                _templates("micro", 1_800),
                CPU_SIZE,
                # The given frame is repeated: looking it up by attention is not learned within minutes.
                replace(CPU_BUILD, patch=(4, 2, 2), condition=1, hold=True),
                replace(CPU_TRAINING, steps=1_000, batch=32, mean_decay=0.99, validate_every=250),
                120,
                CodecTraining(steps=1_200, noise=0.1),
                fvd=False,
            ),
            "paper": Budget(
                _templates("XL", None),
                256,
                replace(PAPER_BUILD, condition=1),
                replace(PAPER_TRAINING, steps=1_000_000),
                600,
                PAPER_CODEC,
                PAPER_AT_ONCE_256,
            ),
        },
    ),
    Study(
        "velocity-gap",
        "A gap in the speeds that were trained",
        "Fig. 5",
        "Does a model that never saw speeds of a band interpolate between the others?",
        "across a wide gap the speed snaps to the nearest trained band; islands in it bring it back",
        "speeds",
        _budgets(_probes(_GAPS, "micro", 5_000), _probes(_ALL_GAPS, "B", 200_000)),
    ),
    Study(
        "conflicts",
        "Attributes in conflict",
        "Figs. 8 and 9",
        "When two attributes of a body contradict all that was trained, which one is kept?",
        "color before size before velocity before shape",
        "kept",
        _budgets(_probes(_CONFLICTS, "micro", 5_000), _probes(_ALL_CONFLICTS, "B", 300_000)),
    ),
    Study(
        "memorization",
        "Fast balls only, with mirror images and without",
        "Fig. 7",
        "Trained on fast balls, does a model continue a slow one, or recall the nearest case?",
        "slow balls are sped up; with mirror images some turn round",
        "speeds",
        # One of the probes has mirrored videos, the other must have none.
        _budgets(
            _probes(_SLOW, "micro", 5_000, flip=False), _probes(_SLOW, "B", 300_000, flip=False)
        ),
    ),
    Study(
        "collision-gap",
        "A hole in the plane of both speeds",
        "Fig. 6",
        "Are collisions right at pairs of speeds that were cut out of the training?",
        "small errors inside the convex hull of what was trained, large ones outside",
        "plane",
        _budgets(_probes(_COLLISIONS, "micro", 10_000), _probes(_ALL_COLLISIONS, "B", 1_400_000)),
    ),
    Study(
        "conditions",
        "Numbers and words beside frames",
        "Fig. 12",
        "Does it help to tell a model radii and speeds, as numbers or in words?",
        "no help in range; out of it slightly worse with numbers, clearly worse with text",
        "conditions",
        _budgets(_conditions("micro", 10_000), _conditions("B", 3_000_000)),
    ),
)

#: All studies by name.
STUDIES: dict[str, Study] = {study.name: study for study in _STUDIES}


def study_of(name: str) -> Study:
    """Return a study by its name."""
    if name not in STUDIES:
        near = get_close_matches(name, STUDIES)
        meant = f"did you mean {' or '.join(near)}? " if near else ""
        raise InputError(f"no study is called {name!r}", remedy=f"{meant}use {', '.join(STUDIES)}")
    return STUDIES[name]
