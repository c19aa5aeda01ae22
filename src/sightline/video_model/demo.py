"""`sightline video demo`: continuations beside true videos, in and out of range, with law errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from sightline.io.atomic import make_folder, write_bytes
from sightline.physics.datasets.mp4 import encode
from sightline.physics.worlds.simulation import sample
from sightline.reports.templating import check_ours
from sightline.video_model.autoencoders.floor import reconstruction_floor
from sightline.video_model.page import FilmStripFigure, Section, make_film, side_by_side, write_page
from sightline.video_model.pipeline import VideoDiffusion, load
from sightline.video_model.scoring import (
    MEAN_VELOCITY,
    VELOCITY,
    ScoredVideo,
    generated_speeds,
    mean_of,
    score_model,
    spec_of,
    values_of,
)

WORLDS = {"uniform": "uniform motion", "collision": "collision", "parabola": "parabola"}
RANGES = {"id": "in range", "ood": "out of range"}

#: Seed of the demo's worlds, which no training used.
SEED = 2_024

#: Magnification of the films.
_LARGER = 4

Results = dict[tuple[str, str], list[ScoredVideo]]


def run_demo(
    out: Path, name: str, count: int, *, report: Callable[[str], None] = print
) -> list[str]:
    """Run the demo and return its summary as lines.

    Args:
        out: folder for `index.html` and the films.
        name: name or file of the model.
        count: videos of each world and range.
        report: called with a progress line.

    Raises:
        InputError: the model cannot be loaded, or the folder holds a page of another program.
    """
    begin = time.monotonic()
    page = out / "index.html"
    make_folder(out)
    check_ours(page)
    model = load(name)
    results: Results = {}
    for world, words in WORLDS.items():
        for split, where in RANGES.items():
            report(f"{words}, {where}")
            results[world, split] = score_model(
                model, spec_of(f"{world}:{split}", count, model.size, SEED)
            )
    floors = {world: _floors(model, world, count) for world in WORLDS}
    for (world, split), takes in results.items():
        shown = median_video(takes)
        film = side_by_side(shown.truth, shown.made, _LARGER)
        write_bytes(out / f"{world}-{split}.mp4", encode(film, "standard"))
    _write(page, model, name, results, floors)
    return [
        *summary(model, results, floors),
        "",
        f"films    {out / 'uniform-id.mp4'} and five more",
        f"page     {page}",
        f"{time.monotonic() - begin:.0f} s",
    ]


def _floors(model: VideoDiffusion, world: str, count: int) -> tuple[float, float]:
    """Return the velocity error of true videos, and of encoded and decoded ones."""
    samples = sample(world, max(count, 8), seed=SEED)
    floor = reconstruction_floor(
        model.codec, samples, model.size, condition=model.build.condition, device=model.device
    )
    return floor.truth.velocity, floor.coded.velocity


def summary(
    model: VideoDiffusion, results: Results, floors: dict[str, tuple[float, float]]
) -> list[str]:
    """Return the results as lines for a terminal."""
    count = len(next(iter(results.values())))
    lines = [
        f"A network of {model.parameters / 1e6:.1f} M weights saw {model.build.condition} frames of "
        f"each video and made the other {model.frames - model.build.condition}.",
        f"Error of velocity in units/s (the picture is 10 units wide), mean of {count} videos:",
        "",
        f"{'':<16}{'in range':>10}{'out of range':>14}{'ratio':>8}"
        f"{'coded truth':>13}{'true video':>12}",
    ]
    for world, words in WORLDS.items():
        inside, outside = (mean_of(results[world, split]) for split in RANGES)
        truth, coded = floors[world]
        lines.append(
            f"{words:<16}{inside:>10.2f}{outside:>14.2f}{outside / inside:>7.1f}×"
            f"{coded:>13.2f}{truth:>12.2f}"
        )
    slow = [take for take in results["uniform", "ood"] if take.score.init[1] < 1]
    fast = [take for take in results["uniform", "ood"] if take.score.init[1] > 4]
    for some, kind in ((slow, "too slow"), (fast, "too fast")):
        made = generated_speeds(some, model.build.condition)
        seen = np.isfinite(made)
        if seen.any():
            given = np.array([take.score.init[1] for take in some])
            lines.append(
                f"Balls {kind} for its training ({given[seen].mean():.1f} units/s) go on at "
                f"{made[seen].mean():.1f}."
            )
    return lines


def _write(
    path: Path,
    model: VideoDiffusion,
    name: str,
    results: Results,
    floors: dict[str, tuple[float, float]],
) -> None:
    header = ["", "velocity", "of the mean velocity", "position", "coded truth", "true video"]
    rows = []
    for (world, split), takes in results.items():
        truth, coded = floors[world] if split == "id" else (float("nan"), float("nan"))
        figures = [mean_of(takes, law) for law in (VELOCITY, MEAN_VELOCITY, "position")]
        cells = [f"{value:.3f}" if np.isfinite(value) else "" for value in (*figures, coded, truth)]
        rows.append([f"{WORLDS[world]}, {RANGES[split]}", *cells])
    sections = [
        Section(
            "Errors",
            [
                "Mean errors over the videos, in units/s and units; the picture is 10 units wide. "
                "Coded truth: true videos that only went through the model's codec; true video: what "
                "the parser measures on true videos."
            ],
            header,
            rows,
        )
    ]
    for world, words in WORLDS.items():
        films = [
            _film(results[world, split], f"{words}, {RANGES[split]}", f"{world}{split}", model)
            for split in RANGES
        ]
        sections.append(
            Section(
                words.capitalize(),
                films=films,
                after=[
                    "Above the true video, below the model's; rings: where the bodies should be; "
                    "crosses and tracks: what the parser measured."
                ],
            )
        )
    facts = [
        ("model", name),
        ("weights", f"{model.parameters:,}"),
        ("sampling steps", str(model.sampling)),
        ("worlds' seed", str(SEED)),
        *((key, str(value)) for key, value in model.notes.items()),
    ]
    intro = [
        f"A diffusion transformer saw {model.build.condition} frames of each video and made the "
        f"other {model.frames - model.build.condition}. It was trained in range; out of range are "
        "radii or speeds that it never saw."
    ]
    write_page(path, "Physics from pixels, in range and out of it", "Demo", intro, sections, facts)


def median_video(takes: Sequence[ScoredVideo]) -> ScoredVideo:
    """Return the video with the median error, or the first if none has an error."""
    errors = values_of(takes)
    order = np.argsort(np.where(np.isfinite(errors), errors, np.inf))
    measured = int(np.isfinite(errors).sum())
    return takes[int(order[measured // 2])] if measured else takes[0]


def _film(takes: list[ScoredVideo], words: str, key: str, model: VideoDiffusion) -> FilmStripFigure:
    """Draw the video with the median error."""
    take = median_video(takes)
    error = take.score.values.get(VELOCITY)
    init = ", ".join(f"{value:.2f}" for value in take.score.init)
    caption = f"{words}; radii and speeds {init}"
    if error is not None:
        caption += f"; velocity error {error:.2f} units/s"
    return make_film(take, caption, key, model.build.condition)
