"""Each layout, as it is released, with tiny real files."""

import io
import json

import numpy as np
import pyarrow
import pytest
from PIL import Image
from pyarrow import parquet

from sightline.errors import InputError
from sightline.perception.benchmarks import read_benchmark
from sightline.perception.evaluation import BenchmarkQuestion, letter_number
from sightline.perception.questions.hardblink import SIDE
from sightline.perception.questions.sets import DepthImage, write_hard_blink


def png(value=90):
    buffer = io.BytesIO()
    Image.fromarray(np.full((20, 30, 3), value, np.uint8)).save(buffer, "PNG")
    return buffer.getvalue()


def write_table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)


def write_lines(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


QUESTION = (
    "Multiple points are circled on the image, labeled by letters beside each circle. "
    "Which point is the closest to the camera?"
)


def write_release(root):
    """Write a few lines of AURORA's `Data/evals` with its file names and layout."""
    folder = root / "hardblink"
    for count in (3, 4, 5):
        rows = [
            {"question_id": k, "image": f"{k}.png", "text": QUESTION, "category": "count"}
            for k in range(3)
        ]
        rights = [
            {"question_id": k, "text": f"({'ABCDE'[(k + count) % count]})", "category": "count"}
            for k in range(3)
        ]
        name = f"blink_{count}pointscenter"
        write_lines(folder / "questions" / f"{name}_questions.jsonl", rows)
        write_lines(folder / "answers" / f"{name}_answers.jsonl", rights)
        images = folder / "images" / f"blink{count}pointscenter"
        images.mkdir(parents=True)
        for k in range(3):
            (images / f"{k}.png").write_bytes(png(10 * count + k))
    count = {"image": "1_2.jpg", "text": "How many people?", "category": "count"}
    for name, number in (("blink_counting/blinkcounting", 3), ("seedbench/seedbench", "101669")):
        write_lines(root / f"{name}_questions.jsonl", [count | {"question_id": number}])
        right = {"question_id": number, "text": "4", "category": "count"}
        write_lines(root / f"{name}_answers.jsonl", [right])
    return folder


@pytest.mark.parametrize("deep", [False, True])
def test_hardblink_as_released(tmp_path, deep):
    folder = write_release(tmp_path)
    items = read_benchmark("hardblink", tmp_path if deep else folder)
    assert len(items) == len({item.name for item in items}) == 9
    assert [item.group for item in items[::3]] == ["3 points", "4 points", "5 points"]
    assert [item.letter for item in items] == list("ABC" * 3)
    # Ids and image names repeat in the three lists; each has images of its own.
    assert [int(item.read()[0, 0, 0]) for item in items] == [30, 31, 32, 40, 41, 42, 50, 51, 52]
    assert items[0].text() == QUESTION


def test_lists_are_never_merged_by_id(tmp_path):
    folder = write_release(tmp_path)
    (folder / "answers" / "blink_4pointscenter_answers.jsonl").unlink()
    with pytest.raises(InputError, match="blink_4pointscenter_questions/0: the right answer"):
        read_benchmark("hardblink", folder)
    twice = [{"question_id": 0, "text": "(A)"}] * 2
    write_lines(folder / "answers" / "blink_4pointscenter_answers.jsonl", twice)
    with pytest.raises(InputError, match="question 0 has two answers"):
        read_benchmark("hardblink", folder)


def test_pictures_moved_into_one_folder_are_refused(tmp_path):
    """`images/0.png` would be the picture of question 0 of all three lists."""
    folder = write_release(tmp_path)
    for count in (3, 4, 5):
        for path in (folder / "images" / f"blink{count}pointscenter").iterdir():
            path.replace(folder / "images" / path.name)
    for item in read_benchmark("hardblink", folder):
        with pytest.raises(InputError, match=r"images/blink\dpointscenter/\d.png: no such picture"):
            item.read()


def test_a_missing_picture_is_never_replaced_by_another_one(tmp_path):
    folder = write_release(tmp_path)
    (folder / "images" / "blink5pointscenter" / "1.png").replace(folder / "images" / "1.png")
    items = read_benchmark("hardblink", folder)
    assert items[6].read()[0, 0, 0] == 50
    with pytest.raises(InputError, match="no such picture"):
        items[7].read()


def test_one_list_with_its_pictures_beside_it(tmp_path):
    folder = write_release(tmp_path)
    for count in (4, 5):
        (folder / "questions" / f"blink_{count}pointscenter_questions.jsonl").unlink()
    for path in (folder / "images" / "blink3pointscenter").iterdir():
        path.replace(folder / "images" / path.name)
    items = read_benchmark("hardblink", folder)
    assert [int(item.read()[0, 0, 0]) for item in items] == [30, 31, 32]


@pytest.mark.parametrize("name", ["hardblink", "blink-count", "seed-count"])
def test_copies_of_a_list_are_refused(tmp_path, name):
    write_release(tmp_path / "a")
    write_release(tmp_path / "b")
    with pytest.raises(InputError, match="is there twice"):
        read_benchmark(name, tmp_path)


def test_answers_of_another_list_are_refused(tmp_path):
    folder = write_release(tmp_path)
    answers = folder / "answers" / "blink_3pointscenter_answers.jsonl"
    five = folder / "answers" / "blink_5pointscenter_answers.jsonl"
    rows = [{"question_id": k, "text": "(E)"} for k in range(3)]
    write_lines(answers, rows)
    with pytest.raises(InputError, match=r"questions/0: the right answer \(E\) of 3 points"):
        read_benchmark("hardblink", folder)
    write_lines(answers, [{"question_id": k, "text": "(A)"} for k in range(4)])
    with pytest.raises(InputError, match=r"question 3 is not in blink_3pointscenter_questions"):
        read_benchmark("hardblink", folder)
    answers.write_text(five.read_text())
    questions = folder / "questions" / "blink_3pointscenter_questions.jsonl"
    questions.write_text(questions.read_text() + questions.read_text())
    with pytest.raises(InputError, match="two questions have the id 0"):
        read_benchmark("hardblink", folder)


@pytest.mark.parametrize(
    ("name", "folder", "images"),
    [
        ("blink-count", "blink_counting", "images"),
        ("seed-count", "seedbench", "SEED-Bench-image"),
    ],
)
def test_counting_lists_of_the_release(tmp_path, name, folder, images):
    write_release(tmp_path)
    (item,) = read_benchmark(name, tmp_path / folder)
    assert (item.topic, item.choices, item.answer) == ("count", ("4",), 0)
    with pytest.raises(InputError, match="no such picture"):
        item.read()
    (tmp_path / folder / images).mkdir()
    (tmp_path / folder / images / "1_2.jpg").write_bytes(png(9))
    assert item.read()[0, 0, 0] == 9
    (item,) = read_benchmark(name, tmp_path)
    assert item.read()[0, 0, 0] == 9


def test_a_set_of_our_own(tmp_path):
    values = np.linspace(1, 255, SIDE).astype(np.uint8)[None].repeat(SIDE, 0)
    seen = DepthImage("a", np.zeros((SIDE, SIDE, 3), np.uint8), values, np.ones((SIDE, SIDE), bool))
    asked = write_hard_blink([seen], tmp_path)
    items = read_benchmark("hardblink", tmp_path)
    assert [item.letter for item in items] == [one.answer for one in asked]
    assert [item.group for item in items] == ["3 points", "4 points", "5 points"]
    assert items[0].points.keys() == {"A", "B", "C"}
    assert items[0].read().shape == (SIDE, SIDE, 3)


def test_blink(tmp_path):
    row = {
        "idx": "val_Relative_Depth_1",
        "question": "Which point is closer to the camera?",
        "sub_task": "Relative_Depth",
        "choices": ["A is closer", "B is closer"],
        "answer": "(B)",
        "prompt": "…",
        "image_1": {"bytes": png(7), "path": "1.jpg"},
    }
    write_table(tmp_path / "Relative_Depth" / "val-00000-of-00001.parquet", [row])
    (item,) = read_benchmark("blink-depth", tmp_path)
    assert (item.letter, item.group, item.choices) == ("B", "2 points", ())
    assert item.read()[0, 0, 0] == 7
    count = row | {"question": "How many cups?", "choices": ["0", "3", "2"], "answer": "(C)"}
    write_table(tmp_path / "Counting" / "val-00000-of-00001.parquet", [count])
    (item,) = read_benchmark("blink-count", tmp_path)
    assert item.choices[item.answer] == "2"
    assert "(B) 3" in item.text()


def test_cvbench_in_both_forms(tmp_path):
    rows = [
        {
            "idx": k,
            "type": "3D",
            "task": task,
            "question": "Which object is closer?",
            "choices": ["chair", "door"],
            "answer": "(A)",
            "filename": f"img/3D/depth/{k}.png",
            "source": "Omni3D",
        }
        for k, task in enumerate(("Depth", "Count", "Depth"))
    ]
    plain, table = tmp_path / "plain", tmp_path / "table"
    write_lines(plain / "test.jsonl", rows)
    (plain / "img" / "3D" / "depth").mkdir(parents=True)
    for k in range(3):
        (plain / "img" / "3D" / "depth" / f"{k}.png").write_bytes(png(k))
    stored = [row | {"image": {"bytes": png(row["idx"]), "path": None}} for row in rows]
    write_table(table / "test.parquet", stored)
    for folder in (plain, table):
        items = read_benchmark("cvbench-depth", folder)
        assert [item.name for item in items] == ["0", "2"]
        assert [int(item.read()[0, 0, 0]) for item in items] == [0, 2]
        assert items[0].group == "Omni3D"
        assert len(read_benchmark("cvbench-count", folder)) == 1


def test_seed_bench(tmp_path):
    question = {
        "question_id": "7",
        "question_type_id": 5,
        "question": "How many people?",
        "answer": "D",
        "data_id": "1_2",
        **{f"choice_{letter}": str(k) for k, letter in enumerate("abcd")},
    }
    other = question | {"question_type_id": 1, "question_id": "8"}
    kinds = {"Scene Understanding": 1, "Instances Counting": 5}
    text = json.dumps({"questions": [question, other], "question_type": kinds})
    (tmp_path / "SEED-Bench.json").write_text(text)
    (tmp_path / "SEED-Bench-image").mkdir()
    (tmp_path / "SEED-Bench-image" / "1_2").write_bytes(png(5))
    (item,) = read_benchmark("seed-count", tmp_path)
    assert item.choices[item.answer] == "3"
    assert item.read()[0, 0, 0] == 5


def test_choices_are_shuffled_with_their_answer():
    item = BenchmarkQuestion("q", "count", "How many?", ("0", "1", "2", "3"), 2, lambda: None)
    orders = {item.shuffled(seed).choices for seed in range(20)}
    assert len(orders) > 5
    assert all((moved := item.shuffled(seed)).choices[moved.answer] == "2" for seed in range(20))
    assert item.shuffled(3).choices == item.shuffled(3).choices
    bare = BenchmarkQuestion("q", "depth", "Which?", (), 1, lambda: None)
    assert bare.shuffled(1) is bare


def test_bad_sets_get_a_line(tmp_path):
    with pytest.raises(InputError, match="no benchmark"):
        read_benchmark("blank", tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        read_benchmark("hardblink", tmp_path / "gone")
    for name in ("hardblink", "blink-depth", "cvbench-count", "seed-count"):
        with pytest.raises(InputError):
            read_benchmark(name, tmp_path)
    write_lines(tmp_path / "questions.jsonl", [{"question_id": 1, "image": "x", "text": "?"}])
    with pytest.raises(InputError, match="is no letter"):
        read_benchmark("hardblink", tmp_path)
    (tmp_path / "questions.jsonl").write_text("{oops")
    with pytest.raises(InputError, match="line 1 is not JSON"):
        read_benchmark("hardblink", tmp_path)
    (tmp_path / "test.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(InputError, match="damaged parquet"):
        read_benchmark("cvbench-depth", tmp_path)
    row = {"question_id": 1, "image": "../../etc/passwd", "text": "?", "answer": "A"}
    write_lines(tmp_path / "questions.jsonl", [row])
    with pytest.raises(InputError, match="outside"):
        read_benchmark("hardblink", tmp_path)[0].read()
    with pytest.raises(InputError, match="is no letter"):
        letter_number("AB", "1")
    with pytest.raises(InputError, match="no choice"):
        BenchmarkQuestion("q", "count", "?", ("1",), 3, lambda: None)


@pytest.mark.parametrize(
    ("points", "says"),
    [
        ({"A": [1, 1]}, "from two to 8 points"),
        ({"A": [1, 1], "Z": [2, 2]}, "from two to 8 points"),
        ({"A": [1, 1], "B": [float("nan"), 2]}, "point B has no place"),
        ({"A": [1, 1], "B": [10**400, 2]}, "not x and y by letter"),
        ({"A": [1, 1], "B": None}, "not x and y by letter"),
        ([1, 2], "not x and y by letter"),
        ({"A": [1, 1], "B": [1]}, "not x and y by letter"),
        ({"A": [1, 1], "B": [2, 2]}, "the right answer C is no point"),
    ],
)
def test_points_that_make_no_sense(tmp_path, points, says):
    row = {"question_id": "q7", "image": "x.png", "text": "?", "answer": "C", "points": points}
    write_lines(tmp_path / "questions.jsonl", [row])
    with pytest.raises(InputError, match=rf"questions\.jsonl: question q7: .*{says}"):
        read_benchmark("hardblink", tmp_path)


def test_points_outside_and_names_that_cannot_be(tmp_path):
    points = {"A": [1, 1], "B": [900, 1]}
    row = {"question_id": "q7", "image": "x.png", "text": "?", "answer": "A", "points": points}
    write_lines(tmp_path / "questions.jsonl", [row, {**row, "question_id": "q8", "image": "a\0b"}])
    (tmp_path / "x.png").write_bytes(png())
    first, second = read_benchmark("hardblink", tmp_path)
    with pytest.raises(
        InputError, match=r"questions\.jsonl: question q7: point B at 900,1 lies out"
    ):
        first.read()
    with pytest.raises(InputError, match="no picture can be called"):
        second.read()


def test_messages_are_words(tmp_path):
    write_lines(tmp_path / "test.jsonl", [{"task": "Count"}])
    with pytest.raises(InputError, match=r"cvbench-count \(idx is missing\)"):
        read_benchmark("cvbench-count", tmp_path)
