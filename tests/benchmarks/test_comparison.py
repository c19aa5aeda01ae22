"""Duels: several models, the same maps, every protocol."""

import json
import math

import numpy as np
import pytest
from PIL import Image

from sightline import benchmarks
from sightline.benchmarks.comparison import PROTOCOLS, RANK, load_contenders
from sightline.benchmarks.comparison_report import (
    as_markdown,
    as_text,
    to_dict,
    write_report_page,
)
from sightline.errors import InputError
from sightline.types import DepthMap, Kind


@pytest.fixture
def rooms(tmp_path, rng):
    """Twelve pictures of four sets with metric truth, in the rgbd layout."""
    folder, rows = tmp_path / "rooms", []
    for number in range(12):
        place = folder / f"p{number}"
        place.mkdir(parents=True)
        depth = np.exp(rng.normal(1, 0.4, (12, 16))).astype(np.float32)
        np.savez(place / "truth.npz", depth=depth)
        Image.fromarray(np.zeros((12, 16, 3), np.uint8)).save(place / "image.jpg")
        rows.append({"sample": f"p{number}", "set": f"s{number % 4}", "kind": "dense"})
    (folder / "index.json").write_text(json.dumps(rows))
    return folder


def noisy(fixed, noise, kind=Kind.RELATIVE_DISPARITY, seed=1):
    rng = np.random.default_rng(seed)

    def answer(item, _pixels):
        disparity = item.load().disparity * np.exp(rng.normal(0, noise, (12, 16)))
        if kind is Kind.METRIC_DEPTH:
            return DepthMap((1 / disparity).astype(np.float32), kind)
        return DepthMap(disparity.astype(np.float32), kind)

    return fixed(answer)


def test_the_better_model_is_found_under_every_protocol(rooms, fixed):
    good = noisy(fixed, 0.05, Kind.METRIC_DEPTH)
    bad = noisy(fixed, 0.4, Kind.METRIC_DEPTH)
    report = benchmarks.duel({"good": good, "bad": bad}, rooms)
    assert {key[0] for key in report.values} == {RANK, *(row[0] for row in PROTOCOLS)}
    for key in report.values:
        (one,) = report.comparisons(key)
        assert (one.a, one.b, one.verdict, one.unit) == ("good", "bad", "good", "scenes")
        assert one.wins == 12
    assert len(good.asked) == 12  # one map serves every protocol


def test_equal_models_are_not_separated(rooms, fixed):
    models = {"one": noisy(fixed, 0.2, seed=1), "two": noisy(fixed, 0.2, seed=2)}
    report = benchmarks.duel(models, rooms)
    (one,) = report.comparisons(("disparity", "abs_rel"))
    assert one.verdict == ""
    assert one.scenes.low < 0 < one.scenes.high
    assert one.wins + one.ties + one.losses == 12


def test_relative_maps_are_not_judged_by_a_factor_and_it_is_said(rooms, fixed):
    models = {"rel": noisy(fixed, 0.1), "met": noisy(fixed, 0.1, Kind.METRIC_DEPTH)}
    report = benchmarks.duel(models, rooms)
    assert "median: rel has an unknown shift" in report.unfit
    assert list(report.standings(("median", "abs_rel"))) == ["met"]
    assert report.comparisons(("median", "abs_rel")) == []
    assert "–" in as_text(report)


def test_a_report_warns_of_comparing_kinds(rooms, fixed, tmp_path):
    models = {"rel": noisy(fixed, 0.1), "met": noisy(fixed, 0.1, Kind.METRIC_DEPTH)}
    report = benchmarks.duel(models, rooms)
    warning = (
        "do not compare relative models (rel) with metric ones (met) under depth, log, moge-affine: "
        "the two kinds are not fitted alike; use disparity or rank"
    )
    assert warning in report.notes
    write_report_page(tmp_path / "duel.html", report, models)
    for text in (as_text(report), as_markdown(report), (tmp_path / "duel.html").read_text()):
        assert warning in text
    same = benchmarks.duel(models, rooms, protocols=("disparity", "rank"))
    assert warning not in same.notes
    assert not any("not fitted alike" in note for note in same.notes)


def test_disparity_given_as_depth_is_named(rooms, fixed):
    def inverted(item, _pixels):
        return DepthMap(item.load().disparity, Kind.METRIC_DEPTH)

    with pytest.raises(InputError, match=r"maps of wrong run the wrong way.*given as depth"):
        benchmarks.duel({"right": noisy(fixed, 0.1), "wrong": fixed(inverted)}, rooms)


def test_empty_maps_are_named_and_fatal_unless_told(rooms, fixed):
    def holes(item, _pixels):
        disparity = item.load().disparity.copy()
        disparity[:2] = np.nan
        if item.name == "p3":
            disparity[:] = np.nan
        return DepthMap(disparity, Kind.RELATIVE_DISPARITY)

    models = {"whole": noisy(fixed, 0.1), "holes": fixed(holes)}
    with pytest.raises(InputError, match="1 of 12 pictures of rgbd cannot be scored"):
        benchmarks.duel(models, rooms)
    report = benchmarks.duel(models, rooms, keep_going=True)
    assert len(report.pictures) == 11
    assert "p3 by holes: the map is empty" in report.failures[0]
    assert any("holes: 11 maps with pixels without an answer" in note for note in report.notes)


def test_maps_of_another_size_are_named(rooms, fixed):
    def small(item, _pixels):
        return DepthMap(item.load().disparity[::2, ::2], Kind.RELATIVE_DISPARITY)

    report = benchmarks.duel({"full": noisy(fixed, 0.1), "small": fixed(small)}, rooms)
    assert any("small: 12 maps of another size" in n and "p0 8×6" in n for n in report.notes)


def test_a_set_of_one_picture_has_no_interval(rooms, fixed):
    rows = json.loads((rooms / "index.json").read_text())[:1]
    (rooms / "index.json").write_text(json.dumps(rows))
    report = benchmarks.duel({"a": noisy(fixed, 0.1), "b": noisy(fixed, 0.3)}, rooms)
    (one,) = report.comparisons(("disparity", "delta1"))
    assert math.isnan(one.pictures.low)
    assert one.verdict == ""
    assert "one picture: no interval is possible" in report.notes


def test_the_worst_pictures_are_those_farthest_behind(rooms, fixed):
    def spoiled(item, _pixels):
        disparity = item.load().disparity
        return DepthMap(
            disparity.T.reshape(12, 16) if item.name == "p7" else disparity, "relative_disparity"
        )

    report = benchmarks.duel({"good": noisy(fixed, 0.01), "bad": fixed(spoiled)}, rooms)
    assert [report.pictures[row].name for row in report.worst(("disparity", "abs_rel"), "bad")] == [
        "p7"
    ]


def test_all_forms_of_the_report(rooms, fixed, tmp_path):
    models = {"<a>": noisy(fixed, 0.05), "b": noisy(fixed, 0.4)}
    report = benchmarks.duel(models, rooms)
    found = json.loads(json.dumps(to_dict(report), allow_nan=False))
    assert found["format"] == "sightline-duel-1"
    assert len(found["pictures"]) == 12
    assert report.line in as_markdown(report)
    write_report_page(tmp_path / "duel.html", report, models)
    page = (tmp_path / "duel.html").read_text()
    assert "Where b is farthest behind" in page
    assert "&lt;a&gt;" in page
    assert "<a>" not in page


def test_folders_and_kinds_of_contenders(tmp_path):
    (tmp_path / "maps").mkdir()
    with pytest.raises(InputError, match="twice"):
        load_contenders([tmp_path / "maps", f"{tmp_path / 'maps'}@depth"])
    with pytest.raises(InputError, match="needs two models"):
        benchmarks.duel([f"{tmp_path / 'maps'}@depth"], tmp_path, name="rgbd")


def test_unknown_protocols_and_sets_are_refused(rooms, fixed, tmp_path):
    models = {"a": noisy(fixed, 0.1), "b": noisy(fixed, 0.1)}
    with pytest.raises(InputError, match="no protocol 'x'"):
        benchmarks.duel(models, rooms, protocols=["x"])
    with pytest.raises(InputError, match="cannot tell which set"):
        benchmarks.duel(models, tmp_path)
