"""Steady video depth: half the flicker at the least, no harm, no drift, cuts, determinism."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

import sightline
from sightline.depth.stabilization import MotionStatus, StabilizeConfig, Stabilizer
from sightline.errors import InputError
from sightline.scenes.clips import room_clip
from sightline.types import DepthMap, Kind
from temporal_error import temporal_alignment_error

SIZE = (160, 120)


@pytest.fixture(scope="module", params=[0, 1])
def clip(request):
    return list(room_clip(24, width=SIZE[0], height=SIZE[1], seed=request.param))


def corrupted(clip, *, scale=0.2, shift=0.2, noise=0.0, seed=0):
    """True disparity with a scale and shift of its own per frame, and smooth noise on top."""
    rng = np.random.default_rng(seed)
    maps = []
    for frame in clip:
        d = 1 / frame.depth.values
        bumps = cv2.resize(rng.standard_normal((6, 8)), SIZE, interpolation=cv2.INTER_CUBIC)
        d = d + noise * d.std() * bumps
        d = d * np.exp(scale * rng.standard_normal()) + shift * d.std() * rng.standard_normal()
        maps.append(d.astype(np.float32))
    return maps


def steadied(clip, maps, config=None):
    stabilizer = Stabilizer(config)
    return [
        stabilizer.update(DepthMap(d, Kind.RELATIVE_DISPARITY), f.pixels)
        for d, f in zip(maps, clip, strict=True)
    ]


def measure(clip, maps):
    return temporal_alignment_error(maps, [f.depth for f in clip], [f.pose for f in clip])


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_flicker_is_far_less_than_half(clip, noise):
    maps = corrupted(clip, noise=noise)
    results = steadied(clip, maps)
    before, after = measure(clip, maps), measure(clip, [r.depth.values for r in results])
    assert after.flicker < before.flicker / 5
    assert after.error < 1.15 * before.error
    assert [r.step for r in results] == [MotionStatus.CUT] + [MotionStatus.FOLLOWED] * (
        len(clip) - 1
    )


def test_alignment_alone_halves_it_too(clip):
    maps = corrupted(clip, noise=0.1)
    only_aligned = steadied(clip, maps, StabilizeConfig(memory=0.0))
    after = measure(clip, [r.depth.values for r in only_aligned])
    assert after.flicker < measure(clip, maps).flicker / 2


def test_noise_alone_is_halved(clip):
    maps = corrupted(clip, scale=0.0, shift=0.0, noise=0.15)
    after = measure(clip, [r.depth.values for r in steadied(clip, maps)])
    assert after.flicker < measure(clip, maps).flicker / 2


def test_perfect_maps_are_hardly_touched(clip):
    maps = [1 / f.depth.values for f in clip]
    after = measure(clip, [r.depth.values for r in steadied(clip, maps)])
    assert after.flicker < 0.006
    assert after.error < 0.06


def test_edges_stay_sharp(clip):
    """Blending along the flow must not smear front into back."""
    maps = corrupted(clip)
    last = steadied(clip, maps)[-1].depth.values
    truth = 1 / clip[-1].depth.values
    fit = np.polyfit(last.ravel(), truth.ravel(), 1)
    gradient = np.hypot(*np.gradient(truth))
    edge = gradient > np.quantile(gradient, 0.98)
    off = np.abs(np.polyval(fit, last) - truth)[edge]
    assert np.median(off) < 0.1 * np.ptp(truth)


def test_scale_does_not_drift_over_a_long_clip():
    """With one-sided least squares the scale would shrink every frame; it must not."""
    frames = list(room_clip(12, width=96, height=72, seed=2))
    there_and_back = (frames + frames[::-1]) * 5
    rng = np.random.default_rng(0)
    stabilizer = Stabilizer()
    scales = []
    for frame in there_and_back:
        d = 1 / frame.depth.values
        noisy = d + 0.2 * d.std() * cv2.resize(rng.standard_normal((9, 12)), (96, 72))
        result = stabilizer.update(
            DepthMap(noisy.astype(np.float32), Kind.RELATIVE_DISPARITY), frame.pixels
        )
        scales.append(result.scale)
    assert len(scales) == 120
    assert 0.8 < np.median(scales[-48:]) < 1.25


def test_a_cut_starts_anew(photo):
    clip = list(room_clip(6, width=SIZE[0], height=SIZE[1], seed=0))
    other = cv2.resize(photo, SIZE, interpolation=cv2.INTER_AREA)
    stabilizer = Stabilizer()
    steps, last = [], None
    for number in range(12):
        frame = clip[number % 6].pixels if number < 6 else np.roll(other, number, axis=1)
        values = np.random.default_rng(number).random((6, 8)).astype(np.float32)
        depth = DepthMap(cv2.resize(values, SIZE) * 10**number, Kind.RELATIVE_DISPARITY)
        last = stabilizer.update(depth, frame)
        steps.append(last.step)
        if number == 6:
            np.testing.assert_array_equal(last.depth.values, depth.values)
            assert (last.scale, last.shift) == (1.0, 0.0)
    assert [n for n, step in enumerate(steps) if step is MotionStatus.CUT] == [0, 6]


def test_metric_maps_keep_their_zero_and_their_unit(clip):
    rng = np.random.default_rng(0)
    stabilizer = Stabilizer()
    given, kept = [], []
    for frame in clip:
        depth = DepthMap(
            frame.depth.values * np.exp(0.1 * rng.standard_normal()),
            Kind.METRIC_DEPTH,
            camera=frame.camera,
            sigma=0.05 * frame.depth.values,
        )
        result = stabilizer.update(depth, frame.pixels)
        assert result.shift == 0
        assert result.depth.kind is Kind.METRIC_DEPTH
        assert result.depth.sigma is not None
        given.append(1 / depth.values)
        kept.append(1 / result.depth.values)
    assert measure(clip, kept).flicker < measure(clip, given).flicker / 4
    ratio = np.median([k / (1 / f.depth.values) for k, f in zip(kept, clip, strict=True)])
    assert 0.8 < ratio < 1.25, "still meters"


def test_what_is_not_valid_stays_so_and_spreads_not(clip):
    stabilizer = Stabilizer()
    for number, frame in enumerate(clip[:6]):
        valid = np.ones((SIZE[1], SIZE[0]), bool)
        valid[30:60, 40:80] = number != 2
        values = np.where(valid, 1 / frame.depth.values, 1e9)
        depth = DepthMap(values, Kind.RELATIVE_DISPARITY, valid)
        result = stabilizer.update(depth, frame.pixels)
        np.testing.assert_array_equal(result.depth.valid, valid)
        assert result.depth.values.max() < 10
    nothing = DepthMap(np.ones(valid.shape), Kind.RELATIVE_DISPARITY, np.zeros(valid.shape, bool))
    assert not stabilizer.update(nothing, frame.pixels).depth.valid.any()
    after = stabilizer.update(depth, frame.pixels)
    assert after.depth.valid.all()
    assert after.step is MotionStatus.LOST


def test_flat_maps_and_tiny_frames():
    stabilizer = Stabilizer()
    for size in ((1, 1), (3, 200), (40, 40)):
        stabilizer.reset()
        for value in (1.0, 2.0, 3.0):
            frame = np.full((*size, 3), 90, np.uint8)
            result = stabilizer.update(
                DepthMap(np.full(size, value), Kind.RELATIVE_DISPARITY), frame
            )
            assert np.isfinite(result.depth.values).all()


def test_same_input_same_bytes(clip):
    maps = corrupted(clip[:8], noise=0.1)
    one, two = (steadied(clip[:8], maps) for _ in range(2))
    for a, b in zip(one, two, strict=True):
        assert a.depth.values.tobytes() == b.depth.values.tobytes()


def test_bad_input(clip):
    with pytest.raises(InputError, match="frame is"):
        Stabilizer().update(DepthMap(np.ones((4, 4)), Kind.RELATIVE_DISPARITY), clip[0].pixels)
    for wrong in ({"memory": 1.0}, {"drift_frames": 0.0}, {"agreement": 0.0}):
        with pytest.raises(InputError, match="stabilizing needs"):
            StabilizeConfig(**wrong)


def test_flicker_of_the_compact_model_is_halved(clip):
    """A real network, against each frame stretched from its least to its greatest value.

    That is how the authors' own video script shows it; the network's plain output is held against it
    too. The ViT `small` wavers half as much to begin with and gains less: docs/tables/flicker.md.
    """
    estimator = sightline.load("tiny", threads=1)
    raw = [estimator.infer(frame.pixels).values for frame in clip]
    stretched = [(d - d.min()) / (d.max() - d.min()) for d in raw]
    steady = [r.depth.values for r in steadied(clip, raw)]
    base, plain, after = (measure(clip, maps) for maps in (stretched, raw, steady))
    for name, result in (("stretched", base), ("network", plain), ("steadied", after)):
        print(f"{name}: {result}")
    assert after.flicker < base.flicker / 2
    assert after.flicker < plain.flicker / 2
    assert after.alignment < min(base.alignment, plain.alignment)
    assert after.error < 1.1 * base.error
