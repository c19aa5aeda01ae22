"""One question and its answer, in the form that LLaVA and its kin are trained with."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.files.reading import read_bytes

#: What a sample teaches: perception alone, an answer alone, or an answer by way of perception.
Task = Literal["depth", "points", "boxes", "direct", "chain"]

_IMAGE = "<image>"
_MOST_BYTES = 2_000_000_000
#: Samples get numbers of their own from what they say, so that the same data are the same bytes.
_SPACE = uuid.UUID("5b0f27b2-0a4e-5cf3-9d54-6a2bb1b3f1d6")


@dataclass(frozen=True, slots=True)
class Record:
    """A sample.

    Attributes:
        image: path of the picture, from the folder of pictures.
        question: without the mark of the picture.
        answer: what the model is to say.
        task: what it teaches.
    """

    image: str
    question: str
    answer: str
    task: Task

    def to_llava(self) -> dict[str, Any]:
        """Return it as LLaVA's trainers read it."""
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
    """Write samples in their order, as one JSON list."""
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
