"""`sightline questions` from the command line."""

import json

import numpy as np
import pytest
from PIL import Image

from sightline.cli import main
from sightline.perception.benchmarks import read_benchmark
from sightline.perception.questions.records import read_llava


@pytest.fixture
def photos(photo, tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(3):
        Image.fromarray(photo[:, 60 * number : 60 * number + 400]).save(folder / f"{number}.jpg")
    return folder


@pytest.fixture(scope="module")
def codebook(random_codebook):
    return random_codebook


def run(capsys, *words):
    code = main([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_depth_and_a_bad_picture(capsys, photos, codebook, tmp_path):
    (photos / "torn.jpg").write_bytes(b"\xff\xd8\xff nothing")
    out = tmp_path / "set"
    code, said, err = run(
        capsys, "questions", "depth", photos, "--out", out, "--model", "tiny",
        "--codebook", codebook, "--asked-share", 1,
    )  # fmt: skip
    assert code == 2, err
    assert "3 maps and" in said
    assert "torn.jpg" in err
    assert len(read_llava(out / "generation.json")) == 3
    assert read_llava(out / "reasoning.json")[1].answer.count("<DEPTH_") == 102
    code, _, err = run(capsys, "questions", "depth", photos, "--out", out)
    assert code == 2
    assert "is not empty" in err


def test_a_hardblink_that_the_quiz_reads(capsys, photos, tmp_path):
    out = tmp_path / "hard"
    code, said, _ = run(
        capsys, "questions", "hardblink", photos, "--out", out, "--model", "tiny", "--points", 2, 3
    )
    assert code == 0
    items = read_benchmark("hardblink", out)
    assert said.startswith(f"{len(items)} questions")
    assert {item.group for item in items} <= {"2 points", "3 points"}
    code, said, _ = run(capsys, "quiz", "hardblink", out, "--depth", "tiny")
    assert code == 0
    assert "all" in said
    assert said.splitlines()[0].split() == ["n", "chance", "depth", "model"]
    (out / "images").joinpath(f"{items[0].name}.jpg").write_bytes(b"torn")
    code, said, err = run(capsys, "quiz", "hardblink", out, "--depth", "tiny")
    assert code == 2
    assert f"left out: question {items[0].name}: " in err
    assert f"{len(items) - 1} questions" in said
    code, _, err = run(capsys, "quiz", "hardblink", out, "--depth", "tiny", "--json", tmp_path)
    assert code == 2
    assert "name a file by --json" in err
    code, _, err = run(capsys, "quiz", "hardblink", out)
    assert code == 2
    assert "either --model" in err


def test_counting_by_annotations_and_by_scenes(capsys, tmp_path):
    images = tmp_path / "images"
    images.mkdir()
    Image.fromarray(np.zeros((40, 60, 3), np.uint8)).save(images / "a.jpg")
    marks = {
        "images": [{"id": 1, "width": 60, "height": 40, "file_name": "a.jpg"}],
        "annotations": [{"image_id": 1, "category_id": 1, "bbox": [5, 5, 20, 20]}],
        "categories": [{"id": 1, "name": "cup"}, {"id": 2, "name": "plate"}],
    }
    (tmp_path / "marks.json").write_text(json.dumps(marks))
    code, said, err = run(
        capsys, "questions", "count", tmp_path / "marks.json", "--images", images,
        "--out", tmp_path / "set", "--asked-share", 1,
    )  # fmt: skip
    assert code == 0, err
    assert said.startswith("1 lists of boxes and 2 questions")
    code, _, err = run(
        capsys, "questions", "count", tmp_path / "marks.json", "--out", tmp_path / "b"
    )
    assert code == 2
    assert "annotations need the folder" in err
    scenes = tmp_path / "scenes"
    run(capsys, "scenes", "make", "--count", 3, "--size", "96x80", "--out", scenes)
    code, said, err = run(
        capsys, "questions", "count", scenes, "--out", tmp_path / "c", "--asked-share", 1
    )
    assert code == 0, err
    assert "questions in" in said


def test_mistakes(capsys, photos, tmp_path):
    code, _, err = run(
        capsys, "questions", "hardblink", photos, "--out", tmp_path / "x", "--points", 9
    )
    assert code == 2
    assert "2 to 5 points" in err
    code, _, err = run(capsys, "questions", "count", photos, "--out", tmp_path / "x")
    assert code == 2
    assert "no scenes" in err


def test_eight_points_by_the_harder_rule(capsys, photos, tmp_path):
    out = tmp_path / "hard"
    given = ("questions", "hardblink", photos, "--out", out, "--model", "tiny", "--points", 8)
    code, _, err = run(capsys, *given)
    assert code == 2
    assert "2 to 5 points" in err
    code, _, err = run(capsys, *given, "--rule", "harder")
    assert code == 0, err
    items = read_benchmark("hardblink", out)
    assert set(items[0].points) == set("ABCDEFGH")


def test_few_pictures_and_none(capsys, photos, codebook, tmp_path):
    out = tmp_path / "set"
    given = ("questions", "depth", photos, "--out", out, "--model", "tiny", "--codebook", codebook)
    code, said, err = run(capsys, *given)
    assert code == 0, err
    assert "3 maps and 2 questions" in said
    code, said, err = run(capsys, "questions", "curriculum", out, "--out", tmp_path / "one.json")
    assert code == 0, err
    assert said.startswith("30 samples")
    assert len(read_llava(tmp_path / "one.json")) == 30
    code, _, err = run(capsys, "questions", "curriculum", out, "--out", tmp_path / "one.json")
    assert code == 2
    assert "is there already" in err
    for path in photos.iterdir():
        path.write_bytes(b"\xff\xd8\xff nothing")
    out = tmp_path / "none"
    code, _, err = run(capsys, *given[:4], out, *given[5:])
    assert code == 2
    assert err.count("left out") == 3
    assert "no pictures" in err
    assert not out.exists()
