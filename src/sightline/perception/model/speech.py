"""How a question and its answer are written for a model: which words, which tokens, what is learnt.

A conversation is one text. The mark `<image>` in it becomes as many tokens as the picture has patches,
and only what the model is to say is learnt: everything before has the label −100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, get_args

import torch
from torch import Tensor

from sightline.errors import InputError
from sightline.perception.codebook.words import END
from sightline.perception.questions import scanning
from sightline.perception.questions.counting import Listing, kind_of
from sightline.perception.questions.depth import Spelling

#: Label of tokens that are not learnt, by convention of torch's cross entropy.
NOT_LEARNT = -100

IMAGE = "<image>"


@dataclass(frozen=True, slots=True)
class Speech:
    """The frame that questions and answers are put into; by default LLaVA-1.5's.

    Attributes:
        system: what stands before everything.
        human: what stands before the question.
        model: what stands between question and answer.
        picture: what stands between picture and question.
        question_first: put the question before the picture: then a picture stands at the same distance
            from all answers.
        places: how places of points are spelt: in digits, or by pixel tokens.
        counts_by: what it lists before it says how many there are.
    """

    system: str = ""
    human: str = "USER: "
    model: str = " ASSISTANT:"
    picture: str = "\n"
    question_first: bool = False
    places: Spelling = "digits"
    counts_by: Listing = "boxes"

    def prompt(self, question: str) -> str:
        """Return the text up to where the model speaks.

        Where the question stands before the picture, what it asks the number of is said again behind
        it: a small model does not find it so far away.
        """
        if not self.question_first:
            return f"{self.system}{self.human}{IMAGE}{self.picture}{question}{self.model}"
        kind = kind_of(question)
        again = "" if kind is None else f" {kind}:{self.model}"
        return f"{self.system}{self.human}{question}{self.picture}{IMAGE}{self.model}{again}"

    def to_dict(self) -> dict[str, Any]:
        """Return it for a JSON file; `Speech.from_dict` reads it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: dict[str, Any]) -> Speech:
        """Read what `to_dict` gave.

        Raises:
            TypeError: it is no object.
            ValueError: a part of it is unknown, or not what it must be.
        """
        if not isinstance(found, dict):
            raise TypeError("speech is no object")
        usual = cls().to_dict()
        choices = {"places": get_args(Spelling), "counts_by": get_args(Listing)}
        for name, value in found.items():
            if name not in usual:
                raise ValueError(f"speech has no {name}")
            if type(value) is not type(usual[name]) or value not in choices.get(name, (value,)):
                raise ValueError(f"{name} of speech is {value!r}")
        return cls(**found)


@dataclass(frozen=True, slots=True)
class Writing:
    """Turns conversations into tokens for one model.

    Attributes:
        tokenizer: of transformers, with the mark of a picture in its vocabulary.
        image: number of that mark.
        patches: tokens that a picture takes.
        speech: the frame.
    """

    tokenizer: Any
    image: int
    patches: int
    speech: Speech

    def prompt(self, question: str) -> list[int]:
        """Return the tokens up to where the model speaks, those of the picture among them."""
        if IMAGE in question:
            raise InputError(f"a question must not contain {IMAGE}")
        ids: list[int] = self.tokenizer(self.speech.prompt(question)).input_ids
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
        """Return the tokens of what the model is to say, its end included."""
        ids: list[int] = self.tokenizer(text, add_special_tokens=False).input_ids
        return [*ids, self.tokenizer.eos_token_id]

    def read(self, ids: Sequence[int] | Tensor) -> str:
        """Return what a model said as text: perception tokens stay, marks of begin and end go."""
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
class Lesson:
    """A batch of conversations, padded to one length.

    Attributes:
        input_ids: (B, L).
        attention_mask: (B, L), 0 where padded.
        labels: (B, L), −100 where nothing is learnt.
        weights: (B, L) how often a label counts.
        positions: (B, L) of tokens in the conversation, where some were left out; None for all.
        patches: (B, L) which token of the picture each is, −1 for words; None for all.
    """

    input_ids: Tensor
    attention_mask: Tensor
    labels: Tensor
    weights: Tensor
    positions: Tensor | None = None
    patches: Tensor | None = None

    def to(self, device: torch.device) -> Lesson:
        """Return it on another device."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        moved: Any = {k: None if part is None else part.to(device) for k, part in parts.items()}
        return Lesson(**moved)


def concluded(answer: str) -> str:
    """Return what an answer concludes from what it perceived: all behind its map or boxes."""
    for mark in (f"{END}\n", scanning.SO_FAR):
        if mark in answer:
            return answer[answer.index(mark) :].removeprefix(f"{END}\n")
    return answer.rsplit("\n", 1)[-1]


def make_lesson(
    writing: Writing,
    turns: Sequence[tuple[str, str]],
    longest: int = 2048,
    conclusions: Sequence[float] | None = None,
    names: Sequence[str] | None = None,
) -> Lesson:
    """Put questions and answers into one batch.

    Args:
        writing: of the model.
        turns: questions and answers.
        longest: tokens of a conversation, at most; a longer one is an error, not cut: half a depth map
            teaches nothing.
        conclusions: how often what each answer concludes counts; once if None.
        names: of the conversations, for the message about one that is too long.
    """
    rows, marks, ends = [], [], []
    for place, (question, answer) in enumerate(turns):
        asked, said = writing.prompt(question), writing.answer(answer)
        if len(asked) + len(said) > longest:
            which = f" about {names[place]}" if names else ""
            raise InputError(
                f"the conversation{which} ({question[:60]!r}) has {len(asked) + len(said)} tokens, "
                f"at most {longest} are allowed",
                remedy="raise --longest, or leave it out",
            )
        rows.append([*asked, *said])
        marks.append([*[NOT_LEARNT] * len(asked), *said])
        ends.append(len(writing.answer(concluded(answer))))
    length = max(len(row) for row in rows)
    padding = writing.tokenizer.pad_token_id
    if padding is None:
        padding = writing.tokenizer.eos_token_id
    ids = torch.full((len(rows), length), padding)
    labels = torch.full((len(rows), length), NOT_LEARNT)
    mask = torch.zeros((len(rows), length), dtype=torch.int64)
    weights = torch.ones((len(rows), length))
    last = [1.0] * len(rows) if conclusions is None else conclusions
    for number, (row, mark, end) in enumerate(zip(rows, marks, ends, strict=True)):
        ids[number, : len(row)] = torch.tensor(row)
        labels[number, : len(row)] = torch.tensor(mark)
        mask[number, : len(row)] = 1
        weights[number, len(row) - end : len(row)] = last[number]
    return Lesson(ids, mask, labels, weights)
