"""Sizes by the authors' rule, resizing as OpenCV and torch do it."""

from __future__ import annotations

import time
import tracemalloc

import cv2
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sightline.depth.preprocessing import (
    MAX_ASPECT,
    MAX_SIZE,
    network_size,
    to_input,
    to_picture_size,
)
from sightline.errors import InputError
from sightline.models.entry import ModelSpec

VIT = ModelSpec("vits")
COMPACT = ModelSpec(
    "compact", size=256, multiple=32, resize="area", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)
)


@pytest.mark.parametrize(
    ("height", "width", "expected"),
    [
        (480, 640, (518, 686)),  # the authors' example
        (518, 518, (518, 518)),
        (3000, 4000, (518, 686)),
        (1, 1, (518, 518)),
        (400, 600, (518, 784)),  # 777 / 14 = 55.5: to the even 56
        (4000, 1, (2072, 518)),
    ],
)
def test_network_size_by_hand(height, width, expected):
    assert network_size(height, width, VIT) == expected


def test_size_that_is_no_multiple_is_rounded_up():
    assert network_size(480, 480, VIT, size=520) == (532, 532)


@given(
    st.integers(1, 9000),
    st.integers(1, 9000),
    st.integers(32, 1100),
    st.sampled_from([VIT, COMPACT]),
)
def test_network_size_properties(height, width, size, spec):
    h, w = network_size(height, width, spec, size)
    assert h % spec.multiple == 0
    assert w % spec.multiple == 0
    assert min(h, w) >= size
    assert max(h, w) < MAX_ASPECT * size + spec.multiple
    assert network_size(width, height, spec, size) == (w, h)
    if max(height, width) <= MAX_ASPECT * min(height, width):
        scale = size / min(height, width)
        assert abs(h - scale * height) <= spec.multiple
        assert abs(w - scale * width) <= spec.multiple


def test_network_size_refuses_nonsense():
    with pytest.raises(InputError, match="no pixels"):
        network_size(0, 5, VIT)
    with pytest.raises(InputError, match="at least 14"):
        network_size(10, 10, VIT, size=3)
    with pytest.raises(InputError, match=f"at most {MAX_SIZE}"):
        network_size(10, 10, VIT, size=MAX_SIZE + 1)
    assert min(network_size(10, 10, VIT, size=np.int64(MAX_SIZE))) >= MAX_SIZE
    for size in ("a", 300.5, float("nan")):
        with pytest.raises(InputError, match="number of pixels"):
            network_size(10, 10, VIT, size=size)


def authors_input(pixels: np.ndarray, spec: ModelSpec, hw: tuple[int, int]) -> np.ndarray:
    """The published order of steps, in double precision on the whole picture."""
    image = cv2.resize(pixels / 255.0, (hw[1], hw[0]), interpolation=cv2.INTER_CUBIC)
    return ((image - spec.mean) / spec.std).transpose(2, 0, 1)[None]


@pytest.mark.parametrize("hw", [(518, 784), (252, 378), (518, 56), (14, 2072)])
def test_cubic_is_the_authors_float_path(photo, hw):
    """Stated: at most 1/255 of the pixel range from the authors' path; measured far below."""
    ours = to_input(photo, VIT, hw)
    theirs = authors_input(photo, VIT, hw)
    assert ours.shape == (1, 3, *hw)
    assert ours.dtype == np.float32
    assert ours.flags.c_contiguous
    in_pixel_range = np.abs(ours - theirs) * np.asarray(VIT.std)[:, None, None]
    assert in_pixel_range.max() < 0.02 / 255
    # Bytes would not have done: clipping the overshoot costs whole levels.
    clipped = cv2.resize(photo, (hw[1], hw[0]), interpolation=cv2.INTER_CUBIC)
    assert (
        np.abs(clipped / 255 - (theirs[0].transpose(1, 2, 0) * VIT.std + VIT.mean)).max() > 1 / 255
    )


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (3, 2)])
@pytest.mark.parametrize("spec", [VIT, COMPACT])
def test_tiny_pictures(shape, spec, rng):
    pixels = rng.integers(0, 256, (*shape, 3), dtype=np.uint8)
    hw = network_size(*shape, spec)
    made = to_input(pixels, spec, hw)
    assert made.shape == (1, 3, *hw)
    assert np.isfinite(made).all()
    if spec is VIT:
        np.testing.assert_allclose(made, authors_input(pixels, spec, hw), atol=1e-4)


def test_cubic_makes_no_full_size_float_copy():
    pixels = np.zeros((3000, 4000, 3), np.uint8)
    to_input(pixels[:50, :50], VIT, (28, 28))
    tracemalloc.start()
    to_input(pixels, VIT, (518, 686))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < pixels.size  # a float32 copy would be four times that


def test_area_averages_and_normalizes():
    pixels = np.zeros((64, 64, 3), np.uint8)
    pixels[::2] = 200
    made = to_input(pixels, COMPACT, (32, 32))
    np.testing.assert_allclose(made, (100 / 255 - 0.5) / 0.5, atol=1e-6)


def test_area_still_averages_the_axis_that_shrinks_when_the_other_grows():
    pixels = np.zeros((1, 4000, 3), np.uint8)
    pixels[:, ::2] = 200
    made = to_input(pixels, COMPACT, (256, 1000))
    np.testing.assert_allclose(made, (100 / 255 - 0.5) / 0.5, atol=1e-6)


@given(
    st.integers(1, 24),
    st.integers(1, 24),
    st.integers(1, 90),
    st.integers(1, 90),
    st.integers(0, 9),
)
def test_to_picture_size_is_torch_align_corners(h, w, height, width, seed):
    values = np.random.default_rng(seed).normal(size=(h, w)).astype(np.float32)
    ours = to_picture_size(values, (height, width))
    theirs = torch.nn.functional.interpolate(
        torch.from_numpy(values)[None, None], (height, width), mode="bilinear", align_corners=True
    )
    assert ours.dtype == np.float32
    np.testing.assert_allclose(ours, theirs[0, 0].numpy(), atol=2e-5)


def test_to_picture_size_keeps_a_plane_and_its_corners():
    rows, columns = np.mgrid[0:518, 0:686].astype(np.float32)
    plane = 3 * rows / 517 - 2 * columns / 685 + 1
    big = to_picture_size(plane, (1500, 2000))
    assert big[0, 0] == plane[0, 0]
    np.testing.assert_allclose(big[-1, -1], plane[-1, -1], atol=1e-5)
    np.testing.assert_allclose(np.diff(big, axis=1), -2 / 1999, atol=2e-6)
    np.testing.assert_allclose(np.diff(big, axis=0), 3 / 1499, atol=2e-6)


def test_to_picture_size_copies_when_nothing_changes():
    values = np.ones((3, 4), np.float32)
    same = to_picture_size(values, (3, 4))
    same[0, 0] = 7
    assert values[0, 0] == 1


def test_not_a_number_stays_local():
    values = np.zeros((10, 10), np.float32)
    values[5, 5] = np.nan
    big = to_picture_size(values, (100, 100))
    assert 100 < np.isnan(big).sum() < 700
    assert np.isfinite(big[:40, :40]).all()


@pytest.mark.slow
def test_twelve_megapixels_take_a_fraction_of_the_network():
    """Both ways together well under half a second, where ViT-S takes about one on a core."""
    pixels = np.zeros((3000, 4000, 3), np.uint8)
    start = time.perf_counter()
    to_input(pixels, VIT, (518, 686))
    to_picture_size(np.zeros((518, 686), np.float32), (3000, 4000))
    assert time.perf_counter() - start < 0.5
