"""Give a model perception tokens and let it learn them: LoRA, new rows of the embedding, projector.

The paper trains LoRA of rank 128 on the language model, the projector, and embedding and output matrix
whole (its §8). The new rows alone (`tokens="rows"`) do as well where the old words shall keep their
meaning, and the adapter is a hundredth of the size.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sightline.errors import InputError
from sightline.perception.model.loading import Speaker
from sightline.perception.model.options import AdaptOptions
from sightline.perception.vocabulary import extend

#: Linear layers of the language model, as transformers names them.
_LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_LANGUAGE = rf".*language_model.*\.({'|'.join(_LINEAR)})"
_PROJECTOR = "multi_modal_projector"


def adapt(
    speaker: Speaker, options: AdaptOptions, codebook: str | None, *, seed: int = 0
) -> Speaker:
    """Add tokens to a model and wrap it by PEFT, ready to be trained.

    Args:
        speaker: of a hub, say; its model and tokenizer are changed.
        options: what learns.
        codebook: checksum of the codebook that depth tokens are of; needed with `depth`.
        seed: of the weights that LoRA begins with.
    """
    import torch
    from peft import LoraConfig, get_peft_model

    if options.depth and codebook is None:
        raise InputError("depth tokens belong to a codebook, and none was named")
    tokenizer, model = speaker.writing.tokenizer, speaker.model
    vocabulary = extend(tokenizer, depth=options.depth, pixels=options.pixels)
    grow(model, len(tokenizer))
    learnt: dict[str, Any] = {"modules_to_save": [_PROJECTOR]}
    if options.tokens == "whole":
        learnt["modules_to_save"] = [_PROJECTOR, "embed_tokens", "lm_head"]
    else:
        rows = list(vocabulary.all)
        learnt["trainable_token_indices"] = {"embed_tokens": rows, "lm_head": rows}
    config = LoraConfig(
        r=options.rank,
        lora_alpha=options.alpha,
        lora_dropout=options.dropout,
        target_modules=_LANGUAGE,
        ensure_weight_tying=False,
        **learnt,
    )
    if options.checkpointing:
        # What is frozen gives no gradient, so the input has to ask for one.
        model.gradient_checkpointing_enable({"use_reentrant": False})
        model.enable_input_require_grads()
    torch.manual_seed(seed)
    wrapped = get_peft_model(model, config)
    return replace(speaker, model=wrapped, vocabulary=vocabulary, codebook=codebook)


def grow(model: Any, size: int) -> None:
    """Make room for so many tokens; new rows begin near the mean of the old, a little apart."""
    import torch

    old = model.get_input_embeddings().num_embeddings
    if old >= size:
        return
    model.resize_token_embeddings(size, mean_resizing=False)
    generator = torch.Generator().manual_seed(0)
    for layer in (model.get_input_embeddings(), model.get_output_embeddings()):
        rows = layer.weight.data
        apart = torch.randn(rows[old:].shape, generator=generator) * float(rows[:old].std())
        rows[old:] = rows[:old].mean(0) + 0.1 * apart.to(rows)
