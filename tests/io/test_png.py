"""Our PNG files are read by others, and damaged ones are refused."""

import io

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from sightline.errors import InputError
from sightline.io import png

sides = st.integers(1, 40)


@settings(deadline=None)
@given(st.data())
def test_pillow_and_opencv_read_what_we_write(data: st.DataObject) -> None:
    height, width = data.draw(sides), data.draw(sides)
    gray = data.draw(arrays(np.uint16, (height, width)))
    file = png.encode(gray, {})
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(file))), gray)
    assert np.array_equal(cv2.imdecode(np.frombuffer(file, np.uint8), -1), gray)
    color = data.draw(arrays(np.uint8, (height, width, 3)))
    file = png.encode(color, {})
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(file))), color)
    assert png.read_header(file) == png.Header(width, height, 8, 2)


def test_many_bands_make_one_stream(rng: np.random.Generator) -> None:
    smooth = cv2.GaussianBlur(rng.random((1500, 1700)), (0, 0), 9)
    gray = (smooth * 65535).astype(np.uint16)
    file = png.encode(gray, {"a": "b"})
    assert sum(kind == b"IDAT" for kind, _ in png.chunks(file)) > 2
    image = Image.open(io.BytesIO(file))
    image.verify()
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(file))), gray)
    assert png.encode(gray, {"a": "b"}) == file


keywords = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=79)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=40)


@settings(deadline=None)
@given(st.dictionaries(keywords, words, max_size=5))
def test_text_comes_back_here_and_in_pillow(text: dict[str, str]) -> None:
    file = png.encode(np.zeros((1, 1), np.uint16), text)
    assert png.read_text(file) == text
    assert Image.open(io.BytesIO(file)).text == text


def test_text_of_others() -> None:
    """Pillow's compressed text is passed over, its plain text read."""
    from PIL.PngImagePlugin import PngInfo

    info = PngInfo()
    info.add_text("plain", "naïve")
    info.add_itxt("international", "日本", lang="ja", tkey="x")
    info.add_text("packed", "x" * 100, zip=True)
    stream = io.BytesIO()
    Image.new("L", (2, 2)).save(stream, "PNG", pnginfo=info)
    assert png.read_text(stream.getvalue()) == {"plain": "naïve", "international": "日本"}


def test_keyword_must_be_one() -> None:
    with pytest.raises(ValueError, match="keyword"):
        png.encode(np.zeros((1, 1), np.uint16), {"": "x"})


def test_damage_is_found() -> None:
    file = png.encode(np.arange(600, dtype=np.uint16).reshape(20, 30), {"a": "b"})
    png.check(file)
    for cut in range(0, len(file) - 1, 7):
        with pytest.raises(InputError, match=r"truncated|not a PNG"):
            png.check(file[:cut])
    for at in range(8, len(file), 5):
        broken = bytearray(file)
        broken[at] ^= 0x10
        with pytest.raises(InputError, match=r"truncated|damaged"):
            png.check(bytes(broken))


def test_first_chunk() -> None:
    file = png.encode(np.zeros((1, 1), np.uint16), {"a": "b"})
    assert png.first_chunk(file, b"tEXt") == b"a\0b"
    assert png.first_chunk(file, b"eXIf") is None
    assert png.first_chunk(file, b"IEND") is None
