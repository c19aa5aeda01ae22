"""Training samples in LLaVA's format, question folders, and the curriculum over them.

The curriculum begins with samples of perception alone, whose share falls linearly over the epochs in
favor of reasoning samples (AURORA §4).
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from sightline.errors import InputError
from sightline.io.atomic import write_text
from sightline.io.reading import read_bytes
from sightline.training.checks import at_least_one

#: Content of an answer: perception alone, an answer alone, or an answer by way of perception.
Task = Literal["depth", "points", "boxes", "direct", "chain"]

_IMAGE = "<image>"
_MOST_BYTES = 2_000_000_000
#: Sample ids are derived from the content, so that equal data give equal bytes.
_SPACE = uuid.UUID("5b0f27b2-0a4e-5cf3-9d54-6a2bb1b3f1d6")


@dataclass(frozen=True, slots=True)
class Record:
    """Training sample.

    Attributes:
        image: path of the image, relative to the image folder.
        question: question, without the image token.
        answer: target answer.
        task: content of the answer.
    """

    image: str
    question: str
    answer: str
    task: Task

    def to_llava(self) -> dict[str, Any]:
        """Return the sample in LLaVA's format."""
        name = uuid.uuid5(_SPACE, json.dumps([self.image, self.question, self.answer]))
        return {
            "id": str(name),
            "image": self.image,
            "conversations": [
                {"from": "human", "value": f"{_IMAGE}\n{self.question}"},
                {"from": "gpt", "value": self.answer},
            ],
            "task": self.task,
        }


def write_llava(path: str | Path, records: Iterable[Record]) -> None:
    """Write samples as one JSON list."""
    rows = [json.dumps(record.to_llava(), ensure_ascii=False) for record in records]
    write_text(path, "[\n" + ",\n".join(rows) + "\n]\n")


def read_llava(path: str | Path) -> list[Record]:
    """Read samples with one question each; those of other tools have task `direct`.

    Raises:
        InputError: the file is not such a list.
    """
    try:
        rows = json.loads(read_bytes(path, limit=_MOST_BYTES, what="list of samples"))
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON ({error})", path=path) from error
    if not isinstance(rows, list):
        raise InputError("is not a list of samples", path=path)
    return [_read(row, number, path) for number, row in enumerate(rows)]


def _read(row: Any, number: int, path: str | Path) -> Record:
    try:
        human, gpt = (turn["value"] for turn in row["conversations"])
        question = human.replace(_IMAGE, "").strip()
        task = row.get("task", "direct")
        if task not in get_args(Task):
            raise InputError(f"sample {number} has an unknown task, {task!r}", path=path)
        return Record(str(row["image"]), question, gpt.strip(), task)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"sample {number} is not a picture with one question and one answer", path=path
        ) from error


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Curriculum of perception and reasoning samples.

    Attributes:
        atomic: number of samples of perception alone.
        reasoning: number of samples with questions.
        size: samples per epoch.
        epochs: number of epochs.
        last: share of perception samples in the last epoch; it falls linearly from 1.
    """

    atomic: int
    reasoning: int
    size: int
    epochs: int = 10
    last: float = 0.1

    def __post_init__(self) -> None:
        at_least_one(self, "size", "epochs")
        if min(self.atomic, self.reasoning) < 1:
            raise InputError("a curriculum needs samples of both kinds")
        if not 0 <= self.last <= 1:
            raise InputError(f"a share lies in 0 to 1, got {self.last:g}")

    def share(self, epoch: int) -> float:
        """Return the share of perception samples in an epoch."""
        if self.epochs == 1:
            return 1.0
        return 1.0 - (1.0 - self.last) * epoch / (self.epochs - 1)

    def epoch(self, number: int, seed: int = 0) -> list[tuple[bool, int]]:
        """Return the samples of an epoch in order: (whether it is perception alone, its index)."""
        rng = np.random.default_rng([seed, number])
        first = round(self.share(number) * self.size)
        chosen = [(True, int(k)) for k in _some(self.atomic, first, rng)]
        return chosen + [
            (False, k % self.reasoning) for k in range(self._used(number), self._used(number + 1))
        ]

    def _used(self, epoch: int) -> int:
        """Return how many reasoning samples the previous epochs used; they repeat cyclically."""
        return sum(self.size - round(self.share(k) * self.size) for k in range(epoch))

    def __len__(self) -> int:
        return self.size * self.epochs


def _some(count: int, wanted: int, rng: np.random.Generator) -> Sequence[int]:
    """Return `wanted` indices below `count`, each about equally often, shuffled."""
    rounds = -(-wanted // count)
    return [int(k) for _ in range(rounds) for k in rng.permutation(count)][:wanted]


def in_order(curriculum: Curriculum, seed: int = 0) -> Iterator[tuple[bool, int]]:
    """Yield all samples of all epochs in order."""
    for number in range(curriculum.epochs):
        yield from curriculum.epoch(number, seed)


#: Lists of a question folder: perception alone, and reasoning.
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


def both_kinds(
    folders: Sequence[Path],
) -> tuple[list[tuple[Path, Record]], list[tuple[Path, Record]]]:
    """Read perception and reasoning samples.

    Raises:
        InputError: there are none of one kind.
    """
    atomic, reasoning = read_sets(folders, ATOMIC), read_sets(folders, REASONING)
    if not atomic or not reasoning:
        missing = "perception alone" if not atomic else "reasoning"
        where = ", ".join(str(folder) for folder in folders)
        raise InputError(f"no questions of {missing} in {where}")
    return atomic, reasoning


def write_curriculum(
    folder: str | Path,
    path: str | Path,
    *,
    size: int | None = None,
    epochs: int = 10,
    seed: int = 0,
) -> int:
    """Write all samples of all epochs into one list, in training order.

    Args:
        folder: folder of `sightline questions`; images are relative to it.
        path: output file.
        size: samples per epoch; None for the number of perception samples.
        epochs: number of epochs, over which the share of perception samples falls from 1 to 0.1.
        seed: random seed of the order.

    Returns:
        Number of samples.
    """
    atomic, reasoning = both_kinds([Path(folder)])
    plan = Curriculum(len(atomic), len(reasoning), len(atomic) if size is None else size, epochs)
    chosen = ((atomic if first else reasoning)[k][1] for first, k in in_order(plan, seed))
    write_llava(path, chosen)
    return len(plan)
