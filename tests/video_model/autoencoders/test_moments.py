"""The codec of moments: what its numbers are, that they are causal, and that it can learn to draw."""

import pytest
import torch

from sightline.errors import InputError
from sightline.physics.rendering import render, to_planes
from sightline.physics.worlds.simulation import sample
from sightline.video_model.autoencoders.codec import encode_bytes, latent_shape, to_floats
from sightline.video_model.autoencoders.files import read_codec, write_codec
from sightline.video_model.autoencoders.loss import reconstruction_loss
from sightline.video_model.autoencoders.moments import (
    LIGHTS,
    NUMBERS,
    MomentCodec,
    darkness,
    from_body,
    hold,
    moments,
)
from sightline.video_model.autoencoders.options import MomentOptions

SIDE = 64
RED = 1  # place of blue light, in which red is dark


def frame(inside, blue=False):
    """A body of pixels on white: (1, 3, S, S)."""
    made = torch.ones(1, 3, SIDE, SIDE)
    made[:, [0, 1] if blue else [1, 2]] = torch.where(inside, -1.0, 1.0)
    return made


def grid():
    along = torch.arange(SIDE, dtype=torch.float32)
    return torch.meshgrid(along, along, indexing="ij")


def ball(x, y, radius):
    rows, columns = grid()
    return (columns - x).square() + (rows - y).square() < radius**2


def box(x, y, half):
    rows, columns = grid()
    return ((columns - x).abs() < half) & ((rows - y).abs() < half)


def numbers(made):
    return moments(darkness(made))[0].tolist()


def test_a_ball_is_where_it_is_as_large_as_it_is_and_round():
    nothing, found = numbers(frame(ball(23.5, 39.5, 10.0)))
    assert nothing == [0.0] * NUMBERS
    x, y, spread, size, long, square = found
    assert (x, y) == pytest.approx(((23.5 + 0.5) / 32 - 1, (39.5 + 0.5) / 32 - 1), abs=2e-3)
    assert spread == pytest.approx(10 / 32 / 2**0.5, rel=0.02)
    assert size == pytest.approx(torch.pi**0.5 * 10 / 32, rel=0.02)
    assert (long, square) == pytest.approx((0, 0), abs=0.05)


def test_squares_bars_and_colors_are_told_apart():
    square = numbers(frame(box(30.5, 30.5, 8)))[RED]
    assert square[5] == pytest.approx(-0.6, abs=0.05)
    rows, columns = grid()
    bar = numbers(frame((columns < 40) & (rows > 20) & (rows < 25)))[RED]
    assert bar[4] > 0.9
    blue = numbers(frame(ball(20, 20, 8), blue=True))
    assert blue[RED] == [0.0] * NUMBERS
    assert blue[0][3] > 0.3


def test_rims_of_balls_and_squares_lie_at_the_same_distance_in_spreads():
    """Spreads of a disc of radius 1 and of a square of half side 1: 1 / √2 and √(2 / 3)."""
    rim = torch.tensor([[1.0, 0.0], [0.0, -1.0], [0.6, 0.8]])
    assert from_body(rim, torch.zeros(3)).tolist() == pytest.approx([1.0] * 3, abs=1e-3)
    rim = torch.tensor([[1.0, 0.0], [-1.0, 0.7], [1.0, 1.0]])
    wanted = 2**0.5 * (2 / 3) ** 0.5
    assert from_body(rim, torch.full((3,), -0.6)).tolist() == pytest.approx([wanted] * 3, abs=1e-3)


def test_less_than_half_a_pixel_is_nothing():
    made = torch.ones(1, 3, SIDE, SIDE)
    made[:, 2, 3, 60] = 0.2
    assert numbers(made)[RED] == [0.0] * NUMBERS


def test_a_place_is_kept_when_its_body_is_gone():
    places = torch.tensor([[[0.1, 0.2]], [[0.3, 0.4]], [[0.0, 0.0]], [[0.5, 0.5]]])[None]
    there = torch.tensor([[[True], [True], [False], [True]]])
    assert torch.equal(hold(places, there)[0, 2], places[0, 1])
    assert torch.equal(hold(places, there)[0, 3], places[0, 3])
    assert hold(places, torch.zeros_like(there)).abs().max() == 0


@pytest.fixture(scope="module")
def video():
    """(1, 3, 32, S, S) of a ball that moves evenly, fully inside for 24 frames."""
    return torch.from_numpy(to_planes(render(sample("uniform", 1, seed=3)[0], SIDE)))[None]


def test_even_motion_is_a_constant_step_and_steps_lead_to_places(video):
    raw = MomentCodec().to_raw(to_floats(video))[0, :, :, 0, 0].unflatten(0, (len(LIGHTS), -1))[RED]
    steps = raw[NUMBERS:, 1:20]
    motion = sample("uniform", 1, seed=3)[0]
    true = motion.velocities[0, 0, 0] * motion.frame_time / 10 * 63 / 32
    assert steps[0].mean() == pytest.approx(true, rel=0.01)
    assert steps.std(1).max() < 0.1 * true
    assert torch.allclose(raw[:2, 19], raw[:2, 0] + steps.sum(1), atol=1e-5)


def test_latents_know_of_no_later_frame(video):
    codec = MomentCodec().eval()
    assert torch.equal(encode_bytes(codec, video)[:, :, :3], encode_bytes(codec, video[:, :, :3]))
    assert encode_bytes(codec, video).shape[1:] == latent_shape(codec, 32, SIDE) == (16, 32, 1, 1)


def test_places_share_a_spread_and_so_do_steps(video):
    codec = MomentCodec()
    codec.measure([to_floats(video)])
    spread = codec.spread.view(len(LIGHTS), -1)
    for some in (slice(0, 2), slice(NUMBERS, None)):
        assert spread[:, some].std() == 0
    assert spread[RED, 0] > 5 * spread[RED, -1] > 0


def test_it_learns_to_draw_and_comes_back_from_its_file(video, tmp_path):
    torch.manual_seed(0)
    codec = MomentCodec(SIDE, MomentOptions(drawn=16))
    few = to_floats(video[:, :, ::8])
    optimizer = torch.optim.Adam(codec.parameters(), 1e-2)
    losses = []
    for _ in range(40):
        loss = reconstruction_loss(codec(few), few, 20.0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.4 * losses[0]
    codec.eval().measure([few])
    write_codec(codec, tmp_path / "codec.safetensors")
    again = read_codec(tmp_path / "codec.safetensors")
    latents = codec.encode(few)
    assert torch.equal(again.encode(few), latents)
    assert torch.equal(again.decode(latents), codec.decode(latents))


def test_frames_of_another_size_are_refused(video):
    with pytest.raises(InputError, match="frames of 32 × 32 px, this codec takes 64 × 64"):
        MomentCodec().encode(to_floats(video[..., ::2, ::2]))
    with pytest.raises(InputError, match="frames of 7 px cannot be cut"):
        MomentCodec(7)
