"""The record of an output folder: which input made which files, and with what settings.

One small file, `.sightline.json`, replaced atomically. `--resume` uses it to skip finished inputs,
input folders are searched without earlier results, and `sightline view` finds the original images.
Losing it costs time, never data.

Output files are recorded as planned before work starts, so that a killed run leaves no result that
the next run could mistake for an input.
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

from sightline.errors import SightlineError
from sightline.io.atomic import write_text
from sightline.io.inputs import place, real
from sightline.io.paths import AnyPath, is_remote, to_path
from sightline.io.reading import read_bytes
from sightline.jobs.naming import BatchJob

NAME = ".sightline.json"
VERSION = 2

#: Maximum size of the file in bytes, enough for a million results.
_LIMIT = 500_000_000


@dataclass(frozen=True, slots=True)
class _Origin:
    """Input and settings of a result; equal origins give equal results."""

    source: str
    size: int
    mtime: int
    settings: str


@dataclass(frozen=True, slots=True)
class _Record:
    """`outputs`: names of all output files; `done`: those of them made from `origin`."""

    origin: _Origin
    outputs: frozenset[str]
    done: frozenset[str]


class Manifest:
    """Records of one output folder, by the name of the result (`BatchJob.key`).

    Records are keyed by result, so a record is replaced when another input makes that result.
    """

    def __init__(self, folder: AnyPath) -> None:
        self.folder = folder
        self._records = _load(folder / NAME)
        self._next_save = 0.0

    def outputs(self) -> frozenset[AnyPath]:
        """Return the locations (see `inputs.place`) of all results on record."""
        root = self._root
        return frozenset(
            root / name for record in self._records.values() for name in record.outputs
        )

    @property
    def _root(self) -> AnyPath:
        return self.folder if is_remote(self.folder) else real(self.folder)

    def source_of(self, result: AnyPath) -> AnyPath | None:
        """Return the input that a result was made from, if it is on record."""
        name = self._inside(result)
        for record in self._records.values():
            if name in record.done:
                return to_path(record.origin.source)
        return None

    def is_done(self, job: BatchJob, settings: str) -> bool:
        """Return whether all files of a job exist, made from this input with these settings."""
        record = self._records.get(job.key)
        return (
            record is not None
            and record.origin == _origin(job, settings)
            and self._names(job) <= record.done
            and all(path.exists() for path in job.paths)
        )

    @contextmanager
    def working(self, jobs: Sequence[BatchJob], settings: str) -> Iterator[None]:
        """Record `jobs` as planned, and those that `finish` was not called for as undone at the end."""
        for job in jobs:
            self._plan(job, settings)
        self.save()
        try:
            yield
        finally:
            for job in jobs:
                self._settle(job)
            self.save()

    def finish(self, job: BatchJob) -> None:
        """Record that one of the jobs in work is done; save now and then."""
        record = self._records[job.key]
        self._records[job.key] = replace(record, done=record.done | self._names(job))
        if time.monotonic() >= self._next_save:
            self.save()

    def save(self) -> None:
        """Write the file.

        The whole file is written each time, so the interval grows with the time that it takes: at most
        a twentieth of the run is spent here. A failure to write (a full disk) is not reported: writing
        the results fails for the same reason, and is.
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

    def _plan(self, job: BatchJob, settings: str) -> None:
        """Record a job's files as planned; those made from the same origin before stay done."""
        origin, names = _origin(job, settings), self._names(job)
        before = self._records.get(job.key) or _Record(origin, frozenset(), frozenset())
        done = before.done if before.origin == origin else frozenset()
        self._records[job.key] = _Record(origin, before.outputs | names, done)

    def _settle(self, job: BatchJob) -> None:
        """Drop the files of a job that were planned and not written."""
        record = self._records[job.key]
        made = {name for name in record.outputs if _exists(self.folder / name)}
        if made:
            self._records[job.key] = replace(record, outputs=record.done | made)
        else:
            del self._records[job.key]

    def _names(self, job: BatchJob) -> frozenset[str]:
        return frozenset(self._inside(path) for path in job.paths)

    def _inside(self, path: AnyPath) -> str:
        """Return the path relative to the folder, with `/`."""
        root, path = self._root, place(path)
        if is_remote(root) or is_remote(path):
            return str(path).removeprefix(f"{str(root).rstrip('/')}/")
        return Path(os.path.relpath(path, root)).as_posix()


def _exists(path: AnyPath) -> bool:
    return path.exists() if is_remote(path) else os.path.lexists(path)


def _origin(job: BatchJob, settings: str) -> _Origin:
    size = mtime = -1  # of an input that does not exist
    with suppress(OSError):
        state = job.source.stat()
        size, mtime = state.st_size, getattr(state, "st_mtime_ns", -1)
    return _Origin(str(place(job.source)), size, mtime, settings)


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


def _load(path: AnyPath) -> dict[str, _Record]:
    """Read the records; a missing or damaged file counts as empty."""
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
