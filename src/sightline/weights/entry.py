"""What is known of one model before its file is opened."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from sightline.depth.spec import ModelSpec
from sightline.weights.sources import Embedded, HubFile, Source

Purpose = Literal[
    "depth", "encoder", "tokens", "people", "faces", "inpainting", "similarity", "video", "language"
]

#: How the file has to be read. `torch` files are unpickled with weights only, `numpy-pickle` files
#: with an unpickler that knows numpy arrays and nothing else.
Format = Literal["onnx", "openvino", "safetensors", "torch", "tflite", "numpy-pickle", "gguf"]


@dataclass(frozen=True, slots=True)
class Gate:
    """How close an int8 model stays to its float model on held-out real pictures.

    Attributes:
        spearman: mean rank correlation of the two outputs, at most 1.
        relative_deviation: mean of |int8 − float| over the mean of |float|; 0.03 is three per cent.
        pictures: how many pictures it was measured on.
        passed: whether the gate let the model through.
    """

    spearman: float
    relative_deviation: float
    pictures: int
    passed: bool


@dataclass(frozen=True, slots=True)
class Entry:
    """One model of the catalogue.

    Attributes:
        name: what the user types; lower case, digits, `-` and `.`.
        summary: one line, without a full stop.
        purpose: what it is for.
        licence: SPDX identifier where there is one, else words.
        commercial: whether the licence allows commercial use; if not, it has to be accepted once.
        bytes: size of the file in [B]; exact where `sha256` is given, else by the parameter count.
        sha256: checksum of the file in hex. None for hub files that we have never held: then the
            hub's own checksum is compared, kept from the first download on, and enforced.
        trained_on: the data it has seen.
        source: where the file comes from.
        format: how the file has to be read.
        spec: how to feed and to read it, for depth networks that our engines run.
        int8_gate: how the int8 version did at the gate; it is offered only if it passed.
        aliases: other names it answers to.
        parts_bytes: size in [B] of what else is needed to run it and lies beside it.
    """

    name: str
    summary: str
    purpose: Purpose
    licence: str
    commercial: bool
    bytes: int
    sha256: str | None
    trained_on: str
    source: Source
    format: Format
    spec: ModelSpec | None = None
    int8_gate: Gate | None = None
    aliases: tuple[str, ...] = ()
    parts_bytes: int = 0

    @property
    def file(self) -> str:
        """Path of the file where it comes from: inside the package, repository or archive."""
        source = self.source
        return source.file if isinstance(source, Embedded | HubFile) else source.member

    @property
    def size_text(self) -> str:
        """The size for people: `0.7 MB`, `97 MB`, `1.3 GB`."""
        size = self.bytes + self.parts_bytes
        if size >= 1e9:
            return f"{size / 1e9:.1f} GB"
        return f"{size / 1e6:.{1 if size < 10e6 else 0}f} MB"

    @property
    def cache_name(self) -> str:
        """Name of the file in the cache: the model's name with the original suffix."""
        return self.name + PurePosixPath(self.file).suffix

    @property
    def checksum_rule(self) -> str:
        """`pinned`, or `first download` where the checksum is kept from then on."""
        return "first download" if self.sha256 is None else "pinned"

    def answers_to(self, name: str) -> bool:
        """Whether `name` is this entry's name or one of its aliases, whatever the case."""
        return name.casefold() in {known.casefold() for known in (self.name, *self.aliases)}
