"""Videos by number: the same whoever asks; orders that follow from the seed; files and worlds."""

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.physics.combinatorial.rendering import render_scene
from sightline.physics.combinatorial.simulation import make_sample
from sightline.physics.datasets import reader as opening
from sightline.physics.datasets.making import iter_make_dataset
from sightline.physics.datasets.spec import DataSpec, draw
from sightline.physics.rendering import render, to_planes
from sightline.video_model.autoencoders.data import RandomFrames
from sightline.video_model.conditioning import padded
from sightline.video_model.data import FileVideos, Mixture, open_mixture, open_videos

SIZE = 32


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.h5"
    for _ in iter_make_dataset(DataSpec("uniform", 5, size=SIZE), path, workers=1):
        pass
    return path


def test_worlds_are_those_of_the_testbed():
    videos = open_videos("collision:ood", SIZE, seed=4)
    samples = draw(DataSpec("collision", 100, split="ood", size=SIZE, seed=4), 70, 2)
    assert videos.shape == (32, SIZE)
    assert np.array_equal(videos.video(71), to_planes(render(samples[1], SIZE)))
    assert np.array_equal(videos.video(71, mirror=True), videos.video(71)[..., ::-1])
    assert np.allclose(videos.numbers(71), samples.init[1])
    assert not np.array_equal(videos.video(71), open_videos("collision", SIZE, seed=4).video(71))


def test_parts_of_probes():
    train, test = (open_videos(f"probe:memorization{part}", SIZE) for part in ("", ":test"))
    assert all(train.numbers(k)[1] >= 2.5 for k in range(20))
    assert all(test.numbers(k)[1] <= 2.5 for k in range(20))


def test_a_file_holds_the_same_videos(file):
    stored, made = FileVideos(file), open_videos("uniform", SIZE, count=5)
    assert (len(stored), stored.shape) == (5, (32, SIZE))
    for index in range(5):
        assert np.array_equal(stored.video(index), made.video(index))
        assert np.allclose(stored.numbers(index), made.numbers(index))
    assert len(open_videos(str(file), 999, count=3)) == 3


def test_combinatorial_worlds_and_frames_of_them():
    videos = open_videos("combinatorial:6", SIZE, count=9)
    assert (len(videos), videos.shape) == (9, (32, SIZE))
    truth = to_planes(render_scene(make_sample(10003, 1, 0), SIZE))
    assert np.array_equal(videos.video(6), truth)
    test = open_videos("combinatorial:6:test", SIZE, count=9).video(6)
    assert not np.array_equal(test, truth)
    assert len(open_videos("combinatorial:held-out", SIZE)) == 10 * 100 * 1000
    with pytest.raises(InputError, match="not described by a few numbers"):
        videos.numbers(0)
    frames = RandomFrames(Mixture([videos]), 4)
    assert frames.frames(1).shape == (4, 3, SIZE, SIZE)
    assert torch.equal(frames.frames(1), RandomFrames(Mixture([videos]), 4).frames(1))


def test_every_round_shows_every_video_once_in_another_order():
    mixture = open_mixture(["uniform", "parabola@2"], SIZE, count=6, order=1)
    picks = [mixture.pick(number) for number in range(3 * 6 * 2)]
    ones = [pick.index for pick in picks if pick.source == 0]
    twos = [pick.index for pick in picks if pick.source == 1]
    assert (len(ones), len(twos)) == (12, 24)
    assert sorted(ones[:6]) == sorted(ones[6:]) == list(range(6))
    assert ones[:6] != ones[6:]
    assert [sorted(twos[k : k + 6]) for k in range(0, 24, 6)] == [list(range(6))] * 4
    again = open_mixture(["uniform", "parabola@2"], SIZE, count=6, order=1)
    assert [again.pick(number) for number in (35, 3, 11)] == [picks[k] for k in (35, 3, 11)]
    other = open_mixture(["uniform", "parabola@2"], SIZE, count=6, order=2)
    assert [other.pick(number) for number in range(36)] != picks


def test_worlds_without_end_come_in_their_order_and_half_of_them_mirrored():
    mixture = open_mixture(["uniform"], SIZE, flip=True)
    picks = [mixture.pick(number) for number in range(200)]
    assert [pick.index for pick in picks] == list(range(200))
    assert 70 < sum(pick.mirror for pick in picks) < 130
    flipped = next(pick for pick in picks if pick.mirror)
    plain = mixture.sources[0].video(flipped.index)
    assert np.array_equal(mixture.video(flipped), plain[..., ::-1])


def test_numbers_of_several_worlds_in_one_table():
    table = padded([np.array([1.0, 2.0]), np.arange(4.0)], 4)
    assert table.tolist() == [[1, 2, 0, 0], [0, 1, 2, 3]]
    with pytest.raises(InputError, match="3 numbers describe a video, there is room for 2"):
        padded([np.zeros(3)], 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["unifrom"], "no scenario is called 'unifrom'"),
        (["uniform:odd"], "no split called 'odd'"),
        (["probe:nothing"], "no probe is called"),
        (["uniform@0"], "a share is a whole number"),
        (["missing.h5"], "missing.h5"),
        ([], "no videos to learn from"),
    ],
)
def test_what_is_not_there_is_named(words, said):
    with pytest.raises(InputError, match=said):
        open_mixture(words, SIZE)


def test_videos_of_several_shapes(file):
    other = open_videos("uniform", 64)
    with pytest.raises(InputError, match="videos of several shapes"):
        Mixture([FileVideos(file), other])
    with pytest.raises(InputError, match="at least 1 video"):
        open_videos("uniform", SIZE, count=0)


def test_a_file_with_too_few_frames(file, monkeypatch):
    videos = FileVideos(file)
    real = videos._data.video
    monkeypatch.setattr(videos._data, "video", lambda index: real(index)[:9])
    with pytest.raises(InputError, match=r"a\.h5.*video 1 is 9 frames of 32 px, the first is 32"):
        videos.video(1)


def test_shares_of_any_size_cost_nothing():
    """A row of a hundred million turns is arithmetic, not a list."""
    mixture = open_mixture(["uniform@99999999", "collision"], SIZE, count=5)
    assert [mixture.pick(n).source for n in (0, 99_999_998, 99_999_999, 10**8)] == [0, 0, 1, 0]
    small = open_mixture(["uniform@2", "collision@3", "parabola"], SIZE)
    picks = [small.pick(n) for n in range(12)]
    assert [p.source for p in picks] == [0, 0, 1, 1, 1, 2] * 2
    assert [p.index for p in picks] == [0, 1, 0, 1, 2, 0, 2, 3, 3, 4, 5, 1]


def test_numbers_of_mirrored_videos_go_the_other_way(file):
    for videos, speeds in ((open_videos("collision", SIZE), [2, 3]), (FileVideos(file), [1])):
        plain, turned = videos.numbers(3), videos.numbers(3, mirror=True)
        signs = np.where(np.isin(np.arange(len(plain)), speeds), -1, 1)
        assert np.array_equal(turned, plain * signs)
    mixture = open_mixture(["uniform"], SIZE, count=9, flip=True)
    picks = [mixture.pick(number) for number in range(9)]
    assert {pick.mirror for pick in picks} == {True, False}
    for pick in picks:
        assert (mixture.fact(pick).numbers[1] < 0) == pick.mirror


def test_more_videos_than_there_are(file):
    with pytest.raises(InputError, match=r"a\.h5: 100 videos were asked for, it holds 5"):
        open_videos(str(file), SIZE, count=100)
    with pytest.raises(InputError, match="there are 6,000"):
        open_videos("combinatorial:6:test", SIZE, count=6_001)


class Stub:
    """What a file holds, as far as it is looked at."""

    digest = "0" * 64

    def __init__(self, scenario, frames):
        self.scenario, self.frames = scenario, frames

    def __len__(self):
        return 1

    def video(self, _):
        return np.zeros((self.frames, SIZE, SIZE, 3), np.uint8)


def test_files_that_cannot_be_learned_from(file, monkeypatch):
    monkeypatch.setattr(opening, "open_dataset", lambda _: Stub("uniform", 1))
    with pytest.raises(InputError, match=r"a\.h5: its first video has 1 frame, a model needs"):
        FileVideos(file)
    monkeypatch.setattr(opening, "open_dataset", lambda _: Stub("combinatorial", 4))
    with pytest.raises(InputError, match=r"a\.h5: combinatorial videos are not described by a few"):
        FileVideos(file).numbers(0)


def test_clips_of_a_mixture():
    mixture = open_mixture(["combinatorial:6"], SIZE, count=2)
    clips = RandomFrames(mixture, 3, clip=5).frames(2)
    assert clips.shape == (3, 3, 5, SIZE, SIZE)
    with pytest.raises(InputError, match="clips of 33 frames from videos of 32"):
        RandomFrames(mixture, 3, clip=33)
