"""How a training goes, for people: film strips as pictures, and tensorboard where it is installed."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.files.atomic import atomic_path
from sightline.physics.types import Frames
from sightline.video_model.mixture import Mixture, Pick
from sightline.video_model.model import VideoDiffusion

#: Film strips in the folder of a run.
SAMPLES = "samples"

#: Frames of a strip, and grey pixels between pictures.
_FRAMES, _GAP, _GREY = 8, 2, 160

#: Videos that are shown begin here: training hardly comes this far.
_SHOWN = 10_000_019


def write_strip(out: Path, step: int, model: VideoDiffusion, videos: Mixture, count: int) -> None:
    """Write a picture of a few videos and what a model makes of their first frames.

    Args:
        out: folder of the run.
        step: that the model has come to.
        model: as it is now.
        videos: the first videos of each source in turn are taken from these.
        count: of videos.
    """
    picks = [videos.pick(_SHOWN + place) for place in range(count)]
    truths = [frames_of(videos, pick)[: model.frames] for pick in picks]
    described = model.tell([videos.fact(pick) for pick in picks]) if model.is_told else None
    made = model.continue_videos(truths, range(count), described=described)
    rows = [row for pair in zip(truths, made, strict=True) for row in pair]
    with atomic_path(out / SAMPLES / f"{step:07d}.png") as temporary:
        Image.fromarray(strips(rows)).save(temporary)


def frames_of(videos: Mixture, pick: Pick) -> Frames:
    """Return a video of a mixture: (T, S, S, 3) uint8 RGB."""
    return np.ascontiguousarray(videos.video(pick).transpose(1, 2, 3, 0))


def strips(videos: list[Frames], shown: int = _FRAMES) -> NDArray[np.uint8]:
    """Draw a few frames of each video, a row for each: (H, W, 3) uint8."""
    count, size = len(videos[0]), videos[0].shape[1]
    chosen = np.unique(np.linspace(0, count - 1, shown).round().astype(int))
    cell = size + _GAP
    sheet = np.full((len(videos) * cell + _GAP, len(chosen) * cell + _GAP, 3), _GREY, np.uint8)
    for row, video in enumerate(videos):
        for column, frame in enumerate(chosen):
            top, left = _GAP + row * cell, _GAP + column * cell
            sheet[top : top + size, left : left + size] = video[frame]
    return sheet


class Board:
    """Rows of the log for tensorboard; nothing where that is not installed.

    Args:
        out: folder of the run; its log goes to `tensorboard` there.
        on: off for processes that do not write.
    """

    def __init__(self, out: Path, *, on: bool = True) -> None:
        self._writer: Any = None
        if on:
            try:
                from torch.utils.tensorboard import SummaryWriter
            except ImportError:
                return
            self._writer = SummaryWriter(str(out / "tensorboard"))

    def add(self, row: dict[str, Any]) -> None:
        """Add the numbers of a row, at its step."""
        if self._writer is not None:
            for name, value in row.items():
                if name != "step":
                    self._writer.add_scalar(name, value, row["step"])

    def __enter__(self) -> Board:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._writer is not None:
            self._writer.close()
