"""Videos of a folder, of panels, of a data set; and files that are none."""

import io
import os
import zipfile

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.datasets.mp4 import encode
from sightline.physics.scoring import inputs
from sightline.physics.scoring.inputs import list_videos, number_in, read_frames


def frames(width=32, height=32, count=4):
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (count, height, width, 3), dtype=np.uint8)


def test_names_give_numbers():
    assert number_in("00012") == 12
    assert number_in("00001-00023") == 1023
    assert number_in("sample_7") == 7
    assert number_in("v2_sample_31_final") == 31
    assert number_in("clip") is None
    assert number_in("9" * 40) is None


def test_a_folder_is_listed_in_natural_order(tmp_path):
    for name in ("s10.mp4", "s9.mp4", "s1.npz", "notes.txt"):
        (tmp_path / name).write_bytes(b"x")
    assert [video.name for video in list_videos(tmp_path)] == ["s1", "s9", "s10"]


def test_lossless_mp4_and_npz_give_the_same_frames(tmp_path):
    wanted = frames()
    (tmp_path / "0.mp4").write_bytes(encode(wanted, "lossless"))
    np.savez_compressed(tmp_path / "1.npz", wanted)
    for video in list_videos(tmp_path):
        np.testing.assert_array_equal(video.read(), wanted)


def test_the_right_one_of_three_panels_is_taken(tmp_path):
    wanted = frames(96)
    np.savez(tmp_path / "0.npz", wanted)
    (video,) = list_videos(tmp_path)
    np.testing.assert_array_equal(video.read(), wanted[:, :, 64:])
    np.testing.assert_array_equal(read_frames(tmp_path / "0.npz", "left"), wanted[:, :, :32])
    np.testing.assert_array_equal(read_frames(tmp_path / "0.npz", "whole"), wanted)


def test_panels_are_refused_where_there_are_none(tmp_path):
    np.savez(tmp_path / "0.npz", frames())
    with pytest.raises(InputError, match="not three panels"):
        read_frames(tmp_path / "0.npz", "right")


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((4, 8, 8), np.uint8),
        np.zeros((4, 8, 8, 3), np.float32),
        np.zeros((0, 8, 8, 3), np.uint8),
        np.array([{"a": 1}], dtype=object),
    ],
)
def test_arrays_that_are_no_frames_are_refused(tmp_path, array):
    np.savez(tmp_path / "0.npz", array)
    with pytest.raises(InputError):
        read_frames(tmp_path / "0.npz")


def test_damaged_files_are_named(tmp_path):
    whole = encode(frames(64, 64, 16))
    (tmp_path / "0.mp4").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "1.npz").write_bytes(b"PK\x03\x04 not really")
    with zipfile.ZipFile(tmp_path / "2.npz", "w") as archive:
        archive.writestr("a.npy", b"x")
        archive.writestr("b.npy", b"x")
    for video in list_videos(tmp_path):
        with pytest.raises(InputError, match=f"{video.name}\\."):
            video.read()


def npy_that_claims(*shape, kind="|u1", size=1000):
    """Return an npy whose header claims a shape, with other content behind it."""
    header = io.BytesIO()
    facts = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, facts)
    return header.getvalue() + bytes(size)


@pytest.mark.parametrize(
    ("member", "words"),
    [
        (npy_that_claims(100_000, 512, 512, 3), "more than memory should hold"),
        (npy_that_claims(5000, 8, 8, 3), "more than memory should hold"),
        (npy_that_claims(4, 8, 8, 3, size=10), "is no npz of frames"),
        (npy_that_claims(4, 8, 8, 3, kind="|O"), "holds object of shape"),
        (b"\x80\x04no npy", "is no npz of frames"),
        (b"", "is no npz of frames"),
    ],
)
def test_what_an_npz_claims_is_not_believed(tmp_path, member, words):
    with zipfile.ZipFile(tmp_path / "0.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("frames.npy", member)
    with pytest.raises(InputError, match=words):
        read_frames(tmp_path / "0.npz")


def test_a_small_file_of_many_large_frames_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(inputs, "MOST_BYTES", 10 * 64 * 64 * 3)
    (tmp_path / "0.mp4").write_bytes(encode(frames(64, 64, 11)))
    (tmp_path / "1.mp4").write_bytes(encode(frames(64, 64, 10)))
    np.savez(tmp_path / "2.npz", frames(64, 64, 11))
    with pytest.raises(InputError, match="more frames than memory should hold"):
        read_frames(tmp_path / "0.mp4")
    assert len(read_frames(tmp_path / "1.mp4")) == 10
    with pytest.raises(InputError, match="more than memory should hold"):
        read_frames(tmp_path / "2.npz")


def test_an_array_may_have_any_name_and_order(tmp_path):
    wanted = frames()
    np.savez_compressed(tmp_path / "0.npz", video=np.asfortranarray(wanted))
    found = read_frames(tmp_path / "0.npz")
    np.testing.assert_array_equal(found, wanted)
    assert found.flags.c_contiguous


def test_pipes_and_folders_are_named_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "0.mp4")
    os.mkfifo(tmp_path / "1.npz")
    (tmp_path / "2.mp4").mkdir()
    for video, what in zip(list_videos(tmp_path), ("pipe", "pipe", "folder"), strict=True):
        with pytest.raises(InputError, match=f"is a {what}"):
            video.read()


def test_hidden_files_are_no_videos(tmp_path):
    for name in (".00001.abc.part.mp4", "._00002.mp4", "00003.mp4"):
        (tmp_path / name).write_bytes(b"x")
    assert [video.name for video in list_videos(tmp_path)] == ["00003"]


def test_a_folder_without_videos_is_an_error(tmp_path):
    with pytest.raises(InputError, match="has no video"):
        list_videos(tmp_path)
