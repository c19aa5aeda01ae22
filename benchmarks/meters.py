"""How good meters from people are: `python benchmarks/meters.py --work DIR`.

Protocol: rendered rooms, streets and open country (`painted.py`), 448 × 336 px, true lens; depth of
20,000 pixels of the original nearer than 80 m. AbsRel of a scene is the mean of |depth / truth - 1|;
tables give the median over scenes. The depth model has learned from scenes of the same builders (other
seeds). "The best line there is" is the one of least AbsRel by the truth: what the network lacks, no
yardstick can give. The errors of reading people were set by thirty other scenes (`--first 100`).

Paintings are made once and kept in DIR: about half a second each on one core.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from painted import CAP, Painter, Painting, Pool, load
from paper_fit import LAMBDA_CODE, LAMBDA_PRINTED, LossName, Space, fit_paper
from sightline.geometry import align
from sightline.io.atomic import write_text
from sightline.metric.evidence import CONTRAST, Candidates, DepthEvidence, condense
from sightline.metric.metric_fit import MetricFit
from sightline.metric.people.evidence import ground_evidence, shared_sigmas, surface_evidence
from sightline.metric.solver import ScalePrior, fit
from sightline.runtime.parallel import map_inputs

Array = NDArray[np.float64]

COUNTS = (1, 4, 8, 16, 32)
SEEDS = 5
WRONG, WRONG_BY = 0.3, 0.4
FOCAL_SIGMA = 0.01
#: Least inverse depth that a line is read at, in [1/m]: a kilometer off.
LEAST = 1e-3


@dataclass(frozen=True, slots=True)
class Fitted:
    """A line and the disparities it was made for."""

    scale: float
    shift: float
    exact: bool = False
    depth_space: bool = False

    def abs_rel(self, pool: Pool) -> float:
        """Mean of |depth - truth| / truth over the scene."""
        return float(np.mean(np.abs(self.depth(pool) / pool.truth - 1)))

    def depth(self, pool: Pool) -> Array:
        """(N,) meters."""
        d = pool.exact if self.exact else pool.relative
        if self.depth_space:
            return np.clip(self.scale / np.maximum(d, 1e-3) + self.shift, 1e-3, CAP)
        return np.asarray(1 / np.clip(self.scale * d + self.shift, 1 / CAP, 1e3))


Method = Callable[[Pool, Sequence[Painting]], Fitted]


def robust(
    pool: Pool, people: Sequence[Painting], *, weights: bool = True, feet: bool = True
) -> MetricFit:
    """Fit as `sightline metric --painter` does."""
    evidence = []
    for index, one in enumerate(people):
        name = f"person {index}"
        if feet and np.isfinite(one.feet).all():
            disparity, depth = one.feet
            evidence.append(ground_evidence(name, disparity, depth, one.sigma))
        else:
            values = one.line[0] * one.painted + one.line[1]
            evidence.append(surface_evidence(name, values, one.fitted, one.sigma))
    return fit(
        evidence, pool.span, ScalePrior(*CONTRAST, FOCAL_SIGMA, shared_sigmas()), robust=weights
    )


def ours(pool: Pool, people: Sequence[Painting]) -> Fitted:
    """Use the embedded model, fitted bodies, robust weights."""
    found = robust(pool, people)
    return Fitted(found.scale, found.shift)


def unweighted(pool: Pool, people: Sequence[Painting]) -> Fitted:
    """Do the same without robust weights."""
    found = robust(pool, people, weights=False)
    return Fitted(found.scale, found.shift)


def surfaces(pool: Pool, people: Sequence[Painting]) -> Fitted:
    """Do the same by the surfaces of people alone."""
    found = robust(pool, people, feet=False)
    return Fitted(found.scale, found.shift)


def ours_exact(pool: Pool, people: Sequence[Painting]) -> Fitted:
    """Exact relative depth, exact surfaces."""
    evidence = [
        DepthEvidence(
            f"person {index}",
            "person",
            *condense(one.exact_line[0] * one.exact_painted + one.exact_line[1], one.exact),
            0.01,
        )
        for index, one in enumerate(people)
    ]
    found = fit(evidence, pool.exact_span, ScalePrior(*CONTRAST))
    return Fitted(found.scale, found.shift, exact=True)


def paper(
    *,
    exact: bool = False,
    aligned: bool = True,
    space: Space = "disparity",
    bare: bool = False,
    loss: LossName = "silog",
    weight: float = LAMBDA_CODE,
) -> Method:
    """Return the paper's fit over all pixels, in one of its variants."""

    def method(_pool: Pool, people: Sequence[Painting]) -> Fitted:
        values, depths = [], []
        for one in people:
            line = one.exact_line if exact else one.line
            raw = one.exact_painted if exact else one.painted
            d = line[0] * raw + line[1] if aligned else raw
            values.append(1 / np.maximum(d, 1e-3) if space == "depth" else d)
            depths.append((one.bare if bare else one.exact) if exact else one.fitted)
        found = fit_paper(values, depths, space=space, loss=loss, weight=weight)
        return Fitted(found.scale, found.shift, exact=exact, depth_space=space == "depth")

    return method


def robust_line(pool: Pool) -> Fitted:
    """Fit the robust line from the model's disparity to the truth."""
    line = align(pool.relative[None], 1 / pool.truth[None], robust=True, nonnegative=True)
    return Fitted(line.scale, line.shift)


def best_line(pool: Pool, _people: Sequence[Painting]) -> Fitted:
    """Search the line of least AbsRel, by the truth: what no yardstick can beat."""
    some = replace(pool, truth=pool.truth[::10], relative=pool.relative[::10])

    def fitted(logs: Array) -> Fitted:
        line = Candidates.from_logs(np.array([[*logs, 0.0]]), pool.span)
        return Fitted(float(line.scale[0]), float(line.shift[0]))

    starts = [np.log([far, near]) for far in (0.01, 0.05, 0.2) for near in (0.1, 0.3, 1.0)]

    def error(logs: Array) -> float:
        return fitted(logs).abs_rel(some)

    found = (minimize(error, start, method="Nelder-Mead") for start in starts)
    return fitted(min(found, key=lambda one: float(one.fun)).x)


def spoilt(people: Sequence[Painting], rng: np.random.Generator) -> list[Painting]:
    """Make three in ten people 40 % too large or too small for where they stand."""
    wrong = rng.permutation(len(people)) < round(WRONG * len(people))
    factors = rng.choice([1 - WRONG_BY, 1 + WRONG_BY], len(people))
    return [
        replace(one, fitted=one.fitted / factor, feet=one.feet / [1, factor]) if bad else one
        for one, bad, factor in zip(people, wrong, factors, strict=True)
    ]


def median(pools: Sequence[Pool], method: Method, count: int, *, wrong: bool = False) -> float:
    """Median over scenes of AbsRel with the first `count` paintings."""
    errors = []
    for number, pool in enumerate(pools):
        people: Sequence[Painting] = pool.paintings[:count]
        if wrong:
            people = spoilt(people, np.random.default_rng(number))
        errors.append(method(pool, people).abs_rel(pool))
    return float(np.median(errors))


def main_table(pools: Sequence[Pool], count: int) -> list[str]:
    """Compare both fits: exact, real, and with wrong people."""
    rows = [
        f"| {len(pools)} scenes, {count} paintings | aim | ours | the paper's fit |",
        "|---|---:|---:|---:|",
    ]

    def row(label: str, aim: str, one: Method, other: Method, *, wrong: bool = False) -> None:
        figures = (f"{median(pools, m, count, wrong=wrong):.1%}" for m in (one, other))
        rows.append(f"| {label} | {aim} | " + " | ".join(figures) + " |")

    row("exact relative depth, exact surfaces", "≤ 0.5 %", ours_exact, paper(exact=True))
    row("embedded model, fitted bodies", "≤ 12 %", ours, paper())
    row("… 30 % of the people wrong by ± 40 %", "≤ 15 %", ours, paper(), wrong=True)
    rows.append(
        f"| the best line there is, by the truth | | {median(pools, best_line, count):.1%} | |"
    )
    return rows


def kind_table(pools: Sequence[Pool], count: int) -> list[str]:
    """Show each kind of scene for itself."""
    rows = [
        f"| {count} paintings | scenes | ours | the paper's fit | the best line there is |",
        "|---|---:|---:|---:|---:|",
    ]
    for kind in sorted({pool.kind for pool in pools}):
        some = [pool for pool in pools if pool.kind == kind]
        figures = (f"{median(some, method, count):.1%}" for method in (ours, paper(), best_line))
        rows.append(f"| {kind} | {len(some)} | " + " | ".join(figures) + " |")
    return rows


def count_table(pools: Sequence[Pool]) -> list[str]:
    """Error against the number of paintings, and its spread over seeds (the paper's Fig. 5)."""
    rows = [
        f"| paintings ({len(pools)} scenes, {SEEDS} seeds) | ours | spread | paper's fit | spread |",
        "|---:|---:|---:|---:|---:|",
    ]
    most = max(COUNTS)
    for count in COUNTS:
        cells = []
        for method in (ours, paper()):
            errors = np.array(
                [
                    [
                        method(p, p.paintings[k * most : k * most + count]).abs_rel(p)
                        for k in range(SEEDS)
                    ]
                    for p in pools
                ]
            )
            per_seed = np.median(errors, axis=0)
            cells += [f"{per_seed.mean():.1%}", f"± {np.median(errors.std(axis=1, ddof=1)):.1%}"]
        rows.append(f"| {count} | " + " | ".join(cells) + " |")
    return rows


def ablations(pools: Sequence[Pool], count: int) -> list[str]:
    """Show the orders of the paper's Tables 3 to 5, by our own figures."""
    cases: list[tuple[str, Method]] = [
        ("Table 3: line in disparity (the paper's choice)", paper()),
        ("Table 3: line in depth", paper(space="depth")),
        (
            "Table 3: exact disparity, line in disparity, bodies below clothes",
            paper(exact=True, bare=True),
        ),
        ("Table 4: s, t, s_n, t_n (the paper's choice)", paper()),
        ("Table 4: s and t alone", paper(aligned=False)),
        ("Table 5: L1", paper(loss="l1")),
        ("Table 5: L2", paper(loss="l2")),
        ("Table 5: log-MSE", paper(loss="log_mse")),
        ("Table 5: SIlog, λ 0.85 as in the code (the paper's choice)", paper()),
        ("Table 5: SIlog, λ 0.15 as printed", paper(weight=LAMBDA_PRINTED)),
        ("ours, by surfaces alone", surfaces),
        ("ours, without robust weights", unweighted),
        ("ours", ours),
    ]
    rows = [f"| {len(pools)} scenes, {count} paintings | AbsRel |", "|---|---:|"]
    return rows + [f"| {name} | {median(pools, method, count):.1%} |" for name, method in cases]


def coverage(pools: Sequence[Pool]) -> list[str]:
    """How often the truth lies within the error bar: of the scene's size, and of single pixels."""
    rows = [
        "| people | scenes × draws | size within 1σ | 2σ | pixels within 1σ | 2σ | usual σ |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    everything: list[float] = []
    for count in COUNTS:
        z, pixels, sigmas = [], [], []
        for pool in pools:
            draws = min(SEEDS, len(pool.paintings) // count)
            for k in range(draws):
                found = robust(pool, pool.paintings[k * count : (k + 1) * count])
                inverse = np.maximum(found.scale * pool.relative + found.shift, LEAST)
                off = np.log(1 / (inverse * pool.truth))
                own = found.relative_sigma(pool.relative)
                both = np.hypot(own, found.scale * pool.sigma / inverse)
                z.append(float(np.median(off)) / float(np.median(own)))
                pixels.append([float((np.abs(off) <= m * both).mean()) for m in (1, 2)])
                sigmas.append(float(np.median(own)))
        everything += z
        one, two = np.mean(pixels, axis=0)
        rows.append(
            f"| {count} | {len(z)} | {_inside(z, 1)} | {_inside(z, 2)} | {one:.0%} | {two:.0%} "
            f"| {np.median(sigmas):.1%} |"
        )
    rows.append(
        f"| all | {len(everything)} | {_inside(everything, 1)} | {_inside(everything, 2)} | | | |"
    )
    return rows


def readings(pools: Sequence[Pool]) -> str:
    """Say how far the model's disparity of people, and at their feet, lies beside the scene's line."""
    people, feet = [], []
    for pool in pools:
        line = robust_line(pool)

        def off(d: float, depth: float, line: Fitted = line) -> float:
            return float(-np.log(max(line.scale * d + line.shift, LEAST) * depth))

        people.append(
            [
                off(float(np.median(one.line[0] * one.painted + one.line[1])), np.median(one.exact))
                for one in pool.paintings
            ]
        )
        standing = [one for one in pool.paintings if np.isfinite(one.feet).all()]
        feet.append([off(one.feet[0], one.ground) for one in standing])
    return (
        f"ln(distance by the scene's line / true), {len(pools)} scenes: "
        f"surfaces {_summary(people)}; ground at feet {_summary([f for f in feet if f])}"
    )


def _summary(scenes: Sequence[Sequence[float]]) -> str:
    """Middle of the scenes' middles, their spread, and the usual spread within a scene."""
    low, middle, high = np.array([np.quantile(one, [0.16, 0.5, 0.84]) for one in scenes]).T
    left, right = np.quantile(middle, [0.16, 0.84])
    return (
        f"{np.median(middle):+.2f} ± {(right - left) / 2:.2f}, "
        f"within a scene ± {np.median(high - low) / 2:.2f}"
    )


def _inside(z: Sequence[float], sigmas: float) -> str:
    return f"{float((np.abs(z) <= sigmas).mean()):.0%}"


def main() -> None:
    """Paint what is missing, fit, print the tables, and write them if asked."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--work", type=Path, required=True, help="folder that keeps paintings")
    parser.add_argument("--model", default="small")
    parser.add_argument("--first", type=int, default=0, help="number of the first scene")
    parser.add_argument("--scenes", type=int, default=30)
    parser.add_argument("--often", type=int, default=3, help="scenes with paintings for all seeds")
    parser.add_argument("--paintings", type=int, default=16, help="of the main table")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--write", type=Path, help="Markdown file to write the tables to")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    many = SEEDS * max(COUNTS)
    jobs = [
        (options.first + n, many if n < options.often else max(COUNTS))
        for n in range(options.scenes)
    ]
    painter = Painter(options.work, options.model)
    paths: dict[tuple[int, int], Path] = {}
    for answer in map_inputs(painter, jobs, workers=options.workers):
        if answer.failure is not None or answer.result is None:
            print(f"left out: {answer.failure}", flush=True)
            continue
        paths[answer.item] = answer.result
        print(f"scene {answer.item[0]}: {len(paths)} of {len(jobs)}", flush=True)
    pools = [load(paths[job]) for job in jobs if job in paths]
    often = [pool for pool in pools if len(pool.paintings) == many]
    parts = [main_table(pools, options.paintings), kind_table(pools, options.paintings)]
    if often:
        parts.append(count_table(often))
    parts += [coverage(pools), ablations(pools, 4)]
    text = "\n\n".join("\n".join(part) for part in parts)
    print(text)
    print(readings(pools))
    if options.write:
        write_text(options.write, text + "\n")


if __name__ == "__main__":
    main()
