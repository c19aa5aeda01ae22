"""Which videos: everything that a data set depends on, and how its samples are drawn.

Sample k follows from these settings and k alone, so blocks can be made in any order and anywhere.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal, cast

from sightline import __version__
from sightline.errors import InputError
from sightline.physics.render import check_size
from sightline.physics.types import Samples

#: Videos of a block: what a worker makes at a time. A shard of the reference's is eight of them.
BLOCK = 125
#: Before the name of a probe.
PROBE = "probe:"
#: Scenario of worlds with objects of many kinds, which have a spec of their own (`combinatorial.spec`).
COMBINATORIAL = "combinatorial"
#: How pixels are kept: as runs in `.slv`, or as mp4 of one quality or the other.
VIDEOS = ("runs", "standard", "lossless")
Part = Literal["train", "test"]
#: More videos than this are a slip of the finger.
MOST = 100_000_000


@dataclass(frozen=True, slots=True)
class DataSpec:
    """What a data set holds.

    Attributes:
        scenario: `uniform`, `collision`, `parabola`, or `probe:NAME`.
        count: how many videos.
        split: `id`, `ood`, one of its levels, `xl` or `cross`.
        preset: ranges of the released `code` or of the `paper`.
        mode: `exact` (closed form) or `box2d` (the reference integrator).
        level: one of the training grids 30K, 300K, 3M instead of a split.
        part: of a probe: `train` or `test`.
        seed: of all random choices.
        shard_seed: repeat start positions every 1000 samples, as the reference does.
        size: width and height in [px].
        video: how pixels are kept: `runs` (lossless), or mp4 of `standard` or `lossless` quality.
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
    video: str = "runs"

    def __post_init__(self) -> None:
        check_scenario(self.scenario)
        if self.scenario == COMBINATORIAL:
            raise InputError("combinatorial worlds have a `CombinatorialSpec`")
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
                "a probe says itself what it holds",
                remedy="leave out --level, --split, --preset, --mode and --shard-seed",
            )
        if self.level is not None and self.split != "id":
            raise InputError(
                "the training grids are in distribution", remedy="leave out --level or --split"
            )
        check_video(self.video, self.size, VIDEOS)

    @property
    def blocks(self) -> int:
        """How many blocks there are."""
        return -(-self.count // BLOCK)

    def record(self) -> dict[str, Any]:
        """Return what files say of how they were made."""
        return {**asdict(self), "sightline": __version__}


def check_scenario(scenario: str) -> None:
    """Refuse a scenario or a probe that there is not."""
    from sightline.physics.worlds.ranges import SCENARIOS

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
    """Refuse a way of keeping pixels that is not known, or that has no room for this size.

    Args:
        video: how pixels are kept.
        size: width and height in [px].
        known: ways that there are.
    """
    if video not in known:
        raise InputError(f"no quality is called {video!r}", remedy=f"use {', '.join(known)}")
    if video == "standard" and size % 2:
        raise InputError(
            f"an mp4 of standard quality has an even size, got {size}",
            remedy="choose another --size, or --quality lossless",
        )


def draw(spec: DataSpec, start: int, count: int) -> Samples:
    """Make samples `start` to `start + count` of a data set: the one place that knows all worlds."""
    if spec.scenario.startswith(PROBE):
        from sightline.physics.probes import make_probe

        name, part = spec.scenario.removeprefix(PROBE), cast(Part, spec.part)
        return make_probe(name, part, count, seed=spec.seed, start=start)
    from sightline.physics.worlds.make import grid, sample

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
    """Return how many videos the whole has: all of a grid; of a split or probe as in the paper."""
    if scenario.startswith(PROBE):
        from sightline.physics.probes import probe_of

        probe = probe_of(scenario.removeprefix(PROBE))
        return probe.train_count if part == "train" else probe.test_count
    from sightline.physics.worlds.make import training_size
    from sightline.physics.worlds.ranges import eval_size

    if level is not None:
        return training_size(scenario, level, preset=preset, seed=seed, shard_seed=shard_seed)
    return eval_size(scenario, split)
