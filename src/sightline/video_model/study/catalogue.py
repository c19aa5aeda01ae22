"""The studies by name: PhyWorld, table 2, figures 3, 5 to 9 and 12, in miniature and in full.

The `cpu` budget works in moments of 64 px, a token for four frames. The `paper` budget has the paper's
sizes, videos, steps and mirror images (§2.2, §3); it wants GPUs. Without `--codec` it trains a codec of
frames of its own; the paper's way is an image autoencoder that was inflated (`sightline video codec
--kind inflated`).
"""

from __future__ import annotations

from dataclasses import replace
from difflib import get_close_matches

from sightline.errors import InputError
from sightline.video_model.autoencoder.options import CodecTraining
from sightline.video_model.options import BuildOptions, VideoTraining
from sightline.video_model.study.parts import Budget, Study, Trial

#: A vector for each frame and a token for four of them: what a miniature can afford.
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
    bfloat16=True,
    keep=0,
    sampling=50,
    save_every=1_000,
    validate_every=5_000,
)
PAPER_SIZE, PAPER_COUNT = 128, 1_000
#: The paper's autoencoder learnt from pictures of the web; where there is none, a codec of frames does.
PAPER_CODEC = CodecTraining(steps=50_000, save_every=1_000)
#: Videos of 2,048 tokens, and of 8,192, that a GPU of 40 GB has room for.
PAPER_AT_ONCE, PAPER_AT_ONCE_256 = 8, 2

SCENARIOS = ("uniform", "collision", "parabola")


def _budgets(cpu: tuple[Trial, ...], paper: tuple[Trial, ...]) -> dict[str, Budget]:
    return {
        "cpu": Budget(cpu, CPU_SIZE, CPU_BUILD, CPU_TRAINING, CPU_COUNT),
        "paper": Budget(
            *(paper, PAPER_SIZE, PAPER_BUILD, PAPER_TRAINING, PAPER_COUNT),
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
    """Train on each probe's training part; test on its other part, and on what was seen."""
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
_CONFLICTS = ("conflict-colour-square", "conflict-colour-velocity")
_ALL_CONFLICTS = (
    *("conflict-colour-square", "conflict-colour-size", "conflict-colour-velocity"),
    *("conflict-size-velocity", "conflict-size-square", "conflict-velocity-square"),
    *("conflict-colour-ring", "control-colour-velocity"),
)
_COLLISIONS = ("collision-gap-square", "collision-hull")
_ALL_COLLISIONS = ("collision-gap-square", "collision-gap-rectangles", "collision-hull")
_SLOW = ("memorisation", "memorisation-flip")
_NUMBERS = (("in range", "collision"), ("out of range", "collision:ood"))


def _conditions(network: str, count: int) -> tuple[Trial, ...]:
    kinds = (
        ("frames", "frames alone"),
        ("numbers", "frames, radii and speeds"),
        ("text", "frames, and the same in words"),
    )
    return tuple(
        Trial(
            *(name, words, ("collision",), _NUMBERS, network, count),
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
                # The given frame stands beside all others: to look it up is not learnt in minutes.
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
        "colour before size before velocity before shape",
        "kept",
        _budgets(_probes(_CONFLICTS, "micro", 5_000), _probes(_ALL_CONFLICTS, "B", 300_000)),
    ),
    Study(
        "memorisation",
        "Fast balls only, with mirror images and without",
        "Fig. 7",
        "Trained on fast balls, does a model continue a slow one, or recall the nearest case?",
        "slow balls are sped up; with mirror images some turn round",
        "speeds",
        # One of the probes has mirror images, the other must have none.
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
