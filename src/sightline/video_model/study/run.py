"""Run a study: train, sample and score each trial, then write one report.

A trial's folder holds its run, `made.json` (what it is made of) and `scores.json`; what is there is not
done again, so a study that was stopped goes on. Every figure of the report comes from these files, and
before anything is trained all of them are compared with what is asked for.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from sightline.depth.engines.torch import pick_device
from sightline.depth.training.processes import Team, team
from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.video_model.autoencoder.files import SavedCodec
from sightline.video_model.data import open_mixture
from sightline.video_model.latents import Kept
from sightline.video_model.page import Section, write_page
from sightline.video_model.study.catalogue import study_of
from sightline.video_model.study.codec import study_codec
from sightline.video_model.study.figures import Truths, figures_of
from sightline.video_model.study.made import check_made, made_of, write_made
from sightline.video_model.study.outcome import Scores
from sightline.video_model.study.parts import STRIDE, Budget, Study, Trial
from sightline.video_model.study.readings import read_study, words_of
from sightline.video_model.text_encoder import TextEncoder
from sightline.video_model.training import train_video_model

#: What is kept of a trial, and the report of the study.
SCORES, REPORT = "scores.json", "report.html"

#: Of the worlds that are tested on, and of noise.
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
) -> list[str]:
    """Run a study, or what is left of it, and return its findings as lines.

    Args:
        name: of the study.
        budget: `cpu` or `paper`.
        out: folder of the study.
        codec: see `codecs.find_codec`; None for the budget's.
        at_once: videos that one process works on at a time; None: as declared.
        text_encoder: folder of one that sentences are embedded by; None: networks learn to read them.
        device: where networks are trained; None for the best here.
        threads: of the processor; None for torch's choice.
        report: told in a line how it goes.
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
    with team(device) as ours:
        if codec is None and cost.codec is not None:  # before hours of training, all but the codec
            _check_all(cost, out, STRIDE, None)
        found, digest = study_codec(cost, codec, out, ours, report)
        made = _check_all(cost, out, found.stride, digest)
        kept: dict[tuple[object, ...], Kept] = {}
        truths: Truths = {}
        for number, trial in enumerate(cost.trials, start=1):
            if ours.leads:
                report(f"{trial.words} ({number} of {len(cost.trials)})")
            same = kept.setdefault((trial.data, trial.videos), {})
            if (out / trial.name / SCORES).is_file():
                continue
            ours.wait()  # for the one that writes, before it does
            if ours.leads:
                write_made(out / trial.name, made[trial.name])
            where = out / trial.name
            _run_trial(
                *(trial, cost, found, digest, where, ours, report, same, truths),
                encoder if trial.text else None,
            )
        if not ours.leads:
            return []
    scores = {trial.name: _read(out / trial.name) for trial in cost.trials}
    return write_report(study, budget, cost, scores, out, digest)


def _encoder(
    cost: Budget, name: str, folder: Path | None, device: str | None
) -> TextEncoder | None:
    """Open a text encoder, for a study that tells sentences."""
    if folder is None:
        return None
    if not any(trial.text for trial in cost.trials):
        raise InputError(f"the study {name} tells no sentences", remedy="leave out --text-encoder")
    return TextEncoder(folder, pick_device(device))


def _check_all(
    cost: Budget, out: Path, stride: int, digest: str | None
) -> dict[str, dict[str, Any]]:
    """Return what each trial is made of; refuse results that were made of anything else.

    Args:
        cost: the budget.
        out: folder of the study.
        stride: pixels along each side of the codec's latents.
        digest: of the codec; None: not known yet, and not compared.
    """
    all_made = {}
    for trial in cost.trials:
        made = made_of(trial, cost, stride, digest or "", SEED)
        if digest is None:
            del made["codec"]
        check_made(out / trial.name, made, SCORES)
        all_made[trial.name] = made
    return all_made


def _run_trial(
    trial: Trial,
    cost: Budget,
    codec: SavedCodec,
    digest: str,
    out: Path,
    ours: Team,
    report: Callable[[str], None],
    kept: Kept,
    truths: Truths,
    encoder: TextEncoder | None,
) -> None:
    """Train a network, and let the first process test it; the others wait."""
    training = cost.training_of(trial, ours.count)
    mixture = open_mixture(
        trial.data, cost.size, count=trial.videos, order=training.seed, flip=training.flip
    )
    begin = time.monotonic()
    model = train_video_model(
        *(mixture, codec, out, cost.build_of(trial, codec.stride), training),
        report=report,
        data={"codec": digest},
        team=ours,
        kept=kept,
        encoder=encoder,
    )
    seconds = time.monotonic() - begin
    if not ours.leads:
        return
    found: dict[str, Any] = {}
    films: dict[str, str] = {}
    for words, word in trial.tests:
        key, caption = f"{trial.name}{len(films)}", f"{trial.words}; {words}"
        found[words], films[words] = figures_of(
            *(model, word, cost.count, SEED, key, caption, truths), fvd=cost.fvd
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
        raise InputError("is no score of a trial", path=path, remedy="remove it") from error
    if missing:
        raise InputError("is no score of a trial", path=path, remedy="remove it")
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
