"""Paths and URLs: fsspec's file systems in memory and on disk, and a local S3 server."""

from __future__ import annotations

import errno
import secrets

import numpy as np
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from sightline.errors import InputError, SightlineError
from sightline.geometry import to_pointcloud
from sightline.io.atomic import atomic_path, write_bytes
from sightline.io.color import write_color
from sightline.io.depth_files import read_depth, write_depth
from sightline.io.depth_video import (
    Depth16VideoWriter,
    DepthFolderWriter,
    read_depth_folder,
    read_depth_video,
)
from sightline.io.images import read_picture
from sightline.io.inputs import expand
from sightline.io.paths import (
    is_remote,
    is_safe,
    is_url,
    join,
    listing,
    to_path,
)
from sightline.io.pointclouds import read_pointcloud, write_pointcloud
from sightline.io.reading import read_bytes
from sightline.io.video import open_video
from sightline.io.video_writing import ColorVideoWriter
from sightline.types import DepthMap, Kind


@pytest.fixture(params=["memory", "file"])
def bucket(request, tmp_path) -> str:
    """The URL of an empty place."""
    if request.param == "file":
        return f"file://{tmp_path}/bucket"
    return f"memory://bucket-{secrets.token_hex(4)}"


def test_what_is_written_can_be_listed_and_read(bucket):
    for name in ("b.jpg", "a.jpg", "deep/er/c.png", ".hidden.jpg", ".folder/d.jpg"):
        write_bytes(join(bucket, name), name.encode())
    flat = listing(bucket)
    assert [entry.inner for entry in flat] == ["a.jpg", "b.jpg"]
    deep = listing(bucket + "/", recursive=True)
    assert [entry.inner for entry in deep] == ["a.jpg", "b.jpg", "deep/er/c.png"]
    for entry in deep:
        assert read_bytes(entry.url, limit=100) == entry.inner.encode()
        assert entry.size == len(entry.inner)


def test_one_file(bucket):
    url = join(bucket, "a.jpg")
    write_bytes(url, b"12345")
    (entry,) = listing(url)
    assert (entry.url, entry.inner, entry.size) == (url, "a.jpg", 5)


def test_a_file_is_replaced_whole(bucket):
    url = join(bucket, "a.bin")
    write_bytes(url, b"a longer text")
    write_bytes(url, b"short")
    assert read_bytes(url, limit=100) == b"short"
    with pytest.raises(InputError, match=r"is larger than .* MB"):
        read_bytes(url, limit=4)


def test_a_write_that_fails_leaves_nothing(monkeypatch):
    bucket = f"memory://bucket-{secrets.token_hex(4)}"
    write_bytes(join(bucket, "a.bin"), b"old")

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(MemoryFileSystem, "mv", full)
    with pytest.raises(SightlineError, match="the disk is full; free some space and run again"):
        write_bytes(join(bucket, "a.bin"), b"new")
    assert read_bytes(join(bucket, "a.bin"), limit=100) == b"old"
    kept = MemoryFileSystem().find(bucket.removeprefix("memory:/"))
    assert [path.rpartition("/")[2] for path in kept] == ["a.bin"]


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("memory://nowhere-at-all/x", "no such file or folder; check the name"),
        ("nonsense://bucket/x", "cannot be reached"),
    ],
)
def test_what_cannot_be_reached_is_one_line(url, says):
    for call in (lambda: listing(url), lambda: read_bytes(url, limit=10)):
        with pytest.raises(InputError, match=says) as caught:
            call()
        assert str(caught.value).startswith(f"{url}: ")
        assert "\n" not in str(caught.value)


def test_errors_of_a_plugin_are_ours(monkeypatch):
    class NoCredentialsError(Exception):
        """Like botocore's, of no common base."""

    def refuse(*_, **__):
        raise NoCredentialsError("Unable to locate\ncredentials")

    monkeypatch.setattr(MemoryFileSystem, "info", refuse)
    with pytest.raises(SightlineError, match="NoCredentialsError: Unable to locate credentials"):
        listing("memory://bucket")


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("s3://bucket/a.jpg", True),
        ("simplecache::s3://bucket", True),
        ("hf://datasets/a/b", True),
        ("photos/a.jpg", False),
        ("/photos/12::30.jpg", False),
        ("C:\\photos", False),
        ("C:/photos", False),
        ("a::b.jpg", False),
    ],
)
def test_urls_and_paths(place, expected):
    assert is_url(place) is expected


@pytest.mark.parametrize(
    "name",
    [
        "../a.jpg",
        "a/../../b.jpg",
        "/etc/a.jpg",
        "a//b.jpg",
        "./a.jpg",
        "..",
        "",
        "a/..",
        "a\0b.jpg",
    ],
)
def test_names_that_lead_out(name):
    assert not is_safe(name)


@pytest.mark.parametrize("name", ["..\\a.jpg", "C:a.jpg", "C:\\a.jpg"])
def test_names_that_lead_out_on_windows(name):
    assert not is_safe(name)


@pytest.mark.parametrize(
    "name", ["a.jpg", "a/b/c.jpg", "..a.jpg", "a..b/c", "12:30:01.jpg", "é.jpg"]
)
def test_names_that_stay_inside(name):
    assert is_safe(name)


def test_local_paths_stay_pathlib_paths(tmp_path):
    assert to_path(str(tmp_path)) == tmp_path
    assert to_path(tmp_path) is tmp_path
    assert to_path(f"file://{tmp_path}") == tmp_path
    assert not is_remote(to_path("C:/photos"))
    assert str(to_path("s3://bucket/o") / "a.npz") == "s3://bucket/o/a.npz"


def test_an_unknown_protocol_is_refused():
    with pytest.raises(InputError, match=r"nowhere://a: cannot be reached \(.*nowhere"):
        to_path("nowhere://a")


def test_a_failed_block_uploads_nothing():
    url = f"memory://bucket-{secrets.token_hex(4)}/a.bin"
    with pytest.raises(ZeroDivisionError), atomic_path(url) as temporary:
        temporary.write_bytes(bytes(1 // 0))
    assert not to_path(url).exists()
    with atomic_path(url) as temporary:
        assert temporary.suffix == ".bin"
        temporary.write_bytes(b"whole")
    assert read_bytes(url, limit=10) == b"whole"


def test_every_format_goes_there_and_back(remote_folder):
    depth = DepthMap(np.linspace(1, 4, 48, dtype=np.float32).reshape(6, 8), Kind.METRIC_DEPTH)
    out = to_path(remote_folder)
    for name in ("a.npz", "a.png", "deep/a.exr"):
        write_depth(out / name, depth)
        np.testing.assert_allclose(read_depth(out / name).values, depth.values, rtol=1e-4)
    write_color(out / "a_color.png", depth)
    assert read_picture(out / "a_color.png").path == out / "a_color.png"
    for name in ("a.ply", "a.glb"):
        write_pointcloud(out / name, to_pointcloud(depth, edge_tolerance=None))
        assert len(read_pointcloud(out / name)) == 48
    names = [entry.inner for entry in listing(remote_folder, recursive=True)]
    assert names == ["a.glb", "a.npz", "a.ply", "a.png", "a_color.png", "deep/a.exr"]
    sources = expand([remote_folder], recursive=True, out=out / "deep")
    assert [str(source.inner) for source in sources] == ["a.png", "a_color.png"]


def test_videos_go_there_and_back(remote_folder):
    out = to_path(remote_folder)
    depth = DepthMap(np.linspace(1, 4, 256, dtype=np.float32).reshape(16, 16), Kind.METRIC_DEPTH)
    with ColorVideoWriter(out / "a.mp4", 16, 16, 25) as writer:
        for level in (10, 200):
            writer.write(np.full((16, 16, 3), level, np.uint8))
    with open_video(out / "a.mp4") as video:
        assert [round(float(frame.mean()), -1) for frame in video] == [10, 200]
    with Depth16VideoWriter(out / "a.mkv", 25) as depth_video:
        depth_video.write(depth)
    assert len(list(read_depth_video(out / "a.mkv"))) == 1
    for count in (3, 2):
        with DepthFolderWriter(out / "frames") as folder:
            for _ in range(count):
                folder.write(depth)
    assert len(list(read_depth_folder(out / "frames"))) == 2
