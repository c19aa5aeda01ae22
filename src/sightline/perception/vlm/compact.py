"""Compact LLaVA for laptops: the embedded depth model as vision tower and a small Llama.

The depth model `small` and the codebook are frozen and stored in files of their own; a compact VLM file
holds detectors, projector, language model and tokenizer. The tokenizer is a byte-level BPE trained on
the questions and answers; digits and dashes are always single tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor
from transformers import (
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    PreTrainedTokenizerFast,
)

from sightline.depth.network import DepthAnything
from sightline.depth.vit_models import read_vit
from sightline.errors import InputError
from sightline.io.atomic import atomic_path
from sightline.models.download import resolve
from sightline.models.entry import ModelSpec, Purpose
from sightline.perception.codebook import WIDTH, DepthCodebook, read_codebook
from sightline.perception.questions.depth import Spelling
from sightline.perception.tokens import PIXELS, extend
from sightline.perception.vlm.detectors import MarkDetector, ObjectDetector
from sightline.perception.vlm.model import PerceptionVLM
from sightline.perception.vlm.processing import IMAGE, ChatTemplate, ChatTokenizer, ImageProcessor
from sightline.perception.vlm.vision_tower import (
    CELL,
    DepthTower,
    TowerConfig,
    number_code,
    register,
    tokens_of,
)
from sightline.runtime.weight_files import FileKind, file_kind, safetensors_header

#: BPE pieces besides bytes and special tokens.
PIECES = 640
#: Initial scale of the other channels relative to those of the codebook's vectors.
LOUDER = 3.0


@dataclass(frozen=True, slots=True)
class CompactOptions:
    """Size of a compact VLM.

    Attributes:
        width: width of the language model.
        layers: layers of the language model.
        heads: attention heads of the language model.
        side: side of the square input image, [px]; at 280 a cell is a code of the map.
        taps: encoder blocks that the object detector sees.
        kinds: kinds of objects that it detects.
        counts: whether it was trained to count them.
    """

    width: int = 256
    layers: int = 4
    heads: int = 8
    side: int = 280
    taps: tuple[int, ...] = (5, 11)
    kinds: tuple[str, ...] = ()
    counts: bool = True

    def __post_init__(self) -> None:
        if self.width % (2 * self.heads):
            raise InputError(f"{self.heads} heads do not share a width of {self.width} evenly")
        if self.side % CELL:
            raise InputError(f"the side is a multiple of {CELL} px, got {self.side}")


def train_tokenizer(texts: Iterable[str]) -> PreTrainedTokenizerFast:
    """Train a byte-level BPE tokenizer on texts."""
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(r"[\d-]"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    inner.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=256 + 4 + PIECES,
        special_tokens=["<pad>", "<s>", "</s>", IMAGE],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    inner.train_from_iterator(sorted(set(texts)), trainer)
    tokenizer = wrap_tokenizer(inner)
    tokenizer.add_tokens([IMAGE], special_tokens=True)
    return tokenizer


def wrap_tokenizer(inner: Tokenizer) -> PreTrainedTokenizerFast:
    """Wrap a tokenizer of `train_tokenizer` for transformers."""
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Detectors:
    """Detectors of the vision tower.

    Attributes:
        marks: detector of marked points.
        objects: detector of objects.
    """

    marks: MarkDetector
    objects: ObjectDetector


def build_compact(
    tokenizer: Any,
    options: CompactOptions,
    *,
    codebook: str = "codebook",
    vision: str = "small",
    detectors: Detectors | None = None,
    seed: int = 0,
    pixels: bool = True,
) -> PerceptionVLM:
    """Build a compact VLM with a pretrained vision tower and an untrained language model.

    Args:
        tokenizer: tokenizer of `train_tokenizer`; perception tokens are added.
        options: size.
        codebook: registry name or file of the codebook of its depth tokens.
        vision: depth model of the vision tower.
        detectors: trained detectors; None for untrained ones.
        seed: random seed of the weights.
        pixels: add pixel tokens besides depth tokens.
    """
    register()
    vocabulary = extend(tokenizer, depth=True, pixels=pixels)
    network, shown = read_vit(vision)
    codes = resolve(codebook, purpose="tokens")
    torch.manual_seed(seed)
    tower = TowerConfig(
        taps=options.taps,
        image_size=options.side,
        kinds=options.kinds,
        curve=shown.curve,
        zero=shown.zero,
    )
    text = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=options.width,
        intermediate_size=2 * options.width,
        num_hidden_layers=options.layers,
        num_attention_heads=options.heads,
        num_key_value_heads=options.heads,
        max_position_embeddings=1024,
        # The usual 0.02 suits widths of thousands; for a narrow model the signal would vanish.
        initializer_range=options.width**-0.5,
        tie_word_embeddings=True,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    config = LlavaConfig(
        vision_config=tower,
        text_config=text,
        image_token_id=tokenizer.convert_tokens_to_ids(IMAGE),
        vision_feature_layer=0,
        vision_feature_select_strategy="full",
        tie_word_embeddings=True,
    )
    model = LlavaForConditionalGeneration(config)
    fill_vision_tower(model, network, read_codebook(codes.path), detectors)
    _init_pixel_embeddings(model, vocabulary.pixels)
    places: Spelling = "pixels" if pixels else "digits"
    template = ChatTemplate(
        human="", model="\n", picture="", question_first=True, places=places, counts_by="things"
    )
    chat = ChatTokenizer(tokenizer, config.image_token_id, tokens_of(options.side), template)
    image_processor = image_processor_for(shown, options.side)
    return PerceptionVLM(
        model.eval(), chat, image_processor, vocabulary, codes.sha256, options.counts
    )


def image_processor_for(shown: ModelSpec, side: int) -> ImageProcessor:
    """Return the preprocessing of a compact VLM: by area, which preserves letter strokes."""
    return ImageProcessor(side, shown.mean, shown.std, smooth=True)


def fill_vision_tower(
    model: Any, network: DepthAnything, codebook: DepthCodebook, detectors: Detectors | None
) -> None:
    """Load pretrained weights into the vision tower and freeze it."""
    tower: DepthTower = model.model.vision_tower
    tower.network.load_state_dict(network.state_dict())
    tower.codes.load_state_dict(codebook.encoder.state_dict())
    if detectors is not None:
        tower.mark_detector.load_state_dict(detectors.marks.state_dict())
        tower.object_detector.load_state_dict(detectors.objects.state_dict())
    tower.requires_grad_(False)


@torch.no_grad()
def _init_pixel_embeddings(model: Any, pixels: Sequence[int]) -> None:
    """Initialize pixel tokens by position codes, so that neighbors start similar."""
    if not pixels:
        return
    rows = model.get_input_embeddings().weight
    codes = number_code(torch.arange(PIXELS) / PIXELS)
    spread = torch.randn(codes.shape[1], rows.shape[1]) * (2 / codes.shape[1]) ** 0.5
    rows[list(pixels)] = (codes @ spread * float(rows.std())).to(rows)


@torch.no_grad()
def standardize_projector(vlm: PerceptionVLM, pictures: Sequence[Tensor]) -> None:
    """Initialize the projector for features of zero mean and balanced scale.

    The codebook's vectors have many channels and would dominate positions, letters and objects. So
    mean and standard deviation over some images are folded into the first layer, and the other
    channels are scaled up. Channels that are almost always zero are limited in their scale.

    Args:
        vlm: model with a trained vision tower.
        pictures: (N, 3, H, W) preprocessed batches, or cached features of the vision tower.
    """
    model = vlm.model.model
    tokens = torch.cat(
        [model.vision_tower(batch).last_hidden_state.flatten(0, 1) for batch in pictures]
    )
    spread, mean = torch.std_mean(tokens.double(), dim=0)
    layer = model.multi_modal_projector.linear_1
    loud = torch.ones_like(spread)
    loud[WIDTH:] = LOUDER
    weight = layer.weight.double() * loud / spread.clamp(min=0.1 * float(spread.median()))
    layer.bias.sub_((weight @ mean).to(layer.bias))
    layer.weight.copy_(weight)
    normalize_projector_output(vlm, pictures)


@torch.no_grad()
def normalize_projector_output(vlm: PerceptionVLM, pictures: Sequence[Tensor]) -> None:
    """Scale the output of the projector to unit standard deviation.

    A layer adds about unit-sized updates to a token; a much larger token could not take up
    information from others.

    Args:
        vlm: model whose projector is scaled.
        pictures: as in `standardize_projector`.
    """
    model = vlm.model.model
    projector = model.multi_modal_projector
    given = torch.cat([projector(model.vision_tower(some).last_hidden_state) for some in pictures])
    for part in (projector.linear_2.weight, projector.linear_2.bias):
        part.div_(given.std())


#: Metadata key of a compact VLM; its value is JSON.
KEY = "sightline.vlm"

#: Weights that are stored in other files.
_ELSEWHERE = ("model.vision_tower.network.", "model.vision_tower.codes.")
#: The output matrix is tied to the embedding.
_TIED = "lm_head.weight"


def write_compact(
    vlm: PerceptionVLM,
    path: str | Path,
    options: CompactOptions,
    *,
    vision: str = "small",
    codebook: str = "codebook",
) -> None:
    """Write a model of `build_compact` atomically.

    Args:
        vlm: trained model.
        path: `.safetensors` file.
        options: size it was built with.
        vision: depth model it was built with.
        codebook: codebook it was built with.
    """
    tokenizer = vlm.chat.tokenizer
    notes = {
        "options": asdict(options),
        "tokenizer": json.loads(tokenizer.backend_tokenizer.to_str()),
        "pixels": bool(vlm.vocabulary.pixels),
        "vision": vision,
        "vision_sha256": resolve(vision, purpose="depth").sha256,
        "codebook": codebook,
        "codebook_sha256": vlm.codebook,
    }
    state = {
        name: value.to(torch.float16).contiguous()
        for name, value in vlm.model.state_dict().items()
        if not name.startswith(_ELSEWHERE) and name != _TIED
    }
    with atomic_path(Path(path)) as temporary:
        save_file(state, temporary, {KEY: json.dumps(notes, ensure_ascii=False, sort_keys=True)})


def is_compact(path: str | Path) -> bool:
    """Return whether a file holds a compact VLM."""
    path = Path(path)
    if not path.is_file() or file_kind(path) is not FileKind.SAFETENSORS:
        return False
    return KEY in (safetensors_header(path).get("__metadata__") or {})


def read_compact(path: str | Path) -> PerceptionVLM:
    """Read a model written by `write_compact`.

    Raises:
        InputError: the file is of another kind or damaged, or the depth model or codebook has changed
            since training.
    """
    path = Path(path)
    if not is_compact(path):
        raise InputError("is not a compact VLM", path=path)
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
        raise InputError("a damaged VLM (its notes)", path=path) from error
    for does, name, wanted, purpose in needs:
        found = resolve(str(name), purpose=purpose).sha256
        if found != wanted:
            raise InputError(
                f"{does} {name}@{str(wanted)[:12]}, and {name} is now {found[:12]}",
                path=path,
                remedy="use the version of sightline that it was made for, or train it anew",
            )
    tokenizer = wrap_tokenizer(inner)
    vlm = build_compact(tokenizer, options, codebook=codebook, vision=vision, pixels=pixels)
    try:
        state = {name: value.float() for name, value in load_file(path).items()}
        left = vlm.model.load_state_dict(state, strict=False)
    except (RuntimeError, SafetensorError, OSError) as error:
        raise InputError("a damaged VLM (its weights)", path=path) from error
    missing = [n for n in left.missing_keys if not n.startswith(_ELSEWHERE) and n != _TIED]
    if missing or left.unexpected_keys:
        strange = (missing or left.unexpected_keys)[0]
        raise InputError(f"a damaged VLM ({strange})", path=path)
    vlm.model.tie_weights()
    return vlm


def _tokenizer(described: Any) -> Tokenizer:
    try:
        return Tokenizer.from_str(json.dumps(described))
    except Exception as error:  # tokenizers raises nothing more specific
        raise ValueError(str(error)) from error
