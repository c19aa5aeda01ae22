"""Conditioning of video models on numbers and text: sentences, text encoders and their batches.

PhyWorld (Fig. 12) describes the motion in text but does not publish its sentences. Ours state the same
as the numbers: bodies, radii and speeds, to a hundredth. They are embedded by a small vocabulary of the
network, or by a frozen text encoder from a local folder (T5 as in the paper, CLIP and others). Every
sentence is encoded alone and rounded to half precision, so its embedding is the same in any batch.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from sightline.errors import InputError, install
from sightline.models.cache import file_sha256
from sightline.models.hub import quiet_libraries
from sightline.video_model.options import TransformerOptions
from sightline.video_model.transformer import VideoCondition

#: Maximum words of a sentence; digits and points count separately.
MOST_WORDS = 48

_COLORS, _SHAPES = ("red", "blue"), ("ball", "square")

#: Vocabulary of all sentences; the index of a word is its position, and 0 is padding.
VOCABULARY = (
    *("", "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", ".", ";"),
    *("a", "of", "radius", "moves", "to", "the", "left", "right", "at", "units", "per", "second"),
    *(
        "is",
        "thrown",
        "falls",
        "towards",
        "red",
        "blue",
        "ball",
        "square",
        "ring",
        "and",
        "they",
        "meet",
    ),
)
_NUMBERS = {word: number for number, word in enumerate(VOCABULARY)}


@dataclass(frozen=True, slots=True, eq=False)
class Fact:
    """Scenario and physical quantities of a video.

    Attributes:
        scenario: uniform, collision or parabola; others have no sentence.
        numbers: (K,) radius, speed, and optionally color and shape; or r1, r2, v1, v2 of a collision.
            Negative speeds belong to mirrored videos.
    """

    scenario: str
    numbers: NDArray[np.floating]


def sentence(fact: Fact) -> str:
    """Describe a video in a sentence.

    >>> sentence(Fact("uniform", np.array([1.2, -2.5])))
    'a red ball of radius 1.20 moves to the left at 2.50 units per second'
    """
    known = [float(value) for value in fact.numbers]
    if fact.scenario == "collision" and len(known) == 4:
        r1, r2, v1, v2 = known
        first = _moves("a ball", r1, v1, v1 >= 0)
        return f"{first} ; {_moves('a ball', r2, v2, v2 < 0)} ; they meet"
    if fact.scenario in ("uniform", "parabola") and 2 <= len(known) <= 4:
        radius, speed = known[:2]
        color = _COLORS[round(known[2])] if len(known) > 2 else _COLORS[0]
        shape = _SHAPES[round(known[3])] if len(known) > 3 else _SHAPES[0]
        verb = "is thrown" if fact.scenario == "parabola" else "moves"
        said = _moves(f"a {color} {shape}", radius, speed, speed >= 0, verb)
        return f"{said} and falls" if fact.scenario == "parabola" else said
    raise InputError(
        f"there is no sentence for videos of {fact.scenario} with {len(known)} parameters",
        remedy="train without --text, or on uniform, collision or parabola",
    )


def _moves(body: str, radius: float, speed: float, right: bool, verb: str = "moves") -> str:
    side = "right" if right else "left"
    return (
        f"{body} of radius {radius:.2f} {verb} to the {side} at {abs(speed):.2f} units per second"
    )


def word_numbers(text: str) -> list[int]:
    """Return the vocabulary indices of a sentence; digits and points are words of their own."""
    found = re.findall(r"[a-z]+|\S", text)
    unknown = [word for word in found if word not in _NUMBERS]
    if unknown or len(found) > MOST_WORDS:
        raise InputError(f"{text!r} has {len(found)} words, unknown are {unknown or 'none'}")
    return [_NUMBERS[word] for word in found]


#: Maximum bytes of cached embeddings.
ROOM = 256 * 10**6

#: Sentences are padded to a multiple of this many words, to limit the number of shapes.
_STEP = 16


class TextEncoder:
    """Frozen text encoder.

    Args:
        folder: local folder with `config.json`, tokenizer files and safetensors weights.
        device: device to compute on.
    """

    def __init__(self, folder: Path, device: torch.device | str = "cpu") -> None:
        self.folder, self.device = folder, torch.device(device)
        self._tokenizer, self._network = _load(folder)
        self._network.eval().requires_grad_(False).to(self.device)
        self._kept: dict[str, Tensor] = {}
        self._filled = 0
        self.digest = _digest(folder)
        self.channels = int(self._one("a ball").shape[1])

    def encode(self, sentences: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Return embeddings (N, L, E) float32 and masks (N, L) bool, True for words."""
        rows = [self._one(text) for text in sentences]
        length = -(-max(len(row) for row in rows) // _STEP) * _STEP
        text = torch.stack([F.pad(row, (0, 0, 0, length - len(row))) for row in rows])
        there = torch.arange(length) < torch.tensor([[len(row)] for row in rows])
        return text.float(), there

    @torch.no_grad()
    def _one(self, text: str) -> Tensor:
        """Return the embedding of one sentence, (L, E) float16."""
        found = self._kept.get(text)
        if found is None:
            words = self._tokenizer([text], return_tensors="pt").to(self.device)
            if "input_ids" not in words or not words["input_ids"].numel():
                raise InputError(f"its tokenizer makes nothing of {text!r}", path=self.folder)
            given = {name: words[name] for name in ("input_ids", "attention_mask")}
            found = self._network(**given).last_hidden_state[0].to("cpu", torch.float16)
            if not torch.isfinite(found).all():
                raise InputError(
                    "its embeddings are not finite in half precision", path=self.folder
                )
            if self._filled + found.nbytes <= ROOM:
                self._kept[text] = found
                self._filled += found.nbytes
        return found


def _load(folder: Path) -> tuple[Any, Any]:
    """Return the tokenizer and the text encoder of a folder."""
    if not (folder / "config.json").is_file():
        raise InputError(
            "is not the folder of a text encoder: config.json is missing",
            path=folder,
            remedy="give one with config.json, model.safetensors and the tokenizer's files",
        )
    try:
        with quiet_libraries():
            from transformers import AutoModel, AutoTokenizer

            tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            network = AutoModel.from_pretrained(
                folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
            )
    except ImportError as error:
        raise InputError("text encoders need transformers", remedy=install("perception")) from error
    except Exception as error:  # transformers raises whatever a damaged file makes it raise
        first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        raise InputError(
            f"cannot be read as a text encoder ({type(error).__name__}: {first[:160]})", path=folder
        ) from error
    if network.config.is_encoder_decoder:
        return tokenizer, network.get_encoder()
    return tokenizer, getattr(network, "text_model", network)


def _digest(folder: Path) -> str:
    """Return a checksum of the files that determine the embeddings."""
    files = sorted(
        path
        for path in folder.iterdir()
        if path.suffix in (".json", ".safetensors", ".model", ".txt")
    )
    parts = [f"{path.name} {file_sha256(path)}" for path in files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class Conditioning:
    """Numbers and text of N videos; see `VideoCondition`.

    Attributes:
        numbers: (N, K) radii and speeds.
        text: (N, L) word indices, or (N, L, E) embeddings.
        words: (N, L) bool, True for words.
    """

    numbers: Tensor | None = None
    text: Tensor | None = None
    words: Tensor | None = None

    def some(self, start: int, stop: int) -> Conditioning:
        """Return the videos from `start` to `stop`."""
        return Conditioning(*(None if part is None else part[start:stop] for part in self._parts))

    def to(self, device: torch.device | str) -> Conditioning:
        """Return a copy on a device."""
        return Conditioning(*(None if part is None else part.to(device) for part in self._parts))

    def beside(self, condition: VideoCondition) -> VideoCondition:
        """Add the numbers and text to a condition on frames."""
        return VideoCondition(condition.video, condition.given, *self._parts)

    @property
    def _parts(self) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        return self.numbers, self.text, self.words


def make_conditioning(
    options: TransformerOptions, facts: Sequence[Fact], encoder: TextEncoder | None
) -> Conditioning:
    """Build the conditioning of videos for a network.

    Args:
        options: options of the network.
        facts: scenario and quantities of the videos.
        encoder: text encoder, for a network without a vocabulary.

    Raises:
        InputError: there is no sentence for such a video, or the encoder is missing.
    """
    numbers = padded([fact.numbers for fact in facts], options.numbers) if options.numbers else None
    if not options.text:
        return Conditioning(numbers)
    said = [sentence(fact) for fact in facts]
    if options.vocabulary:
        rows = [torch.tensor(word_numbers(text)) for text in said]
        table = torch.stack([F.pad(row, (0, MOST_WORDS - len(row))) for row in rows])
        return Conditioning(numbers, table, table > 0)
    if encoder is None:
        raise InputError(
            "this model needs the text encoder it was trained with, and none is given",
            remedy="give the folder it was trained with by --text-encoder",
        )
    return Conditioning(numbers, *encoder.encode(said))


def padded(numbers: Sequence[NDArray[np.floating]], columns: int) -> Tensor:
    """Stack the numbers of videos, padded with zeros.

    Args:
        numbers: (K,) each.
        columns: columns of the result, at least K.

    Returns:
        (N, columns) float32.
    """
    table = torch.zeros(len(numbers), columns)
    for row, known in zip(table, numbers, strict=True):
        if len(known) > columns:
            raise InputError(f"{len(known)} numbers describe a video, there is room for {columns}")
        row[: len(known)] = torch.from_numpy(np.asarray(known, np.float32))
    return table
