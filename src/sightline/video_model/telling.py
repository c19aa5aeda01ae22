"""What a network is told of videos beside their frames: numbers, words, or the embedding of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from sightline.errors import InputError
from sightline.video_model.data import padded
from sightline.video_model.sentences import MOST_WORDS, Fact, sentence, word_numbers
from sightline.video_model.text_encoder import TextEncoder
from sightline.video_model.transformer.condition import Condition
from sightline.video_model.transformer.options import TransformerOptions


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What N videos are described by; see `Condition`.

    Attributes:
        numbers: (N, K) radii and speeds.
        text: (N, L) numbers of words, or (N, L, E) their embedding.
        words: (N, L) bool, True for words.
    """

    numbers: Tensor | None = None
    text: Tensor | None = None
    words: Tensor | None = None

    def some(self, start: int, stop: int) -> Told:
        """Return the part from one video to another."""
        return Told(*(None if part is None else part[start:stop] for part in self._parts))

    def to(self, device: torch.device | str) -> Told:
        """Return it on a device."""
        return Told(*(None if part is None else part.to(device) for part in self._parts))

    def beside(self, condition: Condition) -> Condition:
        """Return the same frames, with this beside them."""
        return Condition(condition.video, condition.given, *self._parts)

    @property
    def _parts(self) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        return self.numbers, self.text, self.words


def tell(options: TransformerOptions, facts: Sequence[Fact], encoder: TextEncoder | None) -> Told:
    """Describe videos as a network wants it.

    Args:
        options: of the network.
        facts: of the videos.
        encoder: of words, for a network that does not read them itself.

    Raises:
        InputError: there is no sentence for such a video, or the encoder is missing.
    """
    numbers = padded([fact.numbers for fact in facts], options.numbers) if options.numbers else None
    if not options.text:
        return Told(numbers)
    said = [sentence(fact) for fact in facts]
    if options.vocabulary:
        rows = [torch.tensor(word_numbers(text)) for text in said]
        table = torch.stack([F.pad(row, (0, MOST_WORDS - len(row))) for row in rows])
        return Told(numbers, table, table > 0)
    if encoder is None:
        raise InputError(
            "this model is told sentences by a text encoder, and none is given",
            remedy="give the folder it was trained with by --text-encoder",
        )
    return Told(numbers, *encoder.encode(said))
