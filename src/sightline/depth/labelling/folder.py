"""The folder of labels belongs to one teacher: `labels.json` says which.

A student that learns from a mixture of two teachers' labels, each with its own scale, learns neither.
So a folder is claimed by the first teacher that labels into it, and refused to any other.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from sightline import __version__
from sightline.batch.inputs import mode_of
from sightline.depth.labelling.coding import Teacher, is_finished
from sightline.depth.labelling.plan import Task, join
from sightline.errors import InputError
from sightline.files import atomic, reading, remote

NAME = "labels.json"

#: Larger than any such file, in bytes.
_LIMIT = 1_000_000

_ELSEWHERE = "choose another --out"


def claim(out: str, teacher: Teacher, tasks: Sequence[Task]) -> None:
    """Make the folder this teacher's, or find that it is already.

    Args:
        out: folder or URL of the labels.
        teacher: who is going to label.
        tasks: the labels to come; a folder that nobody claimed must hold none of them.

    Raises:
        InputError: the folder has labels of another teacher, or of unknown origin.
    """
    place = join(out, NAME)
    if not _exists(place):
        _refuse_strangers(out, tasks)
        text = json.dumps(_describe(teacher), indent=1, sort_keys=True) + "\n"
        write(place, text.encode())
        return
    try:
        before = json.loads(_read(place))
        teacher_before, size, mirror = before["teacher"], before["size"], before["mirror"]
        sha256 = str(before["sha256"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("is damaged", path=place, remedy=f"restore it or {_ELSEWHERE}") from error
    if sha256 != teacher.sha256:
        raise InputError(
            f"labelled by another teacher, {teacher_before} ({sha256[:12]}…), not by "
            f"{teacher.name} ({teacher.sha256[:12]}…)",
            path=out,
            remedy=_ELSEWHERE,
        )
    if (size, mirror) != (teacher.size, teacher.mirror):
        raise InputError(
            f"labelled with --size {size} {'--mirror' if mirror else '--no-mirror'}, not with "
            f"--size {teacher.size} {'--mirror' if teacher.mirror else '--no-mirror'}",
            path=out,
            remedy=f"give the same, or {_ELSEWHERE}",
        )


def unfinished(out: str, tasks: Sequence[Task], teacher: Teacher) -> list[Task]:
    """Return the tasks without a whole label, in their order."""
    if not remote.is_url(out):
        return [task for task in tasks if not is_finished(Path(task.label), teacher.sha256)]
    done = {join(out, entry.inner) for entry in _entries(out) if entry.size > 0}
    return [task for task in tasks if task.label not in done]


def write(place: str, data: bytes) -> None:
    """Write a file, whole or not at all, here or at a URL."""
    if remote.is_url(place):
        remote.write_bytes(place, data)
    else:
        atomic.write_bytes(place, data)


def _describe(teacher: Teacher) -> dict[str, object]:
    return {
        "teacher": teacher.name,
        "sha256": teacher.sha256,
        "size": teacher.size,
        "mirror": teacher.mirror,
        "coding": "disparity",
        "kind": teacher.kind.value,
        "sightline": __version__,
    }


def _refuse_strangers(out: str, tasks: Sequence[Task]) -> None:
    """Labels that lie here and that no teacher answers for are not ours to replace."""
    if remote.is_url(out):
        here = {join(out, entry.inner) for entry in _entries(out)}
        strangers = (task.label for task in tasks if task.label in here)
    else:
        strangers = (task.label for task in tasks if mode_of(Path(task.label)) is not None)
    stranger = next(strangers, None)
    if stranger is not None:
        raise InputError(
            f"exists, and no {NAME} says that it is a label of ours",
            path=stranger,
            remedy=f"move it away or {_ELSEWHERE}",
        )


def _entries(out: str) -> list[remote.Entry]:
    try:
        return remote.listing(out, recursive=True)
    except InputError:  # not there yet
        return []


def _exists(place: str) -> bool:
    if not remote.is_url(place):
        return mode_of(Path(place)) is not None
    try:
        return bool(remote.listing(place))
    except InputError:
        return False


def _read(place: str) -> bytes:
    if remote.is_url(place):
        return remote.read_bytes(place, limit=_LIMIT)
    return reading.read_bytes(place, limit=_LIMIT)
