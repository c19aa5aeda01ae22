"""What is kept of a test: means, a row for each video, and a film; in memory is one batch of videos."""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline.physics.data.spec import COMBINATORIAL
from sightline.physics.pictures.fvd import FvdStatistics, load_i3d
from sightline.physics.pictures.i3d import LEAST_FRAMES
from sightline.physics.pictures.values import NotAvailable, as_json
from sightline.video_model.autoencoder.floor import code_all
from sightline.video_model.model import VideoDiffusion
from sightline.video_model.page import make_film, scene_strip
from sightline.video_model.scoring import (
    MEAN_VELOCITY,
    VELOCITY,
    Take,
    coded_takes,
    generated_speed,
    scene_takes,
    spec_of,
    takes_of,
)
from sightline.video_model.study.nearness import Nearness

#: Sixty videos in four hundred dimensions say little, and would take half of a miniature's time.
NO_FVD = NotAvailable("FVD", "not with this budget: it wants 500 videos", "--budget paper")

#: Moments of true videos by the word that names them: trials share tests.
Truths = dict[str, FvdStatistics]


def figures_of(
    model: VideoDiffusion,
    word: str,
    count: int,
    seed: int,
    key: str,
    caption: str,
    truths: Truths,
    *,
    fvd: bool = True,
) -> tuple[dict[str, Any], str]:
    """Let a model continue what a word names.

    Args:
        model: trained.
        word: see `scoring.spec_of`; or combinatorial worlds.
        count: how many videos.
        seed: of worlds and noise.
        key: of the film, unique on the page.
        caption: of the film.
        truths: moments that are known already; more are added.
        fvd: of combinatorial worlds, compare the sets of videos as well.

    Returns:
        The figures as plain values, and a film of the first video, SVG.
    """
    if word.partition(":")[0] == COMBINATORIAL:
        return _scenes(model, word, count, seed, truths, fvd)
    return _motions(model, word, count, seed, key, caption)


def _motions(
    model: VideoDiffusion, word: str, count: int, seed: int, key: str, caption: str
) -> tuple[dict[str, Any], str]:
    """Score by laws: a row for each video."""
    spec, given, film = spec_of(word, count, model.size, seed), model.build.condition, ""
    scores, speeds = [], []
    for take in takes_of(model, spec):
        film = film or _film(take, given, key, caption)
        speeds.append(rounded(generated_speed(take, given)))
        scores.append(take.score)
    values = {
        law: np.array([np.nan if (v := s.values.get(law)) is None else v for s in scores])
        for law in (VELOCITY, MEAN_VELOCITY, "position")
    }
    found: dict[str, Any] = {
        "velocity": _mean(values[VELOCITY]),
        "mean_velocity": _mean(values[MEAN_VELOCITY]),
        "position": _mean(values["position"]),
        "videos": int(np.isfinite(values[VELOCITY]).sum()),
        "init": [[round(value, 5) for value in score.init] for score in scores],
        "errors": [rounded(value) for value in values[VELOCITY]],
        "speeds": speeds,
        "kept": [score.kept for score in scores],
    }
    if any(found["kept"]):
        found["coded"] = [take.score.kept for take in coded_takes(model, spec)]
    return found, film


def _scenes(
    model: VideoDiffusion, word: str, count: int, seed: int, truths: Truths, wanted: bool
) -> tuple[dict[str, Any], str]:
    """Compare pictures with the true ones, after the given frames; and all videos with all truths."""
    given, film = model.build.condition, ""
    near = {name: Nearness(model.size) for name in ("made", "coded", "still")}
    network = load_i3d() if wanted else NO_FVD
    made_moments, moments = FvdStatistics(), FvdStatistics()
    known = truths.get(word)
    for truth, made in scene_takes(model, word, count, seed):
        film = film or scene_strip(truth, made)
        (coded,) = code_all(model.codec, [truth], model.device)
        near["made"].add(made[given:], truth[given:])
        near["coded"].add(coded[given:], truth[given:])
        near["still"].add(np.repeat(truth[given - 1 : given], len(truth) - given, 0), truth[given:])
        if not isinstance(network, NotAvailable) and len(truth) >= LEAST_FRAMES:
            made_moments.add(made, network)
            if known is None:
                moments.add(truth, network)
    if isinstance(network, NotAvailable):
        fvd: float | NotAvailable = network
    elif count < 2 or model.frames < LEAST_FRAMES:
        fvd = NotAvailable("FVD", "it needs two videos of 9 frames", "sightline physics score")
    else:
        truths[word] = known or moments
        fvd = made_moments.distance(truths[word]).value
    found = {
        **near["made"].means(),
        "fvd": as_json(fvd),
        "videos": count,
        "coded": near["coded"].means(),
        "still": near["still"].means(),
    }
    return found, film


def _film(take: Take, given: int, key: str, words: str) -> str:
    error = take.score.values.get(VELOCITY)
    caption = words if error is None else f"{words}; velocity error {error:.2f} units/s"
    return str(make_film(take, caption, key, given, moving=False).drawing)


def _mean(values: np.ndarray) -> float | None:
    seen = values[np.isfinite(values)]
    return rounded(float(seen.mean())) if len(seen) else None


def rounded(value: float) -> float | None:
    """Return a number for a file, none where there is none."""
    return round(float(value), 5) if np.isfinite(value) else None
