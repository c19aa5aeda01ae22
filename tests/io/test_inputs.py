"""Files, folders and globs to a list of sources."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sightline.errors import InputError
from sightline.io.inputs import expand, place


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures in two levels, with things among them that are not pictures."""
    for name in (
        "b.jpg",
        "a.PNG",
        "note.txt",
        ".hidden.jpg",
        "clip.mp4",
        "sub/c.jpg",
        ".git/d.jpg",
    ):
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    return tmp_path / "photos"


def names(sources) -> list[str]:
    return [source.inner.as_posix() for source in sources]


def test_a_folder_gives_its_pictures_and_videos_sorted(folder):
    sources = expand([folder])
    assert names(sources) == ["a.PNG", "b.jpg", "clip.mp4"]
    assert [source.is_video for source in sources] == [False, False, True]


def test_recursive_keeps_subfolders_and_skips_hidden_ones(folder):
    assert names(expand([folder], recursive=True)) == ["a.PNG", "b.jpg", "clip.mp4", "sub/c.jpg"]


def test_a_quoted_glob_is_expanded_with_folders_from_its_first_wildcard(folder):
    assert names(expand([f"{folder}/**/*.jpg"])) == ["b.jpg", "sub/c.jpg"]
    assert names(expand([f"{folder}/s?b/[a-c].jpg"])) == ["sub/c.jpg"]


def test_a_glob_relative_to_here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert names(expand(["*.jpg"])) == ["b.jpg"]


def test_a_file_whose_name_looks_like_a_glob_is_itself(folder):
    (folder / "a[1].jpg").write_bytes(b"x")
    assert names(expand([folder / "a[1].jpg"])) == ["a[1].jpg"]


def test_a_named_file_is_taken_whatever_its_ending(folder):
    assert names(expand([folder / "note.txt"])) == ["note.txt"]


def test_an_animated_picture_is_a_picture(folder):
    (folder / "wave.gif").write_bytes(b"x")
    assert [source.is_video for source in expand([folder / "wave.gif"])] == [False]


def test_the_same_file_twice_is_one_input(folder):
    assert len(expand([folder / "b.jpg", folder / "sub" / ".." / "b.jpg", folder])) == 3


def test_the_output_folder_inside_the_input_is_not_searched(folder):
    out = folder / "out"
    out.mkdir()
    (out / "b_color.png").write_bytes(b"x")
    found = names(expand([folder], recursive=True, out=out))
    assert found == ["a.PNG", "b.jpg", "clip.mp4", "sub/c.jpg"]


def test_the_output_folder_is_found_through_a_link(folder, tmp_path):
    (folder / "out").mkdir()
    (folder / "out" / "b_color.png").write_bytes(b"x")
    link = tmp_path / "link"
    link.symlink_to(folder)
    assert "out/b_color.png" not in names(expand([folder], recursive=True, out=link / "out"))


def test_earlier_results_are_no_inputs_unless_named(folder):
    result = folder / "b_color.png"
    result.write_bytes(b"x")
    own = {place(result)}
    assert "b_color.png" not in names(expand([folder], own=own))
    assert names(expand([result], own=own)) == ["b_color.png"]


def test_only_earlier_results_is_a_mistake(folder):
    with pytest.raises(InputError, match="only results of an earlier run"):
        expand([f"{folder}/b.*"], own={place(folder / "b.jpg")})


def test_missing_input_names_itself(tmp_path):
    with pytest.raises(InputError, match=r"gone\.jpg: no such file or folder"):
        expand([tmp_path / "gone.jpg"])


def test_glob_without_match(folder):
    with pytest.raises(InputError, match="no picture or video matches"):
        expand([f"{folder}/*.webp"])


def test_empty_folder_suggests_recursive(tmp_path):
    with pytest.raises(InputError, match="--recursive"):
        expand([tmp_path])


def test_unreadable_folder(folder, monkeypatch):
    """Simulated, since root may read everything: what the kernel would say reaches the user."""

    def refuse(path):
        raise PermissionError(13, "Permission denied", os.fspath(path))

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(InputError, match=r"photos: folder cannot be read \(Permission denied\)"):
        expand([folder])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_really_unreadable_folder(folder):
    (folder / "sub").chmod(0)
    try:
        with pytest.raises(InputError, match="cannot be read"):
            expand([folder], recursive=True)
    finally:
        (folder / "sub").chmod(0o755)


def test_pipes_and_devices_are_passed_over_in_folders_and_refused_by_name(folder):
    pipe = folder / "pipe.jpg"
    os.mkfifo(pipe)
    (folder / "null.jpg").symlink_to(os.devnull)
    (folder / "folder.jpg").mkdir()
    assert names(expand([folder])) == ["a.PNG", "b.jpg", "clip.mp4"]
    assert names(expand([f"{folder}/*.jpg"])) == ["b.jpg"]
    for path in (pipe, folder / "null.jpg", Path(os.devnull)):
        with pytest.raises(InputError, match=f"{path.name}: is a pipe or a device"):
            expand([path])


def test_a_broken_link_is_left_for_the_reader_to_complain_of(folder):
    (folder / "c.jpg").symlink_to(folder / "gone.jpg")
    assert names(expand([folder])) == ["a.PNG", "b.jpg", "c.jpg", "clip.mp4"]


@pytest.mark.parametrize("name", ["x" * 300 + ".jpg", "x" * 300 + "*.jpg", "a\0b.jpg"])
def test_a_name_that_cannot_be(folder, name):
    with pytest.raises(InputError, match=r"no such file or folder|no picture or video matches"):
        expand([folder / name])


def test_links_that_lead_back_to_themselves(folder):
    loop = folder / "loop"
    loop.symlink_to(loop)
    assert names(expand([folder], recursive=True, out=loop / "out"))[0] == "a.PNG"
    assert place(loop / "a.jpg").name == "a.jpg"
    with pytest.raises(InputError, match="no such file or folder"):
        expand([loop / "a.jpg"])
