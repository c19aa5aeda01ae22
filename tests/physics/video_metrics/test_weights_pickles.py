from __future__ import annotations

import pickle
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sightline.errors import InputError
from sightline.physics.video_metrics.weights import read_arrays


class Runs:
    """Unpickles to the result of a call."""

    def __init__(self, function, *words):
        self.call = (function, words)

    def __reduce__(self):
        return self.call


def written(path: Path, value: object, protocol: int = 4) -> Path:
    path.write_bytes(pickle.dumps(value, protocol))
    return path


@given(
    array=hnp.arrays(
        st.sampled_from(["<f4", ">f4", "<f8", "<f2", "<i4", "<i8", "u1"]),
        hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4),
    ),
    fortran=st.booleans(),
    protocol=st.integers(3, 4),
)
def test_arrays_survive(tmp_path_factory, array: np.ndarray, fortran: bool, protocol: int):
    given_array = np.asfortranarray(array) if fortran and array.ndim else array
    path = tmp_path_factory.mktemp("p") / "a.ckpt"
    written(path, {"layer": {"kernel": given_array}, "other": given_array}, protocol)
    tree = read_arrays(path)
    assert list(tree) == ["layer", "other"]
    for found in (tree["layer"]["kernel"], tree["other"]):
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array)


def test_files_of_before_numpy_2_are_read(tmp_path: Path):
    data = pickle.dumps({"a": np.arange(3, dtype="f4")}, 3)
    assert b"numpy._core.multiarray" in data
    old = tmp_path / "old.ckpt"
    old.write_bytes(data.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    np.testing.assert_array_equal(read_arrays(old)["a"], [0, 1, 2])


def test_a_hostile_pickle_is_refused_and_not_run(tmp_path: Path):
    trace = tmp_path / "trace"
    for number, function in enumerate(
        [Path.touch, subprocess.call, eval, np.load, np.fromfile, np.frombuffer, getattr]
    ):
        words = (trace,) if function is Path.touch else (f"touch {trace}",)
        path = written(tmp_path / f"{number}.ckpt", {"a": Runs(function, *words)})
        with pytest.raises(InputError, match=r"it asks for .*refused"):
            read_arrays(path)
    assert not trace.exists()


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ({"a": np.array([{}], object)}, "not of plain numbers"),
        ({"a": np.zeros(2, [("x", "f4")])}, "not of plain numbers"),
        ({"a": np.array(["text"])}, "not of plain numbers"),
        ({"a": Runs(np.ndarray, (1 << 40,))}, "unusual way"),
        ({"a": np.float32(1)}, "it asks for numpy.*scalar"),
        ({"a": 3}, "other than arrays"),
        ({"a": [np.zeros(2)]}, "other than arrays"),
        ({1: np.zeros(2)}, "without a name"),
        (np.zeros(2), "other than arrays"),
    ],
)
def test_anything_but_arrays_by_name_is_refused(tmp_path: Path, value: object, reason: str):
    with pytest.raises(InputError, match=reason):
        read_arrays(written(tmp_path / "a.ckpt", value))


def assembled(shape: bytes, dtype_state: bytes, data: bytes) -> bytes:
    """A pickle of one array in plain opcodes; the arguments are opcodes of their own."""
    reconstruct = b"cnumpy._core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(K\x00tC\x01btR"
    dtype = b"cnumpy\ndtype\n(X\x02\x00\x00\x00f4I00\nI01\ntR" + dtype_state
    return (
        b"}X\x01\x00\x00\x00a" + reconstruct + b"(K\x01" + shape + dtype + b"I00\n" + data + b"tbs."
    )


PLAIN = b"(K\x03X\x01\x00\x00\x00<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
FOUR = b"C\x04" + struct.pack("<f", 1.5)


def test_the_assembled_pickle_is_a_good_one(tmp_path: Path):
    (tmp_path / "a.ckpt").write_bytes(assembled(b"(K\x01t", PLAIN, FOUR))
    assert read_arrays(tmp_path / "a.ckpt")["a"] == [1.5]


@pytest.mark.parametrize(
    "data",
    [
        assembled(b"(K\x02t", PLAIN, FOUR),
        assembled(b"(J\xff\xff\xff\xfft", PLAIN, FOUR),
        assembled(b"(X\x01\x00\x00\x00xt", PLAIN, FOUR),
        assembled(b"N", PLAIN, FOUR),
        assembled(b"(K\x01t", PLAIN, b"N"),
        # fields of its own, which NumPy would take the bytes apart by
        assembled(b"(K\x01t", PLAIN.replace(b"<NNN", b"<N}}"), FOUR),
        assembled(b"(K\x01t", PLAIN.replace(b"X\x01\x00\x00\x00<", b"X\x01\x00\x00\x00O"), FOUR),
        # a state put on a name, so that later readers would use another meaning
        b"cnumpy\ndtype\n}X\x01\x00\x00\x00xK\x01sb.",
        b"cnumpy._core.multiarray\n_reconstruct\n(N}tb.",
        b"\x80\x04r\xff\xff\xff\x7f.",
        b"",
        b"not a pickle",
        assembled(b"(K\x01t", PLAIN, FOUR)[:-9],
    ],
)
def test_malformed_pickles_are_refused_in_one_line(tmp_path: Path, data: bytes):
    (tmp_path / "a.ckpt").write_bytes(data)
    with pytest.raises(InputError, match="not a plain pickle of NumPy arrays") as caught:
        read_arrays(tmp_path / "a.ckpt")
    assert "\n" not in str(caught.value)


def test_a_missing_file(tmp_path: Path):
    with pytest.raises(InputError, match="cannot be read"):
        read_arrays(tmp_path / "none.ckpt")
