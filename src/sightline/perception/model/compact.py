"""A LLaVA small enough for a laptop: our depth network looks, a few million weights of Llama speak.

It sees with the embedded `small` and codebook, frozen, so only its finders, projector, language model
and tokenizer are its own. The tokenizer spells: bytes, and pieces of words that its questions and
answers are made of; digits and dashes are always single.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from torch import Tensor
from transformers import (
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    PreTrainedTokenizerFast,
)

from sightline.depth.network import DepthAnything
from sightline.depth.spec import ModelSpec
from sightline.depth.vit_models import read_vit
from sightline.errors import InputError
from sightline.perception.codebook.files import read_codebook
from sightline.perception.codebook.network import WIDTH, DepthCodebook
from sightline.perception.model.eye import Eye
from sightline.perception.model.glass import MarkGlass
from sightline.perception.model.loading import Speaker
from sightline.perception.model.numbers import number_code
from sightline.perception.model.speech import IMAGE, Speech, Writing
from sightline.perception.model.things import ThingFinder
from sightline.perception.model.tower import CELL, DepthTower, TowerConfig, register, tokens_of
from sightline.perception.questions.depth import Spelling
from sightline.perception.vocabulary import PIXELS, extend
from sightline.weights.store import resolve

#: Pieces of words beside bytes and marks.
PIECES = 640
#: How much louder than the codebook's vectors the few other channels begin.
LOUDER = 3.0


@dataclass(frozen=True, slots=True)
class CompactOptions:
    """Size of a compact speaker.

    Attributes:
        width: of the language model.
        layers: of it.
        heads: of its attention.
        side: of the square picture that it sees, [px]; at 280 a cell of it is a code of the map.
        taps: blocks of the encoder that its finder of things sees.
        kinds: of things that it finds.
        counts: whether it was taught to count them.
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
    """Learn pieces of words from texts; any other text can be spelt in bytes."""
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
    """Give a tokenizer of `train_tokenizer` the form that transformers wants."""
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token="<s>", eos_token="</s>", pad_token="<pad>"
    )


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """What a compact speaker sees with beside its depth network.

    Attributes:
        glass: for marked points.
        finder: of things.
    """

    glass: MarkGlass
    finder: ThingFinder


def build_compact(
    tokenizer: Any,
    options: CompactOptions,
    *,
    codebook: str = "codebook",
    vision: str = "small",
    sight: Sight | None = None,
    seed: int = 0,
    pixels: bool = True,
) -> Speaker:
    """Make a speaker that has learnt nothing yet but to see.

    Args:
        tokenizer: of `train_tokenizer`; perception tokens are added to it.
        options: its size.
        codebook: registry name or file of the codebook that its depth tokens are of.
        vision: depth model that it sees with.
        sight: that it finds points and things with; None for one that was taught nothing.
        seed: of its weights.
        pixels: give it pixel tokens beside depth tokens.
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
        # The usual 0.02 suits widths of thousands; so narrow a model would hardly hear itself.
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
    see_with(model, network, read_codebook(codes.path), sight)
    _in_order(model, vocabulary.pixels)
    places: Spelling = "pixels" if pixels else "digits"
    speech = Speech(
        human="", model="\n", picture="", question_first=True, places=places, counts_by="things"
    )
    writing = Writing(tokenizer, config.image_token_id, tokens_of(options.side), speech)
    eye = eye_of(shown, options.side)
    return Speaker(model.eval(), writing, eye, vocabulary, codes.sha256, options.counts)


def eye_of(shown: ModelSpec, side: int) -> Eye:
    """Return how a compact speaker is shown pictures: smoothly, or letters lose their strokes."""
    return Eye(side, shown.mean, shown.std, smooth=True)


def see_with(
    model: Any, network: DepthAnything, codebook: DepthCodebook, sight: Sight | None
) -> None:
    """Fill the vision tower; it does not learn."""
    tower: DepthTower = model.model.vision_tower
    tower.network.load_state_dict(network.state_dict())
    tower.codes.load_state_dict(codebook.encoder.state_dict())
    if sight is not None:
        tower.glass.load_state_dict(sight.glass.state_dict())
        tower.finder.load_state_dict(sight.finder.state_dict())
    tower.requires_grad_(False)


@torch.no_grad()
def _in_order(model: Any, pixels: Sequence[int]) -> None:
    """Let pixel tokens begin in their order: what is learnt of one then helps its neighbours."""
    if not pixels:
        return
    rows = model.get_input_embeddings().weight
    codes = number_code(torch.arange(PIXELS) / PIXELS)
    spread = torch.randn(codes.shape[1], rows.shape[1]) * (2 / codes.shape[1]) ** 0.5
    rows[list(pixels)] = (codes @ spread * float(rows.std())).to(rows)


@torch.no_grad()
def calm_projector(speaker: Speaker, pictures: Sequence[Tensor]) -> None:
    """Let the projector begin with features of mean 0, each as loud as it should be.

    The codebook's vectors are many and would drown places, letters and things. So mean and spread
    over some pictures go into its first layer, and the few are made louder. Channels that are nearly
    always zero have next to no spread, and are not made louder without end.

    Args:
        speaker: with a tower that has learnt.
        pictures: (N, 3, H, W) batches as its eye makes them, or what its eyes gave for them.
    """
    model = speaker.model.model
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
    even_projector(speaker, pictures)


@torch.no_grad()
def even_projector(speaker: Speaker, pictures: Sequence[Tensor]) -> None:
    """Scale what the projector gives to a spread of one: a louder picture hears nothing of itself.

    What a layer adds to a token is about as large as one; a token that is much larger cannot take up
    what it finds in others.

    Args:
        speaker: whose projector is scaled.
        pictures: as for `calm_projector`.
    """
    model = speaker.model.model
    projector = model.multi_modal_projector
    given = torch.cat([projector(model.vision_tower(some).last_hidden_state) for some in pictures])
    for part in (projector.linear_2.weight, projector.linear_2.bias):
        part.div_(given.std())
