"""Run a model over a benchmark set. A figure is never silently over fewer pictures than it says."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from sightline.benchmarks.boundary import BOUNDARY_WORDS
from sightline.benchmarks.incomplete import IncompleteError, check_any, check_whole, missing
from sightline.benchmarks.points import accuracy
from sightline.benchmarks.predictors import Predictor
from sightline.benchmarks.protocol import Protocol, UnfitError
from sightline.benchmarks.samples import Benchmark, Item, Pairs
from sightline.benchmarks.scoring import score
from sightline.errors import InputError

__all__ = ["Figures", "IncompleteError", "Report", "Scored", "run", "thinned", "weighted_mean"]

Figures = dict[str, float]


@dataclass(frozen=True, slots=True)
class Scored:
    """Figures of one sample.

    Attributes:
        name: of the sample.
        group: row of the table it counts in.
        figures: by name; NaN where one is not defined.
        weight: how much it counts: 1, or its number of point pairs.
    """

    name: str
    group: str
    figures: Figures
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found.

    Attributes:
        benchmark: the set.
        model: name and checksum of who predicted.
        protocol: how it was scored.
        scored: every sample that was.
        failures: one line for each that could not be.
        left_out: samples the protocol has no use for, such as truth without metres.
        every: only every n-th picture was taken.
    """

    benchmark: Benchmark
    model: str
    protocol: Protocol
    scored: tuple[Scored, ...]
    failures: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    every: int = 1

    @property
    def groups(self) -> dict[str, list[Scored]]:
        """The samples by group, in the order of the set."""
        found: dict[str, list[Scored]] = defaultdict(list)
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
            return weighted_mean([Scored("", "", row) for row in self.rows.values()])
        return weighted_mean(self.scored)

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
            count += f", {len(self.left_out)} without metres left out"
        return count


def weighted_mean(samples: Iterable[Scored]) -> Figures:
    """Average figure by figure over the samples in which it is defined; NaN where in none."""
    sums: dict[str, float] = {}
    weights: dict[str, float] = {}
    for one in samples:
        for name, value in one.figures.items():
            defined = not math.isnan(value)
            sums[name] = sums.get(name, 0.0) + (one.weight * value if defined else 0.0)
            weights[name] = weights.get(name, 0.0) + (one.weight if defined else 0.0)
    return {name: sums[name] / weights[name] if weights[name] else math.nan for name in sums}


def run(
    benchmark: Benchmark,
    folder: Path,
    predictor: Predictor,
    protocol: Protocol | None = None,
    *,
    every: int = 1,
    keep_going: bool = False,
    on_done: Callable[[int, int], None] | None = None,
) -> Report:
    """Score a predictor on a set.

    Args:
        benchmark: the set.
        folder: where it lies.
        predictor: gives the depth maps.
        protocol: how to score; None for the set's own way.
        every: take every n-th picture of each group, for a quick look.
        keep_going: score what can be scored, and say in the report what could not.
        on_done: called with how many samples are done, of how many.

    Raises:
        IncompleteError: pictures are missing (found out before the first is predicted) or damaged
            (after the last), and `keep_going` is off; or there is none at all.
        UnfitError: the protocol cannot judge this kind of prediction.
        InputError: the folder is not in the set's layout, or nothing is left to score.
    """
    protocol = protocol or benchmark.protocol
    listed = benchmark.items(folder)
    chosen = thinned(listed, every)
    absent = missing(chosen)
    failures = [f"{name}: {path} is not there" for name, path in absent.items()]
    check_any(benchmark, folder, listed, failures)
    expected = benchmark.expected if every == 1 else None
    if not keep_going:
        check_whole(benchmark.name, len(chosen), expected, failures)
    scored: list[Scored] = []
    left_out: list[str] = []
    for number, item in enumerate(chosen, 1):
        if item.name not in absent:
            try:
                one = _score(item, predictor, protocol)
            except UnfitError:
                raise
            except InputError as error:
                failures.append(f"{item.name}: {error}")
            else:
                scored += [one] if one is not None else []
                left_out += [item.name] if one is None else []
        if on_done is not None:
            on_done(number, len(chosen))
    if not keep_going:
        check_whole(benchmark.name, len(chosen), expected, failures)
    if not scored:
        why = failures[0] if failures else "no truth in metres"
        raise InputError(f"nothing could be scored ({why})", path=folder)
    found = (tuple(scored), tuple(failures), tuple(left_out))
    return Report(benchmark, predictor.source, protocol, *found, every)


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


def _score(item: Item, predictor: Predictor, protocol: Protocol) -> Scored | None:
    """Read, predict and score; None when the truth has no metres and the protocol needs them."""
    sample = item.load()
    if isinstance(sample, Pairs):
        figures = {"accuracy": accuracy(predictor.predict(item, sample.pixels), sample)}
        return Scored(item.name, item.group, figures, weight=len(sample.nearer))
    if protocol.align == "none" and not sample.metric:
        return None
    found = score(predictor.predict(item, sample.pixels, sample.camera), sample, protocol)
    return Scored(item.name, item.group, asdict(found))
