"""Float maps: rows from the bottom up, either byte order, nothing missing and nothing left over."""

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from sightline.errors import InputError
from sightline.io.pfm import read_pfm

FLOATS = st.floats(width=32, allow_nan=True)


def pfm(values, *, order="<", scale=1.0, end=b"\n"):
    """An independent writer, from the format's description."""
    height, width = values.shape[:2]
    sign = -scale if order == "<" else scale
    words = [b"PF" if values.ndim == 3 else b"Pf", f"{width} {height}".encode(), str(sign).encode()]
    return b"\n".join(words) + end + values[::-1].astype(f"{order}f4").tobytes()


@given(
    arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=FLOATS),
    st.sampled_from("<>"),
    st.sampled_from([b"\n", b"\r\n", b" "]),
)
def test_any_map_comes_back(tmp_path_factory, values, order, end):
    path = tmp_path_factory.mktemp("pfm") / "a.pfm"
    # A first value whose bytes begin with a line feed would be eaten by a careless reader.
    path.write_bytes(pfm(values, order=order, scale=2.5, end=end))
    found, scale = read_pfm(path)
    assert scale == 2.5
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, values)


def test_opencv_reads_the_same(tmp_path):
    values = np.arange(12, dtype=np.float32).reshape(3, 4) / 7
    (tmp_path / "a.pfm").write_bytes(pfm(values))
    other = cv2.imread(str(tmp_path / "a.pfm"), cv2.IMREAD_UNCHANGED)
    np.testing.assert_array_equal(read_pfm(tmp_path / "a.pfm")[0], other)


def test_color_has_three_channels(tmp_path):
    values = np.arange(24, dtype=np.float32).reshape(2, 4, 3)
    (tmp_path / "a.pfm").write_bytes(pfm(values))
    np.testing.assert_array_equal(read_pfm(tmp_path / "a.pfm")[0], values)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"P5\n2 1\n255\n\0\0", "is not a PFM file"),
        (b"Pf\n2 1\n-1.0\n" + bytes(7), r"is truncated \(7 of 8 bytes\)"),
        (b"Pf\n2 1\n-1.0\n" + bytes(9), "is followed by something else"),
        (b"Pf\n2 1\n0\n" + bytes(8), "scale that is no number"),
        (b"Pf\n2 1\nnan\n" + bytes(8), "scale that is no number"),
        (b"Pf\n2 1\nabc\n" + bytes(8), "scale that is no number"),
        (b"Pf\n0 1\n-1.0\n", "has no pixels"),
        (b"Pf\n99999999 99999999\n-1.0\n", "more than the limit"),
        (b"Pf\n-2 1\n-1.0\n" + bytes(8), "is not a PFM file"),
        (b"", "is empty"),
    ],
)
def test_damage_is_named(tmp_path, data, message):
    path = tmp_path / "bad.pfm"
    path.write_bytes(data)
    with pytest.raises(InputError, match=rf"bad\.pfm: .*{message}"):
        read_pfm(path)
