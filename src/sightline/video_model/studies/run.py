"""Run a study: train, sample and score each trial, then write one report.

The folder of a trial holds its run, `made.json` (its configuration) and `scores.json`. Finished trials
are not repeated, so an interrupted study resumes. Before training, all existing configurations are
compared with the requested one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.io.atomic import write_text
from sightline.physics.types import FRAMES
from sightline.runtime.torch_engine import pick_device
from sightline.training.distributed import Distributed, join_processes
from sightline.video_model.autoencoders.codec import latent_shape, usable_frames
from sightline.video_model.autoencoders.data import frame_source, is_law
from sightline.video_model.autoencoders.files import CODEC, SavedCodec
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.training import train_new_codec
from sightline.video_model.conditioning import TextEncoder
from sightline.video_model.data import open_mixture
from sightline.video_model.files import find_codec
from sightline.video_model.latents import LatentCache
from sightline.video_model.learner import transformer_for
from sightline.video_model.options import EMBEDDED
from sightline.video_model.page import Section, write_page
from sightline.video_model.studies.analysis import Scores, analyze_study, film_strips
from sightline.video_model.studies.catalog import STRIDE, Budget, Study, Trial, study_of
from sightline.video_model.studies.evaluate import Truths, figures_of
from sightline.video_model.training import train_video_model

#: File with the configuration of a trial or of a study's codec.
MADE = "made.json"

#: Entered while a network is trained; yields a function that returns True to end the run.
Stopping = Callable[[], AbstractContextManager[Callable[[], bool]]]


def never_stopping() -> AbstractContextManager[Callable[[], bool]]:
    """Return a context whose function never asks for a stop."""
    return nullcontext(lambda: False)


#: Options that do not change a result, or only where it is computed.
_EITHER_WAY = (
    "threads",
    "device",
    "save_every",
    "validate_every",
    "keep",
    "accumulate",
    "shown",
    "checkpointing",
    "wandb",
)


def trial_config(trial: Trial, cost: Budget, stride: int, codec: str, seed: int) -> dict[str, Any]:
    """Return everything that the scores of a trial depend on, as plain values.

    Args:
        trial: trial to train and test.
        cost: budget.
        stride: pixels along each side of the codec's latents.
        codec: checksum of the codec.
        seed: random seed of the test worlds.
    """
    training = asdict(cost.training_of(trial))
    made: dict[str, Any] = {
        "data": {"train": trial.data, "videos": trial.videos, "size": cost.size},
        "tests": {"worlds": trial.tests, "count": cost.count, "seed": seed},
        "network": asdict(cost.build_of(trial, stride)),
        "training": {name: v for name, v in training.items() if name not in _EITHER_WAY},
        "codec": codec,
    }
    if trial.text and cost.text_encoder is not None:
        made["network"]["text_encoder"] = cost.text_encoder
    plain: dict[str, Any] = json.loads(json.dumps(made))
    return plain


def check_trial_config(folder: Path, made: dict[str, Any], result: str) -> None:
    """Check that an existing result was made with the requested configuration.

    Args:
        folder: folder of a trial or of a study's codec.
        made: requested configuration.
        result: name of the result file.

    Raises:
        InputError: the result was made with another or an unknown configuration.
    """
    path = folder / MADE
    if not path.is_file():
        if (folder / result).is_file():
            raise InputError(
                "has no record of its configuration",
                path=folder / result,
                remedy="choose another --out, or remove it",
            )
        return
    try:
        before = json.loads(path.read_text())
        other = [name for name in made if before[name] != made[name]]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            "is not a valid trial configuration", path=path, remedy="choose another --out"
        ) from error
    if other:
        raise InputError(
            f"holds a trial with other {', '.join(other)}",
            path=folder,
            remedy="choose another --out, or give the budget and codec that it was made with",
        )


def write_trial_config(folder: Path, made: dict[str, Any]) -> None:
    """Write the configuration into a folder."""
    write_text(folder / MADE, json.dumps(made, indent=1, sort_keys=True) + "\n")


#: Frames per step of the codec training.
_FRAMES = 48


def study_codec(
    cost: Budget,
    name: str | None,
    out: Path,
    ours: Distributed,
    report: Callable[[str], None],
    stopping: Stopping = never_stopping,
) -> tuple[SavedCodec, str]:
    """Return the given codec; else the study's own, which is trained; else the embedded one.

    Args:
        cost: budget.
        name: codec, see `files.find_codec`; None for none.
        out: folder of the study.
        ours: process group; its first process trains.
        report: called with a progress line.
        stopping: see `run_study`.

    Returns:
        The codec and its checksum.

    Raises:
        InputError: the codec does not take the study's videos.
    """
    if name is not None or cost.codec is None:
        found = find_codec(EMBEDDED if name is None else name)
    else:
        folder = out / "codec"
        if ours.is_main:
            _train(cost, folder, report, stopping)
        ours.wait()
        found = find_codec(folder / CODEC)
    check_fit(cost, found[0])
    return found


def check_fit(cost: Budget, codec: SavedCodec) -> None:
    """Check that a codec takes the videos of a budget and that its latents can be cut into tokens."""
    try:
        shape = latent_shape(codec, usable_frames(codec, FRAMES), cost.size)
        for trial in cost.trials:
            transformer_for(shape, codec.stride, cost.build_of(trial, codec.stride))
    except InputError as error:
        way = "leave out --codec for one of the study's own, or " if cost.codec else ""
        raise InputError(
            f"this study has videos of {cost.size} px: {error.problem}",
            remedy=f"{way}give a --codec for {cost.size} px: a file that sightline video codec --kind "
            f"frames --size {cost.size} trained, the folder of an AutoencoderKL, or pixels",
        ) from error


def _train(cost: Budget, folder: Path, report: Callable[[str], None], stopping: Stopping) -> None:
    """Train a codec of frames on the study's worlds.

    Studies of laws use all worlds of all trials; combinatorial ones those of the last trial, which
    has the most templates. Held-out templates are in none.
    """
    assert cost.codec is not None
    words = list(dict.fromkeys(word for trial in cost.trials for word in trial.data))
    law = all(map(is_law, words))
    if not law:
        words = list(cost.trials[-1].data)
    options = replace(cost.codec, threads=cost.training.threads, device=cost.training.device)
    settings = {n: v for n, v in asdict(options).items() if n not in ("threads", "device")}
    videos = None if law else cost.trials[-1].videos
    made = {"data": words, "videos": videos, "size": cost.size, "training": settings}
    made = json.loads(json.dumps(made))
    check_trial_config(folder, made, CODEC)
    if (folder / CODEC).is_file():
        return
    source = frame_source(words, cost.size, _FRAMES, soft=law, seed=options.seed, videos=videos)
    write_trial_config(folder, made)
    report("the study's own codec")
    with stopping() as stop:
        train_new_codec(source, folder, options, FrameCodec, report=report, data=made, stop=stop)


#: Scores of a trial, and the report of the study.
SCORES, REPORT = "scores.json", "report.html"

#: Random seed of test worlds and noise.
SEED = 5_000


def run_study(
    name: str,
    budget: str,
    out: Path,
    *,
    codec: str | None = None,
    at_once: int | None = None,
    text_encoder: Path | None = None,
    device: str | None = None,
    threads: int | None = None,
    report: Callable[[str], None] = print,
    stopping: Stopping = never_stopping,
) -> list[str]:
    """Run or resume a study and return its findings as lines.

    Args:
        name: name of the study.
        budget: `cpu` or `paper`.
        out: folder of the study.
        codec: see `files.find_codec`; None for that of the budget.
        at_once: videos per forward pass of one process; None for that of the budget.
        text_encoder: folder of a text encoder; None if networks embed words themselves.
        device: training device; None for the best available.
        threads: CPU threads; None for torch's choice.
        report: called with a progress line.
        stopping: context manager, entered while a network is trained, that yields a function which
            returns True to save and end the run.
    """
    study = study_of(name)
    cost = study.budgets[budget]
    if at_once is not None and at_once < 1:
        raise InputError(f"at_once must be at least 1, got {at_once}")
    encoder = _encoder(cost, name, text_encoder, device)
    cost = replace(
        cost,
        text_encoder=None if encoder is None else encoder.digest,
        training=replace(cost.training, device=device, threads=threads),
        at_once=at_once or cost.at_once,
    )
    with join_processes(device) as ours:
        if codec is None and cost.codec is not None:  # before hours of training, all but the codec
            _check_all(cost, out, STRIDE, None)
        found, digest = study_codec(cost, codec, out, ours, report, stopping)
        made = _check_all(cost, out, found.stride, digest)
        kept: dict[tuple[object, ...], LatentCache] = {}
        truths: Truths = {}
        for number, trial in enumerate(cost.trials, start=1):
            if ours.is_main:
                report(f"{trial.words} ({number} of {len(cost.trials)})")
            same = kept.setdefault((trial.data, trial.videos), {})
            if (out / trial.name / SCORES).is_file():
                continue
            ours.wait()  # for the one that writes, before it does
            if ours.is_main:
                write_trial_config(out / trial.name, made[trial.name])
            where = out / trial.name
            _run_trial(
                trial,
                cost,
                found,
                digest,
                where,
                ours,
                report,
                same,
                truths,
                encoder if trial.text else None,
                stopping,
            )
        if not ours.is_main:
            return []
    scores = {trial.name: _read(out / trial.name) for trial in cost.trials}
    return write_report(study, budget, cost, scores, out, digest)


def _encoder(
    cost: Budget, name: str, folder: Path | None, device: str | None
) -> TextEncoder | None:
    """Load the text encoder of a study that uses sentences."""
    if folder is None:
        return None
    if not any(trial.text for trial in cost.trials):
        raise InputError(f"the study {name} uses no sentences", remedy="leave out --text-encoder")
    return TextEncoder(folder, pick_device(device))


def _check_all(
    cost: Budget, out: Path, stride: int, digest: str | None
) -> dict[str, dict[str, Any]]:
    """Return the configuration of each trial; refuse existing results of another one.

    Args:
        cost: budget.
        out: folder of the study.
        stride: pixels along each side of the codec's latents.
        digest: checksum of the codec; None if it is not known yet, and not compared.
    """
    all_made = {}
    for trial in cost.trials:
        made = trial_config(trial, cost, stride, digest or "", SEED)
        if digest is None:
            del made["codec"]
        check_trial_config(out / trial.name, made, SCORES)
        all_made[trial.name] = made
    return all_made


def _run_trial(
    trial: Trial,
    cost: Budget,
    codec: SavedCodec,
    digest: str,
    out: Path,
    ours: Distributed,
    report: Callable[[str], None],
    kept: LatentCache,
    truths: Truths,
    encoder: TextEncoder | None,
    stopping: Stopping,
) -> None:
    """Train a network in all processes and test it in the first."""
    training = cost.training_of(trial, ours.count)
    mixture = open_mixture(
        trial.data, cost.size, count=trial.videos, order=training.seed, flip=training.flip
    )
    begin = time.monotonic()
    with stopping() as stop:
        model = train_video_model(
            mixture,
            codec,
            out,
            cost.build_of(trial, codec.stride),
            training,
            report=report,
            data={"codec": digest},
            distributed=ours,
            stop=stop,
            kept=kept,
            encoder=encoder,
        )
    seconds = time.monotonic() - begin
    if not ours.is_main:
        return
    found: dict[str, Any] = {}
    films: dict[str, str] = {}
    for words, word in trial.tests:
        key, caption = f"{trial.name}{len(films)}", f"{trial.words}; {words}"
        found[words], films[words] = figures_of(
            model, word, cost.count, SEED, key, caption, truths, fvd=cost.fvd
        )
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
    cells = {words: found[words][main] for words in found}
    report("  ".join(f"{w} {'–' if v is None else format(v, '.3f')}" for w, v in cells.items()))


def _read(folder: Path) -> Scores:
    path = folder / SCORES
    try:
        found: Scores = json.loads(path.read_text())
        missing = {"tests", "films", "parameters", "seconds", "loss"} - found.keys()
    except (ValueError, AttributeError) as error:
        raise InputError(
            "is not the score file of a trial", path=path, remedy="remove it"
        ) from error
    if missing:
        raise InputError("is not the score file of a trial", path=path, remedy="remove it")
    return found


def write_report(
    study: Study, budget: str, cost: Budget, scores: dict[str, Scores], out: Path, digest: str
) -> list[str]:
    """Write the report of a study and return its findings as lines.

    Args:
        study: study.
        budget: name of the budget.
        cost: trials and options.
        scores: scores by trial.
        out: folder of the study.
        digest: checksum of the codec.
    """
    reading = analyze_study(study, cost, scores)
    films = film_strips(cost, scores)
    facts = [
        ("budget", budget),
        ("codec", digest),
        ("made of", "made.json in the folder of each trial"),
        ("videos", f"{cost.size} px, {cost.count} of each test, worlds of seed {SEED}"),
        ("seconds of training", f"{sum(score['seconds'] for score in scores.values()):,.0f}"),
        *((f"training: {key}", str(value)) for key, value in asdict(cost.training).items()),
        *((f"network: {key}", str(value)) for key, value in asdict(cost.build).items()),
    ]
    intro = [study.question, f"PhyWorld ({study.figure}) found: {study.found}."]
    sections = [*reading.sections, Section("Films", films=films)]
    write_page(out / REPORT, study.title, f"Study: {study.name}", intro, sections, facts)
    return [*reading.lines, "", str(out / REPORT)]
