import dataclasses
import math
import pickle

import numpy as np
import pytest

from sightline.benchmarks.protocol import Protocol, UnfitError
from sightline.benchmarks.report import as_json, as_markdown, as_text, number
from sightline.benchmarks.rgbd import BENCHMARK, evaluate
from sightline.benchmarks.run import ItemScore, run, thinned, weighted_mean
from sightline.benchmarks.samples import IncompleteError, Item
from sightline.benchmarks.sets import SETS, find
from sightline.errors import InputError
from sightline.types import DepthMap, Kind


def test_the_oracle_is_perfect(rgbd_folder, oracle):
    report = run(BENCHMARK, rgbd_folder, oracle)
    assert len(report.scored) == 3
    assert set(report.rows) == {"a", "b"}
    assert report.overall["spearman"] == pytest.approx(1)
    assert report.overall["abs_rel"] == pytest.approx(0, abs=1e-5)
    assert oracle.asked == ["a0", "a1", "b0"]


def test_sets_count_the_same_and_the_shorthand_agrees(rgbd_folder, fixed):
    rng = np.random.default_rng(0)
    maps = {name: rng.random((6, 10), np.float32) for name in ("a0", "a1", "b0")}
    model = fixed(lambda item, _: DepthMap(maps[item.name], Kind.RELATIVE_DISPARITY))
    report = run(BENCHMARK, rgbd_folder, model)
    rows = report.rows
    assert report.overall["abs_rel"] == pytest.approx(
        (rows["a"]["abs_rel"] + rows["b"]["abs_rel"]) / 2
    )
    order = iter(maps.values())
    table = evaluate(lambda pixels: next(order), rgbd_folder)
    assert table["mean"].abs_rel == pytest.approx(report.overall["abs_rel"])
    assert table["mean"].spearman == pytest.approx(report.overall["spearman"])


def test_every_group_keeps_its_first(rgbd_folder, oracle):
    report = run(BENCHMARK, rgbd_folder, oracle, every=2)
    assert [one.name for one in report.scored] == ["a0", "b0"]
    assert "2 pictures (one in 2)" in report.line
    items = [Item(f"{n}", "xy"[n % 2], (), lambda: None) for n in range(10)]
    assert [item.name for item in thinned(items, 3)] == ["0", "1", "6", "7"]
    with pytest.raises(InputError, match="makes no sense"):
        thinned(items, 0)


def test_a_missing_file_is_found_before_anything_is_predicted(rgbd_folder, oracle):
    (rgbd_folder / "a1/truth.npz").unlink()
    with pytest.raises(IncompleteError, match="1 of 3 pictures of rgbd") as caught:
        run(BENCHMARK, rgbd_folder, oracle)
    assert oracle.asked == []
    assert caught.value.exit_code == 2
    assert "a1" in caught.value.failures[0]
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), InputError)


def test_a_damaged_file_is_named_and_no_figure_given(rgbd_folder, oracle):
    (rgbd_folder / "a1/truth.npz").write_bytes(b"damaged")
    with pytest.raises(IncompleteError) as caught:
        run(BENCHMARK, rgbd_folder, oracle)
    assert [line.split(":")[0] for line in caught.value.failures] == ["a1"]


def test_keeping_going_says_how_many_are_missing(rgbd_folder, oracle):
    (rgbd_folder / "a1/truth.npz").write_bytes(b"damaged")
    (rgbd_folder / "a0/image.jpg").unlink()
    report = run(BENCHMARK, rgbd_folder, oracle, keep_going=True)
    assert [one.name for one in report.scored] == ["b0"]
    assert len(report.failures) == 2
    assert "1 pictures, 2 could not be scored" in report.line


def test_a_set_of_which_part_is_there_is_not_the_set(rgbd_folder, oracle):
    larger = dataclasses.replace(BENCHMARK, expected=100)
    with pytest.raises(IncompleteError, match=r"^97 of 100 pictures of rgbd") as caught:
        run(larger, rgbd_folder, oracle)
    assert caught.value.failures == ("the folder lists 3 pictures, the set has 100",)
    report = run(larger, rgbd_folder, oracle, keep_going=True)
    assert "; 3 pictures of the set's 100; " in report.line


def test_what_is_not_listed_and_what_is_damaged_are_counted_together(rgbd_folder, oracle):
    larger = dataclasses.replace(BENCHMARK, expected=100)
    (rgbd_folder / "a1/truth.npz").write_bytes(b"damaged")
    report = run(larger, rgbd_folder, oracle, keep_going=True)
    assert "2 pictures of the set's 100, 1 could not be scored" in report.line
    (rgbd_folder / "a1/truth.npz").unlink()
    with pytest.raises(IncompleteError, match=r"^98 of 100 pictures of rgbd"):
        run(larger, rgbd_folder, oracle)


def test_a_folder_with_more_than_the_set_is_not_the_set(rgbd_folder, oracle):
    smaller = dataclasses.replace(BENCHMARK, expected=2)
    with pytest.raises(IncompleteError, match="more pictures than rgbd has") as caught:
        run(smaller, rgbd_folder, oracle)
    assert caught.value.failures == ("the folder lists 3 pictures, the set has 2",)


@pytest.mark.parametrize("name", ["eth3d", "diode", "kitti", "sintel"])
@pytest.mark.parametrize("options", [{}, {"every": 10}, {"keep_going": True}])
def test_a_folder_with_nothing_of_the_set(name, options, tmp_path, oracle):
    (tmp_path / "final").mkdir()
    benchmark = find(name)
    with pytest.raises(IncompleteError, match=f": no picture of {name} was found there") as caught:
        run(benchmark, tmp_path, oracle, **options)
    line = str(caught.value)
    assert "\n" not in line
    assert "cannot be scored" not in line
    assert line.startswith(f"{tmp_path}: ")
    for part in benchmark.layout:
        assert part.split()[0] in line
    assert caught.value.exit_code == 2
    assert str(pickle.loads(pickle.dumps(caught.value))).startswith(line)


@pytest.mark.parametrize(("count", "listed"), [(5, 5), (6, 6), (652, 6)])
def test_a_long_list_is_cut_short(count, listed):
    failures = IncompleteError("bad", [f"{number}: gone" for number in range(count)]).failures
    assert len(failures) == listed
    assert failures[:5] == tuple(f"{number}: gone" for number in range(5))
    assert failures[5:] == ((f"… and {count - 5} more",) if count > 5 else ())


def test_nothing_left_is_an_error(rgbd_folder, oracle):
    for name in ("a0", "a1", "b0"):
        (rgbd_folder / name / "image.jpg").write_bytes(b"no picture")
    with pytest.raises(InputError, match="nothing could be scored"):
        run(BENCHMARK, rgbd_folder, oracle, keep_going=True)


def test_truth_without_meters_is_left_out_of_metric_figures(rgbd_folder, fixed):
    model = fixed(lambda item, _: DepthMap(np.full((6, 10), 2.0), Kind.METRIC_DEPTH))
    report = run(BENCHMARK, rgbd_folder, model, Protocol(align="none"))
    assert report.left_out == ("b0",)
    assert "1 without meters left out" in report.line
    assert set(report.rows) == {"a"}


def test_a_protocol_that_cannot_judge_the_model_is_one_error(rgbd_folder, oracle):
    with pytest.raises(UnfitError):
        run(BENCHMARK, rgbd_folder, oracle, Protocol(align="none"), keep_going=True)


def test_means_are_weighted_and_skip_what_is_not_defined():
    rows = [
        ItemScore("a", "x", {"accuracy": 1.0, "rmse": math.nan}, weight=3),
        ItemScore("b", "x", {"accuracy": 0.0, "rmse": 4.0}, weight=1),
    ]
    assert weighted_mean(rows) == {"accuracy": 0.75, "rmse": 4.0}
    assert math.isnan(weighted_mean([ItemScore("a", "x", {"rmse": math.nan})])["rmse"])


def test_progress_is_told(rgbd_folder, oracle):
    told = []
    run(BENCHMARK, rgbd_folder, oracle, on_done=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_every_form_of_the_report_carries_the_protocol(rgbd_folder, oracle):
    import json

    report = run(BENCHMARK, rgbd_folder, oracle)
    for part in ("affine-aligned in disparity", "cap 80 m", "no crop", "model fixed@000000000000"):
        assert part in report.line
    text, markdown = as_text(report), as_markdown(report)
    assert text.splitlines()[-1] == report.line
    assert len(text.splitlines()) == 6
    assert markdown.startswith(report.line)
    assert "| **overall** | 3 | 1.000 |" in markdown
    whole = json.loads(as_json(report))
    assert whole["protocol"] == report.line
    assert set(whole["samples"]) == {"a0", "a1", "b0"}
    assert whole["sets"]["b"]["rmse"] is None
    assert whole["sets"]["a"]["pictures"] == 2


def test_figures_that_are_not_defined_are_a_dash():
    assert number(math.nan) == "–"
    assert number(0.12345, 4) == "0.1235"


def test_every_set_describes_itself():
    assert len({one.name for one in SETS}) == len(SETS)
    for one in SETS:
        assert find(one.name) is one
        assert one.layout
        assert one.source
    with pytest.raises(InputError, match="choose from da2k, nyu, kitti"):
        find("nothing")
