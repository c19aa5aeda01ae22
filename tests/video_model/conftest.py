"""A small codec, a small mixture of worlds and a small model, untrained."""

import pytest
import torch

from sightline.video_model.autoencoder.files import write_codec
from sightline.video_model.autoencoder.frames import FrameCodec
from sightline.video_model.autoencoder.options import FrameOptions
from sightline.video_model.data import open_mixture
from sightline.video_model.latents import Latents
from sightline.video_model.learner import make_model
from sightline.video_model.options import BuildOptions, VideoTraining

SIZE = 32
BUILD = {"network": "micro", "patch": (1, 4, 4), "says": "video"}


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
