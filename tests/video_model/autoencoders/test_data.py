"""Frames of worlds: the same for the same step, of all worlds in turn, and as they are rendered."""

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.physics.datasets.spec import DataSpec, draw
from sightline.physics.rendering import render
from sightline.video_model.autoencoders.data import FINE, WorldFrames, soften, world_specs


@pytest.fixture(scope="module")
def specs():
    return world_specs(("uniform", "collision"), 32, seed=5)


def planes(frames):
    return torch.from_numpy(frames).permute(3, 0, 1, 2)


def is_part(clip, video):
    """Whether (3, n, S, S) frames follow each other in a video, as they are or mirrored."""
    length = clip.shape[1]
    return any(
        torch.equal(shown, video[:, at : at + length])
        for shown in (clip, clip.flip(-1))
        for at in range(video.shape[1] - length + 1)
    )


def test_both_sides_of_the_range_and_both_parts_of_a_probe(specs):
    assert [(s.scenario, s.split) for s in specs] == [
        ("uniform", "id"),
        ("uniform", "ood"),
        ("collision", "id"),
        ("collision", "ood"),
    ]
    probe = world_specs(("probe:memorization",), 32)
    assert [s.part for s in probe] == ["train", "test"]
    assert WorldFrames(probe, 3).frames(2).shape == (3, 3, 32, 32)


def test_batches_follow_from_the_step_alone(specs):
    source = WorldFrames(specs, 6, seed=1)
    third = source.frames(3)
    assert third.dtype == torch.uint8
    assert third.shape == (6, 3, 32, 32)
    source.frames(0)
    assert torch.equal(source.frames(3), third)
    assert torch.equal(WorldFrames(specs, 6, seed=1).frames(3), third)
    assert not torch.equal(source.frames(4), third)
    assert not torch.equal(WorldFrames(specs, 6, seed=2).frames(3), third)


def test_all_videos_come_in_turn_and_none_twice(specs):
    """Batches of 6 from four worlds: place p of all has video p // 4 of world p % 4."""
    source = WorldFrames(specs, 6, clip=4)
    batches = torch.cat([source.frames(step) for step in range(3)])
    for place, clip in enumerate(batches):
        samples = draw(specs[place % 4], place // 4, 1)
        assert is_part(clip, planes(render(samples[0], 32))), place
    other = planes(render(draw(specs[0], 1, 1)[0], 32))
    assert not is_part(batches[0], other)


def test_mirrored_or_not(specs):
    source = WorldFrames(specs[:1], 16, clip=32)
    plain = WorldFrames(specs[:1], 16, clip=32, mirror=False).frames(0)
    turned = [torch.equal(a, b.flip(-1)) for a, b in zip(source.frames(0), plain, strict=True)]
    same = [torch.equal(a, b) for a, b in zip(source.frames(0), plain, strict=True)]
    assert 3 < sum(turned) < 13
    assert sum(turned) + sum(same) == 16


def test_all_frames_of_a_video_turn_up(specs):
    source = WorldFrames(specs[:1], 64, mirror=False)
    frames = source.frames(0)
    found = set()
    for place in range(64):
        video = planes(render(draw(specs[0], place, 1)[0], 32))
        found |= {at for at in range(32) if torch.equal(video[:, at], frames[place])}
    assert min(found) < 4
    assert max(found) > 27


def test_wrong_settings_are_refused(specs):
    with pytest.raises(InputError, match=r"one size are needed, got \[32, 64\]"):
        WorldFrames([*specs, DataSpec("uniform", 1, size=64)], 4)
    with pytest.raises(InputError, match="got none"):
        WorldFrames([], 4)
    with pytest.raises(InputError, match="at least 1, got 0"):
        WorldFrames(specs, 0)
    with pytest.raises(InputError, match="clips of 40 frames from videos of 32"):
        WorldFrames(specs, 2, clip=40).frames(0)


def test_soft_pictures_show_the_same_and_say_where_it_is_between_the_pixels(specs):
    hard, soft = WorldFrames(specs, 8, soft=True).frames(0)
    assert torch.equal(hard, WorldFrames(specs, 8).frames(0))
    assert hard.shape == soft.shape
    assert soft.dtype == torch.uint8
    assert (hard.float() - soft.float()).abs().mean() < 3
    assert ((soft[:, 1] > 20) & (soft[:, 1] < 235)).sum() > 3 * (
        (hard[:, 1] > 20) & (hard[:, 1] < 235)
    ).sum()
    # A step of one fine point moves the soft edge of a bar by a fourth of a pixel.
    size, mass = 16, []
    for edge in range(20, 29):
        fine = np.full((FINE * (size - 1) + 1,) * 2, 255, np.uint8)
        fine[:, :edge] = 0
        mass.append((255 - soften(fine).astype(float))[8].sum() / 255)
    assert np.allclose(np.diff(mass), 1 / FINE, atol=0.02)
    assert (soften(np.full((3, 61, 61), 255, np.uint8)) == 255).all()
