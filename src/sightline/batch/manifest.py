"""The account of an output folder: which input made which files, and with what settings.

One small file, `.sightline.json`, replaced whole. It tells `--resume` what need not be done again,
keeps results from being taken for inputs, and tells `sightline view` where the photographs are.
Losing it costs time, never data.

What is going to be written is put on record before work starts: a run that is killed leaves no result
that the next one could take for a photograph.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sightline.batch.inputs import place, real
from sightline.batch.naming import Job
from sightline.errors import SightlineError
from sightline.files.atomic import write_text
from sightline.files.reading import read_bytes

NAME = ".sightline.json"
VERSION = 2

#: Larger than the account of a million results, in bytes.
_LIMIT = 500_000_000


@dataclass(frozen=True, slots=True)
class _Origin:
    """What a result is made of; equal origins give equal results."""

    source: str
    size: int
    mtime: int
    settings: str


@dataclass(frozen=True, slots=True)
class _Record:
    """`outputs`: names of all files of ours; `done`: those of them that `origin` made."""

    origin: _Origin
    outputs: frozenset[str]
    done: frozenset[str]


class Manifest:
    """Records of one output folder, by the name of the result (`Job.key`).

    Being keyed by the result, a record goes when another input takes its place.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._records = _load(folder / NAME)
        self._next_save = 0.0

    def outputs(self) -> frozenset[Path]:
        """Return the places (see `inputs.place`) of all results on record."""
        root = real(self.folder)
        return frozenset(
            root / name for record in self._records.values() for name in record.outputs
        )

    def source_of(self, result: Path) -> Path | None:
        """Return the input that a result was made from, when that is on record."""
        name = self._inside(result)
        for record in self._records.values():
            if name in record.done:
                return Path(record.origin.source)
        return None

    def is_done(self, job: Job, settings: str) -> bool:
        """Tell whether all files of a job are there, made of this very input with these settings."""
        record = self._records.get(job.key)
        return (
            record is not None
            and record.origin == _origin(job, settings)
            and self._names(job) <= record.done
            and all(path.exists() for path in job.paths)
        )

    @contextmanager
    def working(self, jobs: Sequence[Job], settings: str) -> Iterator[None]:
        """Keep account while `jobs` are being done: planned first, `finish` tells of each."""
        for job in jobs:
            self._plan(job, settings)
        self.save()
        try:
            yield
        finally:
            for job in jobs:
                self._settle(job)
            self.save()

    def finish(self, job: Job) -> None:
        """Note that a job, one of those that are being worked on, is done; save now and then."""
        record = self._records[job.key]
        self._records[job.key] = replace(record, done=record.done | self._names(job))
        if time.monotonic() >= self._next_save:
            self.save()

    def save(self) -> None:
        """Write the file.

        The whole file is written each time, so the pause until the next time grows with how long that
        took: a folder of a hundred thousand results spends a twentieth of its time here at most.
        A failure to write (a full disk) is not reported: the results themselves report theirs.
        """
        start = time.monotonic()
        path = self.folder / NAME
        with suppress(SightlineError, OSError):
            if self._records:
                write_text(path, _to_json(self._records))
            else:
                path.unlink(missing_ok=True)
        now = time.monotonic()
        self._next_save = now + max(1.0, 20 * (now - start))

    def _plan(self, job: Job, settings: str) -> None:
        """Put a job's files on record as ours to be; what the same origin made before stays done."""
        origin, names = _origin(job, settings), self._names(job)
        before = self._records.get(job.key) or _Record(origin, frozenset(), frozenset())
        done = before.done if before.origin == origin else frozenset()
        self._records[job.key] = _Record(origin, before.outputs | names, done)

    def _settle(self, job: Job) -> None:
        """Forget the files of a job that were planned and not made."""
        record = self._records[job.key]
        made = {name for name in record.outputs if os.path.lexists(self.folder / name)}
        if made:
            self._records[job.key] = replace(record, outputs=record.done | made)
        else:
            del self._records[job.key]

    def _names(self, job: Job) -> frozenset[str]:
        return frozenset(self._inside(path) for path in job.paths)

    def _inside(self, path: Path) -> str:
        return Path(os.path.relpath(place(path), real(self.folder))).as_posix()


def _origin(job: Job, settings: str) -> _Origin:
    size = mtime = -1  # of an input that is gone
    with suppress(OSError):
        state = job.source.stat()
        size, mtime = state.st_size, state.st_mtime_ns
    return _Origin(os.fspath(place(job.source)), size, mtime, settings)


def _to_json(records: dict[str, _Record]) -> str:
    results = {
        key: {
            "source": record.origin.source,
            "size": record.origin.size,
            "mtime": record.origin.mtime,
            "settings": record.origin.settings,
            "outputs": sorted(record.outputs),
            "done": sorted(record.done),
        }
        for key, record in records.items()
    }
    return json.dumps({"version": VERSION, "results": results}, sort_keys=True)


def _load(path: Path) -> dict[str, _Record]:
    """Read the records; a missing, foreign or damaged file counts as none."""
    try:
        content = json.loads(read_bytes(path, limit=_LIMIT))
        if content["version"] != VERSION:
            return {}
        return {key: _record(value) for key, value in content["results"].items()}
    except (SightlineError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _record(value: dict[str, Any]) -> _Record:
    origin = _Origin(
        _checked(value["source"], str),
        _checked(value["size"], int),
        _checked(value["mtime"], int),
        _checked(value["settings"], str),
    )
    outputs, done = (
        frozenset(_checked(name, str) for name in _checked(value[field], list))
        for field in ("outputs", "done")
    )
    return _Record(origin, outputs, done)


def _checked(value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is not {kind.__name__}")
    return value
