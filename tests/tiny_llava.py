"""A LLaVA of a few thousand weights, saved as a hub lays it out."""

import json

import torch
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    PreTrainedTokenizerFast,
)

SIDE, PATCH = 28, 14


def make_tokenizer():
    """Every character is a token; marks as LLaVA-1.5's."""
    marks = ["<unk>", "<s>", "</s>", "<pad>"]
    letters = [chr(code) for code in range(32, 127)] + ["\n", "×"]
    words = {word: number for number, word in enumerate([*marks, *letters])}
    inner = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")
    inner.decoder = decoders.Fuse()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
    )
    tokenizer.add_tokens(["<image>"], special_tokens=True)
    return tokenizer


def make_llava(tokenizer, seed=0):
    torch.manual_seed(seed)
    vision = CLIPVisionConfig(
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=3,
        num_attention_heads=2,
        image_size=SIDE,
        patch_size=PATCH,
    )
    text = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=1024,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    config = LlavaConfig(
        vision_config=vision,
        text_config=text,
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        vision_feature_layer=-2,
    )
    return LlavaForConditionalGeneration(config).eval()


def write_hub_folder(folder):
    """Weights, configuration, tokenizer and how pictures are normalized, as on a hub."""
    tokenizer = make_tokenizer()
    make_llava(tokenizer).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    processor = {
        "image_mean": [0.5, 0.4, 0.3],
        "image_std": [0.25, 0.2, 0.3],
        "crop_size": {"height": SIDE, "width": SIDE},
    }
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
