"""Training of the codebook: the loss falls, and a stopped run goes on to the same weights."""

import numpy as np
import pytest
import torch

from sightline.errors import InputError, SightlineError
from sightline.perception import codebook_training as training
from sightline.perception.codebook import SIDE, from_output, map_of, to_bytes, to_input
from sightline.perception.codebook_training import CodebookOptions, make_batch, train_codebook
from sightline.training.data.pairs import Pair
from sightline.training.data.shards import MemoryPairs
from sightline.training.data.stream import MixtureSource
from sightline.types import DepthMap, Kind


@pytest.fixture(scope="module")
def sources():
    """Slopes in all directions, in two sets."""
    row, column = np.mgrid[:48, :64] / 64
    pairs = [
        Pair(
            np.zeros((48, 64, 3), np.uint8),
            (0.5 + 0.4 * (np.cos(a) * (row - 0.4) + np.sin(a) * (column - 0.5))).astype(np.float16),
            np.ones((48, 64), bool),
        )
        for a in np.linspace(0, 6, 8)
    ]
    return [MixtureSource(MemoryPairs(pairs[:4]), 1), MixtureSource(MemoryPairs(pairs[4:]), 1)]


OPTIONS = {"save_every": 2, "validate_every": 4, "threads": 2}


def test_the_loss_falls_and_a_broken_run_ends_with_the_same_weights(sources, tmp_path, monkeypatch):
    whole = train_codebook(
        sources, tmp_path / "a", CodebookOptions(6, **OPTIONS), report=lambda _: 0
    )
    real = training.make_batch

    def once(sources, step, options, shard):
        if step == 4:
            raise OSError("the plug was pulled")
        return real(sources, step, options, shard)

    with monkeypatch.context() as patch:
        patch.setattr(training, "make_batch", once)
        with pytest.raises(OSError, match="plug"):
            train_codebook(
                sources, tmp_path / "b", CodebookOptions(6, **OPTIONS), report=lambda _: 0
            )
    lines = []
    again = train_codebook(
        sources, tmp_path / "b", CodebookOptions(6, **OPTIONS), report=lines.append
    )
    assert "resuming at step 4 of 6" in lines
    for name, value in whole.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
    assert (tmp_path / "a" / "log.jsonl").read_text() == (tmp_path / "b" / "log.jsonl").read_text()
    first = real(sources, 0, CodebookOptions(6))
    fresh = training.DepthCodebook().eval()
    with torch.no_grad():
        assert (whole(first).decoded - first).square().mean() < (
            fresh(first).decoded - first
        ).square().mean()


def test_batches_are_the_same_whenever_they_are_asked_for(sources):
    options = CodebookOptions(9, seed=3)
    one, two = (make_batch(sources, 5, options) for _ in range(2))
    assert torch.equal(one, two)
    assert one.shape == (2, 1, SIDE, SIDE)
    assert one.min() == -1
    assert one.max() == 1
    assert not torch.equal(one, make_batch(sources, 6, options))


def test_the_folder_of_another_run(sources, tmp_path):
    train_codebook(sources, tmp_path, CodebookOptions(1), report=lambda _: None)
    with pytest.raises(InputError, match="other rate"):
        train_codebook(sources, tmp_path, CodebookOptions(1, rate=1.0), report=lambda _: None)
    (tmp_path / "checkpoint.pt").write_bytes(b"torn")
    with pytest.raises(InputError, match="is damaged and cannot be read"):
        train_codebook(sources, tmp_path, CodebookOptions(1), report=lambda _: None)


def test_a_loss_that_is_not_finite_stops_the_run(sources, tmp_path):
    with pytest.raises(SightlineError, match="not finite at step"):
        train_codebook(sources, tmp_path, CodebookOptions(30, rate=1e20), report=lambda _: None)


def test_bytes_go_from_far_to_near():
    values = np.array([[0.5, 2.0], [1.25, np.nan]])
    np.testing.assert_array_equal(to_bytes(values), [[0, 255], [128, 0]])
    assert (to_bytes(np.full((3, 3), 7.0)) == 0).all()
    with pytest.raises(InputError, match="no valid pixel"):
        to_bytes(np.full((3, 3), np.nan))
    with pytest.raises(InputError, match="no valid pixel"):
        to_bytes(np.ones((3, 3)), np.zeros((3, 3), bool))


@pytest.mark.parametrize("kind", [Kind.METRIC_DEPTH, Kind.RELATIVE_DISPARITY])
def test_near_is_bright_whatever_the_kind(kind):
    ramp = np.tile(np.linspace(1, 9, 40, dtype=np.float32), (30, 1))
    made = map_of(DepthMap(ramp, kind))
    assert made.shape == (SIDE, SIDE)
    left, right = int(made[5, 0]), int(made[5, -1])
    assert (left, right) == ((255, 0) if kind is Kind.METRIC_DEPTH else (0, 255))


def test_bytes_there_and_back():
    values = np.arange(SIDE * SIDE).reshape(SIDE, SIDE).astype(np.uint8)
    np.testing.assert_array_equal(from_output(to_input(values))[0], values)
