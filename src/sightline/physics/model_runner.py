"""Run a video model on a data set: `VideoModel` is the protocol, `run_model` writes its videos.

A model is any object with `predict(condition, mask, n)`. `load_model("package.module:factory")`
imports the module from the Python path (the working folder included) and calls the factory without
arguments.

Models are third-party code: whatever they raise, `SystemExit` included, is reported as a failure of
that sample. Only `KeyboardInterrupt` ends the run. The folder of videos has a record, `run.json`, of
the model, the data set and the number of condition frames; videos of another run are not mixed with
it.
"""

from __future__ import annotations

import importlib
import json
import sys
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import make_folder, write_bytes, write_text
from sightline.io.reading import read_bytes
from sightline.physics.datasets.mp4 import encode
from sightline.physics.datasets.reader import VideoData, open_dataset
from sightline.physics.datasets.spec import COMBINATORIAL
from sightline.physics.types import Frames

#: Record of a run in the folder of its videos.
RECORD = "run.json"


@runtime_checkable
class VideoModel(Protocol):
    """A model that continues a video."""

    def predict(self, condition: Frames, mask: NDArray[np.bool_], n: int) -> Frames:
        """Return the whole video.

        Args:
            condition: (n, H, W, 3) uint8 RGB: the given frames, then zeros.
            mask: (n,) True where a frame is given.
            n: number of frames of the video, the given ones included.

        Returns:
            (n, H, W, 3) uint8 RGB. The given frames in it are ignored.
        """
        ...


@dataclass(frozen=True, slots=True)
class Prediction:
    """The outcome for one sample.

    Attributes:
        index: of the sample in the data set.
        path: of the video.
        skipped: whether the video existed before.
        failure: the reason why there is no video.
    """

    index: int
    path: Path
    skipped: bool = False
    failure: SightlineError | None = None


def load_model(reference: str) -> VideoModel:
    """Import a module and create a model.

    Args:
        reference: `package.module:factory`; a function without arguments, or a class.
    """
    module_name, _, factory_name = reference.partition(":")
    if not module_name or not factory_name:
        raise InputError(f"{reference!r} does not name a model", remedy="give it as module:factory")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(
            f"{module_name} cannot be imported ({_describe_error(error)})",
            remedy="run where it can be, or set PYTHONPATH"
            if isinstance(error, ImportError)
            else "fix the module",
        ) from error
    factory = getattr(module, factory_name, None)
    if not callable(factory):
        raise InputError(
            f"{module_name} has no factory called {factory_name}",
            remedy="give a function or class that makes the model",
        )
    try:
        model = factory()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(f"{reference} could not be made ({_describe_error(error)})") from error
    if not isinstance(model, VideoModel):
        raise InputError(
            f"{reference} returned an object without the method predict(condition, mask, n)"
        )
    return model


def condition_frames(data: VideoData, condition: int | None, index: int = 0) -> int:
    """Return the number of frames given to a model; refuse one that leaves nothing to predict.

    Args:
        data: the data set.
        condition: the number; None: 3, for combinatorial worlds 1, as in the paper.
        index: of the video whose length counts.
    """
    if condition is None:
        condition = 1 if data.scenario == COMBINATORIAL else 3
    frames = len(data.video(index))
    if not 1 <= condition <= frames - 2:
        raise InputError(
            f"{condition} condition frames of {frames}", remedy=f"give 1 to {frames - 2}"
        )
    return condition


def run_model(
    model: VideoModel | str,
    data: str | Path,
    out: str | Path,
    *,
    condition: int | None = None,
    start: int = 0,
    count: int | None = None,
) -> list[Prediction]:
    """Let a model continue the videos of a data set, and write them as lossless mp4.

    Args:
        model: the model, or `package.module:factory`.
        data: path of the data set whose first frames are given.
        out: folder for the videos, `00000.mp4` …
        condition: number of given frames; None: 3, for combinatorial worlds 1.
        start: index of the first sample.
        count: number of samples; None: all from `start` on.

    Returns:
        One entry per sample; those with a `failure` have no video.
    """
    steps = iter_predictions(model, data, out, condition=condition, start=start, count=count)
    return list(steps)


def iter_predictions(
    model: VideoModel | str,
    data: str | Path,
    out: str | Path,
    *,
    condition: int | None = None,
    start: int = 0,
    count: int | None = None,
) -> Generator[Prediction, None, None]:
    """Do the same as `run_model`, and yield after each sample. An interrupted run can be resumed."""
    if count is not None and count < 1:
        raise InputError(f"count must be at least 1, got {count}")
    with open_dataset(data) as videos:
        stop = len(videos) if count is None else start + count
        if not 0 <= start < stop <= len(videos):
            asked = f"{start} on" if count is None else f"{start} to {stop - 1}"
            total = f"{len(videos)} sample{'s' * (len(videos) != 1)}"
            raise InputError(
                f"samples from {asked} were asked for",
                path=Path(data),
                remedy=f"it has {total}, which count from 0",
            )
        condition = condition_frames(videos, condition, start)
        name = (
            model
            if isinstance(model, str)
            else f"{type(model).__module__}:{type(model).__qualname__}"
        )
        loaded = load_model(model) if isinstance(model, str) else model
        record = {"model": name, "data_set": videos.digest, "condition": condition}
        with claimed(Path(out), record):
            yield from continue_videos(
                loaded, videos, Path(out), range(start, stop), condition=condition
            )


def continue_videos(
    model: VideoModel, data: VideoData, folder: Path, indexes: Sequence[int], *, condition: int
) -> Generator[Prediction, None, None]:
    """Let a model continue some videos of a data set; write each as lossless mp4, named by its index.

    Existing videos are kept. A sample on which the model fails is reported, and the next one is tried.

    Args:
        model: the model.
        data: the data set with the condition frames.
        folder: for `00000.mp4` …, see `claimed`.
        indexes: of the samples.
        condition: number of given frames.
    """
    for index in indexes:
        path = folder / f"{index:05d}.mp4"
        if path.exists():
            yield Prediction(index, path, skipped=True)
            continue
        failure: SightlineError | None = None
        try:
            frames = continue_video(model, data.video(index), condition)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # the next sample is tried
            failure = _failure(error, index)
        else:
            write_bytes(path, encode(frames, "lossless"))
        yield Prediction(index, path, failure=failure)


def continue_video(model: VideoModel, truth: Frames, condition: int) -> Frames:
    """Return the video of a model; its first frames are the true ones.

    Args:
        model: the model.
        truth: (T, H, W, 3) uint8 RGB; only its first `condition` frames are shown to the model.
        condition: number of given frames.
    """
    count = len(truth)
    if not 1 <= condition < count:
        raise InputError(
            f"{condition} condition frames of {count}", remedy=f"give 1 to {count - 1}"
        )
    given = np.zeros_like(truth)
    given[:condition] = truth[:condition]
    mask = np.arange(count) < condition
    answer: Any = model.predict(given, mask, count)
    try:
        frames = np.asarray(answer)
        got = f"{frames.dtype} of shape {frames.shape}"
    except Exception as error:  # lists of unequal length, a tensor on another device
        raise InputError(
            f"predict returned a {type(answer).__name__} that is no array ({error})",
            remedy=_expected(truth),
        ) from error
    if frames.dtype != np.uint8 or frames.shape != truth.shape:
        if frames.dtype == object:
            got = type(answer).__name__
        raise InputError(f"predict returned {got}", remedy=_expected(truth))
    result = frames.copy()
    result[:condition] = truth[:condition]
    return result


def _expected(truth: Frames) -> str:
    return f"expected uint8 of shape {truth.shape}, RGB from 0 to 255"


def _describe_error(error: BaseException) -> str:
    """Return an error as text, with its type unless it is ours."""
    if isinstance(error, SightlineError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _failure(error: BaseException, index: int) -> SightlineError:
    failure = SightlineError(f"sample {index}: {_describe_error(error)}")
    failure.add_note("".join(traceback.format_exception(error)))
    return failure


@contextmanager
def results_folder(path: Path) -> Iterator[None]:
    """Create a folder and its parents; after the block, remove those that are still empty.

    Folders that existed before are kept.

    Args:
        path: of the folder.
    """
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    make_folder(path)
    try:
        yield
    finally:
        with suppress(OSError):  # not empty, so its parents are not either
            for folder in missing:
                folder.rmdir()


@contextmanager
def claimed(folder: Path, record: dict[str, Any]) -> Iterator[None]:
    """Create the folder for the videos of a run, or check that it holds those of the same run.

    The record, and the folder if it was created here, are removed at the end if there is no video.

    Args:
        folder: for the videos.
        record: model, data set and condition, as plain values.
    """
    with results_folder(folder):
        path = folder / RECORD
        there = _read(path) if path.exists() else None
        if path.exists() and there is None:
            raise InputError(
                "is not the record of a run", path=path, remedy="choose another folder"
            )
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
    """Refuse another number of condition frames than the record of a run has.

    Args:
        videos: a folder, with or without the record of a run; or a file.
        condition: number of frames that the user says were given.
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
    """Read a record; None for another file of that name."""
    try:
        record = json.loads(read_bytes(path, limit=1 << 20))
    except (InputError, ValueError):
        return None
    ours = isinstance(record, dict) and record.keys() >= {"model", "data_set", "condition"}
    return record if ours else None
