"""Settings of a data set, and the samples that follow from them.

Sample k depends on the settings and k alone, so blocks can be made in any order and in any process.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from sightline.errors import InputError
from sightline.physics.rendering import check_size
from sightline.physics.types import Samples
from sightline.version import __version__

#: Videos per block, the unit of work; eight blocks make a shard of the released layout.
BLOCK = 125
#: Prefix of the name of a probe.
PROBE = "probe:"
#: Scenario of combinatorial worlds, whose settings are a `CombinatorialSpec`.
COMBINATORIAL = "combinatorial"
#: Video codecs: lossless run-length coding, or mp4 of standard or lossless quality.
CODECS = ("rle", "standard", "lossless")
Part = Literal["train", "test"]
#: Largest data set, in videos.
MOST = 100_000_000


@dataclass(frozen=True, slots=True)
class DataSpec:
    """Settings of a data set of moving balls.

    Attributes:
        scenario: `uniform`, `collision`, `parabola`, or `probe:NAME`.
        count: number of videos.
        split: `id`, `ood`, one of its levels, `xl` or `cross`.
        preset: ranges of the released `code` or of the `paper`.
        mode: `exact` (closed form) or `box2d` (the reference integrator).
        level: one of the training grids 30K, 300K, 3M instead of a split.
        part: of a probe: `train` or `test`.
        seed: random seed.
        shard_seed: repeat start positions every 1000 samples, as the reference does.
        size: frame side in [px].
        video: codec: `rle` (lossless run-length coding), or mp4 of `standard` or `lossless` quality.
    """

    scenario: str
    count: int
    split: str = "id"
    preset: str = "code"
    mode: str = "exact"
    level: str | None = None
    part: str | None = None
    seed: int = 0
    shard_seed: bool = False
    size: int = 128
    video: str = "rle"

    def __post_init__(self) -> None:
        check_scenario(self.scenario)
        if self.scenario == COMBINATORIAL:
            raise InputError("combinatorial worlds need a `CombinatorialSpec`")
        check_size(self.size)
        if not 1 <= self.count <= MOST:
            raise InputError(f"a data set has 1 to {MOST:,} videos, got {self.count}")
        probe = self.scenario.startswith(PROBE)
        if probe and self.part is None:
            raise InputError(
                f"{self.scenario} has two parts", remedy="add --part train or --part test"
            )
        if not probe and self.part is not None:
            raise InputError(
                f"{self.scenario} has no parts",
                remedy=f"leave out --part, or ask for {PROBE}NAME",
            )
        chosen = (self.level, self.split, self.preset, self.mode, self.shard_seed)
        if probe and chosen != (None, "id", "code", "exact", False):
            raise InputError(
                "a probe defines its own data",
                remedy="leave out --level, --split, --preset, --mode and --shard-seed",
            )
        if self.level is not None and self.split != "id":
            raise InputError(
                "the training grids are in distribution", remedy="leave out --level or --split"
            )
        check_video(self.video, self.size, CODECS)

    def record(self) -> dict[str, Any]:
        """Return the settings as they are stored in files."""
        return {**asdict(self), "sightline": __version__}


def check_scenario(scenario: str) -> None:
    """Refuse an unknown scenario or probe."""
    from sightline.physics.worlds.splits import SCENARIOS

    if scenario.startswith(PROBE):
        from sightline.physics.probes import probe_of

        probe_of(scenario.removeprefix(PROBE))
    elif scenario not in (*SCENARIOS, COMBINATORIAL):
        raise InputError(
            f"no scenario is called {scenario!r}",
            remedy=f"use {', '.join(SCENARIOS)}, {COMBINATORIAL}, or {PROBE}NAME with a name from "
            "sightline physics probes",
        )


def check_video(video: str, size: int, known: tuple[str, ...]) -> None:
    """Refuse an unknown codec, or a frame size that it cannot store.

    Args:
        video: the codec.
        size: frame side in [px].
        known: codecs to choose from.
    """
    if video not in known:
        raise InputError(f"no quality is called {video!r}", remedy=f"use {', '.join(known)}")
    if video == "standard" and size % 2:
        raise InputError(
            f"an mp4 of standard quality has an even size, got {size}",
            remedy="choose another --size, or --quality lossless",
        )


def draw(spec: DataSpec, start: int, count: int) -> Samples:
    """Return samples `start` to `start + count` of a data set."""
    if spec.scenario.startswith(PROBE):
        from sightline.physics.probes import make_probe

        name, part = spec.scenario.removeprefix(PROBE), cast(Part, spec.part)
        return make_probe(name, part, count, seed=spec.seed, start=start)
    from sightline.physics.worlds.simulation import grid, sample

    if spec.level is not None:
        samples = grid(
            spec.scenario,
            spec.level,
            count,
            preset=spec.preset,
            mode=spec.mode,
            seed=spec.seed,
            start=start,
            shard_seed=spec.shard_seed,
        )
        if len(samples) < count:
            raise InputError(
                f"{spec.scenario} {spec.level} has fewer than {start + count:,} samples",
                remedy="leave out --count for all of them",
            )
        return samples
    return sample(
        spec.scenario,
        count,
        split=spec.split,
        preset=spec.preset,
        mode=spec.mode,
        seed=spec.seed,
        start=start,
        shard_seed=spec.shard_seed,
    )


def full_count(
    scenario: str,
    *,
    split: str = "id",
    preset: str = "code",
    level: str | None = None,
    part: str | None = None,
    seed: int = 0,
    shard_seed: bool = False,
) -> int:
    """Return the default number of videos: all of a grid; for a split or probe, as in the paper."""
    if scenario.startswith(PROBE):
        from sightline.physics.probes import probe_of

        probe = probe_of(scenario.removeprefix(PROBE))
        return probe.train_count if part == "train" else probe.test_count
    from sightline.physics.worlds.simulation import training_size
    from sightline.physics.worlds.splits import eval_size

    if level is not None:
        return training_size(scenario, level, preset=preset, seed=seed, shard_seed=shard_seed)
    return eval_size(scenario, split)
