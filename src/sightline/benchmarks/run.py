"""Score a model on a benchmark set; missing or damaged pictures are always reported."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sightline.benchmarks.bootstrap import (
    Interval,
    Unit,
    bootstrap,
    choose_unit,
    interval,
    layout_of,
)
from sightline.benchmarks.metrics import BOUNDARY_WORDS
from sightline.benchmarks.points import accuracy
from sightline.benchmarks.predictors import Predictor, load_predictor
from sightline.benchmarks.protocol import Protocol, UnfitError
from sightline.benchmarks.samples import (
    Benchmark,
    Item,
    Pairs,
    check_any,
    check_whole,
    missing,
)
from sightline.benchmarks.scoring import score
from sightline.config import ParallelConfig
from sightline.errors import InputError
from sightline.runtime.parallel import WithModel, map_in_order, uses_workers, worker_threads

if TYPE_CHECKING:
    from sightline.depth.estimator import DepthEstimator

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class ItemScore:
    """Figures of one sample.

    Attributes:
        name: of the sample.
        group: row of the table it counts in.
        figures: by name; NaN where one is not defined.
        weight: how much it counts: 1, or its number of point pairs.
        scene: pictures of one scene resemble each other; the group if empty.
    """

    name: str
    group: str
    figures: Figures
    weight: int = 1
    scene: str = ""


@dataclass(frozen=True, slots=True)
class BenchmarkReport:
    """What a run found.

    Attributes:
        benchmark: the set.
        model: name and checksum of who predicted.
        protocol: how it was scored.
        scored: every sample that was.
        failures: one line for each that could not be.
        left_out: samples the protocol has no use for, such as truth without meters.
        every: only every n-th picture was taken.
    """

    benchmark: Benchmark
    model: str
    protocol: Protocol
    scored: tuple[ItemScore, ...]
    failures: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    every: int = 1

    @property
    def groups(self) -> dict[str, list[ItemScore]]:
        """The samples by group, in the order of the set."""
        found: dict[str, list[ItemScore]] = defaultdict(list)
        for one in self.scored:
            found[one.group].append(one)
        return dict(found)

    @property
    def rows(self) -> dict[str, Figures]:
        """The mean figures by group."""
        return {group: weighted_mean(samples) for group, samples in self.groups.items()}

    @property
    def overall(self) -> Figures:
        """The mean over pictures, over pairs, or over groups: as the set has it."""
        if self.benchmark.average == "sets":
            return weighted_mean([ItemScore("", "", row) for row in self.rows.values()])
        return weighted_mean(self.scored)

    @property
    def interval_unit(self) -> Unit:
        """What the intervals are over: scenes (or sets) where there are enough, pictures otherwise."""
        scenes = [one.scene or one.group for one in self.scored]
        groups = [one.group for one in self.scored]
        return choose_unit(scenes, groups, over_sets=self.benchmark.average == "sets")

    def intervals(self, group: str | None = None) -> dict[str, Interval]:
        """Return the 95 % bootstrap interval of each figure, overall or of one group.

        Each is over the samples in which the figure is defined, as the mean itself is.
        """
        chosen = [one for one in self.scored if group is None or one.group == group]
        over_sets = self.benchmark.average == "sets" and group is None
        unit: Unit = "pictures" if group is not None else self.interval_unit
        found: dict[str, Interval] = {}
        for name in self.overall:
            samples = [one for one in chosen if not math.isnan(one.figures.get(name, math.nan))]
            if not samples:
                found[name] = Interval(math.nan, math.nan, math.nan, 0)
                continue
            layout = layout_of(
                [one.group for one in samples],
                [one.scene or one.group for one in samples],
                [one.weight for one in samples],
                unit=unit,
                over_sets=over_sets,
            )
            values = np.array([[one.figures[name]] for one in samples])
            means, deviations, freedom = bootstrap(values, layout)
            found[name] = interval(means[0], deviations[:, 0], freedom)
        return found

    @property
    def line(self) -> str:
        """Everything the figures depend on, on one line."""
        parts = [self.benchmark.name]
        if self.benchmark.average == "pairs":
            parts.append("order of point pairs, ties wrong, every pair counts the same")
        else:
            means = "pictures, then over sets" if self.benchmark.average == "sets" else "pictures"
            parts.append(f"{self.protocol}, mean over {means}")
            if not math.isnan(self.overall["boundary_f1"]):
                parts.append(f"{BOUNDARY_WORDS}, mean over dense truth")
        parts.append(self._count())
        over = "sets" if self.benchmark.average == "sets" else "scenes"
        unit = over if self.interval_unit == "scenes" else "pictures"
        if self.benchmark.average == "pairs":
            unit = "pictures"
        parts.append(f"95 % interval by bootstrap over {unit}")
        parts.append(f"model {self.model}")
        return "; ".join(parts)

    def _count(self) -> str:
        count = f"{len(self.scored):,} pictures"
        if self.benchmark.average == "pairs":
            count += f" with {sum(one.weight for one in self.scored):,} pairs"
        if self.benchmark.expected is not None:
            count += f" of the set's {self.benchmark.expected:,}"
        if self.every > 1:
            count += f" (one in {self.every})"
        if self.failures:
            count += f", {len(self.failures)} could not be scored"
        if self.left_out:
            count += f", {len(self.left_out)} without meters left out"
        return count


def weighted_mean(samples: Iterable[ItemScore]) -> Figures:
    """Average figure by figure over the samples in which it is defined; NaN where in none."""
    sums: dict[str, float] = {}
    weights: dict[str, float] = {}
    for one in samples:
        for name, value in one.figures.items():
            defined = not math.isnan(value)
            sums[name] = sums.get(name, 0.0) + (one.weight * value if defined else 0.0)
            weights[name] = weights.get(name, 0.0) + (one.weight if defined else 0.0)
    return {name: sums[name] / weights[name] if weights[name] else math.nan for name in sums}


def evaluate(
    name: str,
    folder: str | Path,
    model: str | Path | DepthEstimator | Predictor = "default",
    protocol: Protocol | None = None,
    *,
    every: int = 1,
    keep_going: bool = False,
    parallel: ParallelConfig | None = None,
) -> BenchmarkReport:
    """Evaluate a depth model on a benchmark set.

    Args:
        name: name of the set, such as `"nyu"`, `"da2k"` or `"rgbd"` (see `benchmarks.SETS`).
        folder: the set in the layout in which its authors publish it.
        model: a registry name or weight file, an estimator, or any predictor.
        protocol: alignment, caps and crops; None for the set's own.
        every: evaluate every n-th picture of each group.
        keep_going: score the rest if pictures are missing or damaged.
        parallel: where to run. Default: in this process. With workers, the model must be a name, a
            file or a picklable predictor.

    Returns:
        The report: `overall` and `rows` with the metrics, `line` with the protocol.
    """
    from sightline.benchmarks.predictors import ModelPredictor
    from sightline.benchmarks.sets import find
    from sightline.depth.estimator import DepthEstimator

    load = partial(load_predictor, model) if isinstance(model, str | Path) else None
    if isinstance(model, str | Path):
        predictor = load_predictor(model)
    else:
        predictor = ModelPredictor(model) if isinstance(model, DepthEstimator) else model
    return run(
        find(name),
        Path(folder),
        predictor,
        protocol,
        every=every,
        keep_going=keep_going,
        parallel=parallel,
        load=load,
    )


def run(
    benchmark: Benchmark,
    folder: Path,
    predictor: Predictor,
    protocol: Protocol | None = None,
    *,
    every: int = 1,
    keep_going: bool = False,
    on_done: Callable[[int, int], None] | None = None,
    parallel: ParallelConfig | None = None,
    load: Callable[..., Predictor] | None = None,
    threads: int | None = None,
) -> BenchmarkReport:
    """Score a predictor on a set.

    Args:
        benchmark: the set.
        folder: where it lies.
        predictor: gives the depth maps.
        protocol: how to score; None for the set's own way.
        every: take every n-th picture of each group, for a quick look.
        keep_going: score what can be scored, and say in the report what could not.
        on_done: called with how many samples are done, of how many.
        parallel: where to run. Default: in this process.
        load: called with `threads` in every worker, returns the predictor there. Default: the
            predictor itself is sent, which must be picklable.
        threads: CPU threads of all local workers together. Default: one per core.

    Raises:
        IncompleteError: pictures are missing (found out before the first is predicted) or damaged
            (after the last), and `keep_going` is off; or there is none at all.
        UnfitError: the protocol cannot judge this kind of prediction.
        InputError: the folder is not in the set's layout, or nothing is left to score.
    """
    protocol = protocol or benchmark.protocol
    if parallel is not None and parallel.cluster:
        folder = folder.absolute()  # workers may run in another folder
    listed = benchmark.items(folder)
    chosen = thinned(listed, every)
    absent = missing(chosen)
    failures = [f"{name}: {path} is not there" for name, path in absent.items()]
    check_any(benchmark, folder, listed, failures)
    expected = benchmark.expected if every == 1 else None
    if not keep_going:
        check_whole(benchmark.name, len(chosen), expected, failures)
    scored: list[ItemScore] = []
    left_out: list[str] = []
    predicted: list[Item] = []
    there = [item for item in chosen if item.name not in absent]
    parallel = parallel or ParallelConfig()
    scorer: Callable[[Item], ItemScore | None] = partial(_score, predictor, protocol=protocol)
    if load is not None and uses_workers(parallel, len(there)):
        own = partial(load, threads=worker_threads(parallel, len(there), threads))
        scorer = WithModel(own, partial(_score, protocol=protocol))
    answers = map_in_order(scorer, there, parallel)
    with closing(answers):
        for number, answer in enumerate(answers, 1):
            if isinstance(answer.failure, InputError) and not isinstance(
                answer.failure, UnfitError
            ):
                failures.append(f"{answer.item.name}: {answer.failure}")
            elif answer.failure is not None:
                raise answer.failure
            elif answer.result is None:
                left_out.append(answer.item.name)
            else:
                scored.append(answer.result)
                predicted.append(answer.item)
            if on_done is not None:
                on_done(len(absent) + number, len(chosen))
    if not keep_going:
        check_whole(benchmark.name, len(chosen), expected, failures)
    if not scored:
        why = failures[0] if failures else "no truth in meters"
        raise InputError(f"nothing could be scored ({why})", path=folder)
    found = (tuple(scored), tuple(failures), tuple(left_out))
    return BenchmarkReport(benchmark, predictor.source(predicted), protocol, *found, every)


def thinned(items: Sequence[Item], every: int) -> list[Item]:
    """Take every n-th item of each group, the first of each included."""
    if every < 1:
        raise InputError(f"one picture in {every} makes no sense", remedy="give 1 or more")
    seen: dict[str, int] = defaultdict(int)
    kept = []
    for item in items:
        if seen[item.group] % every == 0:
            kept.append(item)
        seen[item.group] += 1
    return kept


def _score(predictor: Predictor, item: Item, protocol: Protocol) -> ItemScore | None:
    """Read, predict and score; None when the truth has no meters and the protocol needs them."""
    sample = item.load()
    if isinstance(sample, Pairs):
        figures = {"accuracy": accuracy(predictor.predict(item, sample.pixels), sample)}
        return ItemScore(item.name, item.group, figures, weight=len(sample.nearer), scene=item.name)
    if protocol.align == "none" and not sample.metric:
        return None
    found = score(predictor.predict(item, sample.pixels, sample.camera), sample, protocol)
    scene = item.name.rpartition("/")[0] or item.group
    return ItemScore(item.name, item.group, asdict(found), scene=scene)
