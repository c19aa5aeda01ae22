"""Buckets, by way of fsspec's own file systems in memory and on disk."""

from __future__ import annotations

import errno
import secrets

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from sightline.errors import InputError, SightlineError
from sightline.files.remote import is_safe, is_url, join, listing, read_bytes, write_bytes


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
