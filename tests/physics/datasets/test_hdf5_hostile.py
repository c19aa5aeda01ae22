"""HDF5 that is broken, or means harm: one line that names file and data set, and nothing followed."""

from contextlib import suppress

import h5py
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.datasets.reader import open_dataset

from .helpers import plain


@pytest.fixture
def path(tmp_path, pair):
    return plain(tmp_path / "a.h5", pair, "00000", size=16)


def replace(file, name, data, **options):
    del file[name]
    file.create_dataset(name, data=data, **options)


def use(path):
    """Open the file and read what one reads."""
    with open_dataset(path) as data:
        assert len(data.samples) == len(data)
        data.video(0)


def refused(path, *words):
    """Assert that the file is refused in one line with these words."""
    with pytest.raises(InputError) as caught:
        use(path)
    message = str(caught.value)
    assert "\n" not in message
    for word in (path.name, *words):
        assert word in message


@pytest.mark.parametrize("name", ["video_streams", "position_streams", "init_streams"])
def test_a_missing_group(path, name):
    with h5py.File(path, "a") as file:
        del file[name]
    refused(path, f"has no {name}", "download")


def test_a_missing_or_additional_shard(path):
    with h5py.File(path, "a") as file:
        file["init_streams/00001"] = file["init_streams/00000"][:]
    refused(path, "init_streams has a shard 00001")
    with h5py.File(path, "a") as file:
        file.move("init_streams/00001", "video_streams/00001")
    refused(path, "has no shard 00001")


@pytest.mark.parametrize(("name", "columns"), [("position", (4, 2, 2)), ("init", (3,))])
def test_shards_of_different_shapes(path, pair, name, columns):
    with h5py.File(path, "a") as file:
        for stream in ("video", "position", "init"):
            file.copy(f"{stream}_streams/00000", f"{stream}_streams/00001")
        replace(file, f"{name}_streams/00001", np.ones((len(pair), *columns)))
    refused(path, f"{name}_streams has shards of different shapes")


def test_a_group_where_data_should_be(path):
    with h5py.File(path, "a") as file:
        del file["init_streams"]
        file["init_streams"] = np.zeros((6, 4))
    refused(path, "video_streams is a group but init_streams is a data set")
    with h5py.File(path, "a") as file:
        del file["init_streams"]
        file.create_group("init_streams/00000")
    refused(path, "/init_streams/00000 is not a data set")


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("position_streams/00000", np.zeros((6, 5, 3)), "has the shape (6, 5, 3)"),
        ("position_streams/00000", np.zeros((6, 5)), "has the shape (6, 5)"),
        ("position_streams/00000", np.zeros((5, 5, 2, 2)), "has 5 samples"),
        ("position_streams/00000", np.float64(3), "is a single value"),
        ("position_streams/00000", np.array([b"a"] * 6), "does not hold numbers"),
        ("init_streams/00000", np.zeros((6, 9)), "has 9 columns for 2 bodies"),
        ("init_streams/00000", np.zeros(6), "has the shape (6,)"),
        ("init_streams/00000", np.zeros((6, 4)), "not positive"),
        ("init_streams/00000", np.ones((7, 4)), "has 7 samples"),
        ("video_streams/00000", np.zeros(6), "is not a list of byte strings"),
    ],
)
def test_wrong_shapes_types_and_counts(path, name, data, words):
    with h5py.File(path, "a") as file:
        replace(file, name, data)
    refused(path, words, name.split("/")[0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["position_streams/00000", "init_streams/00000"])
def test_numbers_that_are_none(path, name, bad):
    with h5py.File(path, "a") as file:
        values = file[name][:]
        values[4].flat[1] = bad
        replace(file, name, values)
    refused(path, f"{name} has a number that is not finite, first in sample 4")


@pytest.mark.parametrize("column", [2, 3])
def test_codes_that_are_none(tmp_path, single, column):
    single.init[3, column] = 7
    refused(plain(tmp_path / "b.h5", single, size=16), "init_streams", "other than 0 to")


@pytest.mark.parametrize(
    "link", [h5py.ExternalLink("secret.h5", "/x"), h5py.SoftLink("/elsewhere")]
)
@pytest.mark.parametrize("name", ["position_streams", "position_streams/00000", "video_streams"])
def test_links_are_not_followed(path, pair, link, name):
    """Even where the other file exists and would do."""
    with h5py.File(path.parent / "secret.h5", "w") as file:
        file["x"] = pair.positions
    with h5py.File(path, "a") as file:
        file["elsewhere"] = pair.positions
        del file[name]
        file[name] = link
    refused(path, f"/{name} is a link", "not followed")


def test_data_kept_in_other_files_is_not_read(path, pair):
    outside = path.parent / "outside.bin"
    outside.write_bytes(pair.positions.tobytes())
    with h5py.File(path, "a") as file:
        del file["position_streams/00000"]
        file["position_streams"].create_dataset(
            "00000", (6, 5, 2, 2), "f8", external=[(str(outside), 0, h5py.h5f.UNLIMITED)]
        )
    refused(path, "position_streams/00000 keeps its data in other files")
    layout = h5py.VirtualLayout((6, 5, 2, 2), "f8")
    layout[:] = h5py.VirtualSource(str(path.parent / "v.h5"), "x", (6, 5, 2, 2))
    with h5py.File(path, "a") as file:
        del file["position_streams/00000"]
        file["position_streams"].create_virtual_dataset("00000", layout)
    refused(path, "position_streams/00000 keeps its data in other files")


def test_sizes_that_the_file_cannot_hold(path):
    with h5py.File(path, "a") as file:
        for name, kind in (("init", "f8"), ("position", "f8"), ("video", h5py.vlen_dtype("u1"))):
            del file[f"{name}_streams/00000"]
            shape = {"init": (4,), "position": (32, 2, 2), "video": ()}[name]
            file.create_dataset(
                f"{name}_streams/00000", (10**10, *shape), kind, chunks=(1000, *shape)
            )
    refused(path, "claims")


def test_a_combinatorial_file_is_named(path):
    with h5py.File(path, "a") as file:
        file["object_streams"] = np.zeros(3)
    refused(path, "combinatorial")


@pytest.mark.parametrize("garbage", [b"", b"no mp4 at all", b"\0" * 5000])
def test_garbage_for_a_video(path, garbage):
    with h5py.File(path, "a") as file:
        file["video_streams/00000"][0] = np.frombuffer(garbage, np.uint8)
    refused(path, "sample 0 of video_streams/00000: the mp4")
    with open_dataset(path) as data:
        assert data.video(1).shape == (5, 16, 16, 3)


def test_a_video_of_another_length(path, pair):
    with h5py.File(path, "a") as file:
        replace(file, "position_streams/00000", pair.positions[:, :4])
    refused(
        path, "sample 0 of video_streams/00000: 5 frames in the mp4, 4 in position_streams/00000"
    )


def test_cut_and_scrambled_files(path, rng):
    """Whatever the damage, an InputError or a result: never a crash, never another exception."""
    whole = path.read_bytes()
    for length in (8, 100, 800, len(whole) // 2, len(whole) - 10):
        path.write_bytes(whole[:length])
        refused(path)
    for _ in range(80):
        damaged = bytearray(whole)
        for place in rng.integers(8, len(whole), 3):
            damaged[place] = rng.integers(0, 256)
        path.write_bytes(damaged)
        with suppress(InputError):
            use(path)


def test_a_note_that_is_no_note(path):
    with h5py.File(path, "a") as file:
        file.attrs["sightline"] = np.bytes_("{" * 10_000)
    with open_dataset(path) as data:
        assert data.made == {}
    for note in ('{"made": 3}', '{"frame_time": "x"}', '{"frame_time": -1}', '{"frame_time": []}'):
        with h5py.File(path, "a") as file:
            file.attrs["sightline"] = np.bytes_(note)
        refused(path)
    with h5py.File(path, "a") as file:
        file.attrs["sightline"] = "{}"  # of variable length
    refused(path, "the attribute sightline cannot be read (it is not as Sightline writes it)")
