"""Near is warm, far is cool, unknown is gray, and the legend tells the truth."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from sightline.errors import InputError
from sightline.io.color import (
    UNKNOWN,
    add_legend,
    colorize,
    end_labels,
    font_size,
    range_for_display,
    read_color,
    table,
    write_color,
)
from sightline.types import DepthMap, Kind

PALETTES = ["spectral", "turbo", "inferno", "gray"]


def ramp(kind: Kind, height: int = 20, width: int = 30) -> DepthMap:
    """From 1 on the left to 9 on the right; the top left corner is unknown."""
    values = np.tile(np.linspace(1, 9, width, dtype=np.float32), (height, 1))
    valid = np.ones(values.shape, bool)
    valid[:5, :5] = False
    return DepthMap(values, kind, valid, source="model")


@pytest.mark.parametrize("kind", list(Kind))
@pytest.mark.parametrize("palette", PALETTES)
def test_near_is_warm_for_every_kind(kind: Kind, palette: str) -> None:
    pixels = colorize(ramp(kind), lo=1, hi=9, palette=palette)
    near, far = (pixels[-1, -1], pixels[-1, 0])
    if not kind.larger_is_nearer:
        near, far = far, near
    assert near.tolist() == table(palette)[255].tolist()
    assert far.tolist() == table(palette)[0].tolist()
    if palette != "gray":
        assert int(near[0]) - int(near[2]) > int(far[0]) - int(far[2])
    assert (pixels[:5, :5] == UNKNOWN).all()


def test_levels_are_rounded_to_the_nearest() -> None:
    values = np.linspace(0, 1, 256, dtype=np.float32)[None]
    pixels = colorize(DepthMap(values, Kind.RELATIVE_DISPARITY), lo=0, hi=1, palette="gray")
    assert pixels[0, :, 0].tolist() == list(range(256))


def test_values_beyond_the_ends_take_the_end_colors() -> None:
    depth = DepthMap(np.array([[-100.0, 0, 5, 10, 1e30]]), Kind.RELATIVE_DISPARITY)
    pixels = colorize(depth, lo=0, hi=10, palette="gray")
    assert pixels[0, :, 0].tolist() == [0, 0, 128, 255, 255]


def test_small_range_far_from_zero() -> None:
    depth = DepthMap(np.array([[1000.0, 1000.0625, 1000.125]]), Kind.METRIC_DEPTH)
    pixels = colorize(depth, lo=1000, hi=1000.125, palette="gray")
    assert pixels[0, :, 0].tolist() == [255, 127, 0]


def test_spectral_is_colorbrewers() -> None:
    colors = table("spectral")
    assert colors.shape == (256, 3)
    assert colors[0].tolist() == [0x5E, 0x4F, 0xA2]
    assert np.abs(colors[127].astype(int) - [255, 255, 191]).max() <= 2
    for palette in PALETTES:
        assert np.abs(np.diff(table(palette).astype(int), axis=0)).max() <= 16


def test_range_is_by_percentile_and_of_valid_pixels_only() -> None:
    values = np.full((100, 100), 5.0, np.float32)
    values[:50] = 2
    values[0, :20] = 1e6
    valid = np.ones(values.shape, bool)
    valid[-3:] = False
    values[-3:] = -1e6
    assert range_for_display(DepthMap(values, Kind.RELATIVE_DISPARITY, valid)) == (2, 5)
    assert range_for_display(DepthMap(np.full((2, 2), np.nan), Kind.METRIC_DEPTH)) == (0, 1)


def test_range_of_a_large_map_is_close_to_the_exact_one(rng: np.random.Generator) -> None:
    values = rng.random((2000, 1500)).astype(np.float32)
    low, high = range_for_display(DepthMap(values, Kind.RELATIVE_DISPARITY))
    assert low == pytest.approx(0.01, abs=0.002)
    assert high == pytest.approx(0.99, abs=0.002)


def test_single_valid_pixel_off_the_grid_counts() -> None:
    values = np.full((1500, 1500), np.nan, np.float32)
    values[3, 5] = 7
    assert range_for_display(DepthMap(values, Kind.METRIC_DEPTH)) == (7, 7)


@pytest.mark.parametrize("value", [0.0, 1e-38, 3.0, 1e38])
def test_flat_map(value: float) -> None:
    pixels = colorize(DepthMap(np.full((3, 4), value), Kind.RELATIVE_DISPARITY), palette="gray")
    assert (np.abs(pixels.astype(int) - 128) <= 1).all()


@given(arrays(np.float32, (4, 5), elements=st.floats(width=32)), st.sampled_from(list(Kind)))
def test_anything_can_be_shown(values: np.ndarray, kind: Kind) -> None:
    depth = DepthMap(values, kind)
    pixels = colorize(depth)
    assert pixels.shape == (4, 5, 3)
    assert (pixels[~depth.valid] == UNKNOWN).all()


def test_bad_choices(tmp_path: Path) -> None:
    depth = ramp(Kind.METRIC_DEPTH)
    with pytest.raises(InputError, match="no palette 'jet'; use spectral"):
        colorize(depth, palette="jet")  # type: ignore[arg-type]
    for lo, hi in ((2.0, 1.0), (np.nan, 1.0), (0.0, np.inf)):
        with pytest.raises(InputError, match="two numbers in order"):
            colorize(depth, lo=lo, hi=hi)
    with pytest.raises(InputError, match=r"written as \.png"):
        write_color(tmp_path / "a.tif", depth)


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)
@given(
    st.integers(1, 300),
    st.integers(1, 80),
    st.sampled_from(list(Kind)),
    st.sampled_from(PALETTES),
    st.booleans(),
)
def test_round_trip(
    tmp_path: Path, width: int, height: int, kind: Kind, palette: str, legend: bool
) -> None:
    """Pixels without the legend, and the range, come back exactly."""
    values = np.random.default_rng(width * height).random((height, width)).astype(np.float32) + 0.1
    depth = DepthMap(values, kind)
    path = tmp_path / "a.png"
    write_color(path, depth, palette=palette, legend=legend)
    read = read_color(path)
    assert (read.low, read.high) == range_for_display(depth)
    assert read.kind is kind
    assert read.palette == palette
    assert np.array_equal(read.pixels, colorize(depth, palette=palette))
    with Image.open(path) as image:
        size = image.size
    assert size == (width, height) or (legend and size[1] > height and size[0] >= width)


def test_text_in_the_file(tmp_path: Path) -> None:
    write_color(tmp_path / "a.png", ramp(Kind.METRIC_DEPTH), lo=0.5, hi=20)
    with Image.open(tmp_path / "a.png") as image:
        text = image.text
    assert (text["display_low"], text["display_high"]) == ("0.5", "20")
    assert (text["unit"], text["direction"]) == ("m", "larger is farther")


def test_pictures_of_others_are_refused(tmp_path: Path) -> None:
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    with pytest.raises(InputError, match="does not say what range"):
        read_color(tmp_path / "a.png")


def test_labels() -> None:
    assert end_labels(Kind.METRIC_DEPTH, 0.5234, 8.3) == ("near 0.52 m", "8.30 m far")
    assert end_labels(Kind.METRIC_DEPTH, 2.0, 120.0) == ("near 2 m", "120 m far")
    assert end_labels(Kind.METRIC_DISPARITY, 1.5, 0.02) == ("near 1.50 1/m", "0.02 1/m far")
    assert end_labels(Kind.METRIC_DEPTH, 1.001, 1.002) == ("near 1.0010 m", "1.0020 m far")
    assert end_labels(Kind.RELATIVE_DISPARITY, 9.0, 1.0) == ("near", "far")


@pytest.mark.parametrize(
    ("width", "height"), [(1, 1), (32, 24), (640, 480), (4000, 3000), (4000, 40)]
)
@pytest.mark.parametrize("kind", list(Kind))
def test_legend_fits_and_shows_near_on_the_left(width: int, height: int, kind: Kind) -> None:
    colors = table("spectral")
    pixels = np.zeros((height, width, 3), np.uint8)
    sheet = add_legend(pixels, colors, kind, 123.456, 1234.5)
    strip = sheet[height:]
    assert strip.shape[0] < 6 * font_size(width, height)
    # Ink never touches the edge of the sheet: nothing is cut off.
    for edge in (strip[:, 0], strip[:, -1], strip[-1]):
        assert (edge == 255).all()
    middle = strip[strip.shape[0] // 4]
    colored = np.flatnonzero((middle != 255).any(-1))
    inside = colored[len(colored) // 8 : -len(colored) // 8]
    warm = middle[inside, 0].astype(int) - middle[inside, 2]
    assert warm[0] > 0 > warm[-1]
    assert (strip.min(axis=(1, 2)) < 60).sum() >= 5  # there are letters


def ink(width: int, near: float, far: float, kind: Kind = Kind.METRIC_DEPTH) -> np.ndarray:
    """Columns of the color bar that have a dark mark in it."""
    colors = np.full((256, 3), 200, np.uint8)
    sheet = add_legend(np.full((60, width, 3), 200, np.uint8), colors, kind, near, far)
    gap = max(4, round(font_size(width, 60) * 0.6))
    bar = sheet[60 + gap : 60 + gap + font_size(width, 60)]
    return np.asarray((bar[-3] < 100).all(axis=-1))


def test_round_numbers_between_the_ends_stand_where_they_belong() -> None:
    gap = max(4, round(font_size(800, 60) * 0.6))
    length = 800 - 2 * gap
    marks = np.flatnonzero(ink(800, 1.0, 4.6))
    expected = [gap + (length - 1) * (value - 1) / 3.6 for value in (2, 3)]
    for place in expected:
        assert np.abs(marks - place).min() < 1.5
    assert not ink(800, 1.0, 4.6, Kind.RELATIVE_DISPARITY).any()
    assert not ink(800, 2.0, 2.0).any()
