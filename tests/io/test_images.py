"""One reader, right for every kind of picture people have."""

import contextlib
import io
import os
import struct
import threading
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageOps, features

from sightline.errors import InputError
from sightline.io import exif, image_decoding
from sightline.io.images import PICTURE_SUFFIXES, read_picture
from sightline.types import CameraSource


def saved(image: Image.Image, kind: str, **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def read(data: bytes) -> np.ndarray:
    pixels = read_picture(data).pixels
    assert pixels.dtype == np.uint8
    assert pixels.ndim == 3
    assert pixels.shape[2] == 3
    assert pixels.flags.c_contiguous
    return pixels


@pytest.fixture(scope="module")
def scene() -> Image.Image:
    """40×24, with no symmetry, in soft colors that survive JPEG."""
    y, x = np.mgrid[0:24, 0:40]
    return Image.fromarray(np.stack([x * 6, y * 10, 200 - x * 2 - y * 3], -1).astype(np.uint8))


# ---- formats ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "PPM", "GIF", "WEBP", "JPEG2000"])
def test_lossless_formats(scene: Image.Image, kind: str) -> None:
    image = scene.quantize(200) if kind == "GIF" else scene
    options = {"lossless": True} if kind == "WEBP" else {}
    data = saved(image, kind, **options)
    assert np.array_equal(read(data), np.asarray(image.convert("RGB")))


def test_big_tiff(scene: Image.Image) -> None:
    assert np.array_equal(read(saved(scene, "TIFF", big_tiff=True)), np.asarray(scene))


@pytest.mark.parametrize("kind", ["JPEG", "WEBP", "AVIF"])
def test_lossy_formats(scene: Image.Image, kind: str) -> None:
    if kind == "AVIF" and not features.check("avif"):
        pytest.skip("this Pillow has no AVIF")
    pixels = read(saved(scene, kind, quality=95))
    assert np.abs(pixels.astype(int) - np.asarray(scene)).mean() < 3


@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"subsampling": 0}])
def test_jpeg_has_pillows_pixels(photo: np.ndarray, options: dict[str, object]) -> None:
    data = saved(Image.fromarray(photo), "JPEG", quality=90, **options)
    assert np.array_equal(read(data), np.asarray(Image.open(io.BytesIO(data))))


def test_suffixes() -> None:
    assert {".jpg", ".jpeg", ".png", ".tif", ".webp", ".avif", ".exr"} <= PICTURE_SUFFIXES
    assert all(suffix == suffix.lower() and suffix[0] == "." for suffix in PICTURE_SUFFIXES)


def test_content_decides_not_the_suffix(tmp_path: Path, scene: Image.Image) -> None:
    path = tmp_path / "really a png.jpg"
    path.write_bytes(saved(scene, "PNG"))
    picture = read_picture(path)
    assert np.array_equal(picture.pixels, np.asarray(scene))
    assert picture.path == path


def test_sources(tmp_path: Path, scene: Image.Image) -> None:
    data = saved(scene, "PNG")
    (tmp_path / "a.png").write_bytes(data)
    for source in (data, io.BytesIO(data), tmp_path / "a.png", str(tmp_path / "a.png")):
        picture = read_picture(source)
        assert np.array_equal(picture.pixels, np.asarray(scene))
        assert (picture.width, picture.height) == (40, 24)


def test_one_pixel() -> None:
    for kind in ("PNG", "JPEG", "TIFF"):
        assert read(saved(Image.new("RGB", (1, 1), "white"), kind)).tolist() == [[[255] * 3]]


# ---- rotation -----------------------------------------------------------------------------------


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
def test_all_orientations(scene: Image.Image, kind: str, turn: int) -> None:
    """The same as Pillow's own transposition of the stored picture."""
    if kind == "AVIF" and not features.check("avif"):
        pytest.skip("this Pillow has no AVIF")
    tags = Image.Exif()
    tags[exif.ORIENTATION] = turn
    tags.get_ifd(exif.EXIF_DIRECTORY)[exif.FOCAL_LENGTH_35MM] = 35
    options = {"lossless": True} if kind == "WEBP" else {}
    data = saved(scene, kind, exif=tags, **options)
    expected = ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB")
    picture = read_picture(data)
    assert (picture.width, picture.height) == ((24, 40) if turn >= 5 else (40, 24))
    assert np.array_equal(picture.pixels, np.asarray(expected))
    assert (picture.camera.width, picture.camera.height) == expected.size
    if kind in ("JPEG", "PNG", "WEBP"):  # Pillow leaves the lens out of the others
        assert picture.camera.source is CameraSource.EXIF


@pytest.mark.parametrize("turn", range(1, 9))
@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_orientation_of_deep_color_tiff(scene: Image.Image, turn: int, dtype: type) -> None:
    """Written by OpenCV, with the orientation tag put in afterwards."""
    wide = np.asarray(scene).astype(dtype) * dtype(257 if dtype is np.uint16 else 1 / 255)
    data = cv2.imencode(".tiff", np.ascontiguousarray(wide[..., ::-1]))[1].tobytes()
    data = with_tiff_tag(data, exif.ORIENTATION, turn)
    reference = Image.Exif()
    reference[exif.ORIENTATION] = turn
    expected = ImageOps.exif_transpose(Image.open(io.BytesIO(saved(scene, "PNG", exif=reference))))
    assert np.array_equal(read(data), np.asarray(expected))


def with_tiff_tag(data: bytes, tag: int, value: int) -> bytes:
    """Move the directory of a little-endian TIFF to its end, with one short tag more."""
    (offset,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<H", data, offset)
    entries = [data[offset + 2 + 12 * n : offset + 14 + 12 * n] for n in range(count)]
    entries = [entry for entry in entries if struct.unpack_from("<H", entry)[0] != tag]
    entries.append(struct.pack("<HHIHH", tag, 3, 1, value, 0))
    entries.sort(key=lambda entry: struct.unpack_from("<H", entry)[0])
    data += b"\0" * (len(data) % 2)
    directory = struct.pack("<H", len(entries)) + b"".join(entries) + b"\0\0\0\0"
    return data[:4] + struct.pack("<I", len(data)) + data[8:] + directory


def test_lens_of_a_tiff_on_its_side(scene: Image.Image) -> None:
    """The sensor's pixels are counted along the stored width, which is the upright height."""
    data = saved(scene, "TIFF")
    entries = [
        struct.pack("<HHIHH", exif.FOCAL_PLANE_UNIT, 3, 1, 4, 0),
        struct.pack("<HHIf", exif.FOCAL_LENGTH, 11, 1, 50.0),
        struct.pack("<HHIf", exif.FOCAL_PLANE_X_RESOLUTION, 11, 1, 2.0),
        struct.pack("<HHIHH", exif.PIXEL_WIDTH, 3, 1, 80, 0),
    ]
    offset = len(data)
    data += struct.pack("<H", len(entries)) + b"".join(entries) + b"\0\0\0\0"
    data = with_tiff_tag(with_tiff_tag(data, exif.EXIF_DIRECTORY, offset), exif.ORIENTATION, 6)
    camera = read_picture(data).camera
    assert camera.source is CameraSource.EXIF
    assert camera.focal == pytest.approx(50 * 2.0 * 40 / 80)


def test_no_exif_is_marked_as_assumed(scene: Image.Image) -> None:
    assert read_picture(saved(scene, "JPEG")).camera.source is CameraSource.ASSUMED


def test_garbage_exif_does_not_matter(scene: Image.Image) -> None:
    for garbage in (b"Exif\0\0", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0" + bytes(range(256))):
        picture = read_picture(saved(scene, "JPEG", exif=garbage))
        assert picture.camera.source is CameraSource.ASSUMED
        assert picture.width == 40


# ---- modes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "JPEG", "WEBP"])
def test_grayscale(kind: str) -> None:
    gray = Image.new("L", (8, 8), 77)
    assert np.abs(read(saved(gray, kind)).astype(int) - 77).max() <= 1


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "BMP", "PPM"])
def test_one_bit(kind: str) -> None:
    bits = np.arange(80).reshape(8, 10) % 3 == 0
    pixels = read(saved(Image.fromarray(bits), kind))
    assert np.array_equal(pixels, np.repeat(bits[..., None] * 255, 3, -1))


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF"])
def test_alpha_lies_over_white(kind: str) -> None:
    """Opaque stays, clear is white whatever lies under it, half is half way."""
    rgba = np.zeros((1, 3, 4), np.uint8)
    rgba[0] = [[10, 20, 30, 255], [0, 0, 0, 0], [100, 200, 0, 128]]
    options = {"lossless": True} if kind == "WEBP" else {}
    pixels = read(saved(Image.fromarray(rgba), kind, **options))[0]
    assert pixels[0].tolist() == [10, 20, 30]
    assert pixels[1].tolist() == [255, 255, 255]
    assert np.abs(pixels[2].astype(int) - [177, 227, 127]).max() <= 1


def test_gray_with_alpha() -> None:
    la = np.array([[[50, 255], [50, 0]]], np.uint8)
    assert read(saved(Image.fromarray(la, "LA"), "PNG"))[0].tolist() == [[50] * 3, [255] * 3]


def test_palette_with_transparency() -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putpixel((1, 0), 1)
    assert read(saved(image, "PNG"))[0].tolist() == [[255, 0, 0], [0, 0, 255]]
    for kind in ("PNG", "GIF"):
        clear = read(saved(image, kind, transparency=1))
        assert clear[0].tolist() == [[255, 0, 0], [255, 255, 255]]
    half = read(saved(image, "PNG", transparency=bytes([255, 128])))
    assert half[0].tolist() == [[255, 0, 0], [127, 127, 255]]


def test_cmyk_tiff_and_adobe_jpeg() -> None:
    """Pure cyan, nothing else: R 0, G and B full."""
    cyan = Image.new("CMYK", (16, 16), (255, 0, 0, 0))
    for kind in ("TIFF", "JPEG"):
        assert np.abs(read(saved(cyan, kind)).astype(int) - [0, 255, 255]).max() <= 4


def test_cmyk_jpeg_without_adobes_mark_is_not_inverted() -> None:
    data = saved(Image.new("CMYK", (16, 16), (255, 0, 0, 0)), "JPEG")
    at = data.index(b"\xff\xeeb"[:2] + b"\0\x0eAdobe")
    plain = data[:at] + data[at + 16 :]
    # Adobe's numbers read as plain ones are their complement: no cyan, but all of M, Y and K.
    assert read(plain).max() <= 4


@pytest.mark.parametrize("kind", ["PNG", "TIFF"])
def test_16_bit_gray(kind: str) -> None:
    levels = np.array([[0, 128, 129, 257, 32768, 65278, 65406, 65407, 65535]], np.uint16)
    pixels = read(saved(Image.fromarray(levels), kind))
    assert pixels[0, :, 0].tolist() == [0, 0, 1, 1, 128, 254, 254, 255, 255]


def test_16_bit_gray_where_white_is_zero() -> None:
    levels = np.array([[0, 65535]], np.uint16)
    data = with_tiff_tag(saved(Image.fromarray(levels), "TIFF"), 262, 0)
    assert read(data)[0, :, 0].tolist() == [255, 0]


@pytest.mark.parametrize("suffix", [".png", ".tiff"])
def test_16_bit_color_rounds_and_keeps_channels(suffix: str, rng: np.random.Generator) -> None:
    wide = rng.integers(0, 65536, (20, 30, 3)).astype(np.uint16)
    data = cv2.imencode(suffix, np.ascontiguousarray(wide[..., ::-1]))[1].tobytes()
    assert np.array_equal(read(data), np.rint(wide / 257))


@pytest.mark.parametrize("suffix", [".png", ".tiff"])
def test_16_bit_alpha(suffix: str) -> None:
    rgba = np.array([[[1, 2, 65535, 65535], [0, 0, 0, 0], [0, 0, 65535, 32768]]], np.uint16)
    data = cv2.imencode(suffix, rgba[..., [2, 1, 0, 3]])[1].tobytes()
    assert read(data)[0].tolist() == [[0, 0, 255], [255] * 3, [127, 127, 255]]


def test_16_bit_png_with_rotation(scene: Image.Image) -> None:
    tags = Image.Exif()
    tags[exif.ORIENTATION] = 6
    gray = np.asarray(scene.convert("L")).astype(np.uint16) * 257
    pixels = read(saved(Image.fromarray(gray), "PNG", exif=tags))
    assert np.array_equal(pixels[..., 0], np.rot90(gray // 257, -1))


@pytest.mark.parametrize("channels", [1, 3])
def test_float_tiff(channels: int) -> None:
    """0–1 is shown as it is; beyond, it is light."""
    ramp = np.linspace(0, 1, 64, dtype=np.float32).reshape(8, 8)
    pixels = np.repeat(ramp[..., None], channels, -1).squeeze()
    data = cv2.imencode(".tiff", pixels)[1].tobytes()
    assert np.array_equal(read(data)[..., 0], np.floor(ramp * 255 + 0.5))
    bright = read(cv2.imencode(".tiff", pixels * 50)[1].tobytes())[..., 0].ravel().astype(int)
    assert (np.diff(bright) >= 0).all()
    assert bright[0] == 0
    assert bright[-1] > 150


@pytest.mark.parametrize("dtype", [np.float64, np.int16, np.int32])
def test_color_tiff_of_other_numbers(dtype: type) -> None:
    """Red is red in any type of number."""
    red = np.zeros((4, 4, 3), dtype)
    red[..., 2] = 1 if dtype is np.float64 else 32767
    pixels = read(cv2.imencode(".tiff", red)[1].tobytes())
    assert pixels[0, 0, 0] >= 127
    assert (pixels[..., 1:] == 0).all()


def test_32_bit_integers(rng: np.random.Generator) -> None:
    values = np.linspace(-1000, 1_000_000, 64).astype(np.int32).reshape(8, 8)
    pixels = read(saved(Image.fromarray(values), "TIFF"))[..., 0]
    assert (pixels[0, 0], pixels[-1, -1]) == (0, 255)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "TIFF", "AVIF"])
def test_animation_gives_the_first_frame(kind: str) -> None:
    if kind == "AVIF" and not features.check("avif"):
        pytest.skip("this Pillow has no AVIF")
    frames = [Image.new("RGB", (16, 16), color) for color in ("red", "lime", "blue")]
    pixels = read(saved(frames[0], kind, save_all=True, append_images=frames[1:]))
    assert np.abs(pixels.astype(int) - [255, 0, 0]).max() <= 6


# ---- high dynamic range -------------------------------------------------------------------------


def light(height: int = 24, width: int = 40) -> np.ndarray:
    """Linear light over five decades, redder to the right."""
    ramp = np.geomspace(1e-2, 1e3, height * width).reshape(height, width)
    return np.stack([ramp, ramp * 0.5, ramp * 0.25], -1).astype(np.float32)


def test_radiance_hdr() -> None:
    data = cv2.imencode(".hdr", np.ascontiguousarray(light()[..., ::-1]))[1].tobytes()
    check_tone_mapped(read(data))
    assert np.array_equal(read(data), read(data))


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_exr(tmp_path: Path, dtype: type) -> None:
    import OpenEXR

    channels = {name: light()[..., n].astype(dtype) for n, name in enumerate("RGB")}
    OpenEXR.File({}, channels).write(str(tmp_path / "a.exr"))
    check_tone_mapped(read_picture(tmp_path / "a.exr").pixels)


def check_tone_mapped(pixels: np.ndarray) -> None:
    rows = pixels[..., 0].astype(int).ravel()
    assert (np.diff(rows) >= 0).all()
    assert rows[0] < 30
    assert rows[-1] > 240
    middle = pixels[12, 20].astype(int)
    assert middle[0] > middle[1] > middle[2]


def test_exr_alpha_and_gray_and_nan(tmp_path: Path) -> None:
    import OpenEXR

    path = tmp_path / "a.exr"
    gray = np.full((4, 5), 0.5, np.float32)
    gray[0, 0] = np.nan
    OpenEXR.File({}, {"Y": gray}).write(str(path))
    pixels = read_picture(path).pixels
    assert pixels[0, 0].tolist() == [0, 0, 0]
    assert pixels[1, 1].min() > 60
    nothing = np.zeros((4, 5), np.float32)
    OpenEXR.File({}, dict.fromkeys("RGBA", nothing)).write(str(path))
    assert read_picture(path).pixels.min() == 255
    OpenEXR.File({}, {"Z": gray}).write(str(path))
    with pytest.raises(InputError, match="no color channels, only Z"):
        read_picture(path)


# ---- bad input ----------------------------------------------------------------------------------


def bomb(width: int = 30000, height: int = 30000, bits: int = 8) -> bytes:
    """A PNG header of that size, and hardly anything behind it."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return (
            struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        )

    header = struct.pack(">IIBBBBB", width, height, bits, 2, 0, 0, 0)
    pixels = chunk(b"IDAT", zlib.compress(bytes(1000)))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + pixels + chunk(b"IEND", b"")


def bombs(tmp_path: Path) -> dict[str, bytes]:
    jpeg = bytearray(saved(Image.new("L", (8, 8)), "JPEG"))
    at = jpeg.index(b"\xff\xc0")
    jpeg[at + 5 : at + 9] = struct.pack(">HH", 30000, 30000)
    gif = bytearray(saved(Image.new("L", (8, 8)), "GIF"))
    gif[6:10] = struct.pack("<HH", 30000, 30000)
    tiff = saved(Image.new("L", (8, 8)), "TIFF")
    deep = cv2.imencode(".tiff", np.zeros((8, 8, 3), np.uint16))[1].tobytes()
    exr = exr_header_of(30000, 30000, tmp_path)
    return {
        "png": bomb(),
        "png16": bomb(bits=16),
        "jpeg": bytes(jpeg),
        "gif": bytes(gif),
        "tiff": with_tiff_tag(with_tiff_tag(tiff, 256, 30000), 257, 30000),
        "deep tiff": with_tiff_tag(with_tiff_tag(deep, 256, 30000), 257, 30000),
        "pnm": b"P5\n30000 30000\n255\n" + bytes(100),
        "hdr": b"#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 30000 +X 30000\n" + bytes(100),
        "exr": exr,
    }


def exr_header_of(width: int, height: int, folder: Path) -> bytes:
    import OpenEXR

    OpenEXR.File({}, {"Y": np.zeros((8, 8), np.float32)}).write(str(folder / "s.exr"))
    small = (folder / "s.exr").read_bytes()
    window = struct.pack("<4i", 0, 0, 7, 7)
    assert window in small
    return small.replace(window, struct.pack("<4i", 0, 0, width - 1, height - 1))


def test_huge_header_is_refused_before_decoding(tmp_path: Path) -> None:
    for name, data in bombs(tmp_path).items():
        start = time.perf_counter()
        with pytest.raises(InputError, match=r"30000×30000 = 900,000,000 .*max_pixels"):
            read_picture(data)
        assert time.perf_counter() - start < 0.5, name


def test_limit_can_be_raised_and_lowered(scene: Image.Image) -> None:
    with pytest.raises(InputError, match="limit of"):
        read_picture(saved(scene, "PNG"), max_pixels=40 * 24 - 1)
    assert read_picture(saved(scene, "PNG"), max_pixels=40 * 24).width == 40
    # Above the limit Pillow has of its own, without a warning.
    wide = cv2.imencode(".jpg", np.zeros((9500, 9500), np.uint8))[1].tobytes()
    assert read_picture(wide).width == 9500


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "AVIF", "PPM"])
def test_truncated(photo: np.ndarray, kind: str) -> None:
    if kind == "AVIF" and not features.check("avif"):
        pytest.skip("this Pillow has no AVIF")
    data = saved(Image.fromarray(photo), kind)
    for part in (0.2, 0.5, 0.9):
        with pytest.raises(InputError, match=r"damaged|truncated"):
            read_picture(data[: int(len(data) * part)])


def test_truncated_jpeg_with_thumbnail(photo: np.ndarray) -> None:
    """The thumbnail's end mark must not be taken for the picture's."""
    thumb = saved(Image.fromarray(photo[::8, ::8]), "JPEG")
    data = saved(Image.fromarray(photo), "JPEG", exif=b"Exif\0\0II*\0\x08\0\0\0\0\0" + thumb)
    assert read(data).shape == photo.shape
    with pytest.raises(InputError, match="truncated"):
        read_picture(data[: len(data) * 3 // 4])


def damaged_jpegs(photo: np.ndarray, **options: object) -> dict[str, bytes]:
    """Whole by their end mark, and yet not whole."""
    data = saved(Image.fromarray(photo), "JPEG", quality=90, **options)
    other_size = bytearray(data)
    at = data.index(b"\xff\xc2" if options else b"\xff\xc0")
    other_size[at + 5 : at + 9] = struct.pack(">HH", 1000, 1000)
    return {"half": data[: len(data) // 2] + b"\xff\xd9", "other size": bytes(other_size)}


@pytest.mark.parametrize("options", [{}, {"progressive": True}])
def test_damaged_jpeg_with_an_end_mark(
    photo: np.ndarray, options: dict[str, object], capfd: pytest.CaptureFixture[str]
) -> None:
    for name, data in damaged_jpegs(photo, **options).items():
        with pytest.raises(InputError, match="damaged or truncated; copy"):
            print(name, read_picture(data).pixels.shape)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("options", [{}, {"progressive": True}])
def test_noise_within_a_jpeg(
    photo: np.ndarray, options: dict[str, object], capfd: pytest.CaptureFixture[str]
) -> None:
    """As a rule it is noticed; now and then the code falls into step again and leaves no trace."""
    data = saved(Image.fromarray(photo), "JPEG", quality=90, **options)
    noticed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        start = int(rng.integers(len(data) // 4, len(data) // 2))
        try:
            read_picture(data[:start] + rng.bytes(200) + data[start + 200 :])
        except InputError:
            noticed += 1
    assert noticed >= 15
    assert capfd.readouterr().err == ""


def test_padded_jpeg_is_whole(photo: np.ndarray, capfd: pytest.CaptureFixture[str]) -> None:
    data = saved(Image.fromarray(photo), "JPEG")
    for padding in (bytes(37), b"\xaa" * 500, b"\x01\x02\x03"):
        assert np.array_equal(read(data[:-2] + padding + b"\xff\xd9"), read(data))
    assert np.array_equal(read(data + b"more of the maker's own"), read(data))
    assert capfd.readouterr().err == ""


def test_damaged_files_print_nothing_on_standard_output(
    tmp_path: Path, photo: np.ndarray, capfd: pytest.CaptureFixture[str]
) -> None:
    import OpenEXR

    channels = {name: photo[..., n].astype(np.float32) for n, name in enumerate("RGB")}
    OpenEXR.File({}, channels).write(str(tmp_path / "a.exr"))
    files = {
        "exr": (tmp_path / "a.exr").read_bytes(),
        "hdr": cv2.imencode(".hdr", photo.astype(np.float32))[1].tobytes(),
        "tiff16": cv2.imencode(".tiff", photo.astype(np.uint16) * 257)[1].tobytes(),
        "lzw": saved(Image.fromarray(photo), "TIFF", compression="tiff_lzw"),
        "deflate": saved(Image.fromarray(photo), "TIFF", compression="tiff_adobe_deflate"),
    }
    for data in files.values():
        bad = bytearray(data)
        bad[len(bad) // 2 : len(bad) // 2 + 3000] = np.random.default_rng(0).bytes(3000)
        for content in (bytes(bad), data[: len(data) * 2 // 3]):
            with contextlib.suppress(InputError):  # noise in floats is a picture too
                read_picture(content)
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("suffix", [".png", ".tiff", ".hdr"])
def test_truncated_deep_pictures(photo: np.ndarray, suffix: str) -> None:
    wide = photo.astype(np.float32) if suffix == ".hdr" else photo.astype(np.uint16) * 257
    data = cv2.imencode(suffix, wide)[1].tobytes()
    for part in (0.3, 0.9):
        with pytest.raises(InputError, match=r"damaged|truncated"):
            read_picture(data[: int(len(data) * part)])


def test_truncated_exr(
    tmp_path: Path, photo: np.ndarray, capfd: pytest.CaptureFixture[str]
) -> None:
    import OpenEXR

    channels = {name: photo[..., n].astype(np.float32) for n, name in enumerate("RGB")}
    OpenEXR.File({}, channels).write(str(tmp_path / "a.exr"))
    data = (tmp_path / "a.exr").read_bytes()
    for part in (0.0005, 0.3, 0.9):
        with pytest.raises(InputError, match="damaged"):
            read_picture(data[: int(len(data) * part)])
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"hello, I am no picture\n" * 10, "is text"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"<!doctype html><html>", "web page"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC"),
        (b"\0\0\0\x18ftypisom\0\0\0\0isommp42", "video"),
        (bytes(range(128, 256)), "not a picture"),
        (b"\xff\xd8\xff", "damaged"),
        (b"\x89PNG\r\n\x1a\n", "truncated"),
        (b"II*\0", "damaged"),
        (b"RIFF\0\0\0\0WEBP", "damaged"),
        (b"BM", "damaged"),
        (b"P6 ", "damaged"),
        (b"v/1\x01", "damaged"),
        (b"#?RADIANCE\nx", "no size"),
    ],
)
def test_what_is_no_picture(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "holiday.jpg"
    path.write_bytes(content)
    with pytest.raises(InputError, match=words) as caught:
        read_picture(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_folder_and_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder, not a picture"):
        read_picture(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_picture(tmp_path / "gone.jpg")
    with pytest.raises(InputError, match="empty"):
        read_picture(b"")


def test_streams_opened_as_text(tmp_path: Path, scene: Image.Image) -> None:
    scene.save(tmp_path / "a.png")
    with (tmp_path / "a.png").open("rb") as stream:
        assert read_picture(stream).width == 40
    with (
        (tmp_path / "a.png").open(encoding="utf-8") as text,
        pytest.raises(InputError, match=r"opened as text; .*binary"),
    ):
        read_picture(text)
    with pytest.raises(InputError, match="opened as text"):
        read_picture(io.StringIO("a picture"))


def test_refusals_speak_no_python() -> None:
    """Nor numbers of a negative width taken for a positive one."""
    bmp = bytearray(saved(Image.new("RGB", (160, 120)), "BMP"))
    bmp[18:22] = struct.pack("<i", -160)
    for data in (b"P6 x y 255\n", b"BM" + bytes(9), bytes(bmp), b"II*\0\x08\0\0\0\x01"):
        with pytest.raises(InputError) as caught:
            read_picture(data)
        assert "(" not in caught.value.problem
        assert "4294967136" not in str(caught.value)
        assert caught.value.remedy


def seeds() -> list[bytes]:
    image = Image.fromarray(np.arange(16 * 12 * 3, dtype=np.uint8).reshape(12, 16, 3))
    kinds = ["JPEG", "PNG", "GIF", "WEBP", "TIFF", "BMP", "PPM", "JPEG2000"]
    deep = [np.zeros((12, 16, 3), np.uint16), np.ones((12, 16, 3), np.float32)]
    pictures = [saved(image, kind) for kind in kinds]
    pictures.append(saved(image.convert("CMYK"), "JPEG"))
    pictures += [cv2.imencode(".tiff", pixels)[1].tobytes() for pixels in deep]
    pictures.append(cv2.imencode(".hdr", deep[1])[1].tobytes())
    return pictures


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_damage_gives_a_picture_or_one_clear_error(data: st.DataObject) -> None:
    whole = bytearray(data.draw(st.sampled_from(seeds())))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        picture = read_picture(bytes(whole), max_pixels=1_000_000)
    except InputError:
        pass
    else:
        assert picture.pixels.shape == (picture.camera.height, picture.camera.width, 3)


def test_decoding_leaves_standard_error_alone_and_runs_in_parallel(
    photo: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two threads decode at the same time, and descriptor 2 stays what it was."""
    together = threading.Barrier(2, timeout=20)
    screen, seen = os.fstat(2), []
    opener = image_decoding._OPENERS["png"]

    def wait_for_the_other(stream: io.BytesIO) -> object:
        together.wait()
        seen.append(os.fstat(2))
        return opener(stream)

    monkeypatch.setitem(image_decoding._OPENERS, "png", wait_for_the_other)
    data = saved(Image.fromarray(photo), "PNG")
    with ThreadPoolExecutor(2) as pool:
        for result in pool.map(read, [data, data]):
            assert np.array_equal(result, photo)
    assert [(one.st_dev, one.st_ino) for one in seen] == [(screen.st_dev, screen.st_ino)] * 2
