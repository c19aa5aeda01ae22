"""Constrained decoding: answers contain only complete depth maps and boxes.

Two logits processors for `generate` of transformers. The allowed tokens follow from the tokens
since the prompt, row by row, so batches, beam search and sampling need no special treatment:

    before a map       language, or `<DEPTH_START>` if another map is allowed
    inside a map       the 128 codes, until there are 100
    after 100 codes    `<DEPTH_END>`
    inside a box       pixel tokens, until there are four (two for a point); then anything else

The paper allows one map per answer (§4.5 and its code); here the number is a parameter.
"""

from __future__ import annotations

import torch
from torch import Tensor
from transformers import LogitsProcessor

from sightline.errors import InputError
from sightline.perception.tokens import LENGTH, Vocabulary

_NEVER = -float("inf")


class DepthMapConstraint(LogitsProcessor):  # type: ignore[misc]  # transformers has no types
    """Allow only complete depth maps.

    Args:
        vocabulary: vocabulary with depth tokens.
        prompt: number of prompt tokens, which may contain maps; later tokens are generated.
        most: maximum number of maps in an answer.
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
        """Mask the scores (B, V) of the next token, given the tokens (B, L) so far."""
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


class BoxConstraint(LogitsProcessor):  # type: ignore[misc]
    """Allow pixel tokens only in complete groups.

    Args:
        vocabulary: vocabulary with pixel tokens.
        prompt: number of prompt tokens.
        sides: tokens of a group: four for a box, two for a point.
    """

    def __init__(self, vocabulary: Vocabulary, prompt: int, *, sides: int = 4) -> None:
        if not vocabulary.pixels:
            raise InputError("this model has no pixel tokens")
        self.vocabulary, self.prompt, self.sides = vocabulary, prompt, sides
        self._pixels = torch.tensor(vocabulary.pixels)

    def __call__(self, input_ids: Tensor, scores: Tensor) -> Tensor:
        """Mask the scores (B, V) of the next token, given the tokens (B, L) so far."""
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
    """Return the position after the last mark of each row: (B, L) bool → (B,); 0 without one."""
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
    """Allow the tokens evenly in rows where all of them were ruled out, for example by top-k."""
    stuck = rows & (out == _NEVER).all(1)
    out[stuck.nonzero(), tokens] = 0.0
    return out


def _some_word(out: Tensor, rows: Tensor, vocabulary: Vocabulary) -> Tensor:
    """Allow words of the language in rows where all of them were ruled out."""
    stuck = rows & (out == _NEVER).all(1)
    if bool(stuck.any()):
        words = torch.ones(out.shape[1], dtype=torch.bool)
        words[torch.tensor(vocabulary.all)] = False
        out[stuck.nonzero(), words.nonzero()[:, 0]] = 0.0
    return out
