"""Torch data sets: the same items from any number of workers, right shapes, flips that mirror."""

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from sightline.errors import InputError
from sightline.physics.datasets.making import iter_make_dataset
from sightline.physics.datasets.spec import DataSpec, draw
from sightline.physics.datasets.torch_datasets import (
    ItemOptions,
    RenderedVideos,
    StoredVideos,
    StreamedVideos,
    flipped,
)
from sightline.physics.rendering import render

SPEC = DataSpec("collision", 150, size=16, seed=2)
FEW = DataSpec("collision", 9, size=16, seed=2)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    list(iter_make_dataset(FEW, folder / "rle.h5"))
    spec = DataSpec("collision", 9, size=16, seed=2, video="lossless")
    list(iter_make_dataset(spec, folder / "a.h5"))
    return folder


@pytest.fixture(autouse=True)
def _two_workers_on_one_core(monkeypatch):
    """A loader warns of more workers than cores; what is tested here does not depend on cores."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)


def collect(dataset, workers):
    """All items by number, through a loader."""
    loader = DataLoader(dataset, batch_size=None, num_workers=workers)
    return {int(item["index"]): item for item in loader}


def assert_items(found, wanted):
    assert found.keys() == wanted.keys()
    for index, item in found.items():
        for name in ("video", "init", "positions"):
            assert torch.equal(item[name], wanted[index][name]), (index, name)


def test_an_item():
    item = RenderedVideos(SPEC)[3]
    motion = draw(SPEC, 3, 1)
    assert (item["video"].shape, item["video"].dtype) == ((3, 32, 16, 16), torch.uint8)
    np.testing.assert_array_equal(
        item["video"].numpy().transpose(1, 2, 3, 0), render(motion[0], 16)
    )
    np.testing.assert_allclose(item["positions"], motion.positions[0], rtol=1e-6)
    np.testing.assert_allclose(item["init"], motion.init[0], rtol=1e-6)


def test_items_are_not_overwritten_by_later_ones():
    dataset = RenderedVideos(SPEC)
    first = dataset[0]["video"]
    kept = first.clone()
    assert not torch.equal(dataset[1]["video"], kept)
    assert torch.equal(first, kept)


@pytest.mark.parametrize("options", [ItemOptions(), ItemOptions(floats=True, flip=True, seed=4)])
def test_workers_change_nothing(files, options):
    wanted = {index: RenderedVideos(FEW, options)[index] for index in range(FEW.count)}
    for dataset in (
        RenderedVideos(FEW, options),
        StreamedVideos(FEW, options),
        StoredVideos(files / "rle.h5", options),
        StoredVideos(files / "a.h5", options),
    ):
        for workers in (0, 2):
            assert_items(collect(dataset, workers), wanted)


def test_a_stream_is_shared_out_without_loss():
    whole = [item["index"] for item in StreamedVideos(SPEC)]
    assert whole == list(range(150))
    parts = [
        item["index"] for rank in range(2) for item in StreamedVideos(SPEC, rank=rank, ranks=2)
    ]
    assert sorted(parts) == whole
    assert sorted(collect(StreamedVideos(SPEC), 2)) == whole
    with pytest.raises(InputError, match="rank must be"):
        StreamedVideos(SPEC, rank=2, ranks=2)


def test_floats_are_from_minus_one_to_one():
    video = RenderedVideos(SPEC, ItemOptions(floats=True))[0]["video"]
    assert video.dtype == torch.float32
    assert (video.min(), video.max()) == (-1, 1)


def test_flips_mirror_pictures_and_positions():
    options = ItemOptions(flip=True, seed=1)
    plain, mirrored = RenderedVideos(SPEC), RenderedVideos(SPEC, options)
    coins = [flipped(1, 0, index) for index in range(40)]
    assert 8 < sum(coins) < 32
    for index, coin in enumerate(coins[:8]):
        a, b = plain[index], mirrored[index]
        if coin:
            assert torch.equal(a["video"].flip(3), b["video"])
            torch.testing.assert_close(10 - a["positions"][..., 0], b["positions"][..., 0])
        else:
            assert torch.equal(a["video"], b["video"])
    mirrored.set_epoch(1)
    assert coins != [flipped(1, 1, index) for index in range(40)]
    again = [bool(torch.equal(plain[k]["video"], mirrored[k]["video"])) for k in range(8)]
    assert again == [not flipped(1, 1, index) for index in range(8)]


def test_batches(files):
    batch = next(iter(DataLoader(StoredVideos(files / "a.h5"), batch_size=4)))
    assert batch["video"].shape == (4, 3, 32, 16, 16)
    assert batch["index"].tolist() == [0, 1, 2, 3]


def test_ends(files):
    for dataset in (RenderedVideos(FEW), StoredVideos(files / "rle.h5")):
        assert len(dataset) == 9
        assert dataset[-1]["index"] == 8
        with pytest.raises(IndexError):
            dataset[9]


@pytest.mark.slow
def test_workers_that_are_spawned(files):
    for dataset in (RenderedVideos(FEW), StoredVideos(files / "a.h5")):
        dataset[0]
        loader = DataLoader(
            dataset, batch_size=None, num_workers=1, multiprocessing_context="spawn"
        )
        assert_items({int(i["index"]): i for i in loader}, collect(dataset, 0))
