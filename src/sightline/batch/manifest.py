"""The account of an output folder: which input made which files, and with what settings.

One small file, `.sightline.json`, replaced whole. It tells `--resume` what need not be done again,
keeps results from being taken for inputs, and tells `sightline view` where the photographs are.
Losing it costs time, never data.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from sightline.batch.inputs import place
from sightline.batch.naming import Job
from sightline.errors import SightlineError
from sightline.files.atomic import write_text

NAME = ".sightline.json"
VERSION = 1


class Manifest:
    """Records of one output folder, by the name of the result (`Job.key`).

    Being keyed by the result, a record goes when another input takes its place.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._records: dict[str, dict[str, Any]] = _load(folder / NAME)
        self._changed = False
        self._next_save = 0.0

    def outputs(self) -> frozenset[Path]:
        """Return the places (see `inputs.place`) of all results on record."""
        root = self.folder.resolve()
        return frozenset(
            root / name for record in self._records.values() for name in record["outputs"]
        )

    def source_of(self, result: Path) -> Path | None:
        """Return the input that a result was made from, when that is on record."""
        name = self._inside(result)
        for record in self._records.values():
            if name in record["outputs"]:
                return Path(record["source"])
        return None

    def is_done(self, job: Job, settings: str) -> bool:
        """Tell whether all files of a job are there, made of this very input with these settings."""
        record = self._records.get(job.key)
        if record is None:
            return False
        try:
            wanted = self._record(job, settings)
        except OSError:
            return False
        same = all(record[name] == wanted[name] for name in ("source", "size", "mtime", "settings"))
        return (
            same
            and set(wanted["outputs"]) <= set(record["outputs"])
            and all(path.exists() for path in job.paths)
        )

    def record(self, job: Job, settings: str) -> None:
        """Note a finished job, and save now and then."""
        record = self._record(job, settings)
        before = self._records.get(job.key)
        if before is not None and all(
            before[name] == record[name] for name in ("source", "size", "mtime", "settings")
        ):
            # Other formats of the same result, from an earlier run, stay on record.
            record["outputs"] = sorted({*before["outputs"], *record["outputs"]})
        self._records[job.key] = record
        self._changed = True
        if time.monotonic() >= self._next_save:
            self.save()

    def save(self) -> None:
        """Write the file if something changed.

        The whole file is written each time, so the pause until the next time grows with how long that
        took: a folder of a hundred thousand results spends a twentieth of its time here at most.
        A failure to write (a full disk) is not reported: the results themselves report theirs.
        """
        if not self._changed:
            return
        start = time.monotonic()
        content = {"version": VERSION, "results": self._records}
        with suppress(SightlineError):
            write_text(self.folder / NAME, json.dumps(content, sort_keys=True))
        now = time.monotonic()
        self._next_save = now + max(1.0, 20 * (now - start))
        self._changed = False

    def _record(self, job: Job, settings: str) -> dict[str, Any]:
        state = job.source.stat()
        return {
            "source": os.fspath(place(job.source)),
            "size": state.st_size,
            "mtime": state.st_mtime_ns,
            "settings": settings,
            "outputs": sorted(self._inside(path) for path in job.paths),
        }

    def _inside(self, path: Path) -> str:
        return Path(os.path.relpath(place(path), self.folder.resolve())).as_posix()


def _load(path: Path) -> dict[str, dict[str, Any]]:
    """Read the records; a missing, foreign or damaged file counts as none."""
    needed = {"source", "size", "mtime", "settings", "outputs"}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content["version"] != VERSION:
            return {}
        return {k: dict(v) for k, v in content["results"].items() if needed <= set(v)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
