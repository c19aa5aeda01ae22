"""Which video belongs to which sample: by the number in its name, or by order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sightline.errors import InputError
from sightline.physics.score.sources import VideoSource

By = Literal["auto", "name", "order"]
BYS: tuple[By, ...] = get_args(By)


@dataclass(frozen=True, slots=True)
class Matching:
    """Pairs of videos and samples, and what found no partner.

    Attributes:
        pairs: video, and number of its sample.
        by: how they were found: `name` or `order`.
        unmatched: names of videos without a sample of their own, and why; files that share a number
            are named with their suffix, which may be all that tells them apart.
        missing: how many samples have no video.
    """

    pairs: tuple[tuple[VideoSource, int], ...]
    by: str
    unmatched: tuple[tuple[str, str], ...]
    missing: int


def counted(count: int, what: str) -> str:
    """Return a number of things in words.

    >>> counted(1, "video"), counted(3, "video")
    ('1 video', '3 videos')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def match(videos: Sequence[VideoSource], samples: int, by: By = "auto") -> Matching:
    """Match videos with the samples of a data set.

    Args:
        videos: in their order.
        samples: how many there are.
        by: `name`: the number in a video's name is the sample's; `order`: the k-th video is of
            sample k, and there must be as many of each; `auto`: by order only when no name has a
            number.
    """
    if by == "auto":
        by = "name" if any(video.number is not None for video in videos) else "order"
    if by == "order":
        if len(videos) != samples:
            raise InputError(
                f"{counted(len(videos), 'video')} for {counted(samples, 'sample')} "
                "cannot be matched by order",
                remedy="name each video by the number of its sample, such as 00012.mp4",
            )
        return Matching(tuple((video, k) for k, video in enumerate(videos)), "order", (), 0)
    counts = Counter(video.number for video in videos)
    pairs: list[tuple[VideoSource, int]] = []
    unmatched: list[tuple[str, str]] = []
    for video in videos:
        if video.number is None:
            unmatched.append((video.name, "its name has no number"))
        elif video.number >= samples:
            unmatched.append((video.name, f"the data set has {counted(samples, 'sample')} only"))
        elif counts[video.number] > 1:
            same = ", ".join(one.file for one in videos if one.number == video.number)
            unmatched.append((video.file, f"several videos have its number ({same}); keep one"))
        else:
            pairs.append((video, video.number))
    if not pairs:
        raise InputError(
            f"no video has the number of a sample: {unmatched[0][0]}: {unmatched[0][1]}",
            remedy=f"number them from 0 to {samples - 1} as the data set that they were made from, "
            "or use --by order",
        )
    return Matching(tuple(pairs), "name", tuple(unmatched), samples - len(pairs))
