import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sightline.io.pixels import linear_to_srgb, srgb_to_linear, to_rgb8, tone_map


def test_16_bits_are_divided_by_257_and_rounded() -> None:
    every = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    assert np.array_equal(to_rgb8(every)[..., 1], np.rint(every / 257))


def test_8_bits_stay() -> None:
    every = np.arange(256, dtype=np.uint8).reshape(16, 16)
    assert np.array_equal(to_rgb8(every), np.stack([every] * 3, -1))


@given(st.integers(0, 255), st.integers(0, 255))
def test_alpha_is_a_mix_with_white(level: int, alpha: int) -> None:
    pixel = np.array([[[level, alpha]]], np.uint8)
    expected = level * alpha / 255 + 255 - alpha
    assert abs(int(to_rgb8(pixel)[0, 0, 0]) - expected) <= 0.5 + 1e-3
    premultiplied = np.array([[[level * alpha // 255, alpha]]], np.uint8)
    assert abs(int(to_rgb8(premultiplied, premultiplied=True)[0, 0, 0]) - expected) <= 1.5


def test_srgb_curve_inverts() -> None:
    levels = np.arange(256) / 255
    assert np.allclose(linear_to_srgb(srgb_to_linear(levels)), levels, atol=1e-7)
    assert srgb_to_linear(np.array(0.5)) == pytest.approx(0.21404, abs=1e-5)


@given(
    arrays(
        np.float32, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(width=32)
    )
)
def test_tone_map_takes_anything(light: np.ndarray) -> None:
    shown = tone_map(light[..., None])
    assert shown.shape == (*light.shape, 3)
    assert (shown[~np.isfinite(light) | (light <= 0)] == 0).all()


def test_tone_map_keeps_order_and_does_not_care_for_the_unit_of_light(
    rng: np.random.Generator,
) -> None:
    light = np.exp(rng.normal(0, 2, (30, 40, 3))).astype(np.float32)
    gray = light[..., :1]
    order = np.argsort(gray.ravel())
    assert (np.diff(tone_map(gray)[..., 0].ravel()[order].astype(int)) >= 0).all()
    difference = tone_map(light).astype(int) - tone_map(light * np.float32(1000))
    assert np.abs(difference).max() <= 1


def test_middle_gray() -> None:
    flat = tone_map(np.full((4, 4, 3), 7.0, np.float32))
    assert np.abs(flat.astype(int) - round(255 * float(linear_to_srgb(np.array(0.18))))).max() <= 1
