"""A tiny image autoencoder, laid out as on the hub."""

import pytest
import torch

from sightline.models.hub import quiet_libraries

TINY = {
    "block_out_channels": (8, 16),
    "down_block_types": ("DownEncoderBlock2D", "DownEncoderBlock2D"),
    "up_block_types": ("UpDecoderBlock2D", "UpDecoderBlock2D"),
    "layers_per_block": 1,
    "norm_num_groups": 4,
    "latent_channels": 4,
    "sample_size": 16,
}


@pytest.fixture(scope="session")
def make_vae():
    """Make an `AutoencoderKL` of random weights."""
    with quiet_libraries():
        from diffusers import AutoencoderKL

    def make(**changes):
        torch.manual_seed(0)
        return AutoencoderKL(**(TINY | changes)).eval()

    return make


@pytest.fixture
def vae_folder(make_vae, tmp_path):
    """The folder of one."""
    make_vae().save_pretrained(tmp_path / "vae")
    return tmp_path / "vae"
