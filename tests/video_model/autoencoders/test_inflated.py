"""An image autoencoder that has been inflated: the same at first, causal always, and trainable."""

import json

import pytest
import torch
from safetensors.torch import load, save_file
from torch import nn

from sightline.errors import InputError
from sightline.video_model.autoencoders.codec import Codec, latent_shape
from sightline.video_model.autoencoders.data import WorldFrames, world_specs
from sightline.video_model.autoencoders.inflated import (
    CONFIG,
    WEIGHTS,
    CausalConvolution,
    InflatedVae,
    inflate,
    load_image_vae,
)
from sightline.video_model.autoencoders.options import CodecTraining, InflatedOptions
from sightline.video_model.autoencoders.training import train_codec


def video_of(frames, count=2):
    return torch.rand(count, 3, frames, 16, 16, generator=torch.Generator().manual_seed(1)) * 2 - 1


def by_picture(vae, video):
    """Latents and pictures of diffusers' own, frame by frame, scaled as its pipelines do."""
    frames = video.transpose(1, 2).flatten(0, 1)
    with torch.no_grad():
        latents = torch.cat([vae.encode(one[None]).latent_dist.mean for one in frames])
        decoded = torch.cat([vae.decode(one[None]).sample for one in latents])
    shape = (len(video), video.shape[2])
    scaled = latents * vae.config.scaling_factor
    return (x.unflatten(0, shape).transpose(1, 2) for x in (scaled, decoded.clamp(-1, 1)))


def shaken(codec):
    """Give every kernel over time something to do."""
    torch.manual_seed(3)
    for module in codec.modules():
        if isinstance(module, nn.Conv3d):
            nn.init.normal_(module.weight, std=0.2)
    return codec


@pytest.mark.parametrize("blocks", [0, 1, 2])
def test_at_first_a_video_is_coded_as_its_frames_one_by_one(make_vae, vae_folder, blocks):
    codec = inflate(vae_folder, InflatedOptions(blocks=blocks))
    video = video_of(5)
    latents = codec.encode(video)
    wanted, decoded = by_picture(make_vae(), video)
    assert isinstance(codec, Codec)
    assert latents.shape == (2, *latent_shape(codec, 5, 16)) == (2, 4, 5, 8, 8)
    torch.testing.assert_close(latents, wanted, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(codec.decode(latents), decoded, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(shaken(codec).encode(video), wanted, atol=1e-2)


def test_at_stride_2_every_second_frame_is(make_vae, vae_folder):
    codec = inflate(vae_folder, InflatedOptions(frame_stride=2))
    video = video_of(5)
    wanted, decoded = by_picture(make_vae(), video)
    latents = codec.encode(video)
    assert latents.shape == (2, *latent_shape(codec, 5, 16)) == (2, 4, 3, 8, 8)
    torch.testing.assert_close(latents, wanted[:, :, ::2], atol=1e-5, rtol=1e-4)
    made = codec.decode(latents)
    assert made.shape == video.shape
    torch.testing.assert_close(made[:, :, ::2], decoded[:, :, ::2], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(made[:, :, 1::2], decoded[:, :, 2::2], atol=1e-5, rtol=1e-4)
    with pytest.raises(InputError, match="give 3 or 5"):
        codec.encode(video_of(4))


@pytest.mark.parametrize(("stride", "frame", "first"), [(1, 3, 3), (2, 3, 2), (2, 4, 2)])
def test_a_change_in_a_frame_changes_no_earlier_latent(make_vae, stride, frame, first):
    codec = shaken(InflatedVae(make_vae(), InflatedOptions(2, stride)))
    video = video_of(7, count=1)
    changed = video.clone()
    changed[:, :, frame] *= -1
    moved = (codec.encode(video) - codec.encode(changed)).abs().amax(dim=(0, 1, 3, 4)) > 1e-6
    assert moved.tolist() == [number >= first for number in range(len(moved))]


@pytest.mark.parametrize(("stride", "first"), [(1, 2), (2, 3)])
def test_a_change_in_a_latent_changes_no_earlier_frame(make_vae, stride, first):
    """Latent 2 stands for frame 2, or for frames 3 and 4."""
    codec = shaken(InflatedVae(make_vae(), InflatedOptions(2, stride)))
    latents = torch.randn(1, 4, 4, 8, 8)
    changed = latents.clone()
    changed[:, :, 2] += 1
    moved = (codec.decode(latents) - codec.decode(changed)).abs().amax(dim=(0, 1, 3, 4)) > 1e-6
    assert moved.tolist() == [number >= first for number in range(len(moved))]


def test_what_is_inflated(make_vae):
    codec = InflatedVae(make_vae(), InflatedOptions(blocks=1))
    names = {n for n, m in codec.named_modules() if isinstance(m, CausalConvolution)}
    within = ("down_blocks.1.", "mid_block.", "up_blocks.0.")
    assert {"encoder.conv_out", "decoder.conv_in"} <= names
    assert all(any(part in name for part in within) for name in names if "conv_" not in name)
    assert sum("encoder.mid_block" in name for name in names) == 4
    assert isinstance(codec.encoder.conv_in, nn.Conv2d)
    assert isinstance(codec.decoder.conv_out, nn.Conv2d)
    before, after = make_vae(), codec
    assert sum(p.numel() for p in after.parameters()) > sum(p.numel() for p in before.parameters())


def test_the_scale_of_latents_is_that_of_the_settings(make_vae):
    plain = InflatedVae(make_vae())
    torch.testing.assert_close(plain.spread, torch.full((4,), 1 / 0.18215))
    shifted = InflatedVae(make_vae(shift_factor=0.5, scaling_factor=2.0))
    assert (shifted.mean.tolist(), shifted.spread.tolist()) == ([0.5] * 4, [0.5] * 4)
    each = InflatedVae(
        make_vae(latents_mean=[1, 2, 3, 4], latents_std=[2, 2, 4, 4], scaling_factor=2.0)
    )
    assert (each.mean.tolist(), each.spread.tolist()) == ([1, 2, 3, 4], [1, 1, 2, 2])


def test_without_the_extra_convolutions_and_attention(make_vae):
    vae = make_vae(use_quant_conv=False, use_post_quant_conv=False, mid_block_add_attention=False)
    wanted, _ = by_picture(vae, video_of(3))
    torch.testing.assert_close(InflatedVae(vae).encode(video_of(3)), wanted, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("stride", [1, 2])
def test_it_learns_from_videos(make_vae, tmp_path, stride):
    codec = InflatedVae(make_vae(), InflatedOptions(frame_stride=stride))
    source = WorldFrames(world_specs(("uniform",), 16), 2, clip=3)
    options = CodecTraining(
        steps=12, rate=5e-3, warm_up=2, validate_every=3, measure=1, save_every=12
    )
    time = [m.weight.detach().clone() for m in codec.modules() if isinstance(m, nn.Conv3d)]
    train_codec(codec, source, tmp_path, options, report=lambda _: None)
    rows = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert rows[-1]["loss"] < 0.7 * rows[0]["loss"]
    after = [m.weight for m in codec.modules() if isinstance(m, nn.Conv3d)]
    moved = [not torch.equal(a, b) for a, b in zip(time, after, strict=True)]
    assert all(moved)


def test_folders_that_are_none(vae_folder, tmp_path):
    with pytest.raises(InputError, match=r"holds no config\.json; give .*/vae"):
        load_image_vae(tmp_path)
    with pytest.raises(InputError, match=r"holds no config\.json; give the vae folder"):
        load_image_vae(tmp_path / "nothing")
    (vae_folder / WEIGHTS).rename(vae_folder / "elsewhere.safetensors")
    with pytest.raises(InputError, match="holds no diffusion_pytorch_model"):
        load_image_vae(vae_folder)


def test_settings_of_something_else(vae_folder):
    path = vae_folder / CONFIG
    described = json.loads(path.read_text())
    path.write_text(json.dumps(described | {"_class_name": "UNet2DModel"}))
    with pytest.raises(InputError, match="describes UNet2DModel, not AutoencoderKL"):
        load_image_vae(vae_folder)
    path.write_text("{")
    with pytest.raises(InputError, match="configuration of a diffusers model"):
        load_image_vae(vae_folder)


def test_weights_that_are_cut_short_or_lack_one(vae_folder):
    path = vae_folder / WEIGHTS
    whole = path.read_bytes()
    state = load(whole)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match="cannot be read"):
        load_image_vae(vae_folder)
    name = "decoder.conv_in.weight"
    save_file({n: v for n, v in state.items() if n != name}, path, {"format": "pt"})
    with pytest.raises(InputError, match=rf"lacks 1 weights, such as {name}"):
        load_image_vae(vae_folder)
    save_file(state | {name: torch.zeros(2, 2)}, path, {"format": "pt"})
    with pytest.raises(InputError, match="cannot be read"):
        load_image_vae(vae_folder)


def test_autoencoders_that_do_not_fit(make_vae):
    with pytest.raises(InputError, match="of 1 to 3 channels, expected 3 to 3"):
        InflatedVae(make_vae(in_channels=1))
    with pytest.raises(InputError, match="3 blocks to inflate of 2"):
        InflatedVae(make_vae(), InflatedOptions(blocks=3))
