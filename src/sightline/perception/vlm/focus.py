"""Let a compact VLM see only what an answer is about, until it knows where to look.

Tokens of points are hard to find among all others: taught with all of them, a small language model
wrote places at chance after 250 steps; taught with those of the points alone, three quarters after 150,
and it kept them when the rest came back (docs/lab-log.md). So maps are first taught with cells alone,
points and what follows from them with points alone, counting with things alone. A chain about points is
taught without its map, which takes half of it: the points' own tokens say how near they are.

What is hidden is left out, not only masked, which saves more than half of the time. Everything else
keeps its position, so nothing moves when the rest comes back.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from sightline.perception.questions import depth
from sightline.perception.questions.counting import kind_of
from sightline.perception.questions.hardblink import LETTERS
from sightline.perception.questions.records import Record
from sightline.perception.vlm.detectors import SLOTS
from sightline.perception.vlm.processing import NOT_LEARNED, TokenBatch
from sightline.perception.vlm.vision_tower import STRIDE

_CELLS = slice(None, -SLOTS - STRIDE * len(LETTERS))
_POINTS = slice(-SLOTS - STRIDE * len(LETTERS), -SLOTS)
_THINGS, _EVERYTHING = slice(-SLOTS, None), slice(None)
#: Answers to questions are about points or things; those that teach perception alone, by their task.
_BY_TASK = {"depth": _CELLS, "points": _POINTS, "boxes": _THINGS}


def focused(lesson: TokenBatch, records: Sequence[Record], image: int, codes: Tensor) -> TokenBatch:
    """Leave out the tokens of pictures that answers are not about, and maps that others can do without.

    Args:
        lesson: of as many conversations as there are records.
        records: that it was made of.
        image: number of the mark of a picture.
        codes: numbers of all depth tokens, begin and end among them.
    """
    kept = lesson.attention_mask.bool().clone()
    patches = torch.where(lesson.input_ids == image, (lesson.input_ids == image).cumsum(1) - 1, -1)
    for row, record in enumerate(records):
        places = (lesson.input_ids[row] == image).nonzero()[:, 0]
        about = _about(record)
        kept[row, places] = False
        kept[row, places[about]] = True
        if about == _POINTS:
            kept[row, torch.isin(lesson.input_ids[row], codes)] = False
    # What stood behind something hidden does not follow from what it now stands behind.
    follows = F.pad(kept[:, :-1], (1, 0), value=True)
    labels = torch.where(follows, lesson.labels, NOT_LEARNED)
    positions = torch.arange(kept.shape[1]).expand_as(lesson.input_ids)
    return TokenBatch(
        _only(lesson.input_ids, kept),
        _only(lesson.attention_mask, kept),
        _only(labels, kept, NOT_LEARNED),
        _only(lesson.weights, kept),
        _only(positions, kept),
        _only(patches, kept, -1),
    )


def _about(record: Record) -> slice:
    """Return the tokens of a picture that an answer is about."""
    if record.task in _BY_TASK:
        return _BY_TASK[record.task]
    if kind_of(record.question) is not None:
        return _THINGS
    return _EVERYTHING if depth.MAP_STEP in record.question else _POINTS


def _only(values: Tensor, kept: Tensor, filled: int = 0) -> Tensor:
    """Keep some tokens of every row, moved together; rows become as long as the longest of them."""
    rows = [row[some] for row, some in zip(values, kept, strict=True)]
    return pad_sequence(rows, batch_first=True, padding_value=filled)
