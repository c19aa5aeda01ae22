from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sightline.errors import InputError
from sightline.physics.video_metrics.frame_metrics import PSNR_CAP, psnr, ssim


@pytest.fixture
def pair(photo: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Three frames of a photograph, (3, 60, 72, 3), and the same with noise that grows."""
    truth = np.stack([photo[k : k + 60, 100 : 100 + 72] for k in (0, 90, 200)])
    noise = rng.normal(0, 1, truth.shape) * np.array([2.0, 10.0, 40.0]).reshape(3, 1, 1, 1)
    return np.clip(truth + noise, 0, 255).astype(np.uint8), truth


def disc(x: float) -> np.ndarray:
    """A red disc on white, as the testbed draws."""
    rows, columns = np.mgrid[:64, :64]
    frame = np.full((1, 64, 64, 3), 255, np.uint8)
    frame[0, (rows - 32) ** 2 + (columns - x) ** 2 < 90] = (255, 0, 0)
    return frame


def doubles(frames: np.ndarray):
    import torch

    return torch.from_numpy(np.ascontiguousarray(frames.transpose(0, 3, 1, 2), np.float64))


def test_torchmetrics_agrees(pair: tuple[np.ndarray, np.ndarray]):
    import torchmetrics.functional.image as metrics

    for video, truth in (pair, (disc(30), disc(31.5))):
        one, two = doubles(video), doubles(truth)
        theirs = metrics.peak_signal_noise_ratio(
            one, two, data_range=255.0, reduction="elementwise_mean", dim=(1, 2, 3)
        )
        assert psnr(video, truth) == pytest.approx(float(theirs), abs=1e-5)
        theirs = metrics.structural_similarity_index_measure(one, two, data_range=255.0)
        assert ssim(video, truth) == pytest.approx(float(theirs), abs=1e-9)


def test_scikit_image_agrees(pair: tuple[np.ndarray, np.ndarray]):
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    theirs = [peak_signal_noise_ratio(t, v) for v, t in zip(*pair, strict=True)]
    assert psnr(*pair) == pytest.approx(np.mean(theirs), rel=1e-9)

    # It leaves the edge out of its mean, so we give it an edge to leave out.
    around = ((5, 5), (5, 5), (0, 0))
    theirs = [
        structural_similarity(
            np.pad(t, around, mode="reflect"),
            np.pad(v, around, mode="reflect"),
            gaussian_weights=True,
            use_sample_covariance=False,
            channel_axis=2,
        )
        for v, t in zip(*pair, strict=True)
    ]
    assert ssim(*pair) == pytest.approx(np.mean(theirs), abs=1e-9)


def test_psnr_in_closed_form():
    black = np.zeros((2, 4, 5, 3), np.uint8)
    assert psnr(black + np.uint8(255), black) == 0
    assert psnr(black + np.uint8(1), black) == pytest.approx(20 * math.log10(255))


def test_a_copied_frame_does_not_make_the_mean_infinite():
    truth = np.zeros((2, 8, 8, 3), np.uint8)
    video = truth.copy()
    video[1] = 255
    assert psnr(video, truth) == PSNR_CAP / 2
    assert psnr(truth, truth) == PSNR_CAP


videos = hnp.arrays(np.uint8, (1, 12, 13, 3), elements=st.sampled_from([0, 1, 127, 254, 255]))


@given(videos, videos)
def test_same_is_one_and_order_does_not_matter(video: np.ndarray, other: np.ndarray):
    assert ssim(video, video) == pytest.approx(1, abs=1e-9)
    assert ssim(video, other) == pytest.approx(ssim(other, video), abs=1e-12)
    assert -1 <= ssim(video, other) <= 1 + 1e-9
    assert psnr(video, other) == psnr(other, video)


def test_flat_white_is_like_itself():
    assert ssim(disc(200), disc(200)) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("metric", [psnr, ssim])
def test_wrong_videos_are_refused_in_one_line(metric):
    good = np.zeros((2, 16, 16, 3), np.uint8)
    with pytest.raises(InputError, match="the video is float64, expected uint8"):
        metric(good / 1.0, good)
    with pytest.raises(InputError, match=r"true video has shape \(2, 16, 16\)"):
        metric(good, good[..., 0])
    with pytest.raises(InputError, match=r"\(1, 16, 16, 3\), the true one \(2, 16, 16, 3\)"):
        metric(good[:1], good)
    with pytest.raises(InputError, match="expected"):
        metric(good[:0], good[:0])


def test_frames_smaller_than_the_window_are_refused():
    small = np.zeros((1, 10, 20, 3), np.uint8)
    with pytest.raises(InputError, match="20 × 10 px are too small"):
        ssim(small, small)
