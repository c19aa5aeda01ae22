"""Films of the embedded video model beside the truth, in range and out of it, and what the laws say."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from sightline.demo.part import Order, Shown

if TYPE_CHECKING:
    from sightline.physics.types import Frames
    from sightline.video_model.scoring import ScoredVideo

#: Videos of each world and range that are scored.
COUNT = 8


def make(order: Order) -> Shown:
    """Let the model continue balls in uniform motion, collisions and parabolas."""
    from sightline.video_model.demo import RANGES, SEED, WORLDS, median_video
    from sightline.video_model.pipeline import load
    from sightline.video_model.scoring import mean_of, score_model, spec_of

    order.tell("films of the video model; the first time, the laws are compiled: about a minute")
    model = load("video")
    given = model.build.condition
    worlds, rows, lines = [], [], []
    for world, words in WORLDS.items():
        order.tell(f"films: {words}")
        takes = {
            split: score_model(model, spec_of(f"{world}:{split}", COUNT, model.size, SEED))
            for split in RANGES
        }
        for law, name in _laws():
            inside, outside = (mean_of(takes[split], law) for split in RANGES)
            rows.append(_row(words, name, inside, outside))
        inside, outside = (mean_of(takes[split]) for split in RANGES)
        lines.append(
            f"{words:<15} velocity error {inside:.2f} units/s in range, {outside:.2f} out of it"
        )
        films = [
            _film(median_video(takes[split]), where, f"{world}{split}", given)
            for split, where in RANGES.items()
        ]
        worlds.append({"name": words, "films": films})
    fields = {
        "worlds": worlds,
        "rows": rows,
        "count": COUNT,
        "given": given,
        "made": model.frames - given,
        "weights": f"{model.parameters / 1e6:.1f} M",
    }
    return Shown(fields, tuple(lines))


def _laws() -> tuple[tuple[str, str], ...]:
    from sightline.video_model.scoring import VELOCITY

    return ((VELOCITY, "velocity"), ("position", "position"))


def _row(world: str, law: str, inside: float, outside: float) -> list[str]:
    """Return a row of the table; what no video says is left empty."""
    figures = [f"{value:.2f}" if np.isfinite(value) else "" for value in (inside, outside)]
    times = f"{outside / inside:.1f}×" if all(figures) and inside > 0 else ""
    return [world, law, *figures, times]


def _film(take: ScoredVideo, where: str, key: str, given: int) -> dict[str, Any]:
    """Return a film: moving, still for those who want no motion, and as a strip; with broken laws."""
    from sightline.physics.scoring.labels import law_title
    from sightline.video_model.page import make_film, side_by_side
    from sightline.video_model.scoring import VELOCITY

    film = make_film(take, f"{where}, frame by frame: truth above, model below", key, given)
    error = take.score.values.get(VELOCITY)
    half = len(take.made) // 2  # at the end, what falls has left the picture
    middle = slice(half, half + 1)
    broken = dict.fromkeys(law_title(one.law) for one in take.score.violations)
    return {
        "where": where,
        "moving": film.moving,
        "still": _still(side_by_side(take.truth[middle], take.made[middle], 3)),
        "strip": film.drawing,
        "error": "" if error is None else f"{error:.2f} units/s",
        "broken": list(broken),
    }


def _still(frames: Frames) -> str:
    """Return the first of (T, H, W, 3) frames as the data address of a PNG."""
    from PIL import Image

    buffer = io.BytesIO()
    Image.fromarray(frames[0]).save(buffer, "PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
