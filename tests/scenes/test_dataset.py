"""Many scenes into a folder."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from sightline.errors import InputError, SightlineError
from sightline.scenes import dataset, generate
from sightline.scenes.config import SceneSpec
from sightline.scenes.dataset import CHUNK, make_scene_files, write_scenes
from sightline.scenes.storage import read_scenes

SPEC = SceneSpec(seed=1, width=32, height=24)


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_bytes_in_whatever_order_and_however_many_workers(tmp_path):
    count = 2 * CHUNK + 3
    list(write_scenes(SPEC, tmp_path / "one", range(count), workers=1))
    list(write_scenes(SPEC, tmp_path / "two", range(count), workers=2))
    list(write_scenes(SPEC, tmp_path / "three", range(10, count), workers=1))
    list(write_scenes(SPEC, tmp_path / "three", range(count)[::-1], workers=1))
    one = contents(tmp_path / "one")
    assert len(one) == 4 * count + 2
    assert contents(tmp_path / "two") == one
    assert contents(tmp_path / "three") == one
    assert [scene.index for scene in read_scenes(tmp_path / "one")] == list(range(count))


def test_what_is_there_is_kept(tmp_path):
    assert not any(outcome.skipped for outcome in write_scenes(SPEC, tmp_path, range(4), workers=1))
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("0*")}
    assert all(outcome.skipped for outcome in write_scenes(SPEC, tmp_path, range(4), workers=1))
    (tmp_path / "000002.json").unlink()
    (tmp_path / "index.csv").unlink()
    made = [o.index for o in write_scenes(SPEC, tmp_path, range(5), workers=1) if not o.skipped]
    assert made == [2, 4]
    after = {path: path.stat().st_mtime_ns for path in before}
    assert [p.name for p in before if before[p] != after[p] and "000002" not in p.name] == []
    assert len((tmp_path / "index.csv").read_text().splitlines()) == 6


def test_a_run_that_is_stopped_goes_on(tmp_path):
    results = write_scenes(SPEC, tmp_path, range(6), workers=1)
    for _ in range(3):
        next(results)
    results.close()
    assert len(dataset.finished_indexes(tmp_path)) == 3
    assert [p.name for p in tmp_path.glob(".*")] == []
    list(write_scenes(SPEC, tmp_path, range(6), workers=1))
    list(write_scenes(SPEC, tmp_path / "unbroken", range(6), workers=1))
    whole = contents(tmp_path / "unbroken")
    assert {name: (tmp_path / name).read_bytes() for name in whole} == whole


def test_another_seed_is_refused(tmp_path):
    list(write_scenes(SPEC, tmp_path, range(1), workers=1))
    with pytest.raises(InputError, match="holds scenes with seed = 1, not 2"):
        list(write_scenes(SceneSpec(2, 32, 24), tmp_path, range(1)))


def test_a_scene_with_a_bug_costs_no_other(tmp_path, monkeypatch):
    real = generate.KINDS["objects"]
    seen = []

    def second_fails(rng):
        seen.append(None)
        if len(seen) == 2:
            raise ValueError("no room for the vase")
        return real.build(rng)

    monkeypatch.setitem(generate.KINDS, "objects", replace(real, build=second_fails))
    spec = SceneSpec(0, 32, 24, ("objects",))
    failed = [o for o in write_scenes(spec, tmp_path, range(4), workers=1) if o.failure is not None]
    (outcome,) = failed
    assert isinstance(outcome.failure, SightlineError)
    message = str(outcome.failure)
    assert message == f"scene {outcome.index} of seed 0 (objects): ValueError: no room for the vase"
    assert len(dataset.finished_indexes(tmp_path)) == 3


def test_photographs_come_into_the_scenes(tmp_path, photo):
    from PIL import Image

    folder = tmp_path / "photos"
    folder.mkdir()
    for number in range(3):
        Image.fromarray(photo[100 * number : 100 * number + 100]).save(folder / f"{number}.jpg")
    plain = [make_scene_files(SPEC, index) for index in range(16)]
    spec = SceneSpec(1, 32, 24, textures=str(folder))
    papered = [make_scene_files(spec, index) for index in range(16)]
    assert any(a[".jpg"] != b[".jpg"] for a, b in zip(plain, papered, strict=True))
    for a, b in zip(plain, papered, strict=True):  # the picture changes, the truth does not
        assert a[".png"] == b[".png"]
        assert a[".mask.png"] == b[".mask.png"]


def test_a_dead_chunk_fails_each_of_its_scenes(tmp_path, monkeypatch):
    from sightline.runtime.parallel import MapResult

    def dead(function, inputs, **options):
        assert isinstance(function, partial)
        for item in inputs:
            yield MapResult(item, failure=SightlineError("worker processes were ended"))

    monkeypatch.setattr(dataset, "map_inputs", dead)
    outcomes = list(write_scenes(SPEC, tmp_path, range(CHUNK + 3), workers=2))
    failed = [outcome.index for outcome in outcomes if outcome.failure is not None]
    assert failed == [CHUNK, CHUNK + 1, CHUNK + 2]
    assert len(dataset.finished_indexes(tmp_path)) == CHUNK


@pytest.mark.slow
def test_the_same_bytes_from_ray(tmp_path):
    pytest.importorskip("ray")
    list(write_scenes(SPEC, tmp_path / "here", range(20), workers=1))
    list(write_scenes(SPEC, tmp_path / "ray", range(20), workers=2, cluster=True))
    assert contents(tmp_path / "ray") == contents(tmp_path / "here")


def test_scenes_differ_from_each_other(tmp_path):
    list(write_scenes(SPEC, tmp_path, range(10), workers=1))
    scenes = list(read_scenes(tmp_path))
    assert len({scene.pixels.tobytes() for scene in scenes}) == 10
    assert len({scene.kind for scene in scenes}) > 1
    for scene in scenes:
        assert scene.depth.valid.all()
        assert np.isfinite(scene.depth.values).all()
        assert {thing.number for thing in scene.instances} == set(np.unique(scene.mask)) - {0}
