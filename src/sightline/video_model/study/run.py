"""Run a study: train, sample and score each trial, then write one report.

A trial's folder holds its run and `scores.json`; what is there is not done again, so a study that was
stopped goes on. Every figure of the report comes from these files.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from sightline.depth.training.processes import Team, team
from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.physics.data.spec import COMBINATORIAL
from sightline.physics.pictures.psnr_ssim import psnr, ssim
from sightline.physics.types import Frames
from sightline.video_model.autoencoder.files import SavedCodec
from sightline.video_model.autoencoder.frames import FrameCodec
from sightline.video_model.autoencoder.training import CODEC, train_new_codec
from sightline.video_model.codecs import find_codec
from sightline.video_model.data import open_mixture
from sightline.video_model.demo import generated_speeds
from sightline.video_model.latents import Kept
from sightline.video_model.mixture import RandomFrames
from sightline.video_model.model import VideoDiffusion
from sightline.video_model.page import Section, make_film, scene_strip, write_page
from sightline.video_model.scoring import (
    MEAN_VELOCITY,
    VELOCITY,
    Take,
    mean_of,
    take_all,
    take_coded,
    take_scenes,
    test_spec,
    values_of,
)
from sightline.video_model.study.catalogue import study_of
from sightline.video_model.study.parts import Budget, Study, Trial
from sightline.video_model.study.readings import Scores, read_study, words_of
from sightline.video_model.training import train_video_model

#: What is kept of a trial, and the report of the study.
SCORES, REPORT = "scores.json", "report.html"

#: Of the worlds that are tested on, and of noise.
SEED = 5_000

#: Frames of a step of a codec's training.
_FRAMES = 48


def run_study(
    name: str,
    budget: str,
    out: Path,
    *,
    codec: str = "video",
    device: str | None = None,
    threads: int | None = None,
    report: Callable[[str], None] = print,
) -> list[str]:
    """Run a study, or what is left of it, and return its findings as lines.

    Args:
        name: of the study.
        budget: `cpu` or `paper`.
        out: folder of the study.
        codec: see `codecs.find_codec`.
        device: where networks are trained; None for the best here.
        threads: of the processor; None for torch's choice.
        report: told in a line how it goes.
    """
    study = study_of(name)
    cost = study.budgets[budget]
    cost = replace(cost, training=replace(cost.training, device=device, threads=threads))
    with team(device) as ours:
        found, digest = _codec(cost, codec, out, ours, report)
        kept: dict[tuple[object, ...], Kept] = {}
        for number, trial in enumerate(cost.trials, start=1):
            if ours.leads:
                report(f"{trial.words} ({number} of {len(cost.trials)})")
            same = kept.setdefault((trial.data, trial.videos), {})
            _run_trial(trial, cost, found, digest, out / trial.name, ours, report, same)
        if not ours.leads:
            return []
    scores = {trial.name: _read(out / trial.name, digest) for trial in cost.trials}
    return write_report(study, budget, cost, scores, out, digest)


def _codec(
    cost: Budget, name: str, out: Path, ours: Team, report: Callable[[str], None]
) -> tuple[SavedCodec, str]:
    """Return the codec that was given, or train the study's own."""
    if cost.codec is None:
        return find_codec(name)
    folder = out / "codec"
    if ours.leads and not (folder / CODEC).is_file():
        mixture = open_mixture(cost.trials[0].data, cost.size, count=cost.trials[0].videos)
        options = replace(cost.codec, threads=cost.training.threads)
        frames = RandomFrames(mixture, _FRAMES)
        train_new_codec(frames, folder, options, FrameCodec, report=report)
    ours.wait()
    return find_codec(folder / CODEC)


def _run_trial(
    trial: Trial,
    cost: Budget,
    codec: SavedCodec,
    digest: str,
    out: Path,
    ours: Team,
    report: Callable[[str], None],
    kept: Kept,
) -> None:
    if (out / SCORES).is_file():
        return
    training = cost.training_of(trial)
    mixture = open_mixture(
        trial.data, cost.size, count=trial.videos, order=training.seed, flip=training.flip
    )
    begin = time.monotonic()
    model = train_video_model(
        *(mixture, codec, out, cost.build_of(trial), training),
        report=report,
        data={"codec": digest},
        team=ours,
        kept=kept,
    )
    seconds = time.monotonic() - begin
    if not ours.leads:
        return
    found: dict[str, Any] = {}
    films: dict[str, str] = {}
    for words, word in trial.tests:
        if word.partition(":")[0] == COMBINATORIAL:
            pairs = take_scenes(model, word, cost.count, SEED)
            found[words] = _pictures(pairs, model)
            films[words] = scene_strip(*pairs[0])
            continue
        spec = test_spec(word, cost.count, cost.size, SEED)
        takes = take_all(model, spec)
        found[words] = _figures(takes, model)
        if any(take.score.kept for take in takes):
            found[words]["coded"] = [take.score.kept for take in take_coded(model, spec)]
        films[words] = _film(takes, model, f"{trial.name}{len(films)}", f"{trial.words}; {words}")
    loss = json.loads((out / "log.jsonl").read_text().splitlines()[-1])["loss"]
    record = {
        "codec": digest,
        "tests": found,
        "films": films,
        "parameters": model.parameters,
        "seconds": round(seconds, 1),
        "loss": loss,
    }
    write_text(out / SCORES, json.dumps(record) + "\n")
    main = "velocity" if "velocity" in next(iter(found.values())) else "psnr"
    report("  ".join(f"{words} {found[words][main]:.3f}" for words in found))


def _figures(takes: list[Take], model: VideoDiffusion) -> dict[str, Any]:
    """Return what is kept of a test: means, and a row for each video."""
    speeds = generated_speeds(takes, model.build.condition)
    errors = values_of(takes)
    return {
        "velocity": _rounded(mean_of(takes)),
        "mean_velocity": _rounded(mean_of(takes, MEAN_VELOCITY)),
        "position": _rounded(mean_of(takes, "position")),
        "videos": int(np.isfinite(errors).sum()),
        "init": [[round(value, 5) for value in take.score.init] for take in takes],
        "errors": [_rounded(value) for value in errors],
        "speeds": [_rounded(value) for value in speeds],
        "kept": [take.score.kept for take in takes],
    }


def _pictures(pairs: list[tuple[Frames, Frames]], model: VideoDiffusion) -> dict[str, Any]:
    """Return how near pictures are to the true ones, after the given frames."""
    given = model.build.condition
    return {
        "psnr": float(np.mean([psnr(made[given:], truth[given:]) for truth, made in pairs])),
        "ssim": float(np.mean([ssim(made[given:], truth[given:]) for truth, made in pairs])),
        "videos": len(pairs),
    }


def _film(takes: list[Take], model: VideoDiffusion, key: str, words: str) -> str:
    """Draw the first video of a test."""
    error = takes[0].score.values.get(VELOCITY)
    caption = words if error is None else f"{words}; velocity error {error:.2f} units/s"
    film = make_film(takes[0], caption, key, model.build.condition, moving=False)
    return str(film.drawing)


def _rounded(value: float) -> float | None:
    return round(float(value), 5) if np.isfinite(value) else None


def _read(folder: Path, digest: str) -> Scores:
    path = folder / SCORES
    try:
        found: Scores = json.loads(path.read_text())
        if found["codec"] != digest:
            raise InputError(
                "was made with another codec", path=path, remedy="choose another --out"
            )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError("is no score of a trial", path=path, remedy="remove it") from error
    return found


def write_report(
    study: Study, budget: str, cost: Budget, scores: dict[str, Scores], out: Path, digest: str
) -> list[str]:
    """Write the report of a study; return its findings as lines.

    Args:
        study: that was run.
        budget: its name.
        cost: what was trained and tested.
        scores: by trial.
        out: folder of the study.
        digest: checksum of the codec.
    """
    reading = read_study(study, cost, scores)
    films = words_of(cost, scores)
    facts = [
        ("budget", budget),
        ("codec", digest),
        ("videos", f"{cost.size} px, {cost.count} of each test, worlds of seed {SEED}"),
        ("seconds of training", f"{sum(score['seconds'] for score in scores.values()):,.0f}"),
        *((f"training: {key}", str(value)) for key, value in asdict(cost.training).items()),
        *((f"network: {key}", str(value)) for key, value in asdict(cost.build).items()),
    ]
    intro = [study.question, f"PhyWorld ({study.figure}) found: {study.found}."]
    sections = [*reading.sections, Section("Films", films=films)]
    write_page(out / REPORT, study.title, f"Study: {study.name}", intro, sections, facts)
    return [*reading.lines, "", str(out / REPORT)]
