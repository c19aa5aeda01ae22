"""Text and image preprocessing: chat templates, tokenization of conversations, image normalization.

`<image>` in a conversation is replaced by as many tokens as the image has patches. Only answers are
learned: all tokens before them have the label −100.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.errors import InputError
from sightline.io.reading import read_bytes
from sightline.perception.codebook import square
from sightline.perception.questions import counting
from sightline.perception.questions.counting import Listing, kind_of
from sightline.perception.questions.depth import Spelling
from sightline.perception.tokens import END

#: Label of ignored tokens, by convention of torch's cross entropy.
NOT_LEARNED = -100

IMAGE = "<image>"


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """Text around questions and answers; the default is that of LLaVA-1.5.

    Attributes:
        system: text at the beginning.
        human: text before the question.
        model: text between question and answer.
        picture: text between image and question.
        question_first: put the question before the image, so that the image has the same distance from
            all answers.
        places: notation of points: digits or pixel tokens.
        counts_by: what is listed before a count.
    """

    system: str = ""
    human: str = "USER: "
    model: str = " ASSISTANT:"
    picture: str = "\n"
    question_first: bool = False
    places: Spelling = "digits"
    counts_by: Listing = "boxes"

    def prompt(self, question: str) -> str:
        """Return the text up to the answer.

        With `question_first`, the kind to be counted is repeated after the image: a small model
        does not find it further away.
        """
        if not self.question_first:
            return f"{self.system}{self.human}{IMAGE}{self.picture}{question}{self.model}"
        kind = kind_of(question)
        again = "" if kind is None else f" {kind}:{self.model}"
        return f"{self.system}{self.human}{question}{self.picture}{IMAGE}{self.model}{again}"

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; read by `from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> ChatTemplate:
        """Build a template from the result of `to_dict`.

        Raises:
            TypeError: it is not an object.
            ValueError: a field is unknown or invalid.
        """
        if not isinstance(found, dict):
            raise TypeError("chat_template is not an object")
        usual = cls().to_dict()
        choices = {"places": get_args(Spelling), "counts_by": get_args(Listing)}
        for name, value in found.items():
            if name not in usual:
                raise ValueError(f"chat_template has no {name}")
            if type(value) is not type(usual[name]) or value not in choices.get(name, (value,)):
                raise ValueError(f"{name} of chat_template is {value!r}")
        return cls(**found)


@dataclass(frozen=True, slots=True)
class ChatTokenizer:
    """Tokenizer of conversations for one model.

    Attributes:
        tokenizer: tokenizer of transformers, with an image token.
        image: index of the image token.
        patches: tokens per image.
        template: chat template.
    """

    tokenizer: Any
    image: int
    patches: int
    template: ChatTemplate

    def prompt(self, question: str) -> list[int]:
        """Return the tokens up to the answer, including those of the image."""
        if IMAGE in question:
            raise InputError(f"a question must not contain {IMAGE}")
        ids: list[int] = self.tokenizer(self.template.prompt(question)).input_ids
        eos = self.tokenizer.eos_token_id
        if eos is not None and ids and ids[-1] == eos:
            ids = ids[:-1]  # tokenizers that end every text: this one goes on
        if ids.count(self.image) != 1:
            raise InputError(
                f"the tokenizer makes {ids.count(self.image)} tokens of {IMAGE}, not one",
                remedy="it is not the tokenizer of a LLaVA-type model",
            )
        place = ids.index(self.image)
        return [*ids[:place], *[self.image] * self.patches, *ids[place + 1 :]]

    def answer(self, text: str) -> list[int]:
        """Return the tokens of an answer, including the end of sequence."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
        return [*ids, self.tokenizer.eos_token_id]

    def read(self, ids: Sequence[int] | Tensor) -> str:
        """Decode generated tokens; perception tokens are kept, other special tokens dropped."""
        numbers = ids.tolist() if isinstance(ids, Tensor) else list(ids)
        drop = {
            self.tokenizer.bos_token_id,
            self.tokenizer.eos_token_id,
            self.tokenizer.pad_token_id,
            self.image,
        }
        kept = [number for number in numbers if number not in drop]
        text: str = self.tokenizer.decode(
            kept, skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return text.strip()


@dataclass(frozen=True, slots=True, eq=False)
class TokenBatch:
    """Batch of conversations, padded to one length.

    Attributes:
        input_ids: (B, L).
        attention_mask: (B, L), 0 for padding.
        labels: (B, L), −100 where nothing is learned.
        weights: (B, L) loss weight of each label.
        positions: (B, L) original positions if tokens were left out; None for all.
        patches: (B, L) index of the image token, −1 for text; None for all.
    """

    input_ids: Tensor
    attention_mask: Tensor
    labels: Tensor
    weights: Tensor
    positions: Tensor | None = None
    patches: Tensor | None = None

    def to(self, device: torch.device) -> TokenBatch:
        """Return a copy on another device."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        moved: Any = {k: None if part is None else part.to(device) for k, part in parts.items()}
        return TokenBatch(**moved)


def concluded(answer: str) -> str:
    """Return the conclusion of an answer: all text after its map or boxes."""
    for mark in (f"{END}\n", counting.SO_FAR):
        if mark in answer:
            return answer[answer.index(mark) :].removeprefix(f"{END}\n")
    return answer.rsplit("\n", 1)[-1]


def make_token_batch(
    chat: ChatTokenizer,
    turns: Sequence[tuple[str, str]],
    longest: int = 2048,
    conclusions: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
) -> TokenBatch:
    """Tokenize questions and answers into one batch.

    Args:
        chat: tokenizer of the model.
        turns: questions and answers.
        longest: maximum tokens of a conversation; a longer one is an error and not truncated, because a
            partial depth map teaches nothing.
        conclusions: loss weight of each conclusion; 1 if None.
        names: names of the conversations, for error messages.
    """
    rows, marks, ends = [], [], []
    for place, (question, answer) in enumerate(turns):
        asked, said = chat.prompt(question), chat.answer(answer)
        if len(asked) + len(said) > longest:
            which = f" about {names[place]}" if names else ""
            raise InputError(
                f"the conversation{which} ({question[:60]!r}) has {len(asked) + len(said)} tokens, "
                f"at most {longest} are allowed",
                remedy="raise --longest, or leave it out",
            )
        rows.append([*asked, *said])
        marks.append([*[NOT_LEARNED] * len(asked), *said])
        ends.append(len(chat.answer(concluded(answer))))
    length = max(len(row) for row in rows)
    padding = chat.tokenizer.pad_token_id
    if padding is None:
        padding = chat.tokenizer.eos_token_id
    ids = torch.full((len(rows), length), padding)
    labels = torch.full((len(rows), length), NOT_LEARNED)
    mask = torch.zeros((len(rows), length), dtype=torch.int64)
    weights = torch.ones((len(rows), length))
    last = [1.0] * len(rows) if conclusions is None else conclusions
    for number, (row, mark, end) in enumerate(zip(rows, marks, ends, strict=True)):
        ids[number, : len(row)] = torch.tensor(row)
        labels[number, : len(row)] = torch.tensor(mark)
        mask[number, : len(row)] = 1
        weights[number, len(row) - end : len(row)] = last[number]
    return TokenBatch(ids, mask, labels, weights)


#: Mean and standard deviation of CLIP, the vision tower of LLaVA-1.5.
CLIP_MEAN = (0.48145466, 0.4578275, 0.40821073)
CLIP_STD = (0.26862954, 0.26130258, 0.27577711)

_PROCESSOR = "preprocessor_config.json"
#: Maximum input size of a tower, [px].
_LARGEST = 4096


@dataclass(frozen=True, slots=True)
class ImageProcessor:
    """Preprocessing of a vision tower.

    Attributes:
        side: side of the square input, [px].
        mean: mean of each channel, for values in [0, 1].
        std: standard deviation of each channel.
        smooth: resize by area instead of nearest neighbor, which the paper uses.
    """

    side: int = 336
    mean: tuple[float, float, float] = CLIP_MEAN
    std: tuple[float, float, float] = CLIP_STD
    smooth: bool = False

    def look(self, pictures: Sequence[NDArray[np.uint8]]) -> Tensor:
        """Preprocess (H, W, 3) sRGB images of any size to (N, 3, side, side).

        The aspect ratio is not kept, as in the paper, so that coordinates are the same share of
        each side.
        """
        squares = np.stack([square(pixels, self.side, smooth=self.smooth) for pixels in pictures])
        values = torch.from_numpy(squares).permute(0, 3, 1, 2).float() / 255
        mean, std = (torch.tensor(x)[:, None, None] for x in (self.mean, self.std))
        return (values - mean) / std

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as JSON values; read by `from_dict`."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> ImageProcessor:
        """Build a processor from the result of `to_dict`."""
        smooth, side = bool(found.get("smooth", False)), int(found["side"])
        if not 1 <= side <= _LARGEST:
            raise ValueError(f"a picture's side is {side}")
        return cls(side, _channels(found["mean"]), _channels(found["std"], above=0.0), smooth)


def read_image_processor(folder: Path, side: int) -> ImageProcessor:
    """Read the normalization from the folder of a Hugging Face model.

    Args:
        folder: folder of the model.
        side: input size of its vision tower, [px].
    """
    path = folder / _PROCESSOR
    if not path.is_file():
        return ImageProcessor(side)
    try:
        found = json.loads(read_bytes(path, limit=1_000_000, what="description of pictures"))
        return ImageProcessor(
            side, _channels(found["image_mean"]), _channels(found["image_std"], above=0.0)
        )
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("does not define the image normalization", path=path) from error


def _channels(found: Any, above: float = -math.inf) -> tuple[float, float, float]:
    """Parse one number each for red, green and blue."""
    red, green, blue = (float(value) for value in found)
    if not all(above < value < math.inf for value in (red, green, blue)):
        raise ValueError(f"colors are normalized by {red:g}, {green:g}, {blue:g}")
    return red, green, blue
