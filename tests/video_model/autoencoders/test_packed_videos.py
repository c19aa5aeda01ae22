"""Packed videos are the same bytes, made once, within their room."""

import numpy as np

from sightline.video_model.autoencoders.data import PackedVideos
from sightline.video_model.data import open_mixture


def counted(videos, monkeypatch):
    made = []
    real = videos.video
    monkeypatch.setattr(videos, "video", lambda pick: made.append(pick) or real(pick))
    return made


def test_a_video_is_made_once_and_comes_again_as_it_was(monkeypatch):
    videos = open_mixture(["combinatorial:6"], 32, count=3)
    packed, picks = PackedVideos(videos), [videos.pick(number) for number in range(6)]
    truths = [videos.video(pick) for pick in picks]
    made = counted(videos, monkeypatch)
    for _ in range(2):
        assert all(
            np.array_equal(packed.video(pick), truth)
            for pick, truth in zip(picks, truths, strict=True)
        )
    assert len(made) == len(packed) == 3
    assert 0 < packed.filled < sum(truth.nbytes for truth in truths[:3]) / 4


def test_room_is_minded_and_worlds_without_end_are_not_kept(monkeypatch):
    videos = open_mixture(["uniform"], 32, count=4)
    packed = PackedVideos(videos, room=700)
    made = counted(videos, monkeypatch)
    for number in range(8):
        packed.video(videos.pick(number))
    assert packed.filled <= 700
    assert len(packed) < 4
    assert len(made) == 8 - len(packed)
    endless = open_mixture(["uniform"], 32)
    packed = PackedVideos(endless)
    packed.video(endless.pick(0))
    assert len(packed) == 0
