"""Batch task: pseudo-labels of images, from and to local folders or URLs.

The label of `photos/a/b.jpg` is `LABELS/a/b.png`: the same path below the given folder. If two images
would share a label (`b.jpg` and `b.webp`), both keep their suffix: `b.jpg.png`.

A folder of labels belongs to one teacher, recorded in `labels.json`: labels of several teachers, each
with its own scale, must not be mixed.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from sightline.depth.config import LabelConfig
from sightline.depth.estimator import load
from sightline.depth.hub_network import HUB_PREFIX, HubNetwork
from sightline.depth.labels import Teacher, TeacherNetwork, encode, is_finished, predict_disparity
from sightline.errors import InputError, SightlineError, explained
from sightline.io.atomic import write_bytes
from sightline.io.images import PICTURE_SUFFIXES, read_picture
from sightline.io.inputs import expand, mode_of, place, real
from sightline.io.paths import AnyPath, is_remote, is_safe, listing, to_path
from sightline.io.reading import naming, read_bytes
from sightline.jobs.naming import BatchJob
from sightline.jobs.task import BatchOutcome, BatchTask, Notify
from sightline.models.download import resolve
from sightline.runtime.parallel import AbortMap
from sightline.types import FloatArray, Kind
from sightline.version import __version__

NAME = "labels.json"

#: Maximum size of `labels.json` in bytes.
_RECORD_LIMIT = 1_000_000

_ELSEWHERE = "choose another --out"


class LabelTask(BatchTask[NDArray[np.uint8], FloatArray]):
    """Label images with a teacher network.

    Labels are identical to the byte for any number of workers.

    Args:
        config: teacher and its settings.
    """

    noun = "labels"

    def __init__(self, config: LabelConfig) -> None:
        self.config = config
        self._model = config.model
        self._teacher: Teacher | None = None
        self._network: TeacherNetwork | None = None

    @property
    def threads(self) -> int | None:
        """Requested number of CPU threads."""
        return self.config.threads

    def prepare(self, inputs: Sequence[str | AnyPath], out: AnyPath) -> list[BatchJob]:
        """Find images and assign a label to each."""
        return plan_labels(inputs, out, recursive=self.config.recursive)

    def begin(
        self, jobs: Sequence[BatchJob], out: AnyPath, notify: Notify | None
    ) -> tuple[LabelFolder, str]:
        """Find the teacher and claim the folder for it."""
        config = self.config
        if not config.model.startswith(HUB_PREFIX):
            weights = resolve(
                config.model, accept=config.accept_license, notify=notify, purpose="depth"
            )
            self._model = weights.name if weights.entry is not None else str(weights.path)
        # Load the network once here: one that does not load is found before anything is written.
        network = self._load(1)
        kind = network.kind
        kind = Kind.METRIC_DISPARITY if kind is Kind.METRIC_DEPTH else kind
        self._teacher = Teacher(network.name, network.sha256, network.size, config.mirror, kind)
        return LabelFolder(out, self._teacher, jobs), network.sha256

    def open(self, threads: int | None, notify: Notify | None = None) -> None:  # noqa: ARG002
        """Load the teacher.

        Raises:
            AbortMap: it cannot be loaded, or differs from the one that `begin` found.
        """
        try:
            network = self._load(threads)
        except Exception as error:  # every worker would fail in the same way
            raise AbortMap(explained(error, f"{self._model} could not be loaded")) from error
        if network.sha256 != self.teacher.sha256:
            raise AbortMap(
                InputError(
                    f"a worker has other weights by this name ({network.sha256[:12]}…, not "
                    f"{self.teacher.sha256[:12]}…)",
                    path=self._model,
                    remedy="copy the same file to every machine",
                )
            )
        self._network = network

    def _load(self, threads: int | None) -> TeacherNetwork:
        if self._model.startswith(HUB_PREFIX):
            where = self._model.removeprefix(HUB_PREFIX)
            return HubNetwork(where, size=self.config.size, device=self.config.device)
        return load(
            self._model,
            engine=self.config.engine,
            size=self.config.size,
            threads=threads,
            device=self.config.device,
            accept_license=self.config.accept_license,
        )

    @property
    def teacher(self) -> Teacher:
        """The teacher that `begin` found."""
        assert self._teacher is not None, "call begin first"
        return self._teacher

    def read(self, job: BatchJob) -> NDArray[np.uint8]:
        """Decode an image."""
        if not job.outputs:
            raise InputError(
                "its name points outside of the folder", path=job.source, remedy="rename it"
            )
        with naming(job.source):
            return read_picture(job.source, max_pixels=self.config.max_pixels).pixels

    def compute(self, job: BatchJob, data: NDArray[np.uint8]) -> FloatArray:
        """Predict disparity."""
        assert self._network is not None, "call open first"
        try:
            return predict_disparity(self._network, data, mirror=self.teacher.mirror)
        except SightlineError as error:
            raise SightlineError(f"{job.source}: {error}") from error

    def write(self, job: BatchJob, data: NDArray[np.uint8], result: FloatArray) -> BatchOutcome:
        """Write the label.

        Raises:
            AbortMap: labels cannot be written here, for example because the disk is full.
        """
        ((_, path),) = job.outputs
        try:
            write_bytes(path, encode(result, self.teacher))
        except InputError:  # due to this input: a name too long, for example
            raise
        except SightlineError as error:  # due to the disk: the next label would fail, too
            if is_remote(path):
                raise
            raise AbortMap(error) from error
        kind = self.teacher.kind
        return BatchOutcome(
            job, kind=kind.value, unit=kind.unit, width=data.shape[1], height=data.shape[0]
        )


class LabelFolder:
    """The record of a folder of labels: `labels.json`, and the labels themselves.

    The folder is claimed by the first teacher that labels into it, and refused to any other.

    Args:
        out: folder or URL of the labels.
        teacher: the teacher.
        jobs: the labels to write; a folder that was not claimed must contain none of them.

    Raises:
        InputError: the folder has labels of another teacher, or of unknown origin.
    """

    def __init__(self, out: AnyPath, teacher: Teacher, jobs: Sequence[BatchJob]) -> None:
        record = out / NAME
        if _exists(record):
            _check_teacher(out, record, teacher)
        else:
            _refuse_unknown_labels(out, jobs)
            content = {
                "teacher": teacher.name,
                "sha256": teacher.sha256,
                "size": teacher.size,
                "mirror": teacher.mirror,
                "coding": "disparity",
                "kind": teacher.kind.value,
                "sightline": __version__,
            }
            write_bytes(record, (json.dumps(content, indent=1, sort_keys=True) + "\n").encode())
        # A URL is listed once instead of once per label.
        self._at_url = _files_at(out, empty=False) if is_remote(out) else frozenset()

    def is_done(self, job: BatchJob, settings: str) -> bool:
        """Return whether the label exists and is complete; `settings` is the teacher's checksum."""
        return bool(job.paths) and all(
            str(path) in self._at_url if is_remote(path) else is_finished(path, settings)
            for path in job.paths
        )

    @contextmanager
    def working(self, jobs: Sequence[BatchJob], settings: str) -> Iterator[None]:  # noqa: ARG002
        """Do nothing: a label is its own record."""
        yield

    def finish(self, job: BatchJob) -> None:
        """Do nothing: a label is its own record."""


def _check_teacher(out: AnyPath, record: AnyPath, teacher: Teacher) -> None:
    """Refuse a folder that was labeled by another teacher or with other settings."""
    try:
        before = json.loads(read_bytes(record, limit=_RECORD_LIMIT))
        name, size, mirror = before["teacher"], before["size"], before["mirror"]
        sha256 = str(before["sha256"])
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("is damaged", path=record, remedy=f"restore it or {_ELSEWHERE}") from error
    if sha256 != teacher.sha256:
        raise InputError(
            f"labeled by another teacher, {name} ({sha256[:12]}…), not by "
            f"{teacher.name} ({teacher.sha256[:12]}…)",
            path=out,
            remedy=_ELSEWHERE,
        )
    if (size, mirror) != (teacher.size, teacher.mirror):
        raise InputError(
            f"labeled with --size {size} {'--mirror' if mirror else '--no-mirror'}, not with "
            f"--size {teacher.size} {'--mirror' if teacher.mirror else '--no-mirror'}",
            path=out,
            remedy=f"use the same settings, or {_ELSEWHERE}",
        )


def _refuse_unknown_labels(out: AnyPath, jobs: Sequence[BatchJob]) -> None:
    """Refuse to replace labels that no teacher is recorded for."""
    paths = [path for job in jobs for path in job.paths]
    here = _files_at(out) if is_remote(out) else frozenset()
    unknown = next((p for p in paths if (str(p) in here if is_remote(p) else _exists(p))), None)
    if unknown is not None:
        raise InputError(
            f"exists, and there is no {NAME} that says who made it",
            path=unknown,
            remedy=f"move it away or {_ELSEWHERE}",
        )


def _files_at(out: AnyPath, *, empty: bool = True) -> frozenset[str]:
    """Return the URLs of all files below a URL; `empty`: also those of 0 bytes."""
    try:
        entries = listing(str(out), recursive=True)
    except InputError:  # it does not exist yet
        return frozenset()
    return frozenset(str(out / entry.inner) for entry in entries if empty or entry.size > 0)


def _exists(path: AnyPath) -> bool:
    return path.exists() if is_remote(path) else mode_of(path) is not None


@dataclass(frozen=True, slots=True)
class _Found:
    """An image and its path below the folder that contains it; a bucket may contain any name."""

    picture: AnyPath
    inner: str

    @property
    def safe(self) -> bool:
        return not is_remote(self.picture) or is_safe(self.inner)

    @property
    def short(self) -> str:
        return PurePosixPath(self.inner).with_suffix(".png").as_posix()

    @property
    def long(self) -> str:
        return f"{self.inner}.png"


def plan_labels(
    inputs: Sequence[str | AnyPath], out: AnyPath, *, recursive: bool = False
) -> list[BatchJob]:
    """Find images and assign a label to each.

    An image whose name points outside of the folder gets no label; it fails when it is processed.

    Args:
        inputs: images, folders and globs of this machine; URLs of images, folders and buckets.
        out: folder or URL for the labels.
        recursive: search subfolders.

    Raises:
        InputError: there is nothing to label, an input is a video, or `out` contains the images.
    """
    found: dict[AnyPath, _Found] = {}
    for given in map(str, inputs):
        search = _remote_images if is_remote(to_path(given)) else _local_images
        for one in search(given, out, recursive):
            found.setdefault(place(one.picture), one)
    if not found:
        remedy = None if recursive else "search subfolders with --recursive"
        raise InputError("no images among the inputs", remedy=remedy)
    safe = [one for one in found.values() if one.safe]
    # Compared without case, for file systems that ignore it.
    shared = Counter(one.short.casefold() for one in safe)
    names = [one.long if shared[one.short.casefold()] > 1 else one.short for one in safe]
    counts = Counter(name.casefold() for name in names)
    jobs = [BatchJob(one.picture, False, one.inner, ()) for one in found.values() if not one.safe]
    for one, name in zip(safe, names, strict=True):
        label = out / name
        if counts[name.casefold()] > 1 or place(label) in found:
            raise InputError(
                "its label would overwrite another file",
                path=one.picture,
                remedy="choose another --out, or give fewer inputs at once",
            )
        jobs.append(BatchJob(one.picture, False, name.removesuffix(".png"), (("png", label),)))
    return jobs


def _local_images(given: str, out: AnyPath, recursive: bool) -> Iterator[_Found]:
    named = to_path(given)
    for source in expand([given], recursive=recursive, out=out):
        if source.is_video:
            if source.path == named:
                raise InputError("is a video, not an image", path=given)
            continue
        root = place(source.path).parents[len(source.inner.parts) - 1]
        if not is_remote(out) and root == real(out) and source.path != named:
            raise _among_images(out)
        yield _Found(source.path, source.inner.as_posix())


def _remote_images(given: str, out: AnyPath, recursive: bool) -> Iterator[_Found]:
    # Not by `expand`, which refuses a bucket with a single unsafe name.
    if given.rstrip("/") == str(out).rstrip("/"):
        raise _among_images(out)
    inside = str(out).rstrip("/") + "/"
    for entry in listing(given, recursive=recursive):
        known = PurePosixPath(entry.inner).suffix.lower() in PICTURE_SUFFIXES
        if entry.url == given or (known and not entry.url.startswith(inside)):
            yield _Found(to_path(entry.url), entry.inner)


def _among_images(out: AnyPath) -> InputError:
    return InputError("is also the folder of the images", path=out, remedy=_ELSEWHERE)
