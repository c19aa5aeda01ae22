"""The flicker measure must see flicker, and nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.geometry import unproject
from sightline.scenes.clips import room_clip
from sightline.types import DepthMap, Kind
from temporal_error import temporal_alignment_error


@pytest.fixture(scope="module")
def clip():
    return list(room_clip(8, width=96, height=72, seed=0))


def measure(clip, predictions):
    return temporal_alignment_error(predictions, [f.depth for f in clip], [f.pose for f in clip])


def disparities(clip):
    return [1 / f.depth.values for f in clip]


def test_truth_does_not_flicker_whatever_its_scale_and_shift(clip):
    result = measure(clip, [7 * d + 3 for d in disparities(clip)])
    assert result.flicker < 1e-5
    assert result.error < 1e-5
    assert result.alignment < 0.005  # what sampling between pixels costs
    assert result.samples > 0.35 * 6 * 96 * 72


def test_a_scale_of_its_own_per_frame_is_flicker(clip):
    weak, strong = (
        measure(clip, [d * (1 + a * (-1) ** t) for t, d in enumerate(disparities(clip))]).flicker
        for a in (0.01, 0.05)
    )
    # Each frame departs from its neighbors by twice the amplitude.
    assert weak == pytest.approx(0.02, rel=0.25)
    assert strong == pytest.approx(5 * weak, rel=0.1)


def test_a_steady_error_on_the_surfaces_is_no_flicker(clip):
    # Wrong by a function of the place in the world: the same in every frame.
    wrong = []
    for frame, d in zip(clip, disparities(clip), strict=True):
        points = unproject(frame.depth.values, frame.camera).astype(np.float64)
        world = points @ frame.pose[:3, :3].T + frame.pose[:3, 3]
        wrong.append((d + 0.1 * np.sin(world[..., 0])).astype(np.float32))
    steady = measure(clip, wrong)
    rng = np.random.default_rng(0)
    noisy = measure(clip, [d + np.float32(rng.choice([-0.06, 0.06])) for d in disparities(clip)])
    assert steady.error > 0.05
    assert steady.flicker < 0.1 * noisy.flicker


def test_an_even_change_is_no_flicker_but_misaligned(clip):
    growing = measure(clip, [d * (1 + 0.03 * t) for t, d in enumerate(disparities(clip))])
    assert growing.flicker < 0.002
    assert growing.alignment > 0.015


def test_noise_is_flicker(clip):
    rng = np.random.default_rng(0)
    mean = np.mean([d.mean() for d in disparities(clip)])
    noisy = [d + 0.02 * mean * rng.standard_normal(d.shape) for d in disparities(clip)]
    # E|a − (b + c)/2| = 0.98 σ; sampling between pixels takes some of the neighbors' noise away.
    assert 0.014 < measure(clip, noisy).flicker < 0.021


def test_bad_input(clip):
    with pytest.raises(InputError, match="at least three"):
        temporal_alignment_error([np.ones((4, 4))], [clip[0].depth], [clip[0].pose])
    bare = [DepthMap(f.depth.values, Kind.METRIC_DEPTH) for f in clip]
    with pytest.raises(InputError, match="needs its camera"):
        temporal_alignment_error(disparities(clip), bare, [f.pose for f in clip])
