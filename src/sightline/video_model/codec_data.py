"""Frames for a codec to learn from, by the words that name videos (see `data`).

Scenarios and probes are shown in and out of distribution, softly drawn on request. Combinatorial worlds
and files are shown as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from sightline.errors import InputError
from sightline.physics.data.spec import COMBINATORIAL
from sightline.video_model.autoencoder.batches import FrameSource
from sightline.video_model.autoencoder.worlds import WorldFrames, world_specs
from sightline.video_model.data import is_file, open_mixture
from sightline.video_model.random_frames import RandomFrames

#: Sides of frames are multiples of this many pixels.
CELL = 8


def is_law(word: str) -> bool:
    """Say whether a word names worlds with a law of motion: a scenario or a probe."""
    return word.partition(":")[0] != COMBINATORIAL and not is_file(word.partition("@")[0])


def frame_source(
    words: Sequence[str],
    size: int,
    batch: int,
    *,
    clip: int | None = None,
    soft: bool = False,
    seed: int = 0,
    videos: int | None = None,
) -> FrameSource:
    """Open frames by words.

    Args:
        words: scenarios and probes; or combinatorial worlds and files, with `@SHARE` if not 1.
        size: width and height in [px], a multiple of 8; files have their own.
        batch: frames of a step.
        clip: consecutive frames of a video, for codecs that look at time; None: single ones.
        soft: decode to soft edges; not for what is shown as it is.
        seed: of which frames.
        videos: different ones of each source that is shown as it is; None: all.
    """
    if size < CELL or size % CELL:
        raise InputError(
            f"frames of {size} px: the side of a frame is a multiple of {CELL}",
            remedy=f"give --size {max(CELL, round(size / CELL) * CELL)}",
        )
    if batch < (clip or 1):
        raise InputError(
            f"a batch of {batch} frames has no clip of {clip or 1}",
            remedy=f"give --batch {clip or 1} or more",
        )
    places = batch // (clip or 1)
    law = [is_law(word) for word in words]
    if all(law):
        return WorldFrames(world_specs(words, size), places, seed=seed, clip=clip, soft=soft)
    if any(law):
        one, other = words[law.index(True)], words[law.index(False)]
        raise InputError(
            f"{one} is shown in and out of range, {other} as it is",
            remedy="give scenarios and probes alone, or none of them",
        )
    mixture = open_mixture(words, size, count=videos, order=seed)
    if mixture.shape[1] % CELL:
        raise InputError(
            f"frames of {mixture.shape[1]} px: the side of a frame is a multiple of {CELL}",
            path=mixture.path,
        )
    return RandomFrames(mixture, places, seed=seed, clip=clip)
