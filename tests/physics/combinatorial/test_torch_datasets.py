"""Torch data sets of combinatorial worlds."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from sightline.physics.combinatorial.rendering import render_objects, render_scene
from sightline.physics.combinatorial.simulation import make_sample
from sightline.physics.combinatorial.store import CombinatorialSpec
from sightline.physics.datasets.making import iter_make_dataset
from sightline.physics.datasets.torch_datasets import (
    ROOM,
    ItemOptions,
    RenderedScenes,
    StoredScenes,
    make_scene_item,
    mirrored,
)

SPEC = CombinatorialSpec(
    (10003, 10053), tasks=2, trials=2, seed=4, frames=3, size=32, video="lossless"
)


def test_rendered_and_stored_are_the_same(tmp_path):
    list(iter_make_dataset(SPEC, tmp_path / "a.h5"))
    rendered, stored = RenderedScenes(SPEC), StoredScenes(tmp_path / "a.h5")
    assert len(rendered) == len(stored) == 8
    for index in range(8):
        one, two = rendered[index], stored[index]
        assert one.keys() == two.keys()
        for name in one:
            assert np.array_equal(np.asarray(one[name]), np.asarray(two[name])), name
    with pytest.raises(IndexError):
        rendered[8]
    stored.file.data.close()


def test_items_stack():
    batch = next(iter(DataLoader(RenderedScenes(SPEC, ItemOptions(floats=True)), batch_size=8)))
    assert batch["video"].shape == (8, 3, 3, 32, 32)
    assert batch["video"].dtype == torch.float32
    assert batch["objects"].shape == (8, 3, ROOM, 14)
    for rows, count in zip(batch["objects"], batch["count"], strict=True):
        assert (rows[:, :count, 4:8].sum(-1) == 1).all()
        assert (rows[:, count:] == 0).all()


def test_a_mirrored_scene_is_the_mirrored_picture():
    sample = make_sample(10066, 1, frames=6)
    mirror = render_objects(mirrored(sample.objects), 64)
    difference = mirror[:, :, ::-1].astype(int) - render_scene(sample, 64)
    assert np.abs(difference).max() <= 1
    np.testing.assert_allclose(mirrored(mirrored(sample.objects)), sample.objects, atol=1e-12)


def test_flips_change_all_that_they_must():
    sample = make_sample(10066, 1, frames=2)
    frames = render_scene(sample, 32)
    options = ItemOptions(flip=True, seed=1)
    items = [
        make_scene_item(frames, sample.action, sample.objects, index, 0, options)
        for index in range(20)
    ]
    turned = [item for item in items if item["action"][0] != np.float32(sample.action[0])]
    assert 0 < len(turned) < 20
    for item in turned:
        np.testing.assert_array_equal(item["video"][0], frames[:, :, ::-1, 0])
        assert item["objects"][0, 0, 0] == np.float32(1 - sample.objects[0, 0, 0])
