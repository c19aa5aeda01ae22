from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.video_metrics.fvd import (
    FvdStatistics,
    frechet_distance,
    fvd,
    moments_of,
    video_features,
)

pytest.importorskip("torch")


def with_blur(video: np.ndarray, level: float) -> np.ndarray:
    import cv2

    return np.stack([cv2.GaussianBlur(frame, (0, 0), level) for frame in video])


def with_noise(video: np.ndarray, level: float) -> np.ndarray:
    rng = np.random.default_rng(0)
    return np.clip(video + rng.normal(0, level, video.shape), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def statistics(clips: list[np.ndarray], i3d):
    """Of four clips."""
    found = FvdStatistics()
    for clip in clips[:4]:
        found.add(clip, i3d)
    return found


def test_the_same_videos_are_at_distance_zero(statistics: FvdStatistics):
    found = statistics.distance(statistics)
    assert (found.videos, found.truths, found.frames) == (4, 4, 9)
    assert found.value <= 1e-3 * np.trace(statistics.moments.covariance)
    assert str(found) == "0.00 (4 videos against 4, 9 frames)"


def test_it_is_the_distance_of_the_features(clips: list[np.ndarray], statistics, i3d):
    """Order and generators make no difference; the videos are held one at a time."""
    others = [255 - clip for clip in clips[:2]]
    found = fvd((video for video in others), reversed(clips[:2]))
    sets = ([video_features(v, i3d) for v in videos] for videos in (others, clips[:2]))
    expected = frechet_distance(*(moments_of(each) for each in sets))
    assert found.value == pytest.approx(expected, rel=1e-9)
    assert found.value > 1


def test_parts_gathered_apart_give_the_same(clips: list[np.ndarray], statistics, i3d):
    one, other, nothing = FvdStatistics(), FvdStatistics(), FvdStatistics()
    for part, of in ((one, clips[:1]), (other, clips[1:4])):
        for clip in of:
            part.add(clip, i3d)
    one.merge(other)
    one.merge(nothing)
    assert (one.count, one.frames, nothing.count) == (4, 9, 0)
    np.testing.assert_allclose(one.moments.covariance, statistics.moments.covariance, atol=1e-9)


@pytest.fixture(scope="module")
def truth(clips: list[np.ndarray], i3d):
    """Of six clips, as they are."""
    found = FvdStatistics()
    for clip in clips[:6]:
        found.add(clip, i3d)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("damage", "levels"), [(with_blur, (0.5, 1.5, 4.0)), (with_noise, (5, 20, 80))]
)
def test_it_grows_with_corruption(
    clips: list[np.ndarray], truth: FvdStatistics, i3d, damage, levels
):
    found = [0.0]
    for level in levels:
        damaged = FvdStatistics()
        for clip in clips[:6]:
            damaged.add(damage(clip, level), i3d)
        found.append(damaged.distance(truth).value)
    assert all(less < more for less, more in pairwise(found)), found


def test_sets_that_cannot_be_compared_are_refused(clips: list[np.ndarray], statistics, i3d):
    longer = np.concatenate([clips[0], clips[0][:1]])
    with pytest.raises(InputError, match="10 frames among videos of 9"):
        statistics.add(longer, i3d)
    other = FvdStatistics()
    with pytest.raises(InputError, match="at least two true videos, got 0"):
        statistics.distance(other)
    other.add(longer, i3d)
    other.add(longer, i3d)
    with pytest.raises(InputError, match=r"videos of 9 frames cannot be compared .* 10"):
        statistics.distance(other)
    with pytest.raises(InputError, match="FVD needs at least 9"):
        other.add(clips[0][:8], i3d)
    with pytest.raises(InputError, match="expected uint8"):
        other.add(longer / 255, i3d)
