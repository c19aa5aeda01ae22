"""A tiny inpainting pipeline of diffusers, saved as a hub lays it out: random weights, real files."""

import json
import warnings

import pytest


@pytest.fixture(scope="session")
def tiny_pipeline(tmp_path_factory):
    """Folder of an inpainting pipeline that paints noise."""
    torch = pytest.importorskip("torch")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        diffusers = pytest.importorskip("diffusers", reason="painting needs diffusers")
        pipeline_of = diffusers.StableDiffusionInpaintPipeline
    from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

    folder = tmp_path_factory.mktemp("hub") / "tiny-inpainting"
    words = tmp_path_factory.mktemp("words")
    letters = "abcdefghijklmnopqrstuvwxyz"
    tokens = ["<|startoftext|>", "<|endoftext|>", *letters, *(f"{c}</w>" for c in letters)]
    (words / "vocab.json").write_text(json.dumps({token: k for k, token in enumerate(tokens)}))
    (words / "merges.txt").write_text("#version: 0.2\n")
    torch.manual_seed(0)
    pipeline = pipeline_of(
        vae=diffusers.AutoencoderKL(
            block_out_channels=(4, 4),
            down_block_types=("DownEncoderBlock2D",) * 2,
            up_block_types=("UpDecoderBlock2D",) * 2,
            norm_num_groups=2,
            latent_channels=4,
        ),
        text_encoder=CLIPTextModel(
            CLIPTextConfig(
                vocab_size=len(tokens),
                hidden_size=8,
                intermediate_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                bos_token_id=0,
                eos_token_id=1,
            )
        ),
        tokenizer=CLIPTokenizer(
            str(words / "vocab.json"), str(words / "merges.txt"), model_max_length=77
        ),
        unet=diffusers.UNet2DConditionModel(
            sample_size=8,
            in_channels=9,
            out_channels=4,
            layers_per_block=1,
            block_out_channels=(4, 8),
            down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
            up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
            cross_attention_dim=8,
            attention_head_dim=2,
            norm_num_groups=2,
        ),
        scheduler=diffusers.DDIMScheduler(steps_offset=1, clip_sample=False),
        safety_checker=None,
        feature_extractor=None,
        requires_safety_checker=False,
    )
    pipeline.save_pretrained(folder)
    return folder
