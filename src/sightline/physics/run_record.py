"""`run.json` in a folder of videos: which model made them, from what, given how many frames."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.files.atomic import write_text
from sightline.files.reading import read_bytes
from sightline.physics.folder import results_folder

RECORD = "run.json"


@contextmanager
def claimed(folder: Path, record: dict[str, Any]) -> Iterator[None]:
    """Make a folder for the videos of one run, or find that it holds those of the same run.

    Without a video in it, the record goes again at the end, and so does a folder that was made.

    Args:
        folder: for the videos.
        record: model, data set and condition, as plain values.
    """
    with results_folder(folder):
        path = folder / RECORD
        there = _read(path) if path.exists() else None
        if path.exists() and there is None:
            raise InputError("is no record of a run", path=path, remedy="choose another folder")
        if _has_videos(folder) and there != record:
            which = "of another model, data set or condition" if there else "already"
            raise InputError(
                f"holds videos {which}", path=folder, remedy="choose another folder, or remove it"
            )
        write_text(path, json.dumps(record, indent=1, sort_keys=True) + "\n")
        try:
            yield
        finally:
            if not _has_videos(folder):
                path.unlink(missing_ok=True)


def check_condition(videos: Path, condition: int) -> None:
    """Refuse to score the videos of a run as if another number of frames had been given.

    Args:
        videos: a folder, with or without the record of a run; or a file.
        condition: frames that were given, by the user's word.
    """
    path = videos / RECORD
    record = _read(path) if path.is_file() else None
    given = None if record is None else record["condition"]
    if isinstance(given, int) and given != condition:
        raise InputError(
            f"these videos were made with --condition {given}, not {condition}",
            path=videos,
            remedy=f"use --condition {given}",
        )


def _has_videos(folder: Path) -> bool:
    return any(not path.name.startswith(".") for path in folder.glob("*.mp4"))


def _read(path: Path) -> dict[str, Any] | None:
    """Read a record; None when it is something else of that name."""
    try:
        record = json.loads(read_bytes(path, limit=1 << 20))
    except (InputError, ValueError, RecursionError):
        return None
    ours = isinstance(record, dict) and record.keys() >= {"model", "data_set", "condition"}
    return record if ours else None
