"""AURORA's recipe as one function: a model of a hub, questions, an adapter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from sightline.depth.training.processes import team
from sightline.errors import InputError
from sightline.perception.codebook.files import read_codebook
from sightline.perception.codebook.tokenizer import DepthTokenizer
from sightline.perception.model.adapting import adapt
from sightline.perception.model.lessons import RecordedSamples, by_curriculum
from sightline.perception.model.loading import load_speaker, save_speaker
from sightline.perception.model.options import AdaptOptions, SpeakerOptions
from sightline.perception.model.training import train_speaker
from sightline.perception.questions.records import Record, read_llava

#: Lists of a set of questions: perception alone, and reasoning.
ATOMIC = ("generation.json", "boxes.json")
REASONING = ("reasoning.json", "counting.json")


def read_sets(folders: Sequence[Path], names: Sequence[str]) -> list[tuple[Path, Record]]:
    """Read the lists of these names from all folders."""
    return [
        (folder, record)
        for folder in folders
        for name in names
        if (folder / name).is_file()
        for record in read_llava(folder / name)
    ]


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
    atomic, reasoning = read_sets(questions, ATOMIC), read_sets(questions, REASONING)
    if not atomic or not reasoning:
        missing = "perception alone" if not atomic else "reasoning"
        where = ", ".join(str(folder) for folder in questions)
        raise InputError(f"no questions of {missing} in {where}")
    tokenizer = DepthTokenizer(codebook)
    rows = by_curriculum(atomic, reasoning, size, epochs, options.seed)
    with team(device) as ours:
        base = load_speaker(model, dtype=dtype)
        speaker = adapt(base, adapt_options, tokenizer.sha256 if adapt_options.depth else None)
        train_speaker(
            speaker,
            RecordedSamples(rows),
            out,
            options,
            codebook=read_codebook(tokenizer.path) if options.reconstruction > 0 else None,
            report=report,
            data={"model": model, "questions": questions, "size": size, "epochs": epochs},
            team=ours,
        )
        adapter = out / "adapter"
        if ours.leads:
            save_speaker(speaker, adapter)
        ours.wait()
    return adapter
