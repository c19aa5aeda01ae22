"""Latents are the same bytes whoever makes them; what is kept is not made again."""

import numpy as np
import pytest
import torch

from sightline.video_model import latents as latents_module
from sightline.video_model.autoencoders.codec import encode_bytes
from sightline.video_model.conditioning import padded
from sightline.video_model.data import open_mixture
from sightline.video_model.latents import Latents

SIZE = 32


@pytest.fixture
def mixture():
    return open_mixture(["uniform", "collision"], SIZE, count=5, flip=True)


def test_a_video_has_the_same_latents_in_any_batch(mixture, codec):
    latents = Latents(mixture, codec)
    assert latents.shape == (4, 32, 4, 4)
    together = latents.batch(range(6))
    for number in (5, 0, 3):
        assert torch.equal(latents.batch([number])[0], together[number])
    planes = torch.from_numpy(mixture.video(mixture.pick(2)))[None]
    assert torch.equal(together[2], encode_bytes(codec, planes)[0].half().float())


def test_what_is_kept_is_not_made_again(mixture, codec, monkeypatch):
    fresh = Latents(mixture, codec).batch(range(40))
    keeping, made = Latents(mixture, codec, keep=7), []
    real = mixture.video
    monkeypatch.setattr(mixture, "video", lambda pick: made.append(pick) or real(pick))
    assert torch.equal(keeping.batch(range(40)), fresh)
    assert len({(p.source, p.index, p.mirror) for p in made}) > 7
    first = len(made)
    assert first < 40
    assert torch.equal(keeping.batch(range(40)), fresh)
    assert len(made) - first < first


def test_radii_and_speeds_of_the_same_samples(mixture, codec):
    facts = Latents(mixture, codec).facts(range(4))
    table = padded([fact.numbers for fact in facts], 4)
    assert table.shape == (4, 4)
    assert np.allclose(table[1], mixture.fact(mixture.pick(1)).numbers)
    assert (table[0, 2:] == 0).all()


def test_what_is_kept_is_bounded_in_bytes_and_endless_worlds_keep_nothing(codec, monkeypatch):
    one = 2 * 4 * 32 * 4 * 4  # bytes of a video's latents
    monkeypatch.setattr(latents_module, "ROOM", 3 * one)
    kept = {}
    Latents(open_mixture(["uniform"], SIZE, count=9), codec, keep=20_000, kept=kept).batch(range(9))
    assert len(kept) == 3
    kept = {}
    Latents(open_mixture(["uniform"], SIZE), codec, keep=20_000, kept=kept).batch(range(4))
    assert not kept
