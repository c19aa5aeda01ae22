"""Fréchet video distance of the model and of every yardstick from the true videos."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from sightline.errors import InputError
from sightline.physics.combinatorial.read import CombinatorialVideos
from sightline.physics.data.open import open_dataset
from sightline.physics.data.videos import VideoData
from sightline.physics.pictures.fvd import Fvd, FvdStatistics, load_i3d
from sightline.physics.pictures.values import NotAvailable
from sightline.physics.score.rivals import rival_video, rivals_of, through_codec
from sightline.physics.score.sample import at_rate
from sightline.physics.score.sources import VideoSource
from sightline.physics.score.work import MODEL, Scorer, Task, read_motions
from sightline.physics.types import Frames

if TYPE_CHECKING:
    from sightline.physics.pictures.i3d import I3d

#: Videos below which a distance says little: it is biased upward for small sets, and the paper's are of
#: 500 videos out of template and 600 in it (PhyWorld, Table 2).
ENOUGH = 500

#: Pairs of a video and the number of its sample.
Pairs = Sequence[tuple[VideoSource, int]]

# Videos whose yardsticks are made at a time.
_AT_ONCE = 16


def measure_fvd(pairs: Pairs, task: Task) -> dict[str, Fvd | NotAvailable]:
    """Measure the distance of everybody's videos from the true ones: `model`, then the yardsticks.

    All are cut to the length of the shortest, as FVD compares videos of one length.

    Args:
        pairs: videos that were scored.
        task: that they were scored by.
    """
    whos = (MODEL, *task.yardsticks)
    network = load_i3d()
    if isinstance(network, NotAvailable):
        return dict.fromkeys(whos, network)
    with open_dataset(task.truth) as data:
        try:
            return _distances(pairs, task, data, network)
        except InputError as error:  # too few or too short: everything else can still be told
            return dict.fromkeys(whos, NotAvailable("FVD", error.problem, "sightline physics run"))


def few_videos(fvd: dict[str, Fvd | NotAvailable] | None) -> str:
    """Return a caution where distances stand on fewer than `ENOUGH` videos; else nothing."""
    counts = [one.videos for one in (fvd or {}).values() if isinstance(one, Fvd)]
    if not counts or min(counts) >= ENOUGH:
        return ""
    return f"FVD of {min(counts)} videos is biased upward: published figures are of 500 to 600"


def _distances(
    pairs: Pairs, task: Task, data: VideoData, network: I3d
) -> dict[str, Fvd | NotAvailable]:
    count = min((len(_model_video(*pair, task, data)) for pair in pairs), default=0)
    true, sets = FvdStatistics(), {who: FvdStatistics() for who in (MODEL, *task.yardsticks)}
    for k in range(0, len(pairs), _AT_ONCE):
        some = pairs[k : k + _AT_ONCE]
        for (video, index), rivals in zip(some, _rival_videos(some, task, data), strict=True):
            true.add(data.video(index)[:count], network)
            shown = {MODEL: _model_video(video, index, task, data), **rivals}
            for who, frames in shown.items():
                sets[who].add(frames[:count], network)
    return {who: one.distance(true) for who, one in sets.items()}


def _model_video(video: VideoSource, index: int, task: Task, data: VideoData) -> Frames:
    frames, wanted = video.read(), len(data.video(index))
    if task.fps is not None:
        frames = at_rate(frames, task.fps, data.frame_time, wanted)
    return frames[:wanted]


def _rival_videos(pairs: Pairs, task: Task, data: VideoData) -> Iterator[dict[str, Frames]]:
    """Yield what the yardsticks show of each sample; the truth goes through its codec once more."""
    indexes = np.array([index for _, index in pairs])
    if isinstance(data, CombinatorialVideos):
        scorer = Scorer(task)
        for index in indexes:
            yield scorer.scene_videos(data.video(int(index)), lossy=data.lossy)
        return
    rivals = rivals_of(task, read_motions(data, indexes), str(data.made.get("scenario", "")))
    for place, index in enumerate(indexes):
        truth = data.video(int(index))
        yield {
            name: through_codec(truth, lossy=data.lossy)
            if rival is None
            else rival_video(rival, place, truth, lossy=data.lossy)
            for name, rival in rivals.items()
        }
