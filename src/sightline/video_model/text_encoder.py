"""A frozen text encoder from a folder, as the hub lays it out: T5 (the paper's), CLIP and their like.

Every sentence is encoded by itself and rounded to half precision, so that it is the same bytes in
whatever batch, before a break or after it. Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from sightline.errors import InputError, install
from sightline.weights.cache import file_sha256
from sightline.weights.quiet import quiet_libraries

#: Bytes that encoded sentences may fill.
ROOM = 256 * 10**6

#: Sentences are filled up to a multiple of this many words, so that few shapes turn up.
_STEP = 16


class TextEncoder:
    """Embeds sentences.

    Args:
        folder: with `config.json`, the tokenizer's files and safetensors weights.
        device: where it computes.
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
        """Return embeddings (N, L, E) float32 and (N, L) bool, True for words, filled up alike."""
        rows = [self._one(text) for text in sentences]
        length = -(-max(len(row) for row in rows) // _STEP) * _STEP
        text = torch.stack([F.pad(row, (0, 0, 0, length - len(row))) for row in rows])
        there = torch.arange(length) < torch.tensor([[len(row)] for row in rows])
        return text.float(), there

    @torch.no_grad()
    def _one(self, text: str) -> Tensor:
        """Return one sentence, (L, E) float16."""
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
    """Return tokenizer and network, the part of it that encodes text."""
    if not (folder / "config.json").is_file():
        raise InputError(
            "is no folder of a text encoder: there is no config.json",
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
        raise InputError("text encoders want transformers", remedy=install("perception")) from error
    except Exception as error:  # transformers raises whatever a damaged file makes it raise
        first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        raise InputError(
            f"cannot be read as a text encoder ({type(error).__name__}: {first[:160]})", path=folder
        ) from error
    if network.config.is_encoder_decoder:
        return tokenizer, network.get_encoder()
    return tokenizer, getattr(network, "text_model", network)


def _digest(folder: Path) -> str:
    """Return the checksum of everything that decides the embeddings, but not of where it lies."""
    files = sorted(
        path
        for path in folder.iterdir()
        if path.suffix in (".json", ".safetensors", ".model", ".txt")
    )
    parts = [f"{path.name} {file_sha256(path)}" for path in files]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()
