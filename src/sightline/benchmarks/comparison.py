"""Compare depth models on the same pictures, under every common protocol, with paired intervals.

Each model predicts each picture once; the same map is then scored under all protocols, so a reader sees
how much of a difference is protocol. A picture counts only if every model could be scored on it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.benchmarks import metrics
from sightline.benchmarks.bootstrap import (
    MIN_SCENES,
    Interval,
    Unit,
    bootstrap,
    choose_unit,
    interval,
    layout_of,
)
from sightline.benchmarks.points import accuracy
from sightline.benchmarks.predictors import KINDS, Numbers, Predictor, load_predictor
from sightline.benchmarks.protocol import Align, Protocol, Space, UnfitError, counted
from sightline.benchmarks.run import thinned
from sightline.benchmarks.samples import (
    Benchmark,
    Item,
    Pairs,
    check_any,
    check_whole,
    missing,
    scene_of,
)
from sightline.benchmarks.scoring import predicted_disparity, to_truth
from sightline.benchmarks.sets import detect, find
from sightline.errors import InputError
from sightline.io.rgbd import Truth
from sightline.types import DepthMap, Kind

#: Name, alignment, space of errors, and who scores so.
PROTOCOLS: tuple[tuple[str, Align, Space, str], ...] = (
    ("disparity", "disparity", "depth", "MiDaS, most reports on Depth Anything"),
    ("disparity-space", "disparity", "disparity", "Depth Anything V2 as its authors state"),
    ("depth", "depth", "depth", "Marigold"),
    ("log", "log", "depth", "log least squares"),
    ("moge-affine", "moge-affine", "depth", "MoGe, affine-invariant depth"),
    ("moge-scale", "moge-scale", "depth", "MoGe, scale-invariant depth"),
    ("median", "median", "depth", "median scaling, KITTI papers"),
    ("metric", "none", "depth", "metric models, Metric from Human"),
)

#: Protocols without alignment: rank correlation of dense truth, order of point pairs.
RANK, ORDER = "rank", "order"

#: Figure → whether larger is better.
LARGER_IS_BETTER = {"abs_rel": False, "delta1": True, "spearman": True, "accuracy": True}

#: Protocols that fit a relative map otherwise than a metric one.
FIT_BY_KIND = ("depth", "log", "moge-affine")

#: Pictures whose figures differ by less are ties.
TIE = 0.005

#: Median rank correlation below which maps are taken to run the wrong way.
INVERTED = -0.5

#: (protocol, figure)
Key = tuple[str, str]
Predictors = Mapping[str, Predictor]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Model `a` against model `b` by one figure under one protocol.

    Attributes:
        a: name of the first model.
        b: name of the second.
        pictures: difference a − b with its interval over pictures.
        scenes: the same over scenes.
        wins: pictures on which `a` is better by more than `TIE`.
        losses: on which `b` is.
        ties: the others.
        verdict: the better model, or "" if the interval of `unit` includes zero.
        unit: what the verdict is about.
    """

    a: str
    b: str
    pictures: Interval
    scenes: Interval
    wins: int
    losses: int
    ties: int
    verdict: str
    unit: Unit


@dataclass(frozen=True, slots=True)
class DuelReport:
    """Figures of several models on one set.

    Attributes:
        benchmark: the set.
        models: names.
        sources: name and checksum of each.
        protocols: name → what was done, in words.
        pictures: scored items, all by every model.
        values: (protocol, figure) → (pictures, models); NaN where the protocol cannot judge a map.
        weights: of each picture: 1, or its number of point pairs.
        unfit: lines that say which protocol cannot judge which model.
        failures: one line for each picture that a model could not be scored on.
        notes: what else a reader should know: maps of another size, pixels without an answer.
        every: only every n-th picture was taken.
    """

    benchmark: Benchmark
    models: tuple[str, ...]
    sources: tuple[str, ...]
    protocols: Mapping[str, str]
    pictures: tuple[Item, ...]
    values: Mapping[Key, NDArray[np.float64]]
    weights: tuple[int, ...]
    unfit: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    every: int = 1

    @property
    def unit(self) -> Unit:
        """What the verdicts are about: scenes where there are enough, pictures otherwise."""
        return choose_unit(*self._names(), over_sets=self._over_sets)

    def standings(self, key: Key) -> dict[str, Interval]:
        """Return each model's mean with its interval, over what `unit` says."""
        values, judged = self._judged(key)
        if not judged:
            return {}
        means, deviations, freedom = self._draw(values[:, judged], self.unit)
        return {
            self.models[model]: interval(means[column], deviations[:, column], freedom)
            for column, model in enumerate(judged)
        }

    def comparisons(self, key: Key) -> list[Comparison]:
        """Compare every pair of models that the protocol can judge."""
        values, judged = self._judged(key)
        if len(judged) < 2:
            return []
        draws = {unit: self._draw(values[:, judged], unit) for unit in ("pictures", "scenes")}
        sign = 1 if LARGER_IS_BETTER[key[1]] else -1
        found = []
        for i, j in combinations(range(len(judged)), 2):
            ends = {
                unit: interval(means[i] - means[j], spread[:, i] - spread[:, j], freedom)
                for unit, (means, spread, freedom) in draws.items()
            }
            gain = sign * (values[:, judged[i]] - values[:, judged[j]])
            a, b = self.models[judged[i]], self.models[judged[j]]
            decisive = ends[self.unit]
            better = a if sign * decisive.value > 0 else b
            wins, losses = int((gain > TIE).sum()), int((gain < -TIE).sum())
            found.append(
                Comparison(
                    a,
                    b,
                    ends["pictures"],
                    ends["scenes"],
                    wins,
                    losses,
                    len(gain) - wins - losses,
                    better if decisive.excludes_zero else "",
                    self.unit,
                )
            )
        return found

    def worst(self, key: Key, model: str, count: int = 3) -> list[int]:
        """Return the pictures on which a model is farthest behind the best of the others."""
        column = self.models.index(model)
        sign = 1 if LARGER_IS_BETTER[key[1]] else -1
        gain = sign * self.values[key]
        others = np.delete(gain, column, axis=1)
        with np.errstate(all="ignore"):
            best = np.max(np.where(np.isnan(others), -np.inf, others), axis=1)
        behind = best - gain[:, column]
        order = np.argsort(-np.where(np.isfinite(behind), behind, -np.inf), kind="stable")
        return [int(row) for row in order[:count] if behind[row] > TIE]

    @property
    def line(self) -> str:
        """Everything the figures depend on besides the protocol, on one line."""
        mean = {"sets": "pictures, then over sets", "pairs": "point pairs"}
        parts = [self.benchmark.name, f"{len(self.pictures):,} pictures"]
        if self.every > 1:
            parts[-1] += f" (one in {self.every})"
        if self.failures:
            parts[-1] += f", {len(self.failures)} could not be scored"
        parts.append(f"mean over {mean.get(self.benchmark.average, 'pictures')}")
        parts.append(f"95 % intervals by a paired bootstrap over {self._unit_words()}")
        parts.append("models " + ", ".join(self.sources))
        return "; ".join(parts)

    def _unit_words(self) -> str:
        if self.unit == "pictures":
            few = f" (fewer than {MIN_SCENES} scenes: says nothing about other scenes)"
            return "pictures" + few
        groups, scenes = self._names()[1], self._names()[0]
        return f"{len(set(groups))} sets" if self._over_sets else f"{len(set(scenes))} scenes"

    @property
    def _over_sets(self) -> bool:
        return self.benchmark.average == "sets"

    def _names(self) -> tuple[list[str], list[str]]:
        scenes = [scene_of(self.benchmark, item) for item in self.pictures]
        return scenes, [item.group for item in self.pictures]

    def _judged(self, key: Key) -> tuple[NDArray[np.float64], list[int]]:
        """Return the figures and the columns without NaN."""
        values = self.values[key]
        return values, [int(m) for m in np.flatnonzero(np.isfinite(values).all(axis=0))]

    def _draw(
        self, values: NDArray[np.float64], unit: Unit
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
        scenes, groups = self._names()
        over = self._over_sets
        return bootstrap(values, layout_of(groups, scenes, self.weights, unit=unit, over_sets=over))


def duel(
    models: Sequence[str | Path] | Predictors,
    folder: str | Path,
    *,
    name: str | None = None,
    protocols: Sequence[str] = (),
    every: int = 1,
    keep_going: bool = False,
    threads: int | None = None,
    on_done: Callable[[int, int], None] | None = None,
) -> DuelReport:
    """Compare models on one set.

    Args:
        models: at least two: registry names, weight files, hf:REPO or folders of maps, each with
            `@depth` or `@disparity` behind it if its numbers do not say what they are; or predictors by
            name.
        folder: the set.
        name: of the set; None to tell by the files in the folder.
        protocols: names of `PROTOCOLS`; all if empty.
        every: take every n-th picture of each group.
        keep_going: compare on the rest if pictures cannot be scored.
        threads: CPU threads of each network.
        on_done: called with how many pictures are done, of how many.

    Returns:
        The report: `standings`, `comparisons` and `worst` by protocol and figure.
    """
    folder = Path(folder)
    benchmark = find(name) if name else detect(folder)
    loaded = models if isinstance(models, Mapping) else load_contenders(models, threads)
    if len(loaded) < 2:
        raise InputError("a duel needs two models", remedy="name another model or folder of maps")
    chosen = choose_protocols(benchmark, protocols)
    items = thinned(benchmark.items(folder), every)
    absent = missing(items)
    failures = [f"{item}: {path} is not there" for item, path in absent.items()]
    check_any(benchmark, folder, items, failures)
    if not keep_going:
        check_whole(benchmark.name, len(items), None, failures)
    scorer = _Scorer(loaded, chosen, over_sets=benchmark.average == "sets")
    for number, item in enumerate(items, 1):
        if item.name not in absent:
            scorer.add(item)
        if on_done is not None:
            on_done(number, len(items))
    failures += scorer.failures
    scorer.check_directions()
    if not keep_going:
        check_whole(benchmark.name, len(items), None, failures)
    if not scorer.items:
        raise InputError(f"nothing could be scored ({failures[0]})", path=folder)
    words = {key: f"{way}; {who}" if way else who for key, (way, who) in chosen.items()}
    return DuelReport(
        benchmark,
        tuple(loaded),
        tuple(predictor.source(scorer.items) for predictor in loaded.values()),
        {name: words[name] for name in words},
        tuple(scorer.items),
        scorer.table(),
        tuple(scorer.weights),
        tuple(sorted(scorer.unfit)),
        tuple(failures),
        tuple(scorer.notes()),
        every,
    )


def choose_protocols(
    benchmark: Benchmark, names: Sequence[str] = ()
) -> dict[str, tuple[Protocol | None, str]]:
    """Return protocol and description by name; crop and range are those of the set."""
    order: dict[str, tuple[Protocol | None, str]] = {
        ORDER: (None, "order of point pairs, ties wrong"),
        RANK: (None, "rank correlation with true disparity, nothing fitted"),
    }
    if benchmark.average == "pairs":
        return {ORDER: order[ORDER]}
    known = {
        key: (replace(benchmark.protocol, align=align, space=space), who)
        for key, align, space, who in PROTOCOLS
    }
    everything: dict[str, tuple[Protocol | None, str]] = {**known, RANK: order[RANK]}
    for name in names:
        if name not in everything:
            raise InputError(
                f"there is no protocol {name!r}", remedy=f"choose from {', '.join(everything)}"
            )
    return {name: everything[name] for name in names or everything}


def load_contenders(models: Sequence[str | Path], threads: int | None = None) -> Predictors:
    """Load each model under a unique name."""
    found: dict[str, Predictor] = {}
    for model in models:
        where, numbers = _split(str(model))
        name = Path(where).name if Path(where).exists() else where
        if name in found:
            raise InputError(f"{name!r} is there twice", remedy="give two different models")
        if Path(where).is_dir():
            found[name] = load_predictor(predictions=Path(where), numbers=numbers)
        else:
            found[name] = load_predictor(where, numbers=numbers, threads=threads)
    return found


def _split(model: str) -> tuple[str, Numbers | None]:
    where, _, kind = model.rpartition("@")
    for numbers in KINDS:
        if where and kind == numbers:
            return where, numbers
    return model, None


class _Scorer:
    """Collects figures picture by picture."""

    def __init__(
        self,
        models: Predictors,
        protocols: Mapping[str, tuple[Protocol | None, str]],
        *,
        over_sets: bool,
    ) -> None:
        self._models, self._protocols, self._over_sets = models, protocols, over_sets
        self.items: list[Item] = []
        self.weights: list[int] = []
        self.rows: list[dict[Key, list[float]]] = []
        self.failures: list[str] = []
        self.unfit: set[str] = set()
        self._sizes: dict[str, list[str]] = {name: [] for name in models}
        self._holes: dict[str, list[str]] = {name: [] for name in models}
        self._ranks: dict[str, list[float]] = {name: [] for name in models}
        self._relative: dict[str, bool] = {}

    def add(self, item: Item) -> None:
        """Score every model on one picture; keep it only if all of them could be scored."""
        model = ""
        row: dict[Key, list[float]] = {}
        try:
            sample = item.load()
            for model, predictor in self._models.items():
                figures = self._figures(model, predictor, item, sample)
                for key, value in figures.items():
                    row.setdefault(key, []).append(value)
        except InputError as error:
            self.failures.append(f"{item.name}{f' by {model}' if model else ''}: {error}")
            return
        self.items.append(item)
        self.weights.append(len(sample.nearer) if isinstance(sample, Pairs) else 1)
        self.rows.append(row)

    def _figures(
        self, model: str, predictor: Predictor, item: Item, sample: Truth | Pairs
    ) -> dict[Key, float]:
        camera = sample.camera if isinstance(sample, Truth) else None
        depth = predictor.predict(item, sample.pixels, camera)
        self._inspect(model, item, depth, sample.pixels.shape[:2])
        if isinstance(sample, Pairs):
            return {(ORDER, "accuracy"): accuracy(depth, sample)}
        return self._dense(model, depth, sample)

    def _dense(self, model: str, depth: DepthMap, truth: Truth) -> dict[Key, float]:
        disparity = predicted_disparity(depth, truth.disparity.shape)
        target = truth.disparity.astype(np.float64)
        figures: dict[Key, float] = {}
        known = truth.known & (target > 0)
        if not known.any():
            raise InputError("no pixel of known depth")
        rank = metrics.spearman(disparity[known], target[known])
        self._ranks[model].append(rank)
        for name, (protocol, _) in self._protocols.items():
            if protocol is None:
                figures[name, "spearman"] = rank
                continue
            known = counted(truth.disparity, truth.known, protocol)
            if not known.any():
                raise InputError("no pixel of known depth within crop and range")
            errors = (math.nan, math.nan)
            if protocol.align == "none" and not truth.metric:
                self.unfit.add(f"{name}: some truth has no unit")
            else:
                try:
                    aligned = to_truth(disparity, target, known, protocol, depth.kind)
                    p, t = aligned[known], target[known]
                    if protocol.space == "depth":
                        p, t = 1 / p, 1 / t
                    errors = (metrics.abs_rel(p, t), metrics.delta(p, t))
                except UnfitError:
                    self.unfit.add(f"{name}: {model} has an unknown shift")
            figures[name, "abs_rel"], figures[name, "delta1"] = errors
        return figures

    def _inspect(self, model: str, item: Item, depth: DepthMap, size: tuple[int, ...]) -> None:
        """Refuse a map without an answer; remember its kind, holes and another size."""
        if not depth.valid.any():
            raise InputError("the map is empty: every value is NaN, infinite or not positive")
        self._relative[model] = depth.kind is Kind.RELATIVE_DISPARITY
        if not depth.valid.all():
            self._holes[model].append(item.name)
        if depth.values.shape != size:
            self._sizes[model].append(f"{item.name} {depth.width}×{depth.height}")

    def check_directions(self) -> None:
        """Refuse maps that run the wrong way: disparity declared as depth, or the reverse."""
        for model, ranks in self._ranks.items():
            if ranks and float(np.median(ranks)) < INVERTED:
                raise InputError(
                    f"the maps of {model} run the wrong way (median rank correlation with the truth "
                    f"{float(np.median(ranks)):.2f} over {len(ranks)} pictures): disparity was given "
                    "as depth, or depth as disparity",
                    remedy=f"write {model}@disparity or {model}@depth, or save them with their kind",
                )

    def notes(self) -> list[str]:
        """Return a line for each oddity of a model's maps."""
        lines = self._kinds()
        for model, names in self._sizes.items():
            if names:
                lines.append(
                    f"{model}: {len(names)} maps of another size than the picture "
                    f"(such as {names[0]}), resized bilinearly in disparity"
                )
        for model, names in self._holes.items():
            if names:
                lines.append(
                    f"{model}: {len(names)} maps with pixels without an answer (such as {names[0]}), "
                    "counted as infinitely far"
                )
        if len(self.items) == 1:
            lines.append("one picture: no interval is possible")
        counts = Counter(item.group for item in self.items)
        single = [group for group, count in counts.items() if count == 1]
        if self._over_sets and single and len(counts) > 1:
            lines.append(
                f"intervals over pictures hold the sets fixed; {len(single)} sets have one picture "
                f"({', '.join(single)}) and add no width to them"
            )
        return lines

    def _kinds(self) -> list[str]:
        """Return a warning if relative and metric models meet under protocols that treat them apart."""
        unlike = [name for name in self._protocols if name in FIT_BY_KIND]
        relative = [model for model, one in self._relative.items() if one]
        metric = [model for model, one in self._relative.items() if not one]
        if not (unlike and relative and metric):
            return []
        return [
            f"do not compare relative models ({', '.join(relative)}) with metric ones "
            f"({', '.join(metric)}) under {', '.join(unlike)}: the two kinds are not fitted alike; "
            f"use disparity or {RANK}"
        ]

    def table(self) -> dict[Key, NDArray[np.float64]]:
        """Return (pictures, models) by protocol and figure, those that judge at least one model."""
        keys = self.rows[0]
        found = {key: np.array([row[key] for row in self.rows], np.float64) for key in keys}
        return {key: v for key, v in found.items() if np.isfinite(v).all(axis=0).any()}
