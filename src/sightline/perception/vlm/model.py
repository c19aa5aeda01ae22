"""Vision-language models: loading and saving with tokenizer, image processor and perception tokens.

`perception.json` beside the model's own files stores the checksum of its codebook, the chat
template and the image preprocessing. A model of the hub has no perception tokens; `lora.add_lora`
adds them.
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

from sightline.errors import InputError, SightlineError
from sightline.io.atomic import write_text
from sightline.io.reading import read_bytes
from sightline.models import registry
from sightline.models.download import resolve
from sightline.models.hub import quiet_libraries
from sightline.perception.tokens import DEPTH_WORDS, PIXEL_WORDS, Vocabulary, find
from sightline.perception.vlm.processing import (
    IMAGE,
    ChatTemplate,
    ChatTokenizer,
    ImageProcessor,
    read_image_processor,
)
from sightline.runtime.weight_files import FileKind, file_kind, safetensors_header

NOTES = "perception.json"
_CONFIG, _WEIGHTS = "adapter_config.json", "adapter_model.safetensors"

#: (H, W, 3) uint8 image, or (T, D) cached features of a frozen vision tower.
Picture = NDArray[Any]
#: Dimensions of an image, as opposed to cached features.
_PIXELS = 3


@dataclass(frozen=True, slots=True, eq=False)
class PerceptionVLM:
    """Vision-language model with perception tokens.

    Attributes:
        model: `LlavaForConditionalGeneration`, or a PEFT wrapper of it.
        chat: converts conversations to tokens.
        image_processor: converts images to the model's input.
        vocabulary: perception tokens; empty without any.
        codebook: SHA-256 of the codebook of its depth tokens; None if unknown.
        counts: whether it was trained to count; assumed if unknown.
    """

    model: Any
    chat: ChatTokenizer
    image_processor: ImageProcessor
    vocabulary: Vocabulary
    codebook: str | None = None
    counts: bool = True

    def show(self, pictures: Sequence[Picture]) -> Tensor:
        """Return the input of the vision tower for images; cached features are only stacked."""
        if pictures[0].ndim == _PIXELS:
            return self.image_processor.look(pictures)
        return torch.from_numpy(np.stack(pictures).astype(np.float32))

    def check_codebook(self, sha256: str) -> str:
        """Check that a codebook is the one the model was trained with.

        Returns:
            A caution if the model does not name its codebook; empty otherwise.
        """
        if self.codebook is None:
            return (
                "the model does not name the codebook it was trained with, so this one may be "
                "another"
            )
        if self.codebook != sha256:
            raise InputError(
                f"the model was trained with codebook {self.codebook[:12]}, not {sha256[:12]}",
                remedy="give the codebook that belongs to the model",
            )
        return ""


def load_vlm(name: str | Path, *, dtype: str = "float32", device: str = "cpu") -> PerceptionVLM:
    """Load a vision-language model: compact, LLaVA-type, or a PEFT adapter with its base model.

    Args:
        name: registry name such as `perception-vlm`, folder, file, or `owner/name` of the hub.
        dtype: dtype of the weights.
        device: device to run on.
    """
    from sightline.perception.vlm.compact import is_compact, read_compact

    if isinstance(name, str) and not Path(name).exists() and registry.find(name) is not None:
        name = resolve(name, purpose="language").path
    if is_compact(name):
        vlm = read_compact(name)
        vlm.model.to(device, getattr(torch, dtype))
        return vlm
    folder = _folder(name)
    adapter = (folder / _CONFIG).is_file()
    origin = _base_of(folder) if adapter else name
    base = _base_folder(folder, str(origin)) if adapter else folder
    _check_llava(base)
    with _explained("is not a LLaVA-type model", base):
        model = _llava(base, getattr(torch, dtype))
    # An adapter stores the path of its base model: absolute, so that it works from anywhere.
    model.name_or_path = str(Path(origin).resolve() if Path(origin).is_dir() else origin)
    spelled = folder if _has_tokenizer(folder) else base
    with _explained("its tokenizer cannot be read", spelled):
        tokenizer = _tokenizer(spelled)
    if adapter:
        model = _with_adapter(model, tokenizer, folder)
    return assemble_vlm(model.to(device).eval(), tokenizer, folder, base)


def assemble_vlm(model: Any, tokenizer: Any, folder: Path, base: Path) -> PerceptionVLM:
    """Combine a model and its tokenizer with the notes of their folder."""
    notes = _read_notes(folder)
    config = model.config
    try:
        if "image_processor" in notes:
            image_processor = ImageProcessor.from_dict(notes["image_processor"])
        else:
            image_processor = read_image_processor(base, int(config.vision_config.image_size))
        template = ChatTemplate.from_dict(notes.get("chat_template", {}))
        codebook = _checksum(notes.get("codebook"))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        reason = f"lacks {error}" if isinstance(error, KeyError) else str(error)
        raise InputError(f"cannot be understood ({reason})", path=folder / NOTES) from error
    cells = image_processor.side // int(config.vision_config.patch_size)
    patches = cells * cells + (config.vision_feature_select_strategy == "full")
    image = int(config.image_token_id)
    if tokenizer.convert_ids_to_tokens(image) != IMAGE:
        raise InputError(f"token {image} of its tokenizer is not {IMAGE}", path=folder)
    chat = ChatTokenizer(tokenizer, image, patches, template)
    return PerceptionVLM(model, chat, image_processor, known_tokens(tokenizer), codebook)


def _checksum(found: Any) -> str | None:
    if found is not None and not isinstance(found, str):
        raise TypeError("codebook is no checksum")
    return found


def known_tokens(tokenizer: Any) -> Vocabulary:
    """Look up the perception tokens of a tokenizer; an incomplete set is an error."""
    have = tokenizer.get_vocab()
    depth = any(word in have for word in DEPTH_WORDS)
    pixels = any(word in have for word in PIXEL_WORDS)
    return find(tokenizer, depth=depth, pixels=pixels) if depth or pixels else Vocabulary()


def save_vlm(vlm: PerceptionVLM, folder: str | Path) -> None:
    """Write model (or adapter), tokenizer and notes into a folder for `load_vlm`."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with quiet_libraries():
        vlm.model.save_pretrained(folder)
    vlm.chat.tokenizer.save_pretrained(folder)
    notes = {
        "codebook": vlm.codebook,
        "chat_template": vlm.chat.template.to_dict(),
        "image_processor": vlm.image_processor.to_dict(),
    }
    write_text(folder / NOTES, json.dumps(notes, indent=1, ensure_ascii=False) + "\n")


def _check_llava(folder: Path) -> None:
    """Check the model type before the model is built.

    Raises:
        InputError: there is no config, or one of another type.
    """
    path = folder / "config.json"
    remedy = "give one with config.json, safetensors and the tokenizer's files"
    if not path.is_file():
        raise InputError(
            "is not a LLaVA-type model: there is no config.json", path=folder, remedy=remedy
        )
    try:
        kind = json.loads(read_bytes(path, limit=10_000_000, what="config")).get("model_type")
    except (ValueError, AttributeError) as error:
        raise InputError("cannot be understood", path=path, remedy=remedy) from error
    if kind != "llava":
        raise InputError(f"is not a LLaVA-type model but {kind!r}", path=folder, remedy=remedy)


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
    """Return a local folder, or the snapshot of a hub repository."""
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
        raise InputError("does not name its base model", path=path) from error
    if not isinstance(base, str) or not base or "\0" in base:
        raise InputError("does not name its base model", path=path)
    return base


def _base_folder(folder: Path, base: str) -> Path:
    """Find the base model of an adapter."""
    try:
        return _folder(base)
    except InputError as error:
        raise InputError(
            f"adapts {base}, which cannot be found ({error.problem})",
            path=folder,
            remedy=f"bring it back, or change base_model_name_or_path in {_CONFIG}",
        ) from error


def _with_adapter(model: Any, tokenizer: Any, folder: Path) -> Any:
    """Resize the embedding for the adapter's tokens and load the adapter."""
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
    """Return the names of the weights in an adapter file."""
    if not path.is_file():
        raise InputError("no such file: the adapter has no weights", path=path)
    if file_kind(path) is not FileKind.SAFETENSORS:
        raise InputError("is not a safetensors file", path=path)
    return {name for name in safetensors_header(path) if name != "__metadata__"}


@contextmanager
def _explained(problem: str, path: Path) -> Iterator[None]:
    """Convert errors of third-party libraries about user files to one-line input errors."""
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
