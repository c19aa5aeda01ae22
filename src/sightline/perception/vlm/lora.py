"""Add perception tokens to a model, make it trainable by LoRA, and train the adapter.

The paper trains LoRA of rank 128 on the language model, the projector, and the whole embedding and
output matrix (§8). Training only the rows of new tokens (`tokens="rows"`) does as well, keeps the other
words, and makes the adapter a hundred times smaller.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline.errors import InputError
from sightline.perception.codebook import DepthTokenizer, read_codebook
from sightline.perception.options import LoraOptions, VLMTraining
from sightline.perception.questions.records import Record, both_kinds
from sightline.perception.tokens import START, extend
from sightline.perception.vlm.model import PerceptionVLM, load_vlm, save_vlm
from sightline.perception.vlm.training import train_vlm
from sightline.perception.vlm.training_samples import RecordedSamples, by_curriculum
from sightline.training.distributed import join_processes

#: Linear layers of the language model, as named by transformers.
_LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
_LANGUAGE = rf".*language_model.*\.({'|'.join(_LINEAR)})"
_PROJECTOR = "multi_modal_projector"


def add_lora(
    vlm: PerceptionVLM, options: LoraOptions, codebook: str | None, *, seed: int = 0
) -> PerceptionVLM:
    """Add tokens to a model and wrap it by PEFT for training.

    Args:
        vlm: model, for example of the hub; model and tokenizer are modified.
        options: LoRA options and new tokens.
        codebook: SHA-256 of the codebook of the depth tokens; required with `depth`.
        seed: random seed of the LoRA weights.
    """
    import torch
    from peft import LoraConfig, get_peft_model

    if options.depth and codebook is None:
        raise InputError("depth tokens belong to a codebook, and none was named")
    tokenizer, model = vlm.chat.tokenizer, vlm.model
    vocabulary = extend(tokenizer, depth=options.depth, pixels=options.pixels)
    grow(model, len(tokenizer))
    learned: dict[str, Any] = {"modules_to_save": [_PROJECTOR]}
    if options.tokens == "whole":
        learned["modules_to_save"] = [_PROJECTOR, "embed_tokens", "lm_head"]
    else:
        rows = list(vocabulary.all)
        learned["trainable_token_indices"] = {"embed_tokens": rows, "lm_head": rows}
    config = LoraConfig(
        r=options.rank,
        lora_alpha=options.alpha,
        lora_dropout=options.dropout,
        target_modules=_LANGUAGE,
        ensure_weight_tying=False,
        **learned,
    )
    torch.manual_seed(seed)
    wrapped = get_peft_model(model, config)
    return replace(vlm, model=wrapped, vocabulary=vocabulary, codebook=codebook)


def grow(model: Any, size: int) -> None:
    """Resize the embedding; new rows start near the mean of the old ones, with small noise."""
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


def _check_tokens(rows: Sequence[tuple[Path, Record]], options: LoraOptions) -> None:
    """Refuse questions with tokens that the model is not given: it would spell them."""
    for mark, given, remedy in (
        (START, options.depth, "leave out --no-depth"),
        ("<PIXEL_", options.pixels, "add --pixels"),
    ):
        for folder, record in () if given else rows:
            if mark in record.answer:
                what = "depth" if mark == START else "pixel"
                raise InputError(
                    f"the answer about {record.image} has {what} tokens, which the model is not given",
                    path=folder,
                    remedy=remedy,
                )


def train_adapter(
    model: str,
    questions: Sequence[Path],
    out: Path,
    *,
    codebook: str,
    size: int,
    epochs: int,
    adapt_options: LoraOptions,
    options: VLMTraining,
    dtype: str = "float32",
    report: Callable[[str], None] = print,
    stop: Callable[[], bool] = lambda: False,
) -> Path:
    """Adapt, train, and save the adapter; arguments as in `sightline train vlm`.

    Returns:
        The adapter's folder.
    """
    atomic, reasoning = both_kinds(questions)
    _check_tokens([*atomic, *reasoning], adapt_options)
    if not adapt_options.depth and options.reconstruction > 0:
        raise InputError("reconstruction needs depth tokens", remedy="leave out --no-depth")
    tokenizer = DepthTokenizer(codebook) if adapt_options.depth else None
    rows = by_curriculum(atomic, reasoning, size, epochs, options.seed)
    with join_processes(options.device) as ours:
        base = load_vlm(model, dtype=dtype)
        sha256 = None if tokenizer is None else tokenizer.sha256
        vlm = add_lora(base, adapt_options, sha256, seed=options.seed)
        train_vlm(
            vlm,
            RecordedSamples(rows),
            out,
            options,
            codebook=read_codebook(tokenizer.path)
            if tokenizer and options.reconstruction
            else None,
            report=report,
            data={"model": model, "questions": questions, "size": size, "epochs": epochs},
            distributed=ours,
            stop=stop,
        )
        adapter = out / "adapter"
        if ours.is_main:
            save_vlm(vlm, adapter)
        ours.wait()
    return adapter
