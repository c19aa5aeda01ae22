"""Which pictures are labelled, and where each label goes.

The label of `photos/a/b.jpg` is `LABELS/a/b.png`: the same path below the folder that was named. Where
two pictures would share a label (`b.jpg` and `b.webp`), both keep their ending: `b.jpg.png`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sightline.batch.inputs import expand, place, real
from sightline.errors import InputError
from sightline.files import remote
from sightline.files.pictures import PICTURE_SUFFIXES


@dataclass(frozen=True, slots=True)
class Task:
    """One picture and its label, each a path or a URL."""

    picture: str
    label: str

    def __str__(self) -> str:
        return self.picture

    def absolute(self) -> Task:
        """Return the same for a process that runs in another folder."""
        picture, label = (
            where if remote.is_url(where) else str(Path(where).absolute())
            for where in (self.picture, self.label)
        )
        return Task(picture, label)


@dataclass(frozen=True, slots=True)
class Plan:
    """What to do: `tasks`, and what was refused before any work because of its name."""

    tasks: tuple[Task, ...]
    refused: tuple[InputError, ...] = ()


@dataclass(frozen=True, slots=True)
class _Found:
    """A picture and its path below the folder it was found by; a bucket may hold any name."""

    picture: str
    inner: str

    @property
    def safe(self) -> bool:
        return not remote.is_url(self.picture) or remote.is_safe(self.inner)


def join(out: str, inner: str) -> str:
    """Return the place of a file below the output folder, which may be a URL."""
    return remote.join(out, inner) if remote.is_url(out) else str(Path(out, inner))


def make_plan(inputs: Sequence[str], out: str, *, recursive: bool = False) -> Plan:
    """Find the pictures and give every one its label's place.

    Args:
        inputs: pictures, folders and globs of this machine; URLs of pictures, folders and buckets.
        out: folder or URL for the labels.
        recursive: look into subfolders.

    Raises:
        InputError: nothing to label, a video named as input, or labels that would lie among pictures.
    """
    found: dict[str, _Found] = {}
    for given in inputs:
        look = _remote_pictures if remote.is_url(given) else _local_pictures
        for one in look(given, out, recursive):
            found.setdefault(_where(one.picture), one)
    if not found:
        raise InputError("no pictures among the inputs", remedy=None if recursive else _DEEPER)
    safe = [one for one in found.values() if one.safe]
    refused = tuple(
        InputError("its name leads out of the folder", path=one.picture, remedy="rename it")
        for one in found.values()
        if not one.safe
    )
    return Plan(tuple(_tasks(safe, out)), refused)


_DEEPER = "look into subfolders with --recursive"


def _where(picture: str) -> str:
    return picture if remote.is_url(picture) else str(place(Path(picture)))


def _local_pictures(given: str, out: str, recursive: bool) -> Iterator[_Found]:
    here = None if remote.is_url(out) else Path(out)
    for source in expand([given], recursive=recursive, out=here):
        if source.is_video:
            if source.path == Path(given):
                raise InputError("is a video, not a picture", path=given)
            continue
        root = place(source.path).parents[len(source.inner.parts) - 1]
        if here is not None and root == real(here) and source.path != Path(given):
            raise InputError(
                "labels would lie among the pictures", path=out, remedy="choose another --out"
            )
        yield _Found(str(source.path), source.inner.as_posix())


def _remote_pictures(given: str, out: str, recursive: bool) -> Iterator[_Found]:
    if given.rstrip("/") == out.rstrip("/"):
        raise InputError(
            "labels would lie among the pictures", path=out, remedy="choose another --out"
        )
    inside = out.rstrip("/") + "/"
    for entry in remote.listing(given, recursive=recursive):
        known = PurePosixPath(entry.inner).suffix.lower() in PICTURE_SUFFIXES
        if entry.url == given or (known and not entry.url.startswith(inside)):
            yield _Found(entry.url, entry.inner)


def _tasks(found: Sequence[_Found], out: str) -> Iterator[Task]:
    def short(one: _Found) -> str:
        return PurePosixPath(one.inner).with_suffix(".png").as_posix()

    def long(one: _Found) -> str:
        return f"{one.inner}.png"

    shared = _shared(found, short)
    names = [long(one) if short(one).casefold() in shared else short(one) for one in found]
    counts = Counter(name.casefold() for name in names)
    pictures = {_where(one.picture) for one in found}
    for one, name in zip(found, names, strict=True):
        label = join(out, name)
        if counts[name.casefold()] > 1 or _where(label) in pictures:
            raise InputError(
                "its label would take the place of another file",
                path=one.picture,
                remedy="choose another --out, or name fewer inputs at once",
            )
        yield Task(one.picture, label)


def _shared(found: Sequence[_Found], name: Callable[[_Found], str]) -> set[str]:
    """Return the names that two pictures share, on systems that do not tell `A` from `a` too."""
    counts = Counter(name(one).casefold() for one in found)
    return {text for text, count in counts.items() if count > 1}
