"""AURORA's recipe as one function: a model of a hub, questions, an adapter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sightline.depth.training.processes import team
from sightline.errors import InputError
from sightline.perception.codebook.files import read_codebook
from sightline.perception.codebook.tokenizer import DepthTokenizer
from sightline.perception.codebook.words import START
from sightline.perception.model.adapting import adapt
from sightline.perception.model.lessons import RecordedSamples, by_curriculum
from sightline.perception.model.loading import load_speaker, save_speaker
from sightline.perception.model.options import AdaptOptions, SpeakerOptions
from sightline.perception.model.training import train_speaker
from sightline.perception.questions.records import Record
from sightline.perception.questions.single import both_kinds


def _check_tokens(rows: Sequence[tuple[Path, Record]], options: AdaptOptions) -> None:
    """Refuse questions with tokens that the model is not given: it would spell them."""
    for mark, given, remedy in (
        (START, options.depth, "leave out --no-depth"),
        ("<PIXEL_", options.pixels, "add --pixels"),
    ):
        for folder, record in () if given else rows:
            if mark in record.answer:
                what = "depth" if mark == START else "pixel"
                raise InputError(
                    f"the answer about {record.image} has {what} tokens, which the model is not given",
                    path=folder,
                    remedy=remedy,
                )


def train_adapter(
    model: str,
    questions: Sequence[Path],
    out: Path,
    *,
    codebook: str,
    size: int,
    epochs: int,
    adapt_options: AdaptOptions,
    options: SpeakerOptions,
    dtype: str = "float32",
    device: str | None = None,
    report: Callable[[str], None] = print,
) -> Path:
    """Adapt, train, and save the adapter; arguments as in `sightline train speaker`.

    Returns:
        The adapter's folder.
    """
    atomic, reasoning = both_kinds(questions)
    _check_tokens([*atomic, *reasoning], adapt_options)
    if not adapt_options.depth and options.reconstruction > 0:
        raise InputError("reconstruction needs depth tokens", remedy="leave out --no-depth")
    tokenizer = DepthTokenizer(codebook) if adapt_options.depth else None
    rows = by_curriculum(atomic, reasoning, size, epochs, options.seed)
    with team(device) as ours:
        base = load_speaker(model, dtype=dtype)
        sha256 = None if tokenizer is None else tokenizer.sha256
        speaker = adapt(base, adapt_options, sha256, seed=options.seed)
        train_speaker(
            speaker,
            RecordedSamples(rows),
            out,
            options,
            codebook=read_codebook(tokenizer.path)
            if tokenizer and options.reconstruction
            else None,
            report=report,
            data={"model": model, "questions": questions, "size": size, "epochs": epochs},
            team=ours,
        )
        adapter = out / "adapter"
        if ours.leads:
            save_speaker(speaker, adapter)
        ours.wait()
    return adapter
