"""No two results meet, and no result takes the place of a user's file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.io.inputs import Source, place
from sightline.jobs.naming import plan
from sightline.jobs.options import FORMATS


def source(path: str, inner: str | None = None) -> Source:
    return Source(Path(path), Path(inner or Path(path).name), is_video=False)


def outputs(sources, save=("npz",), out="out", own=frozenset()) -> list[list[str]]:
    jobs = plan(sources, Path(out), save, own)
    return [[path.relative_to(out).as_posix() for path in job.paths] for job in jobs]


def test_results_are_called_after_their_input():
    assert outputs([source("in/a.jpg")], FORMATS) == [
        ["a.npz", "a.png", "a.exr", "a_color.png", "a.ply", "a.glb", "a_normals.png"]
    ]


def test_subfolders_are_kept():
    assert outputs([source("in/x/a.jpg", "x/a.jpg"), source("in/y/a.jpg", "y/a.jpg")]) == [
        ["x/a.npz"],
        ["y/a.npz"],
    ]


def test_same_stem_keeps_the_ending_for_both_and_only_for_them():
    found = outputs([source("in/a.jpg"), source("in/a.png"), source("in/b.jpg")])
    assert found == [["a.jpg.npz"], ["a.png.npz"], ["b.npz"]]


def test_same_name_in_two_folders_keeps_the_folders():
    assert outputs([source("x/a.jpg"), source("y/a.jpg")]) == [["x/a.jpg.npz"], ["y/a.jpg.npz"]]


def test_names_that_differ_in_case_only_count_as_the_same():
    assert outputs([source("in/A.jpg"), source("in/a.png")]) == [["A.jpg.npz"], ["a.png.npz"]]


def test_a_color_picture_does_not_meet_another_inputs_png():
    found = outputs([source("in/a.jpg"), source("in/a_color.jpg")], ("png", "color"))
    assert len({path for paths in found for path in paths}) == 4


def test_a_name_with_dots_loses_only_its_ending():
    assert outputs([source("in/frame.0001.jpg")]) == [["frame.0001.npz"]]


def test_an_input_is_never_an_output(tmp_path):
    picture = tmp_path / "a.png"
    picture.write_bytes(b"x")
    (job,) = plan([source(str(picture))], tmp_path, ("png",))
    assert job.paths == (tmp_path / "a.png.png",)


def test_a_file_beside_the_input_that_is_not_ours_is_spared(tmp_path):
    (tmp_path / "a.jpg").write_bytes(b"x")
    (tmp_path / "a.png").write_bytes(b"the user's own")
    with pytest.raises(InputError, match="was not written by sightline"):
        plan([source(str(tmp_path / "a.jpg"))], tmp_path, ("png",))
    own = {place(tmp_path / "a.png")}
    (job,) = plan([source(str(tmp_path / "a.jpg"))], tmp_path, ("png",), own)
    assert job.paths == (tmp_path / "a.png",)


_WORDS = st.sampled_from(["a", "A", "b", "a_color", "a.jpg"])
_FILES = st.builds(
    lambda folder, stem, ending: f"in/{folder}/{stem}{ending}",
    st.sampled_from(["x", "y", "x/y"]),
    _WORDS,
    st.sampled_from([".jpg", ".png", ".JPG", ""]),
)


@given(
    files=st.lists(_FILES, min_size=1, max_size=8, unique=True),
    flat=st.booleans(),
    save=st.lists(st.sampled_from(FORMATS), min_size=1, unique=True),
)
def test_no_two_results_ever_meet(files, flat, save):
    sources = [source(f, None if flat else f.removeprefix("in/")) for f in files]
    try:
        jobs = plan(sources, Path("out"), save)
    except InputError:
        return  # refused, which is safe too
    paths = [str(path).casefold() for job in jobs for path in job.paths]
    assert len(paths) == len(set(paths)) == len(files) * len(save)
    assert len({job.key for job in jobs}) == len(jobs)


def test_a_video_is_not_saved_frame_by_frame_unless_asked_for():
    clip = Source(Path("clip.mp4"), Path("clip.mp4"), is_video=True)
    picture = Source(Path("a.jpg"), Path("a.jpg"), is_video=False)
    video, still = plan([clip, picture], Path("out"))
    assert [kind for kind, _ in video.outputs] == ["png", "color"]
    assert [kind for kind, _ in still.outputs] == ["npz", "color"]
    (asked,) = plan([clip], Path("out"), ("npz",))
    assert [kind for kind, _ in asked.outputs] == ["npz"]


def test_a_name_that_leaves_no_room_for_the_ending():
    """Refused before any work: otherwise one result would be written and the next not."""
    longest = "ü" * 122  # in UTF-8 244 bytes, and `_color.png` makes 254
    assert len(outputs([source(f"in/{longest}.jpg")], ("npz", "color"))[0]) == 2
    with pytest.raises(InputError, match=r"in/ü+aa\.jpg: .* 256 bytes, more than the 255 allowed"):
        plan([source(f"in/{longest}aa.jpg")], Path("out"), ("npz", "color"))
