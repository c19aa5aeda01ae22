"""Samples for training: sets of questions in the order of a curriculum, pictures looked at once.

A compact speaker's eyes never learn, so what they give for a picture can be kept: looking takes as long
as learning. `Looks` is one file of halves, filled in order, that goes on where it was stopped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray

from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.files.pictures import read_picture
from sightline.files.reading import inside, read_bytes
from sightline.perception.model.loading import Speaker
from sightline.perception.questions.curriculum import Curriculum, in_order
from sightline.perception.questions.records import Record

T = TypeVar("T")


class RecordedSamples:
    """Records and their pictures.

    Args:
        rows: folder of the pictures, and record, in the order in which they are learnt.
        looks: what a compact speaker's eyes gave for the pictures; None to show the pictures.
    """

    def __init__(self, rows: Sequence[tuple[Path, Record]], looks: Looks | None = None) -> None:
        self._rows, self._looks = rows, looks

    def __len__(self) -> int:
        return len(self._rows)

    def sample(self, position: int) -> tuple[Record, NDArray[Any]]:
        """Return a record with its picture, or with what the eyes gave for it."""
        folder, record = self._rows[position]
        if self._looks is not None:
            return record, self._looks.of(record.image)
        return record, read_picture(inside(folder, record.image)).pixels


def by_curriculum(
    atomic: Sequence[T],
    reasoning: Sequence[T],
    size: int,
    epochs: int = 10,
    seed: int = 0,
) -> list[T]:
    """Put samples into the paper's order; `size` is that of an epoch."""
    plan = Curriculum(len(atomic), len(reasoning), size, epochs)
    chosen = in_order(plan, seed)
    return [atomic[number] if first else reasoning[number] for first, number in chosen]


class Looks:
    """What the eyes of a compact speaker gave for pictures, in a folder.

    Args:
        folder: with `looks.json` and `looks.npy`, as `look_ahead` fills it.
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        self.notes = _read_notes(self.folder)
        self._rows = {name: row for row, name in enumerate(self.notes["names"])}
        self._values: NDArray[np.float16] = np.load(self.folder / "looks.npy", mmap_mode="r")

    def of(self, name: str) -> NDArray[np.float16]:
        """(T, D) of one picture."""
        row = self._rows.get(name)
        if row is None or row >= self.notes["done"]:
            raise InputError(f"nobody looked at {name!r} yet", path=self.folder)
        return np.array(self._values[row])


def look_ahead(
    speaker: Speaker,
    names: Sequence[str],
    pictures: str | Path,
    folder: str | Path,
    *,
    batch: int = 16,
    bfloat16: bool = False,
    report: Callable[[str], None] = print,
) -> Looks:
    """Look at pictures and keep what is seen; go on where it was stopped.

    Args:
        speaker: whose eyes look.
        names: of the pictures, from `pictures`.
        pictures: folder of them.
        folder: to keep what is seen in.
        batch: pictures at a time.
        bfloat16: look in bfloat16.
        report: told in a line how it goes.
    """
    pictures, folder = Path(pictures), Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    names = list(dict.fromkeys(names))
    tower = speaker.model.model.vision_tower
    cells, channels = tower.looks
    shape = (len(names), cells, channels)
    path = folder / "looks.npy"
    if (folder / "looks.json").is_file():
        notes = _read_notes(folder)
        if notes["names"] != names or not path.is_file():
            raise InputError("holds looks at other pictures", path=folder, remedy="take another")
        values = np.lib.format.open_memmap(path, "r+")
    else:
        notes = {"names": names, "done": 0}
        values = np.lib.format.open_memmap(path, "w+", np.float16, shape)
        _write_notes(folder, notes)
    for first in range(notes["done"], len(names), batch):
        some = names[first : first + batch]
        shown = speaker.eye.look([read_picture(inside(pictures, n)).pixels for n in some])
        with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=bfloat16):
            tokens = tower.look(shown).float()
        limit = float(np.finfo(np.float16).max)
        values[first : first + len(some)] = tokens.clamp(-limit, limit).numpy()
        notes["done"] = first + len(some)
        if (first // batch) % 20 == 19 or notes["done"] == len(names):
            values.flush()
            _write_notes(folder, notes)
            report(f"looked at {notes['done']} of {len(names)} pictures")
    return Looks(folder)


def _write_notes(folder: Path, notes: dict[str, Any]) -> None:
    write_text(folder / "looks.json", json.dumps(notes))


def _read_notes(folder: Path) -> dict[str, Any]:
    path = folder / "looks.json"
    try:
        notes = json.loads(read_bytes(path, limit=200_000_000, what="list of looks"))
        return {"names": list(notes["names"]), "done": int(notes["done"])}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("is no list of looks", path=path) from error
