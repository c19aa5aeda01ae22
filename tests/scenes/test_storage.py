"""Scenes as files: what is written comes back, within the step that the file states."""

import csv
import json

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import InputError
from sightline.scenes import storage
from sightline.scenes.config import SceneSpec, claim_folder
from sightline.scenes.generate import Scene, find_instances
from sightline.scenes.rendering.renderer import RenderedFrame
from sightline.scenes.storage import read_scene, read_scenes
from sightline.types import Camera, DepthMap, Kind

WIDTH, HEIGHT = 40, 32


def some_scene(index=0, seed=0, *, nearest=0.4, farthest=600.0):
    """A picture of noise: smooth colors, any depth, a band of sky, a few things."""
    rng = np.random.default_rng([seed, index])
    low = rng.integers(0, 255, (4, 5, 3)).astype(np.uint8)
    pixels = cv2.resize(low, (WIDTH, HEIGHT), interpolation=cv2.INTER_CUBIC)
    values = np.exp(rng.uniform(np.log(nearest), np.log(farthest), (HEIGHT, WIDTH)))
    sky = np.zeros((HEIGHT, WIDTH), bool)
    sky[:5] = True
    camera = Camera.from_fov(float(rng.uniform(40, 90)), WIDTH, HEIGHT)
    pose = np.eye(4)
    pose[:3, 3] = rng.normal(size=3)
    instance = np.where(sky, 0, rng.integers(0, 4, (HEIGHT, WIDTH))).astype(np.int32)
    frame = RenderedFrame(
        pixels=pixels,
        depth=DepthMap(values.astype(np.float32), Kind.METRIC_DEPTH, ~sky, camera),
        pose=pose,
        instance=instance,
        kinds=("chair", "table", "lamp", "never seen"),
        sky=sky,
    )
    return Scene(frame, "room", seed, index, 0)


def write(folder, *scenes):
    claim_folder(folder, SceneSpec(width=WIDTH, height=HEIGHT))
    for scene in scenes:
        storage.write_scene(folder, scene.index, storage.encode_scene(scene))
    storage.write_index(folder)


def test_round_trip(tmp_path):
    scenes = [some_scene(index) for index in (0, 3, 17)]
    write(tmp_path, *scenes)
    back = list(read_scenes(tmp_path))
    assert [scene.index for scene in back] == [0, 3, 17]
    for given_, found in zip(scenes, back, strict=True):
        frame = given_.frame
        assert (found.kind, found.seed) == ("room", 0)
        assert np.abs(found.pixels.astype(int) - frame.pixels).mean() < 6  # JPEG
        assert np.array_equal(found.sky, frame.sky)
        assert np.array_equal(found.mask, frame.instance)
        assert np.array_equal(found.pose, frame.pose)
        assert np.array_equal(found.depth.camera.K, frame.camera.K)
        assert found.instances == find_instances(frame.instance, frame.depth.values, frame.kinds)
        unit = json.loads((tmp_path / f"{found.index:06d}.json").read_text())["unit"]
        truth = 1 / frame.depth.values[~frame.sky].astype(np.float64)
        error = np.abs(found.depth.values[~frame.sky] - truth)
        assert error.max() <= unit / 2 * 1.001 + truth.max() * 1e-7
        meters = found.depth.to_metric_depth()
        assert np.array_equal(meters.valid, ~frame.sky)


@given(
    st.floats(0.05, 100),
    st.floats(1.0, 1e6),
    st.integers(0, 2**32 - 1),
)
def test_quantized_within_half_a_step(nearest, ratio, seed):
    values = nearest * np.random.default_rng(seed).uniform(1, ratio, (6, 7)).astype(np.float32)
    steps, unit = storage.quantize_disparity(DepthMap(values, Kind.METRIC_DEPTH))
    assert steps.max() == 65535
    assert steps.min() >= 1  # there, however far: not sky
    exact = 1 / values.astype(np.float64)
    error = np.abs(steps * unit - exact)
    assert (error <= unit * 0.5000001)[exact > unit].all()
    assert (error <= unit).all()


def test_nothing_but_sky():
    steps, unit = storage.quantize_disparity(
        DepthMap(np.zeros((4, 4), np.float32), Kind.METRIC_DEPTH)
    )
    assert not steps.any()
    assert unit > 0


def test_the_files_are_what_other_tools_read(tmp_path):
    scene = some_scene()
    write(tmp_path, scene)
    steps = cv2.imread(str(tmp_path / "000000.png"), cv2.IMREAD_UNCHANGED)
    assert steps.dtype == np.uint16
    assert np.array_equal(steps == 0, scene.frame.sky)
    assert steps.max() == 65535
    mask = cv2.imread(str(tmp_path / "000000.mask.png"), cv2.IMREAD_UNCHANGED)
    assert mask.dtype == np.uint16
    assert np.array_equal(mask, scene.frame.instance)


def test_index_has_the_columns_of_rgbd_train(tmp_path):
    scenes = [some_scene(index, seed=5) for index in (9, 2)]
    write(tmp_path, *scenes)
    with (tmp_path / "index.csv").open(newline="") as lines:
        rows = list(csv.DictReader(lines))
    assert list(rows[0]) == ["id", "source", "scene", "kind", "fx", "real", "unit"]
    assert [row["id"] for row in rows] == ["000002", "000009"]
    assert [row["scene"] for row in rows] == ["5-000002", "5-000009"]
    for row, scene in zip(rows, scenes[::-1], strict=True):
        assert (row["source"], row["kind"], row["real"]) == ("sightline-room", "inverse_depth", "0")
        assert float(row["fx"]) == scene.frame.camera.focal
        assert float(row["unit"]) == storage.quantize_disparity(scene.frame.depth)[1]


def test_the_training_reader_reads_them(tmp_path):
    from sightline.training.data.items import read_pair, rgbd_items

    scene = some_scene()
    write(tmp_path, scene)
    (item,) = rgbd_items(tmp_path)
    pair = read_pair(item, HEIGHT)
    assert pair.known.all()
    assert pair.unit is not None
    truth = np.where(scene.frame.sky, 0, 1 / np.maximum(scene.frame.depth.values, 1e-3))
    assert np.allclose(pair.disparity.astype(np.float64) * pair.unit, truth, rtol=1e-3, atol=1e-4)
    assert not pair.disparity[scene.frame.sky].any()


def test_same_scene_same_bytes():
    assert storage.encode_scene(some_scene(4)) == storage.encode_scene(some_scene(4))


@pytest.mark.parametrize("missing", storage.ENDINGS)
def test_a_scene_with_a_file_missing_is_not_finished(tmp_path, missing):
    write(tmp_path, some_scene(0), some_scene(1))
    assert storage.finished_indexes(tmp_path) == {0, 1}
    (tmp_path / f"000001{missing}").unlink()
    assert storage.finished_indexes(tmp_path) == {0}
    assert storage.write_index(tmp_path) == 1


def test_no_folder_holds_no_scenes(tmp_path):
    assert storage.finished_indexes(tmp_path / "missing") == set()


def test_a_folder_of_other_things_is_refused(tmp_path):
    with pytest.raises(InputError, match="no folder of scenes"):
        list(read_scenes(tmp_path))


@pytest.mark.parametrize(
    ("ending", "damage"),
    [
        (".json", lambda data: data[: len(data) // 2]),
        (".json", lambda _: b"[]"),
        (".json", lambda _: b'{"kind": 1}'),
        (".json", lambda data: data.replace(b'"K": [[', b'"K": [["x", ')),
        (".json", lambda data: data.replace(b'"pose": [', b'"pose": [1, ')),
        (".json", lambda data: data.replace(b'"box": [', b'"box": ["a", ')),
        (".json", lambda data: data.replace(b'"pixels"', b'"dots"')),
        (".png", lambda data: data[: len(data) // 2]),
        (".mask.png", lambda data: data[:-60] + bytes(60)),
        (".jpg", lambda data: data[:200]),
        (".jpg", lambda _: b"no picture at all"),
    ],
)
def test_damage_is_told_with_the_file(tmp_path, ending, damage):
    write(tmp_path, some_scene())
    path = tmp_path / f"000000{ending}"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(InputError) as caught:
        read_scene(tmp_path, 0)
    assert str(caught.value).startswith(str(path))


def test_a_label_of_another_size_is_refused(tmp_path):
    write(tmp_path, some_scene())
    cv2.imwrite(str(tmp_path / "000000.png"), np.ones((HEIGHT, WIDTH + 1), np.uint16))
    with pytest.raises(InputError, match="is not a gray picture of 16 bits and 40×32"):
        read_scene(tmp_path, 0)
