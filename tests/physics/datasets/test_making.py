"""Whole data sets: the same bytes whoever makes them, a killed run that goes on, refusals."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sightline.errors import InputError, SightlineError
from sightline.physics.datasets import making, parts
from sightline.physics.datasets.making import (
    grouped,
    iter_make_dataset,
    make_dataset,
    plan_of,
    useful_workers,
)
from sightline.physics.datasets.reader import open_dataset
from sightline.physics.datasets.spec import BLOCK, DataSpec, draw, full_count
from sightline.physics.rendering import render

from .helpers import assert_same

COUNT = 2 * BLOCK + 20
PROBE = {"scenario": "probe:memorization", "part": "test"}


def spec_of(**changes):
    return DataSpec(**{"scenario": "collision", "count": COUNT, "size": 16, "seed": 5, **changes})


@pytest.fixture(autouse=True, scope="module")
def _every_block_is_a_part():
    """Tests have few videos; whole data sets of them would be a single part."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(making, "PART_SECONDS", 0.0)
        yield


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """One data set in either format, made by one process."""
    folder = tmp_path_factory.mktemp("whole")
    list(iter_make_dataset(spec_of(), folder / "rle.h5", workers=1))
    list(iter_make_dataset(spec_of(video="standard"), folder / "a.h5", workers=1))
    return folder


@pytest.mark.parametrize("name", ["rle.h5", "a.h5"])
def test_it_holds_what_was_asked_for(whole, name):
    samples = draw(spec_of(), 0, COUNT)
    with open_dataset(whole / name) as data:
        assert_same(data.samples, samples)
        assert data.made["seed"] == 5
        near = np.abs(data.video(COUNT - 1).astype(int) - render(samples[COUNT - 1], 16)).mean()
        assert near == 0 if name == "rle.h5" else near < 6
    assert sorted(path.name for path in whole.iterdir()) == ["a.h5", "rle.h5"]


@pytest.mark.parametrize(("name", "video"), [("rle.h5", "rle"), ("a.h5", "standard")])
def test_two_workers_give_the_same_bytes(whole, tmp_path, name, video):
    steps = list(iter_make_dataset(spec_of(video=video), tmp_path / name, workers=2))
    assert sorted(step.videos for step in steps) == [20, BLOCK, BLOCK]
    assert (tmp_path / name).read_bytes() == (whole / name).read_bytes()


@pytest.mark.slow
def test_ray_gives_the_same_bytes(whole, tmp_path):
    list(iter_make_dataset(spec_of(), tmp_path / "rle.h5", workers=2, cluster=True))
    assert (tmp_path / "rle.h5").read_bytes() == (whole / "rle.h5").read_bytes()


def test_videos_do_not_depend_on_the_count(whole, tmp_path):
    list(iter_make_dataset(spec_of(count=7), tmp_path / "b.h5"))
    with open_dataset(tmp_path / "b.h5") as few, open_dataset(whole / "rle.h5") as many:
        for index in range(7):
            np.testing.assert_array_equal(few.video(index), many.video(index))


def stopped(out, **changes):
    """Stop a run after its first block."""
    steps = iter_make_dataset(spec_of(**changes), out, workers=1)
    next(steps)
    steps.close()


def test_parts_of_another_data_set_are_refused(whole, tmp_path):
    out = tmp_path / "rle.h5"
    stopped(out, seed=6)
    with pytest.raises(InputError, match="unfinished data set of seed 6, not 5; finish that one"):
        list(iter_make_dataset(spec_of(), out))
    steps = list(iter_make_dataset(spec_of(), out, force=True))
    assert not any(step.skipped for step in steps)
    assert out.read_bytes() == (whole / "rle.h5").read_bytes()


@pytest.mark.parametrize(("name", "video"), [("rle.h5", "rle"), ("a.h5", "standard")])
@pytest.mark.parametrize("place", [100, -100, -1])
def test_a_damaged_part_is_noticed(whole, tmp_path, name, video, place):
    out = tmp_path / name
    stopped(out, video=video)
    part = tmp_path / f"{name}.parts" / "000000-000000.part"
    damaged = bytearray(part.read_bytes())
    damaged[place] ^= 1
    part.write_bytes(damaged)
    with pytest.raises(
        InputError, match=r"000000-000000\.part: is damaged; delete it and run again"
    ):
        list(iter_make_dataset(spec_of(video=video), out))
    assert not out.exists()
    part.unlink()
    list(iter_make_dataset(spec_of(video=video), out))
    assert out.read_bytes() == (whole / name).read_bytes()


@pytest.mark.parametrize("place", [0, 20, 100, -1])
def test_a_damaged_part_of_several_blocks(whole, tmp_path, monkeypatch, place):
    monkeypatch.setattr(making, "PART_SECONDS", 1.0)
    out = tmp_path / "rle.h5"
    stopped(out)
    (part,) = (tmp_path / "rle.h5.parts").glob("*.part")
    assert part.name == "000000-000002.part"
    good = part.read_bytes()
    first = 40 + int.from_bytes(good[:8], "little")  # where the second block begins
    damaged = bytearray(good)
    damaged[place if place < 0 else first + place] ^= 1
    for content in (bytes(damaged), good[:-1], good[:first], b""):
        part.write_bytes(content)
        with pytest.raises(InputError, match=r"damaged|empty"):
            list(iter_make_dataset(spec_of(), out))
        assert not out.exists()
    part.write_bytes(good)
    assert all(step.skipped for step in iter_make_dataset(spec_of(), out))
    assert out.read_bytes() == (whole / "rle.h5").read_bytes()


def test_a_part_holds_blocks_in_a_row(monkeypatch):
    monkeypatch.setattr(making, "PART_SECONDS", 0.5)
    jobs = [SimpleNamespace(number=k, videos=100) for k in (0, 1, 2, 3, 7, 8)]
    rows = grouped(jobs, 0.002)
    assert [[job.number for job in row.jobs] for row in rows] == [[0, 1], [2, 3], [7, 8]]
    assert [len(row.jobs) for row in grouped(jobs, 1.0)] == [1] * 6
    assert grouped([], 1.0) == []


def test_an_old_file_stays_without_force(whole, tmp_path):
    out = tmp_path / "rle.h5"
    out.write_bytes(b"precious")
    with pytest.raises(InputError, match="is there already"):
        list(iter_make_dataset(spec_of(), out))
    assert out.read_bytes() == b"precious"
    list(iter_make_dataset(spec_of(), out, force=True))
    assert out.read_bytes() == (whole / "rle.h5").read_bytes()


def test_no_room_for_the_whole(tmp_path, monkeypatch):
    monkeypatch.setattr(parts.shutil, "disk_usage", lambda _: SimpleNamespace(free=1000))
    with pytest.raises(SightlineError, match="free some space and run again"):
        list(iter_make_dataset(spec_of(count=3), tmp_path / "rle.h5"))
    assert [path.name for path in tmp_path.iterdir()] == ["rle.h5.parts"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "1 to 100,000,000 videos"),
        ({"size": 5}, "16 to 1024"),
        ({"size": 17, "video": "standard"}, "even size"),
        ({"part": "train"}, "leave out --part, or ask for probe:NAME"),
        ({"scenario": "probe:x"}, "no probe is called 'x'"),
        ({"scenario": "probe:memorization"}, "add --part train or --part test"),
        ({**PROBE, "level": "30K"}, "leave out --level"),
        ({**PROBE, "split": "ood"}, "leave out --level, --split"),
        ({**PROBE, "preset": "paper"}, "a probe defines its own data"),
        ({**PROBE, "mode": "box2d"}, "a probe defines its own data"),
        ({**PROBE, "shard_seed": True}, "a probe defines its own data"),
        ({"scenario": "combinatorial"}, "need a `CombinatorialSpec`"),
        ({"video": "mpeg"}, "no quality is called 'mpeg'"),
        ({"level": "30K", "split": "ood"}, "in distribution"),
    ],
)
def test_settings_that_contradict_each_other(changes, message):
    with pytest.raises(InputError, match=message):
        spec_of(**changes)


def test_an_unknown_layout(tmp_path):
    with pytest.raises(InputError, match="no layout is called 'flat'; use merged, shard"):
        list(iter_make_dataset(spec_of(), tmp_path / "a.h5", layout="flat"))
    assert list(tmp_path.iterdir()) == []


def test_make_dataset_opens_the_file(tmp_path):
    with make_dataset(spec_of(count=2), tmp_path / "a.h5") as data:
        assert len(data) == 2


@pytest.mark.parametrize(
    ("changes", "name", "message"),
    [
        ({}, "a.mp4", "no format has the suffix '.mp4'"),
        ({"scenario": "moon"}, "rle.h5", "no scenario is called 'moon'"),
        ({"split": "moon"}, "rle.h5", "no split called 'moon'"),
        ({"scenario": "probe:moon", "part": "test"}, "rle.h5", "moon"),
        ({"seed": -1}, "rle.h5", "seed"),
        ({"level": "30K", "count": 40_000}, "rle.h5", "30K has"),
    ],
)
def test_mistakes_leave_nothing_behind(tmp_path, changes, name, message):
    with pytest.raises(InputError, match=message):
        list(iter_make_dataset(spec_of(**changes), tmp_path / name))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_or_file_in_the_way(tmp_path):
    (tmp_path / "rle.h5").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        list(iter_make_dataset(spec_of(), tmp_path / "rle.h5", force=True))
    (tmp_path / "file").write_text("x")
    with pytest.raises(
        InputError, match="a file is in the way of this folder; choose another --out"
    ):
        list(iter_make_dataset(spec_of(), tmp_path / "file" / "b.h5"))


def test_levels_and_probes(tmp_path):
    for changes in (
        {"scenario": "uniform", "level": "30K"},
        {"scenario": "probe:conflict-color-square", "part": "test"},
    ):
        spec = spec_of(count=3, **changes)
        out = tmp_path / "rle.h5"
        list(iter_make_dataset(spec, out, force=True))
        with open_dataset(out) as data:
            assert_same(data.samples, draw(spec, 0, 3))
            np.testing.assert_array_equal(data.video(2), render(data.motion(2), 16))


def test_how_many_by_default():
    assert full_count("uniform", level="30K") == 30_000
    assert full_count("collision", split="ood") == 4800
    assert full_count("probe:conflict-color-square", part="test") == 1400


def test_processes_are_started_for_work_that_is_worth_it(monkeypatch):
    monkeypatch.setattr(making, "available_cores", lambda: 8)
    for count, video, wanted in ((1000, "rle", 1), (1_000_000, "rle", 8), (1000, "standard", 3)):
        spec = spec_of(size=128, count=count, video=video)
        plan = plan_of(spec, Path("a.h5"), "merged")
        assert useful_workers(plan, plan.jobs) == wanted


def test_a_rehearsal_is_the_start_of_a_block():
    plan = plan_of(spec_of(), Path("rle.h5"), "merged")
    job = plan.jobs[0]
    assert len(plan.make(job.rehearsal())) < len(plan.make(job)) / 20
    assert [str(job) for job in plan.jobs][-1] == "videos 250 to 269"
