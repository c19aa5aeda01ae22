"""The compact codec: small, local, blind to other frames and to borders, and well normalized."""

import pytest
import torch
from torch import nn

from sightline.errors import InputError
from sightline.video_model.autoencoders.codec import latent_shape
from sightline.video_model.autoencoders.frames import FrameCodec
from sightline.video_model.autoencoders.options import FrameOptions


@pytest.fixture(scope="module")
def codec():
    """Random, residual blocks and last layer too, so that everything has an effect."""
    torch.manual_seed(0)
    made = FrameCodec().eval()
    for name, value in made.named_parameters():
        if "second" in name or "decoder.9" in name:
            nn.init.normal_(value, std=0.1)
    return made


def white(frames=1, side=64):
    return torch.ones(1, 3, frames, side, side)


def with_ball(x, y, radius=5.0, side=64):
    """A red ball on white."""
    rows, columns = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    inside = (rows - y) ** 2 + (columns - x) ** 2 < radius**2
    video = white(side=side)
    video[:, 1:, :, inside] = -1
    return video


def count_products(codec, side):
    """Multiplications of encoder and decoder for a frame, from the shapes that pass through."""
    found = {"encoder": 0, "decoder": 0}
    handles = []
    for part in found:
        for module in getattr(codec, part).modules():
            if isinstance(module, nn.Conv2d | nn.ConvTranspose2d):

                def note(module, given, made, part=part):
                    # A transposed kernel is laid on every pixel that comes in, others on those out.
                    grid = given[0] if isinstance(module, nn.ConvTranspose2d) else made
                    found[part] += module.weight.numel() * grid.shape[2] * grid.shape[3]

                handles.append(module.register_forward_hook(note))
    codec(white(side=side))
    for handle in handles:
        handle.remove()
    return found


def test_it_is_as_light_as_it_says(codec):
    assert count_products(codec, 64) == {
        "encoder": pytest.approx(5.5e6, rel=0.01),
        "decoder": pytest.approx(15.0e6, rel=0.01),
    }
    assert count_products(codec, 32)["encoder"] == pytest.approx(5.5e6 / 4, rel=0.01)
    assert sum(p.numel() for p in codec.parameters()) == 139_444


@pytest.mark.parametrize(("side", "channels"), [(32, 8), (64, 4)])
def test_shapes(side, channels):
    codec = FrameCodec(FrameOptions(channels=channels, widths=(4, 6, 8)))
    latents = codec.encode(torch.rand(2, 3, 5, side, side))
    assert (
        latents.shape
        == (2, *latent_shape(codec, 5, side))
        == (2, channels, 5, side // 8, side // 8)
    )
    assert codec.decode(latents).shape == (2, 3, 5, side, side)


def test_an_untrained_codec_shows_white_and_can_learn():
    torch.manual_seed(1)
    codec = FrameCodec()
    decoded = codec(with_ball(30, 30))
    assert (decoded == 1).all()
    decoded.sum().backward()
    assert codec.decoder[-2].weight.grad.abs().max() > 0


def test_frames_and_videos_do_not_see_each_other(codec):
    video = torch.rand(2, 3, 6, 32, 32)
    latents = codec.encode(video)
    changed = video.clone()
    changed[1, :, 3] = 0
    after = codec.encode(changed)
    same = torch.ones(2, 6, dtype=torch.bool)
    same[1, 3] = False
    torch.testing.assert_close(latents.transpose(1, 2)[same], after.transpose(1, 2)[same])
    assert (latents[1, :, 3] - after[1, :, 3]).abs().max() > 0.01
    alone = codec.decode(latents[1:, :, 4:5])
    torch.testing.assert_close(codec.decode(latents)[1:, :, 4:5], alone)


def test_white_is_the_same_at_borders_as_elsewhere(codec):
    """Fails with zeros around the picture."""
    latents = codec.encode(white())
    assert (latents - latents[..., :1, :1]).abs().max() < 1e-5
    assert codec.encode(with_ball(30, 30)).std(dim=(3, 4)).max() > 0.01


def test_a_shift_by_a_patch_shifts_the_latents(codec):
    one = codec.encode(with_ball(59, 67, side=128))
    two = codec.encode(with_ball(59 + 16, 67 + 8, side=128))
    torch.testing.assert_close(one.roll((1, 2), dims=(3, 4)), two, atol=1e-5, rtol=0)
    assert (one - two).abs().max() > 0.1


def test_a_shift_of_latents_shifts_the_picture_by_a_patch(codec):
    """But for the borders, where patterns within a patch are not repeated."""
    latents = torch.zeros(1, 8, 1, 16, 16)
    latents[..., 7, 8] = 2.0
    one, two = codec.decode(latents), codec.decode(latents.roll((1, -1), dims=(3, 4)))
    inside = slice(40, -40)
    moved = one.roll((8, -8), dims=(3, 4))
    torch.testing.assert_close(
        moved[..., inside, inside], two[..., inside, inside], atol=1e-4, rtol=0
    )
    assert (one - two).abs().max() > 0.1


def test_a_ball_does_not_change_the_code_of_one_far_away(codec):
    """Fails with a norm over the frame."""
    left, right = with_ball(15, 64, side=128), with_ball(112, 64, side=128)
    both = torch.minimum(left, right)
    apart, together = codec.encode(left), codec.encode(both)
    assert (apart - together)[..., :8].abs().max() < 1e-5
    assert (apart - together)[..., 8:].abs().max() > 0.1


def test_the_same_twice(codec):
    video = torch.rand(1, 3, 2, 32, 32)
    latents = codec.encode(video)
    assert torch.equal(latents, codec.encode(video))
    assert torch.equal(codec.decode(latents), codec.decode(latents))


def test_measured_latents_have_mean_0_and_spread_1_and_decode_as_before():
    torch.manual_seed(2)
    codec = FrameCodec().eval()
    videos = [torch.rand(4, 3, 2, 32, 32) * 2 - 1 for _ in range(3)]
    before = codec.decode(codec.encode(videos[0]))
    raw = codec.encode(torch.cat(videos))
    codec.measure(videos)
    latents = codec.encode(torch.cat(videos))
    dims = (0, 2, 3, 4)
    assert raw.mean(dims).abs().max() > 0.05
    assert latents.mean(dims).abs().max() < 1e-4
    assert (latents.std(dims, correction=0) - 1).abs().max() < 1e-4
    torch.testing.assert_close(codec.decode(codec.encode(videos[0])), before, atol=1e-5, rtol=0)


def test_a_channel_that_says_nothing_and_nothing_to_measure():
    codec = FrameCodec()
    nn.init.zeros_(codec.encoder[-1].weight)
    codec.measure([white()])
    assert codec.spread.tolist() == [1.0] * 8
    assert torch.isfinite(codec.encode(white())).all()
    with pytest.raises(InputError, match="no videos"):
        codec.measure([])


def test_noise_is_in_units_of_the_spread(codec):
    """Latents ten times as large do not make it smaller."""
    seen = []
    video, noise = torch.rand(2, 3, 2, 32, 32), torch.randn(2, 8, 2, 4, 4)
    handle = codec.decoder.register_forward_hook(lambda _, given, made: seen.append(given[0]))
    last = codec.encoder[-1]
    for scale in (1, 10):
        with torch.no_grad():
            last.weight.mul_(scale)
            codec(video)
            codec(video, noise)
            last.weight.div_(scale)
    handle.remove()
    small, large = seen[1] - seen[0], seen[3] - seen[2]
    torch.testing.assert_close(large, 10 * small, atol=1e-4, rtol=1e-3)
    by_frame = noise.transpose(1, 2).flatten(0, 1)
    spread = seen[0].std(dim=(0, 2, 3), correction=0)[:, None, None]
    torch.testing.assert_close(small, by_frame * spread, atol=1e-4, rtol=1e-3)


def test_a_batch_without_anything_in_it_has_a_slope(codec):
    codec(white().expand(2, -1, -1, -1, -1), torch.randn(2, 8, 1, 8, 8)).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in codec.parameters())
    codec.zero_grad()


def test_many_videos_are_coded_as_few_are(codec):
    """More frames than pass at a time."""
    video = torch.rand(1, 3, 3, 8, 8).expand(200, -1, -1, -1, -1)
    latents = codec.encode(video)
    assert latents.shape == (200, 8, 3, 1, 1)
    torch.testing.assert_close(latents[:1].expand_as(latents), latents)
    torch.testing.assert_close(codec.decode(latents)[199:], codec.decode(latents[:1]))
