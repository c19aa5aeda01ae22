"""Every way to hand over a picture ends in the same pixels; what is no picture is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from sightline.depth.preprocessing import as_picture
from sightline.errors import InputError
from sightline.types import CameraSource


def test_path_bytes_stream_pillow_and_array_agree(photo, tmp_path):
    path = tmp_path / "photo.png"
    Image.fromarray(photo).save(path)
    for image in (path, str(path), path.read_bytes(), io.BytesIO(path.read_bytes()), photo):
        assert np.array_equal(as_picture(image).pixels, photo)
    picture = as_picture(Image.open(path))
    assert np.array_equal(picture.pixels, photo)
    assert picture.camera.source is CameraSource.ASSUMED
    assert as_picture(picture) is picture


def test_arrays_of_other_channels_and_floats(photo):
    gray = photo[..., 0]
    for image in (gray, gray[..., None], gray / 255.0, (gray / 255).astype(np.float16)):
        pixels = as_picture(image).pixels
        assert pixels.shape == photo.shape
        assert np.abs(pixels.astype(int) - gray[..., None]).max() <= 1
    clear = np.dstack([photo, np.zeros_like(gray)])
    assert (as_picture(clear).pixels == 255).all()
    solid = np.dstack([photo, np.full_like(gray, 255)])
    assert np.array_equal(as_picture(solid).pixels, photo)


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (np.zeros((4, 4, 2), np.uint8), "H×W×3"),
        (np.zeros((1, 4, 4, 3), np.uint8), "H×W×3"),
        (np.zeros((0, 4, 3), np.uint8), "H×W×3"),
        (np.zeros(9, np.uint8), "H×W×3"),
        (np.zeros((4, 4), np.int32), "uint8, or float"),
        (np.zeros((4, 4), np.uint16), "uint8, or float"),
        (np.zeros((4, 4), bool), "uint8, or float"),
        (np.full((4, 4), np.nan), "within 0–1"),
        (np.full((4, 4), np.inf), "within 0–1"),
        (np.full((4, 4), 200.0), "divide 8-bit values by 255"),
        (np.full((4, 4), -0.1), "within 0–1"),
        ([[1, 2], [3, 4]], "a list is not a picture"),
        (None, "a NoneType is not a picture"),
        (b"", "empty"),
    ],
)
def test_what_is_no_picture(image, words):
    with pytest.raises(InputError, match=words):
        as_picture(image)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "1", "RGBA", "CMYK", "YCbCr", "I", "I;16", "F"])
def test_pillow_modes(photo, mode):
    if mode in ("I", "I;16"):
        image = Image.fromarray(photo[..., 0].astype(np.uint16) * 257)
        image = image if mode == "I;16" else image.convert("I")
    elif mode == "F":
        image = Image.fromarray((photo[..., 0] / 255).astype(np.float32))
    else:
        image = Image.fromarray(photo).convert(mode)
    assert image.mode == mode
    pixels = as_picture(image).pixels
    assert pixels.shape == photo.shape
    assert pixels.dtype == np.uint8
    assert np.corrcoef(pixels[..., 0].ravel(), photo[..., 0].ravel())[0, 1] > (
        0.4 if mode == "1" else 0.6
    )


def test_pillow_is_turned_upright_with_the_camera_of_its_exif(photo):
    image = Image.fromarray(photo)
    block = Image.Exif()
    block[0x0112] = 6
    block.get_ifd(0x8769)[0xA405] = 28
    data = io.BytesIO()
    image.save(data, "jpeg", exif=block, quality=95)
    opened = as_picture(Image.open(data))
    read = as_picture(data.getvalue())
    assert opened.pixels.shape == (photo.shape[1], photo.shape[0], 3)
    assert np.abs(opened.pixels.astype(int) - read.pixels).mean() < 1
    assert opened.camera.source is CameraSource.EXIF
    assert opened.camera.focal == pytest.approx(read.camera.focal)


def test_truncated_pillow_file(photo):
    data = io.BytesIO()
    Image.fromarray(photo).save(data, "jpeg")
    with pytest.raises(InputError, match="cannot be decoded"):
        as_picture(Image.open(io.BytesIO(data.getvalue()[:2000])))
