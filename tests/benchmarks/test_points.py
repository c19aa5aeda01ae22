import json

import numpy as np
import pytest

from sightline.benchmarks import da2k, points
from sightline.errors import InputError
from sightline.types import DepthMap, Kind


def pair(first, second, closer="point1"):
    return {"point1": list(first), "point2": list(second), "closer_point": closer}


@pytest.fixture
def folder(tmp_path, save_picture):
    save_picture(tmp_path / "images/indoor/a.jpg")
    save_picture(tmp_path / "images/aerial/b.png")
    rows = {
        "images/indoor/a.jpg": [pair((0, 19), (0, 0)), pair((11, 5), (3, 4))],
        "images/aerial/b.png": [pair((0, 0), (0, 19))],
    }
    (tmp_path / "annotations.json").write_text(json.dumps(rows))
    return tmp_path


def test_da2k_by_scene_with_rows_before_columns(folder):
    first, second = da2k.items(folder)
    assert (first.group, second.group) == ("indoor", "aerial")
    assert first.name == "images/indoor/a"
    pairs = first.load()
    assert pairs.pixels.shape == (12, 20, 3)
    assert pairs.nearer.tolist() == [[0, 19], [11, 5]]
    assert pairs.farther.tolist() == [[0, 0], [3, 4]]


def test_the_nearer_point_must_have_more_disparity(folder):
    first, second = (item.load() for item in da2k.items(folder))
    columns = np.tile(np.arange(20, dtype=np.float32), (12, 1)) + 1
    right = DepthMap(columns, Kind.RELATIVE_DISPARITY)
    assert points.accuracy(right, first) == 1
    assert points.accuracy(right, second) == 0
    farther_right = DepthMap(columns, Kind.METRIC_DEPTH)
    assert points.accuracy(farther_right, first) == 0
    assert points.accuracy(farther_right, second) == 1


def test_a_tie_is_wrong(folder):
    flat = DepthMap(np.ones((12, 20)), Kind.RELATIVE_DISPARITY)
    assert points.accuracy(flat, da2k.items(folder)[0].load()) == 0


def test_either_point_may_be_the_nearer_one(tmp_path, save_picture):
    save_picture(tmp_path / "a.jpg")
    rows = {"a.jpg": [pair((1, 2), (3, 4), "point2")]}
    (tmp_path / "pairs.json").write_text(json.dumps(rows))
    (tmp_path / "same.csv").write_text(
        "image,row1,col1,row2,col2,closer\na.jpg,1,2,3,4,point2\n", encoding="utf-8-sig"
    )
    for path in (tmp_path, tmp_path / "pairs.json", tmp_path / "same.csv"):
        (item,) = points.items(path)
        pairs = item.load()
        assert (pairs.nearer.tolist(), pairs.farther.tolist()) == ([[3, 4]], [[1, 2]])
        assert item.group == "all"


def test_points_outside_the_picture(tmp_path, save_picture):
    save_picture(tmp_path / "a.jpg")  # 12 rows, 20 columns
    (tmp_path / "pairs.json").write_text(json.dumps({"a.jpg": [pair((13, 2), (1, 1))]}))
    with pytest.raises(InputError, match=r"outside its 20×12 pixels"):
        points.items(tmp_path)[0].load()


@pytest.mark.parametrize(
    "text",
    [
        "not json",
        "[1, 2]",
        '{"a.jpg": [{"point1": [1, 2], "point2": [3, 4], "closer_point": "left"}]}',
        '{"a.jpg": [{"point1": [1, 2, 3], "point2": [3, 4], "closer_point": "point1"}]}',
        '{"a.jpg": [{"point1": [1.5, 2], "point2": [3, 4], "closer_point": "point1"}]}',
    ],
)
def test_what_is_not_a_list_of_pairs(tmp_path, text):
    (tmp_path / "pairs.json").write_text(text)
    with pytest.raises(InputError, match="not a list of point pairs"):
        points.items(tmp_path)


def test_a_csv_without_the_columns(tmp_path):
    (tmp_path / "p.csv").write_text("picture,x,y\na.jpg,1,2\n")
    with pytest.raises(InputError, match="columns are image,row1"):
        points.items(tmp_path / "p.csv")


def test_an_empty_list_and_a_missing_one(tmp_path):
    with pytest.raises(InputError, match=r"pairs\.json: no such file"):
        points.items(tmp_path)
    (tmp_path / "pairs.json").write_text("{}")
    with pytest.raises(InputError, match="lists no point pairs"):
        points.items(tmp_path)
