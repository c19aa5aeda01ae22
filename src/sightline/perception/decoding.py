"""Decoding that cannot write a torn depth map or half a box: processors for `generate` of transformers.

What may come next follows from what was written since the prompt, row by row, so batches, beams and
sampling need nothing special, and no library is patched:

    before a map       language, or `<DEPTH_START>` if a map is still allowed
    inside a map       the 128 codes, until there are a hundred
    after a hundred    `<DEPTH_END>`
    inside a box       pixel tokens, until there are four (two for a place); then anything else

The paper allows one map in an answer (its §4.5 and code); here that is a number.
"""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import LogitsProcessor

from sightline.errors import InputError
from sightline.perception.codebook.network import LENGTH
from sightline.perception.vocabulary import Vocabulary

_NEVER = -float("inf")


class WholeMaps(LogitsProcessor):  # type: ignore[misc]  # transformers has no types
    """Allow whole depth maps only.

    Args:
        vocabulary: with depth tokens.
        prompt: tokens of the prompt, which may itself show maps; everything after them is new.
        most: maps in an answer; 0 for none.
    """

    def __init__(self, vocabulary: Vocabulary, prompt: int, *, most: int = 1) -> None:
        if vocabulary.start is None or vocabulary.end is None:
            raise InputError("this model has no depth tokens")
        if most < 0:
            raise InputError(f"an answer cannot have {most} maps")
        self.vocabulary, self.prompt, self.most = vocabulary, prompt, most
        self._codes = torch.tensor(vocabulary.codes)
        self._depth = torch.tensor((vocabulary.start, vocabulary.end, *vocabulary.codes))

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """(B, L) tokens so far and (B, V) scores → (B, V) scores of what may come."""
        _check(self._depth, scores)
        new = input_ids[:, self.prompt :]
        starts = torch.eq(new, self._depth[0].item())
        begun, since = starts.sum(1), new.shape[1] - _last(starts)
        open_ = (begun > 0) & (since <= LENGTH)
        out = scores.clone()
        out[:, self._depth] = _NEVER  # outside a map: no code and no end
        may_begin = ~open_ & (begun < self.most)
        out[may_begin, self.vocabulary.start] = scores[may_begin, self.vocabulary.start]
        codes, end = open_ & (since < LENGTH), open_ & (since == LENGTH)
        out[open_] = _NEVER
        out[codes.nonzero(), self._codes] = scores[codes.nonzero(), self._codes]
        out[end, self.vocabulary.end] = 0.0
        out = _possible(out, codes, self._codes)
        return _some_word(out, ~open_, self.vocabulary)


class WholeBoxes(LogitsProcessor):  # type: ignore[misc]
    """Allow pixel tokens in groups of four only, or in pairs.

    Args:
        vocabulary: with pixel tokens.
        prompt: tokens of the prompt.
        sides: of a group: four of a box, two of a place.
    """

    def __init__(self, vocabulary: Vocabulary, prompt: int, *, sides: int = 4) -> None:
        if not vocabulary.pixels:
            raise InputError("this model has no pixel tokens")
        self.vocabulary, self.prompt, self.sides = vocabulary, prompt, sides
        self._pixels = torch.tensor(vocabulary.pixels)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """(B, L) tokens so far and (B, V) scores → (B, V) scores of what may come."""
        _check(self._pixels, scores)
        new = input_ids[:, self.prompt :]
        other = ~torch.isin(new, self._pixels.to(new.device))
        run = new.shape[1] - _last(other)
        inside, full = (run > 0) & (run < self.sides), run >= self.sides
        out = scores.clone()
        rows = inside.nonzero()
        out[inside] = _NEVER
        out[rows, self._pixels] = scores[rows, self._pixels]
        out[full.nonzero(), self._pixels] = _NEVER
        out = _possible(out, inside, self._pixels)
        return _some_word(out, ~inside, self.vocabulary)


def _last(marks: Tensor) -> Tensor:
    """(B, L) bool → (B,) how many tokens there are up to the last mark; 0 without one."""
    places = torch.arange(1, marks.shape[1] + 1, device=marks.device)
    return (marks * places).amax(1) if marks.shape[1] else marks.sum(1)


def _check(tokens: Tensor, scores: Tensor) -> None:
    if int(tokens.max()) >= scores.shape[1]:
        raise InputError(
            f"the model's scores are for {scores.shape[1]} tokens, its tokenizer has number "
            f"{int(tokens.max())}",
            remedy="the embedding was not resized with the tokenizer",
        )


def _possible(out: Tensor, rows: Tensor, tokens: Tensor) -> Tensor:
    """Where the scores ruled out all that is allowed (top-k before us, say), allow it evenly."""
    stuck = rows & (out == _NEVER).all(1)
    out[stuck.nonzero(), tokens] = 0.0
    return out


def _some_word(out: Tensor, rows: Tensor, vocabulary: Vocabulary) -> Tensor:
    """Do the same outside maps and boxes, where words of the language are allowed."""
    stuck = rows & (out == _NEVER).all(1)
    if bool(stuck.any()):
        words = torch.ones(out.shape[1], dtype=torch.bool)
        words[torch.tensor(vocabulary.all)] = False
        out[stuck.nonzero(), words.nonzero()[:, 0]] = 0.0
    return out
