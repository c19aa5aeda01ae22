"""The lists of a set of questions, and all of them as one file in the order of the curriculum.

AURORA's code trains from such a file: one JSON list of all epochs, read from end to end.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sightline.errors import InputError
from sightline.perception.questions.curriculum import Curriculum, in_order
from sightline.perception.questions.records import Record, read_llava, write_llava

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


def both_kinds(
    folders: Sequence[Path],
) -> tuple[list[tuple[Path, Record]], list[tuple[Path, Record]]]:
    """Read what teaches perception alone, and what teaches reasoning.

    Raises:
        InputError: there is nothing of one of them.
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
    """Write all samples of all epochs into one list, in the order in which they are learnt.

    Args:
        folder: that `sightline questions` wrote; pictures are named from there.
        path: of the list.
        size: samples of an epoch; as many as teach perception alone if None.
        epochs: over which the share of perception alone falls from all to a tenth.
        seed: of the order.

    Returns:
        How many there are.
    """
    atomic, reasoning = both_kinds([Path(folder)])
    plan = Curriculum(len(atomic), len(reasoning), len(atomic) if size is None else size, epochs)
    chosen = ((atomic if first else reasoning)[k][1] for first, k in in_order(plan, seed))
    write_llava(path, chosen)
    return len(plan)
