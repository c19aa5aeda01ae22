"""`sightline depth` on videos, alone and among pictures."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from sightline.io.depth_video import read_depth_video
from sightline.io.video import open_video
from sightline.io.video_writing import ColorVideoWriter

FRAMES = 6


@pytest.fixture
def clip(tmp_path, photo) -> Path:
    """A slow pan over a photograph: six frames, ten per second."""
    path = tmp_path / "photos" / "clip.mp4"
    path.parent.mkdir()
    with ColorVideoWriter(path, 96, 64, Fraction(10)) as writer:
        for number in range(FRAMES):
            frame = photo[100:164, 200 + 2 * number : 296 + 2 * number]
            writer.write(np.ascontiguousarray(frame), Fraction(number, 10))
    return path


def test_all_formats_of_a_video(sightline, model, clip, tmp_path):
    out = tmp_path / "out"
    words = ["--out", out, "--model", model, "--save", "npz,png,color", "--json", "--fov", "60"]
    result = sightline("depth", clip, *words)
    assert result.returncode == 0, result.stderr
    line = json.loads(result.stdout)
    assert (line["frames"], line["width"], line["height"]) == (FRAMES, 96, 64)
    assert line["camera"] == "given"
    outputs = {kind: Path(path) for kind, path in line["outputs"].items()}
    assert sorted(path.name for path in outputs["npz"].iterdir()) == [
        f"{number:06d}.npz" for number in range(FRAMES)
    ]
    assert len(list(read_depth_video(outputs["png"]))) == FRAMES
    with open_video(outputs["color"]) as video:
        assert video.info.fps == 10
        assert len(list(video)) == FRAMES


@pytest.mark.parametrize("workers", [1, 2])
def test_a_video_among_pictures_and_again(sightline, model, clip, pictures_beside, workers):
    folder = clip.parent
    out = folder / "out"
    words = ["--out", out, "--model", model, "--workers", workers, "--resume", "--json"]
    first = sightline("depth", folder, "--recursive", *words)
    assert first.returncode == 0, first.stderr
    assert len(first.stdout.splitlines()) == 3
    again = sightline("depth", folder, "--recursive", *words)
    assert [json.loads(line).get("skipped") for line in again.stdout.splitlines()] == [True] * 3
    page = sightline("view", out)  # the frames of a video are no part of it
    assert page.returncode == 0
    assert (out / "index.html").read_text().count("<article") == 2


@pytest.fixture
def pictures_beside(clip, photo) -> None:
    from PIL import Image

    for name in ("a.jpg", "b.png"):
        Image.fromarray(photo[:80, :100]).save(clip.parent / name)


def test_formats_that_a_video_does_not_have(sightline, model, clip, tmp_path):
    words = ["--out", tmp_path / "out", "--model", model, "--save", "npz,glb"]
    result = sightline("depth", clip, *words)
    assert result.returncode == 2
    assert "clip.mp4: a video cannot be saved as glb; use --save npz,png,color" in result.stderr


def test_a_broken_video(sightline, model, clip, tmp_path):
    clip.write_bytes(b"no video at all")
    result = sightline("depth", clip, "--out", tmp_path / "out", "--model", model)
    assert result.returncode == 2
    (line,) = result.stderr.splitlines()
    assert str(clip) in line
