"""A multimodal model with everything around it: tokenizer, eye, perception tokens, codebook.

What the model's own files do not say lies beside them in `perception.json`: which codebook its depth
tokens are of (by checksum), how questions are framed, how pictures are shown. A model of a hub that was
never trained with perception tokens has none, and can be given them (`adapting`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.depth.file_kinds import FileKind, file_kind, safetensors_header
from sightline.errors import InputError, SightlineError
from sightline.files.atomic import write_text
from sightline.files.reading import read_bytes
from sightline.perception.model.eye import Eye, read_eye
from sightline.perception.model.speech import IMAGE, Speech, Writing
from sightline.perception.vocabulary import DEPTH_WORDS, PIXEL_WORDS, Vocabulary, find
from sightline.weights import catalogue
from sightline.weights.quiet import quiet_libraries
from sightline.weights.store import resolve

NOTES = "perception.json"
_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"

#: (H, W, 3) uint8; or (T, D) floats, what a tower that does not learn gave for the picture.
Picture = NDArray[Any]
#: Dimensions of a picture that nobody looked at yet.
_PIXELS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Speaker:
    """A model that is shown pictures and speaks.

    Attributes:
        model: `LlavaForConditionalGeneration`, or a PEFT wrapper of it.
        writing: turns conversations into its tokens.
        eye: turns pictures into its input.
        vocabulary: its perception tokens; empty without any.
        codebook: checksum of the codebook that its depth tokens are of; None where nobody knows.
        counts: whether it was taught to count; what nobody knows is taken for granted.
    """

    model: Any
    writing: Writing
    eye: Eye
    vocabulary: Vocabulary
    codebook: str | None = None
    counts: bool = True

    def show(self, pictures: Sequence[Picture]) -> Tensor:
        """Turn pictures into the input of its tower; what that gave for them before stays as it is."""
        if pictures[0].ndim == _PIXELS:
            return self.eye.look(pictures)
        return torch.from_numpy(np.stack(pictures).astype(np.float32))

    def check_codebook(self, sha256: str) -> str:
        """Refuse a codebook that the model was not trained with: its codes would mean other things.

        Returns:
            A caution where the model does not say what it was trained with; empty otherwise.
        """
        if self.codebook is None:
            return (
                "the model does not say which codebook it was trained with, so nobody can tell "
                "whether this is the one"
            )
        if self.codebook != sha256:
            raise InputError(
                f"the model was trained with codebook {self.codebook[:12]}, not {sha256[:12]}",
                remedy="give the codebook that belongs to the model",
            )
        return ""


def load_speaker(name: str | Path, *, dtype: str = "float32", device: str = "cpu") -> Speaker:
    """Load a model of the registry, a compact one from its file, or any LLaVA-type model.

    A folder that holds an adapter (PEFT) gets its base model from where the adapter says.

    Args:
        name: `speaker` or another name of the registry, folder, file, or `owner/name` of the hub.
        dtype: of its weights.
        device: to run it on.
    """
    from sightline.perception.model.compact_files import is_compact, read_compact

    if isinstance(name, str) and not Path(name).exists() and catalogue.find(name) is not None:
        name = resolve(name, purpose="language").path
    if is_compact(name):
        speaker = read_compact(name)
        speaker.model.to(device, getattr(torch, dtype))
        return speaker
    folder = _folder(name)
    adapter = (folder / _CONFIG).is_file()
    origin = _base_of(folder) if adapter else name
    base = _base_folder(folder, str(origin)) if adapter else folder
    _check_llava(base)
    with _explained("is no LLaVA-type model", base):
        model = _llava(base, getattr(torch, dtype))
    # An adapter of this model remembers where it is: absolutely, so that it works from elsewhere.
    model.name_or_path = str(Path(origin).resolve() if Path(origin).is_dir() else origin)
    spelt = folder if _has_tokenizer(folder) else base
    with _explained("its tokenizer cannot be read", spelt):
        tokenizer = _tokenizer(spelt)
    if adapter:
        model = _with_adapter(model, tokenizer, folder)
    return speaker_of(model.to(device).eval(), tokenizer, folder, base)


def speaker_of(model: Any, tokenizer: Any, folder: Path, base: Path) -> Speaker:
    """Put a model and its tokenizer together with the notes of their folder."""
    notes = _read_notes(folder)
    config = model.config
    try:
        if "eye" in notes:
            eye = Eye.from_dict(notes["eye"])
        else:
            eye = read_eye(base, int(config.vision_config.image_size))
        speech = Speech.from_dict(notes.get("speech", {}))
        codebook = _checksum(notes.get("codebook"))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"cannot be understood ({reason})", path=folder / NOTES) from error
    cells = eye.side // int(config.vision_config.patch_size)
    patches = cells * cells + (config.vision_feature_select_strategy == "full")
    image = int(config.image_token_id)
    if tokenizer.convert_ids_to_tokens(image) != IMAGE:
        raise InputError(f"token {image} of its tokenizer is not {IMAGE}", path=folder)
    writing = Writing(tokenizer, image, patches, speech)
    return Speaker(model, writing, eye, known_tokens(tokenizer), codebook)


def _checksum(found: Any) -> str | None:
    if found is not None and not isinstance(found, str):
        raise TypeError("codebook is no checksum")
    return found


def known_tokens(tokenizer: Any) -> Vocabulary:
    """Look up the perception tokens that a tokenizer has; half a set is an error."""
    have = tokenizer.get_vocab()
    depth = any(word in have for word in DEPTH_WORDS)
    pixels = any(word in have for word in PIXEL_WORDS)
    return find(tokenizer, depth=depth, pixels=pixels) if depth or pixels else Vocabulary()


def save_speaker(speaker: Speaker, folder: str | Path) -> None:
    """Write model (or adapter), tokenizer and notes into a folder that `load_speaker` takes."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with quiet_libraries():
        speaker.model.save_pretrained(folder)
    speaker.writing.tokenizer.save_pretrained(folder)
    notes = {
        "codebook": speaker.codebook,
        "speech": speaker.writing.speech.to_dict(),
        "eye": speaker.eye.to_dict(),
    }
    write_text(folder / NOTES, json.dumps(notes, indent=1, ensure_ascii=False) + "\n")


def _check_llava(folder: Path) -> None:
    """Refuse another kind of model before it is built; without a config that would be a very large one.

    Raises:
        InputError: there is no config, or one of another kind.
    """
    path = folder / "config.json"
    remedy = "give one with config.json, safetensors and the tokenizer's files"
    if not path.is_file():
        raise InputError(
            "is no LLaVA-type model: there is no config.json", path=folder, remedy=remedy
        )
    try:
        kind = json.loads(read_bytes(path, limit=10_000_000, what="config")).get("model_type")
    except (ValueError, AttributeError) as error:
        raise InputError("cannot be understood", path=path, remedy=remedy) from error
    if kind != "llava":
        raise InputError(f"is no LLaVA-type model but {kind!r}", path=folder, remedy=remedy)


def _llava(folder: Path, dtype: Any) -> Any:
    from transformers import LlavaForConditionalGeneration

    with quiet_libraries():
        return LlavaForConditionalGeneration.from_pretrained(folder, dtype=dtype)


def _tokenizer(folder: Path) -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(folder)


def _has_tokenizer(folder: Path) -> bool:
    return any((folder / name).is_file() for name in ("tokenizer.json", "tokenizer.model"))


def _folder(name: str | Path) -> Path:
    """Return a local folder, or the hub's snapshot of a repository."""
    if Path(name).is_dir():
        return Path(name)
    text = str(name)
    beside = Path(text).parent
    local = beside != Path() and beside.is_dir()  # mistyped, most likely
    if isinstance(name, Path) or local or text.count("/") != 1 or text[0] in "./~":
        raise InputError("no such folder", path=name, remedy="check the name")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(text, allow_patterns=["*.json", "*.safetensors", "*.model"]))
    except (HfHubHTTPError, LocalEntryNotFoundError, OSError) as error:
        raise InputError(
            f"cannot get {text} from the hub ({type(error).__name__})",
            remedy="give a folder, or check name and network",
        ) from error


def _base_of(folder: Path) -> str:
    path = folder / _CONFIG
    try:
        found = json.loads(read_bytes(path, limit=10_000_000, what="adapter"))
        base = found["base_model_name_or_path"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("does not say what model it adapts", path=path) from error
    if not isinstance(base, str) or not base or "\0" in base:
        raise InputError("does not say what model it adapts", path=path)
    return base


def _base_folder(folder: Path, base: str) -> Path:
    """Find the model that an adapter adapts; where that is missing, both are named."""
    try:
        return _folder(base)
    except InputError as error:
        raise InputError(
            f"adapts {base}, which cannot be found ({error.problem})",
            path=folder,
            remedy=f"bring it back, or change base_model_name_or_path in {_CONFIG}",
        ) from error


def _with_adapter(model: Any, tokenizer: Any, folder: Path) -> Any:
    """Grow the embedding to the tokens that the adapter brings, and put it on."""
    from peft import PeftConfig, get_peft_model, get_peft_model_state_dict

    weights = folder / _WEIGHTS
    stored = _stored(weights)
    if model.get_input_embeddings().num_embeddings < len(tokenizer):
        model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    with _explained("does not describe an adapter", folder / _CONFIG), quiet_libraries():
        wrapped = get_peft_model(model, PeftConfig.from_pretrained(folder))
    with _explained("does not fit its base model", weights), quiet_libraries():
        wrapped.load_adapter(folder, "default")
        missing = sorted(get_peft_model_state_dict(wrapped).keys() - stored)
    if missing:
        raise InputError(f"a damaged adapter, it lacks {missing[0]}", path=weights)
    return wrapped


def _stored(path: Path) -> set[str]:
    """Return the names of the weights of an adapter, whose file is whole."""
    if not path.is_file():
        raise InputError("no such file: the adapter has no weights", path=path)
    if file_kind(path) is not FileKind.SAFETENSORS:
        raise InputError("is no safetensors file", path=path)
    return {name for name in safetensors_header(path) if name != "__metadata__"}


@contextmanager
def _explained(problem: str, path: Path) -> Iterator[None]:
    """Turn whatever other libraries raise about a user's files into one line that names them."""
    try:
        yield
    except (SightlineError, MemoryError):
        raise
    except Exception as error:  # transformers, tokenizers, peft and safetensors raise anything
        words = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"{problem} ({words})", path=path) from error


def _read_notes(folder: Path) -> dict[str, Any]:
    path = folder / NOTES
    if not path.is_file():
        return {}
    try:
        found = json.loads(read_bytes(path, limit=1_000_000, what="notes on perception tokens"))
    except (ValueError, RecursionError) as error:
        raise InputError("is not JSON", path=path) from error
    if not isinstance(found, dict):
        raise InputError("is not an object", path=path)
    return found
