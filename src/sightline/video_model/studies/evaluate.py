"""Evaluate a trained network of a study: mean errors, a row per video, and a film strip."""

from __future__ import annotations

from typing import Any

import numpy as np

from sightline.physics.datasets.spec import COMBINATORIAL
from sightline.physics.types import Frames
from sightline.physics.video_metrics.frame_metrics import NotAvailable, as_json, psnr, ssim
from sightline.physics.video_metrics.fvd import FvdStatistics, load_i3d
from sightline.physics.video_metrics.lpips import LEAST_SIDE, lpips
from sightline.physics.video_metrics.networks import LEAST_FRAMES
from sightline.video_model.autoencoders.floor import code_all
from sightline.video_model.page import make_film, scene_strip
from sightline.video_model.pipeline import VideoDiffusion
from sightline.video_model.scoring import (
    MEAN_VELOCITY,
    VELOCITY,
    ScoredVideo,
    continue_scenes,
    generated_speed,
    score_reconstructions,
    score_videos,
    spec_of,
)


class FrameSimilarity:
    """Mean PSNR, SSIM and LPIPS over pairs of videos.

    Args:
        size: width and height of frames in [px].
    """

    def __init__(self, size: int) -> None:
        self._near: list[tuple[float, float]] = []
        self._apart: list[float] = []
        self._lacking: NotAvailable | None = None
        if size < LEAST_SIDE:
            self._lacking = NotAvailable(
                "LPIPS", f"frames of {size} px", "a study of larger frames"
            )

    def add(self, made: Frames, truth: Frames) -> None:
        """Compare a video with the true one, both (T, S, S, 3) uint8 RGB."""
        self._near.append((psnr(made, truth), ssim(made, truth)))
        if self._lacking is None:
            distance = lpips(made, truth)
            if isinstance(distance, NotAvailable):
                self._lacking = distance
            else:
                self._apart.append(distance)

    def means(self) -> dict[str, Any]:
        """Return the means by name: `psnr` in [dB], `ssim`, and `lpips` or why it is not available."""
        means = np.array(self._near, np.float64).mean(axis=0)
        apart = self._lacking if self._lacking is not None else float(np.mean(self._apart))
        return {"psnr": float(means[0]), "ssim": float(means[1]), "lpips": as_json(apart)}


#: FVD of sixty videos is not meaningful and would take half of a miniature study's time.
NO_FVD = NotAvailable("FVD", "not with this budget: it wants 500 videos", "--budget paper")

#: Feature statistics of true videos by name; trials share tests.
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
    """Evaluate a model on a test.

    Args:
        model: trained model.
        word: name of the test, see `scoring.spec_of`, or combinatorial worlds.
        count: number of videos.
        seed: random seed of worlds and noise.
        key: key of the film strip, unique on the page.
        caption: caption of the film strip.
        truths: known feature statistics; new ones are added.
        fvd: compute FVD of combinatorial worlds.

    Returns:
        The scores as plain values, and a film strip of the first video as SVG.
    """
    if word.partition(":")[0] == COMBINATORIAL:
        return _scenes(model, word, count, seed, truths, fvd)
    return _motions(model, word, count, seed, key, caption)


def _motions(
    model: VideoDiffusion, word: str, count: int, seed: int, key: str, caption: str
) -> tuple[dict[str, Any], str]:
    """Score law errors of each video."""
    spec, given, film = spec_of(word, count, model.size, seed), model.build.condition, ""
    scores, speeds = [], []
    for take in score_videos(model, spec):
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
        found["coded"] = [take.score.kept for take in score_reconstructions(model, spec)]
    return found, film


def _scenes(
    model: VideoDiffusion, word: str, count: int, seed: int, truths: Truths, wanted: bool
) -> tuple[dict[str, Any], str]:
    """Compare frames with the true ones after the given frames, and the sets of videos by FVD."""
    given, film = model.build.condition, ""
    near = {name: FrameSimilarity(model.size) for name in ("made", "coded", "still")}
    network = load_i3d() if wanted else NO_FVD
    made_moments, moments = FvdStatistics(), FvdStatistics()
    known = truths.get(word)
    for truth, made in continue_scenes(model, word, count, seed):
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


def _film(take: ScoredVideo, given: int, key: str, words: str) -> str:
    error = take.score.values.get(VELOCITY)
    caption = words if error is None else f"{words}; velocity error {error:.2f} units/s"
    return str(make_film(take, caption, key, given, moving=False).drawing)


def _mean(values: np.ndarray) -> float | None:
    seen = values[np.isfinite(values)]
    return rounded(float(seen.mean())) if len(seen) else None


def rounded(value: float) -> float | None:
    """Return a rounded number for JSON; None if it is not finite."""
    return round(float(value), 5) if np.isfinite(value) else None
