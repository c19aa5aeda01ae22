"""A compact speaker as one safetensors file: its own weights in half precision, the rest by reference.

The header's metadata hold its size, tokenizer and frame of speech, and the checksums of what it depends
on: the depth model it sees with and the codebook it writes in. Neither is stored twice, and neither can
be exchanged unnoticed.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from sightline.depth.file_kinds import FileKind, file_kind, safetensors_header
from sightline.errors import InputError
from sightline.files.atomic import atomic_path
from sightline.perception.model.compact import CompactOptions, build_compact, wrap_tokenizer
from sightline.perception.model.loading import Speaker
from sightline.weights.entry import Purpose
from sightline.weights.store import resolve

KEY = "sightline.speaker"

#: Parts that other files hold.
_ELSEWHERE = ("model.vision_tower.network.", "model.vision_tower.codes.")
#: The output matrix is the embedding itself.
_TIED = "lm_head.weight"


def write_compact(
    speaker: Speaker,
    path: str | Path,
    options: CompactOptions,
    *,
    vision: str = "small",
    codebook: str = "codebook",
) -> None:
    """Write a speaker of `build_compact`, whole or not at all.

    Args:
        speaker: trained.
        path: of the `.safetensors` file.
        options: it was built with.
        vision: depth model it was built with.
        codebook: it was built with.
    """
    tokenizer = speaker.writing.tokenizer
    notes = {
        "options": asdict(options),
        "tokenizer": json.loads(tokenizer.backend_tokenizer.to_str()),
        "pixels": bool(speaker.vocabulary.pixels),
        "vision": vision,
        "vision_sha256": resolve(vision, purpose="depth").sha256,
        "codebook": codebook,
        "codebook_sha256": speaker.codebook,
    }
    state = {
        name: value.to(torch.float16).contiguous()
        for name, value in speaker.model.state_dict().items()
        if not name.startswith(_ELSEWHERE) and name != _TIED
    }
    with atomic_path(Path(path)) as temporary:
        save_file(state, temporary, {KEY: json.dumps(notes, ensure_ascii=False, sort_keys=True)})


def is_compact(path: str | Path) -> bool:
    """Tell whether a file holds a compact speaker."""
    path = Path(path)
    if not path.is_file() or file_kind(path) is not FileKind.SAFETENSORS:
        return False
    return KEY in (safetensors_header(path).get("__metadata__") or {})


def read_compact(path: str | Path) -> Speaker:
    """Read a speaker that `write_compact` wrote.

    Raises:
        InputError: the file is something else or damaged, or the depth model that it sees with is not
            the one it was trained with.
    """
    path = Path(path)
    if not is_compact(path):
        raise InputError("is no speaker", path=path)
    try:
        notes: dict[str, Any] = json.loads(safetensors_header(path)["__metadata__"][KEY])
        size = notes["options"]
        options = CompactOptions(
            **{**size, "taps": tuple(size["taps"]), "kinds": tuple(size["kinds"])}
        )
        inner = _tokenizer(notes["tokenizer"])
        vision, codebook, pixels = notes["vision"], notes["codebook"], bool(notes["pixels"])
        needs: tuple[tuple[str, str, str, Purpose], ...] = (
            ("sees with", vision, notes["vision_sha256"], "depth"),
            ("writes in", codebook, notes["codebook_sha256"], "tokens"),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError("a damaged speaker (its notes)", path=path) from error
    for does, name, wanted, purpose in needs:
        found = resolve(str(name), purpose=purpose).sha256
        if found != wanted:
            raise InputError(
                f"{does} {name}@{str(wanted)[:12]}, and {name} is now {found[:12]}",
                path=path,
                remedy="use the version of sightline that it was made for, or train it anew",
            )
    tokenizer = wrap_tokenizer(inner)
    speaker = build_compact(tokenizer, options, codebook=codebook, vision=vision, pixels=pixels)
    try:
        state = {name: value.float() for name, value in load_file(path).items()}
        left = speaker.model.load_state_dict(state, strict=False)
    except (RuntimeError, SafetensorError, OSError) as error:
        raise InputError("a damaged speaker (its weights)", path=path) from error
    missing = [n for n in left.missing_keys if not n.startswith(_ELSEWHERE) and n != _TIED]
    if missing or left.unexpected_keys:
        strange = (missing or left.unexpected_keys)[0]
        raise InputError(f"a damaged speaker ({strange})", path=path)
    speaker.model.tie_weights()
    return speaker


def _tokenizer(described: Any) -> Tokenizer:
    try:
        return Tokenizer.from_str(json.dumps(described))
    except Exception as error:  # tokenizers raises nothing more specific
        raise ValueError(str(error)) from error
