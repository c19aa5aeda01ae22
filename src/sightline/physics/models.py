"""Any video model behind one method, so that it can be run on a data set and scored in one go.

A model is anything with `predict(condition, mask, n)`. `load_model("package.module:factory")` imports
the module from the Python path (the working folder included) and calls the factory without arguments.

Models are somebody else's code: whatever they raise is a failure of theirs, `sys.exit()` too. Only
Ctrl-C and a polite kill, which may arrive while they work, are none.
"""

from __future__ import annotations

import importlib
import sys
import traceback
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from sightline.errors import InputError, SightlineError
from sightline.files.atomic import write_bytes
from sightline.physics.data.mp4 import encode
from sightline.physics.data.videos import VideoData
from sightline.physics.types import Frames


@runtime_checkable
class VideoModel(Protocol):
    """Continues a video."""

    def predict(self, condition: Frames, mask: NDArray[np.bool_], n: int) -> Frames:
        """Return the whole video.

        Args:
            condition: (n, H, W, 3) uint8 RGB: the given frames first, zeros after them.
            mask: (n,) True where a frame is given.
            n: number of frames wanted, the given ones among them.

        Returns:
            (n, H, W, 3) uint8 RGB. What it says of the given frames is not looked at.
        """
        ...


@dataclass(frozen=True, slots=True)
class Prediction:
    """What became of one sample.

    Attributes:
        index: its number in the data set.
        path: of the video.
        skipped: True when it was there before.
        failure: why there is no video.
    """

    index: int
    path: Path
    skipped: bool = False
    failure: SightlineError | None = None


def load_model(reference: str) -> VideoModel:
    """Import and make a model.

    Args:
        reference: `package.module:factory`; the factory takes no arguments. A class will do.
    """
    module_name, _, factory_name = reference.partition(":")
    if not module_name or not factory_name:
        raise InputError(f"{reference!r} names no model", remedy="give it as module:factory")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise InputError(
            f"{module_name} cannot be imported ({_said(error)})",
            remedy="run where it can be, or set PYTHONPATH"
            if isinstance(error, ImportError)
            else "mend it",
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
        raise InputError(f"{reference} could not be made ({_said(error)})") from error
    if not isinstance(model, VideoModel):
        raise InputError(f"what {reference} makes has no method predict(condition, mask, n)")
    return model


def run_model(
    model: VideoModel, data: VideoData, folder: Path, indexes: Sequence[int], *, condition: int
) -> Generator[Prediction, None, None]:
    """Let a model continue videos of a data set; write each as lossless mp4, named by its number.

    What is there already is kept, so a run that was stopped goes on. A sample that the model fails on
    is reported and the next one is tried.

    Args:
        model: the model.
        data: gives the condition frames.
        folder: for `00000.mp4` …, claimed by `run_record.claimed`.
        indexes: numbers of the samples.
        condition: how many frames are given.
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
        except BaseException as error:  # the next sample may fare better
            failure = _failure(error, index)
        else:
            write_bytes(path, encode(frames, "lossless"))
        yield Prediction(index, path, failure=failure)


def continue_video(model: VideoModel, truth: Frames, condition: int) -> Frames:
    """Return a model's video that begins like the true one; the true frames stand at its beginning.

    Args:
        model: the model.
        truth: (T, H, W, 3) uint8 RGB; only its first `condition` frames are shown to the model.
        condition: how many frames are given.
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


def _said(error: BaseException) -> str:
    """Return an error in words, its kind among them unless it is ours."""
    if isinstance(error, SightlineError):
        return str(error)
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__


def _failure(error: BaseException, index: int) -> SightlineError:
    failure = SightlineError(f"sample {index}: {_said(error)}")
    failure.add_note("".join(traceback.format_exception(error)))
    return failure
