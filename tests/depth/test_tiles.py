"""Tiles add detail and leave no seams, even when each comes in a scale and shift of its own."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.depth.preprocessing import to_picture_size
from sightline.depth.tiles import TileOptions, refine, tile_detail, tile_grid, windows
from sightline.errors import InputError

SIZE = 128
OPTIONS = TileOptions()


def numbered(height: int, width: int) -> np.ndarray:
    """A picture whose pixels tell where they are: 12 bits of column and of row in three bytes."""
    rows, columns = np.mgrid[0:height, 0:width]
    high = (columns >> 8) * 16 + (rows >> 8)
    return np.stack([columns & 255, rows & 255, high], axis=-1).astype(np.uint8)


def corner(piece: np.ndarray) -> tuple[int, int]:
    """(row, column) of a piece of a `numbered` picture."""
    low_x, low_y, high = (int(value) for value in piece[0, 0])
    return (high & 15) * 256 + low_y, (high >> 4) * 256 + low_x


class Drifting:
    """Sees the truth of every tile sharply, but in an arbitrary scale and shift, and tilted."""

    def __init__(self, truth, tilt=0.1, seed=0):
        self.truth, self.tilt, self.rng = truth, tilt, np.random.default_rng(seed)
        self.calls = 0

    def __call__(self, piece):
        self.calls += 1
        (top, left), (h, w) = corner(piece), piece.shape[:2]
        tile = self.truth[top : top + h, left : left + w]
        rows, columns = np.mgrid[0:h, 0:w]
        a, b = self.rng.normal(0, self.tilt * float(np.ptp(tile)), 2)
        slanted = tile + a * rows / h + b * columns / w
        return (self.rng.uniform(0.3, 3) * slanted + self.rng.normal(0, 5)).astype(np.float32)


def pasted(pixels, whole, predict, size):
    """The naive way, for comparison: aligned tiles put side by side, the later over the earlier."""
    from sightline.geometry import align

    rows, columns = tile_grid(*whole.shape, size, OPTIONS)
    out = whole.copy()
    for (top, bottom), _ in windows(whole.shape[0], rows, OPTIONS.overlap):
        for (left, right), _ in windows(whole.shape[1], columns, OPTIONS.overlap):
            piece = slice(top, bottom), slice(left, right)
            tile = predict(pixels[piece])
            out[piece] = align(tile, whole[piece], robust=True)(tile)
    return out


def step_ratios(values: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Mean step across each line of pixels over the mean step of the 20 lines on either side.

    Returns the ratios at seams (the rims of tiles), and at all other lines.
    """
    at_seams, inside = [], []
    for axis, count in enumerate(tile_grid(*values.shape, size, OPTIONS)):
        steps = np.abs(np.diff(values.astype(np.float64), axis=axis)).mean(axis=1 - axis)
        length = values.shape[axis]
        rims = {rim for window, _ in windows(length, count, OPTIONS.overlap) for rim in window}
        for line in range(21, length - 21):
            around = np.r_[steps[line - 21 : line - 2], steps[line + 1 : line + 20]]
            ratio = steps[line - 1] / max(around.mean(), 1e-12)
            (at_seams if line in rims else inside).append(ratio)
    return np.array(at_seams), np.array(inside)


def seam_ratios(values: np.ndarray, size: int = SIZE) -> np.ndarray:
    return step_ratios(values, size)[0]


def plane(height: int = 500, width: int = 700) -> np.ndarray:
    rows, columns = np.mgrid[0:height, 0:width]
    return (1 + 2 * rows / height + 1.5 * columns / width).astype(np.float32)


def detailed(height: int = 500, width: int = 700) -> np.ndarray:
    """A plane with a fine railing before it and a step."""
    values = plane(height, width)
    values[:, 300:420] += 0.7
    values[100:400, ::14] += 0.3
    values[100:400, 1::14] += 0.3
    return values


@given(st.integers(1, 3000), st.integers(1, 12), st.floats(0.1, 0.9))
def test_window_weights_add_up_to_one(length, count, overlap):
    count = min(count, length)
    total, end = np.zeros(length), 0
    for (start, stop), weight in windows(length, count, overlap):
        assert 0 <= start < stop <= length
        assert start <= end
        assert len(weight) == stop - start
        assert (weight >= 0).all()
        total[start:stop] += weight
        end = stop
    assert end == length
    np.testing.assert_allclose(total, 1, atol=1e-6)


def test_window_weights_fall_smoothly_to_zero_at_inner_rims():
    parts = list(windows(1000, 3, 0.4))
    for number, (_, weight) in enumerate(parts):
        assert number == 0 or weight[0] < 0.01
        assert number == 2 or weight[-1] < 0.01
        assert np.abs(np.diff(weight)).max() < 0.02


@given(st.integers(1, 5000), st.integers(1, 5000), st.sampled_from([128, 256, 518]))
def test_grid_is_bounded_and_suits_the_picture(height, width, size):
    rows, columns = tile_grid(height, width, size, OPTIONS)
    assert min(rows, columns) <= OPTIONS.most
    assert rows * columns <= OPTIONS.most * 16 * OPTIONS.most
    if min(height, width) < size:
        assert (rows, columns) == (1, 1)


def test_small_pictures_are_left_alone():
    whole = plane(100, 150)
    drifting = Drifting(whole)
    assert refine(numbered(100, 150), whole, drifting, 128) is whole
    assert drifting.calls == 0


def test_drifting_tiles_of_a_plane_leave_the_plane():
    whole = plane()
    refined = refine(numbered(*whole.shape), whole, Drifting(whole), SIZE)
    assert seam_ratios(refined).max() < 1.05
    assert np.abs(refined - whole).max() < 0.1 * float(np.ptp(whole))
    # The criterion tells good from bad: tiles put side by side break it badly.
    naive = pasted(numbered(*whole.shape), whole, Drifting(whole), SIZE)
    assert seam_ratios(naive).max() > 5


def test_tiles_without_tilt_give_back_the_plane_exactly():
    whole = plane()
    refined = refine(numbered(*whole.shape), whole, Drifting(whole, tilt=0), SIZE)
    np.testing.assert_allclose(refined, whole, atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_tiles_bring_back_detail_the_whole_picture_lost(seed):
    truth = detailed()
    whole = cv2.GaussianBlur(truth, (0, 0), 8)
    refined = refine(numbered(*truth.shape), whole, Drifting(truth, 0.03, seed), SIZE)
    before, after = np.abs(whole - truth), np.abs(refined - truth)
    assert after.mean() < 0.4 * before.mean()
    assert seam_ratios(refined - truth + plane()).max() < 1.1


def test_a_flat_tile_and_a_contrary_tile_are_not_trusted(rng):
    whole = detailed()[:200, :200]
    noise = rng.normal(size=whole.shape).astype(np.float32)
    for tile in (-whole, noise, np.full_like(whole, 3), np.full_like(whole, np.nan)):
        assert tile_detail(tile, whole, float(whole.std()), OPTIONS) is None
    sky = np.full_like(whole, 0.1) + 1e-3 * whole
    assert tile_detail(2 * sky + 0.01 * noise, sky, float(whole.std()), OPTIONS) is None
    assert tile_detail(3 * whole + 1, whole, float(whole.std()), OPTIONS) is not None


def test_bad_tiles_fall_back_without_a_seam():
    """Every other tile is upside down; what is left shows no seam where they were dropped."""
    truth = detailed()
    whole = cv2.GaussianBlur(truth, (0, 0), 8)
    good = Drifting(truth, 0.03)

    def every_other(piece):
        tile = good(piece)
        return -tile if good.calls % 2 else tile

    refined = refine(numbered(*truth.shape), whole, every_other, SIZE)
    assert np.abs(refined - truth).mean() < np.abs(whole - truth).mean()
    assert seam_ratios(refined - truth + plane()).max() < 1.1

    refined = refine(numbered(*truth.shape), whole, lambda piece: -good(piece), SIZE)
    assert np.array_equal(refined, whole)


def test_unknown_pixels_stay_unknown_and_do_not_spread():
    whole = plane()
    whole[50:150, 60:160] = np.nan
    refined = refine(numbered(*whole.shape), whole, Drifting(plane()), SIZE)
    assert np.array_equal(np.isnan(refined), np.isnan(whole))
    nothing = np.full_like(whole, np.nan)
    assert refine(numbered(*whole.shape), nothing, Drifting(plane()), SIZE) is nothing


def test_options_are_checked():
    with pytest.raises(InputError, match="overlap"):
        TileOptions(overlap=0)
    with pytest.raises(InputError, match="at least one"):
        TileOptions(across=0)
    assert tile_grid(500, 700, SIZE, TileOptions(across=2)) == (2, 3)


def rendered_floor(height: int = 620, width: int = 800) -> np.ndarray:
    """A chequered floor up to the horizon, seen by an upright camera; one plane, sky above."""
    rows, columns = np.mgrid[0:height, 0:width]
    below = (rows - 0.3 * height) / height
    z = 1 / np.maximum(below, 1e-3)
    x = (columns / width - 0.5) * z
    light = np.where((np.floor(2 * z) + np.floor(4 * x)) % 2 == 0, 200, 90)
    fade = np.clip(below * 8, 0, 1)
    gray = np.where(below > 0, 150 + (light - 150) * fade, 215 - 30 * rows / height)
    return np.repeat(gray[..., None], 3, axis=-1).astype(np.uint8)


@pytest.mark.parametrize("subject", ["plane", "china", "flower"])
def test_no_seams_with_the_embedded_model(embedded_estimator, subject):
    """The step across a seam is no larger than inside tiles, for a real network."""
    from sklearn.datasets import load_sample_image

    picture = rendered_floor() if subject == "plane" else load_sample_image(f"{subject}.jpg")
    picture = cv2.resize(picture, None, fx=1.6, fy=1.6, interpolation=cv2.INTER_CUBIC)
    size = embedded_estimator.size
    whole = embedded_estimator.infer(picture)
    refined = embedded_estimator.infer(picture, tiles=True)
    rows, columns = tile_grid(*whole.values.shape, size, OPTIONS)
    assert rows * columns > 4
    assert not np.array_equal(refined.values, whole.values)
    at_seams, inside = step_ratios(refined.values, size)
    # As lines drawn at random inside the tiles would be, within three standard errors.
    assert at_seams.mean() < inside.mean() + 3 * inside.std() / np.sqrt(len(at_seams))
    assert at_seams.max() < 1.1 * inside.max()
    assert np.corrcoef(refined.values.ravel(), whole.values.ravel())[0, 1] > 0.95

    def predict(piece):
        return to_picture_size(embedded_estimator.predict(piece), piece.shape[:2])

    naive, _ = step_ratios(pasted(picture, whole.values, predict, size), size)
    assert naive.max() > 3 * at_seams.max()
