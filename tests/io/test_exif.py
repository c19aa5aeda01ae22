"""EXIF is read right when it is right, and never trusted."""

import math
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from sightline.io import exif
from sightline.types import Camera, CameraSource


def block(main: dict[int, object] | None = None, inner: dict[int, object] | None = None) -> bytes:
    """An EXIF block as Pillow writes it: an independent encoder."""
    tags = Image.Exif()
    tags.update(main or {})
    if inner:
        tags.get_ifd(exif.EXIF_DIRECTORY).update(inner)
    return tags.tobytes()


@pytest.mark.parametrize("value", range(1, 9))
def test_orientation(value: int) -> None:
    assert exif.orientation(exif.parse(block({exif.ORIENTATION: value}))) == value


@pytest.mark.parametrize("value", [0, 9, 65535])
def test_orientation_out_of_range_is_as_it_is(value: int) -> None:
    assert exif.orientation(exif.parse(block({exif.ORIENTATION: value}))) == 1


def test_big_endian() -> None:
    entry = struct.pack(">HHIHH", exif.ORIENTATION, 3, 1, 6, 0)
    data = b"MM\0*" + struct.pack(">IH", 8, 1) + entry + b"\0\0\0\0"
    assert exif.orientation(exif.parse(data)) == 6


def test_focal_length_35mm() -> None:
    tags = exif.parse(block(inner={exif.FOCAL_LENGTH_35MM: 28, exif.FOCAL_LENGTH: IFDRational(5)}))
    camera = exif.camera(tags, 3000, 4000, turned=True)
    assert camera.source is CameraSource.EXIF
    assert camera.focal == pytest.approx(28 * 5000 / math.hypot(36, 24))
    assert (camera.width, camera.height) == (3000, 4000)


@pytest.mark.parametrize(("unit", "mm"), [(2, 25.4), (3, 10.0), (4, 1.0), (None, 25.4)])
@pytest.mark.parametrize("turned", [False, True])
def test_focal_length_with_sensor(unit: int | None, mm: float, turned: bool) -> None:
    """A 50 mm lens on a sensor 36 mm wide, with 6000 pixels: 50 / 36 · 6000 pixels."""
    inner: dict[int, object] = {
        exif.FOCAL_LENGTH: IFDRational(50),
        exif.FOCAL_PLANE_X_RESOLUTION: IFDRational(round(6000 / 36 * mm * 1000), 1000),
    }
    if unit is not None:
        inner[exif.FOCAL_PLANE_UNIT] = unit
    size = (4000, 6000) if turned else (6000, 4000)
    camera = exif.camera(exif.parse(block(inner=inner)), *size, turned=turned)
    assert camera.source is CameraSource.EXIF
    assert camera.focal == pytest.approx(50 / 36 * 6000, rel=1e-4)


def test_picture_scaled_since_it_was_taken() -> None:
    inner = {
        exif.FOCAL_LENGTH: IFDRational(50),
        exif.FOCAL_PLANE_X_RESOLUTION: IFDRational(6000, 36),
        exif.FOCAL_PLANE_UNIT: 4,
        exif.PIXEL_WIDTH: 6000,
    }
    camera = exif.camera(exif.parse(block(inner=inner)), 1500, 1000, turned=False)
    assert camera.focal == pytest.approx(50 / 36 * 1500, rel=1e-6)


@pytest.mark.parametrize(
    "inner",
    [
        {},
        {exif.FOCAL_LENGTH_35MM: 0},
        {exif.FOCAL_LENGTH_35MM: 65535},
        {exif.FOCAL_LENGTH: IFDRational(0, 0), exif.FOCAL_PLANE_X_RESOLUTION: IFDRational(1)},
        {exif.FOCAL_LENGTH: IFDRational(50)},
        {exif.FOCAL_LENGTH: IFDRational(50), exif.FOCAL_PLANE_X_RESOLUTION: IFDRational(0, 1)},
        {exif.FOCAL_LENGTH: IFDRational(50), exif.FOCAL_PLANE_X_RESOLUTION: IFDRational(1, 9999)},
    ],
)
def test_nonsense_gives_the_assumed_camera(inner: dict[int, object]) -> None:
    camera = exif.camera(exif.parse(block(inner=inner)), 400, 300, turned=False)
    assert camera.source is CameraSource.ASSUMED
    assert np.array_equal(camera.K, Camera.assumed(400, 300).K)


@given(st.binary(max_size=200), st.sampled_from([b"", b"Exif\0\0", b"II*\0\x08\0\0\0", b"MM\0*"]))
def test_garbage_never_raises(garbage: bytes, head: bytes) -> None:
    tags = exif.parse(head + garbage)
    assert exif.orientation(tags) in range(1, 9)
    camera = exif.camera(tags, 40, 30, turned=False)
    assert math.isfinite(camera.focal)


@given(st.data())
def test_damaged_block_never_raises(data: st.DataObject) -> None:
    whole = bytearray(
        block(
            {exif.ORIENTATION: 6}, {exif.FOCAL_LENGTH_35MM: 28, exif.FOCAL_LENGTH: IFDRational(5)}
        )
    )
    for _ in range(data.draw(st.integers(1, 6))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    tags = exif.parse(bytes(whole[: data.draw(st.integers(0, len(whole)))]))
    exif.camera(tags, 40, 30, turned=exif.orientation(tags) >= 5)


def test_directory_that_points_at_itself_ends() -> None:
    entry = struct.pack("<HHII", exif.EXIF_DIRECTORY, 4, 1, 8)
    assert exif.parse(b"II*\0" + struct.pack("<IH", 8, 1) + entry) == {exif.EXIF_DIRECTORY: (8,)}
