"""Videos to learn from, by words.

A word opens a source; several, each with `@SHARE` if not 1, a mixture: `uniform`, `collision:ood`,
`probe:NAME`, `probe:NAME:test`, `combinatorial:6`, `combinatorial:60:test`, `combinatorial:held-out`,
`videos.slv`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.errors import InputError
from sightline.physics.data.spec import COMBINATORIAL, MOST, PROBE, DataSpec
from sightline.physics.worlds.ranges import SCENARIOS
from sightline.video_model.mixture import Mixture
from sightline.video_model.sources import FileVideos, SceneVideos, Videos, WorldVideos

#: Trials from here on are for tests (PhyWorld, App. C.2).
TEST_TRIAL = 990
_FILES = (".slv", ".h5", ".hdf5")


def is_file(word: str) -> bool:
    """Say whether a word names a file, by its suffix."""
    return Path(word).suffix.lower() in _FILES


def open_videos(word: str, size: int, *, count: int | None = None, seed: int = 0) -> Videos:
    """Open what a word names.

    Args:
        word: a scenario, with `:SPLIT` if not `id`; a probe, with `:test` if not its training part;
            templates of combinatorial worlds, likewise; or a file.
        size: width and height of worlds in [px]; files have their own.
        count: how many different videos; None: without end, or all of a file.
        seed: of worlds.
    """
    if count is not None and count < 1:
        raise InputError(f"at least 1 video is needed, got {count}")
    if is_file(word):
        return FileVideos(Path(word), count)
    if Path(word).exists() and word not in (*SCENARIOS, COMBINATORIAL):
        raise InputError(
            "is no file of videos",
            path=word,
            remedy=f"give one of sightline physics make ({', '.join(_FILES)})",
        )
    if word.partition(":")[0] == COMBINATORIAL:
        _, templates, part = (*word.split(":"), "", "")[:3]
        first = TEST_TRIAL if part == "test" else 0
        return SceneVideos(templates or "60", size, count, first=first, seed=seed)
    if word.startswith(PROBE):
        name, _, part = word.removeprefix(PROBE).partition(":")
        spec = DataSpec(PROBE + name, count or MOST, part=part or "train", size=size, seed=seed)
    else:
        name, _, split = word.partition(":")
        spec = DataSpec(name, count or MOST, split=split or "id", size=size, seed=seed)
    return WorldVideos(spec)


def open_mixture(
    words: Sequence[str],
    size: int,
    *,
    count: int | None = None,
    seed: int = 0,
    order: int = 0,
    flip: bool = False,
) -> Mixture:
    """Open several words, each with `@SHARE` if not 1.

    Args:
        words: see `open_videos`.
        size: see `open_videos`.
        count: how many different videos of each source.
        seed: of worlds.
        order: seed of the order.
        flip: see `Mixture`.
    """
    sources, shares = [], []
    for word in words:
        name, _, share = word.partition("@")
        if share and not (share.isdigit() and int(share) > 0):
            raise InputError(
                f"{word!r}: a share is a whole number from 1 up", remedy="as in uniform@2"
            )
        sources.append(open_videos(name, size, count=count, seed=seed))
        shares.append(int(share or 1))
    return Mixture(sources, shares, seed=order, flip=flip)


def padded(numbers: Sequence[NDArray[np.floating]], columns: int) -> Tensor:
    """Put the numbers of videos, perhaps of several worlds, into one table.

    Args:
        numbers: (K,) each.
        columns: of the table, at least as many.

    Returns:
        (N, columns) float32, zeros where a video has fewer.
    """
    table = torch.zeros(len(numbers), columns)
    for row, known in zip(table, numbers, strict=True):
        if len(known) > columns:
            raise InputError(f"{len(known)} numbers describe a video, there is room for {columns}")
        row[: len(known)] = torch.from_numpy(np.asarray(known, np.float32))
    return table
