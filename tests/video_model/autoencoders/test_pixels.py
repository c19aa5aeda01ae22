"""Pixels as latents: nothing is lost, and nothing is between."""

import pytest
import torch

from sightline.errors import InputError
from sightline.video_model.autoencoders.codec import (
    PixelCodec,
    decode_bytes,
    encode_bytes,
    latent_shape,
)


def test_videos_pass_through():
    codec = PixelCodec()
    video = torch.randint(0, 256, (2, 3, 4, 5, 7), dtype=torch.uint8)
    latents = encode_bytes(codec, video)
    assert latents.shape[1:] == latent_shape(codec, 4, 5, 7)
    assert torch.equal(latents, video.float() / 127.5 - 1)
    assert torch.equal(decode_bytes(codec, latents), video)


def test_what_no_picture_shows_is_cut_off():
    assert PixelCodec().decode(torch.full((1, 3, 1, 1, 1), 1.5)).unique().tolist() == [1.0]


def test_wrong_input_is_refused():
    with pytest.raises(InputError, match=r"\(N, 3, T, H, W\)"):
        PixelCodec().encode(torch.zeros(1, 4, 1, 2, 2))
    with pytest.raises(InputError, match="no options, got channels"):
        PixelCodec.from_dict({"channels": 3})
