"""A small codec, a small mixture of worlds and a small model, untrained."""

import pytest
import torch

from sightline.video_model.autoencoders.files import write_codec
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.options import FrameOptions
from sightline.video_model.data import open_mixture
from sightline.video_model.latents import Latents
from sightline.video_model.learner import make_model
from sightline.video_model.options import BuildOptions, VideoTraining

SIZE = 32
BUILD = {"network": "micro", "patch": (1, 4, 4), "says": "video"}
#: That a small tokenizer knows.
WORDS = "a red ball of radius moves to the left right at units per second they meet and"


@pytest.fixture(scope="session")
def codec():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        made = FrameCodec(FrameOptions(channels=4, widths=(4, 6, 8))).eval()
        torch.nn.init.normal_(made.decoder[-2].weight, std=0.3)  # else it shows white alone
        torch.nn.init.zeros_(made.decoder[-2].bias)
    return made


@pytest.fixture
def codec_file(codec, tmp_path):
    write_codec(codec, tmp_path / "codec.safetensors")
    return tmp_path / "codec.safetensors"


@pytest.fixture
def make(codec):
    """Make an untrained model whose last layer says something."""

    def made(**changes):
        latents = Latents(open_mixture(["uniform"], SIZE), codec)
        model = make_model(latents, BuildOptions(**(BUILD | changes)), VideoTraining(sampling=3))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            torch.nn.init.normal_(model.network.last.weight, std=0.1)
        model.network.eval()
        return model

    return made


def save_tokenizer(folder):
    """A word-level tokenizer, as the hub lays it out; what it does not know is one word."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    known = ["<pad>", "<unk>", "</s>", *WORDS.split(), *"0123456789.;"]
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(known)}, "<unk>"))
    made.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.Whitespace(), pre_tokenizers.Digits(individual_digits=True)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", eos_token="</s>"
    ).save_pretrained(folder)
    return len(known)


@pytest.fixture(scope="session")
def save_encoder():
    """Save a tiny text encoder with random weights, of a kind, into a folder."""
    return save_random_encoder


def save_random_encoder(folder, kind):
    from transformers import CLIPTextConfig, CLIPTextModel, T5Config, T5Model

    words = save_tokenizer(folder)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if kind == "t5":
            small = {"d_model": 16, "d_kv": 4, "d_ff": 24, "num_layers": 2, "num_heads": 2}
            network = T5Model(T5Config(vocab_size=words, decoder_start_token_id=0, **small))
        else:
            small = {
                "hidden_size": 16,
                "intermediate_size": 24,
                "num_hidden_layers": 2,
                "num_attention_heads": 2,
            }
            network = CLIPTextModel(
                CLIPTextConfig(vocab_size=words, bos_token_id=1, eos_token_id=2, **small)
            )
        network.save_pretrained(folder)
    return folder
