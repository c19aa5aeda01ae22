"""The stream of batches and the loop: same seed, same weights, however often it was stopped."""

import csv

import cv2
import numpy as np
import pytest
import torch

from sightline.depth.compact import CompactDepth
from sightline.depth.training.augment import AugmentConfig, make_sample
from sightline.depth.training.items import Pair, is_held_out, photo_items, read_pairs, rgbd_items
from sightline.depth.training.loop import TrainConfig, Trainer, rate_at, train
from sightline.depth.training.stream import Source, batches, make_batch, pick
from sightline.errors import InputError, SightlineError


def ramp_pair(seed, height=90, width=120):
    """A pair whose colour and disparity both grow from left to right."""
    rng = np.random.default_rng(seed)
    slope = np.linspace(0, 1, width, dtype=np.float32)[None].repeat(height, 0)
    pixels = np.clip(slope[..., None] * 200 + rng.uniform(0, 55, 3), 0, 255).astype(np.uint8)
    return Pair(pixels, slope.astype(np.float16), np.ones((height, width), bool))


@pytest.fixture
def sources(monkeypatch):
    monkeypatch.setattr("sightline.depth.training.stream.SHAPES", ((64, 64),) * 4)
    return [Source([ramp_pair(i) for i in range(3)], 1), Source([ramp_pair(9)], 1)]


def test_every_epoch_is_a_shuffle_of_all():
    walk = [pick(7, position, (0, 1)) for position in range(21)]
    assert [sorted(walk[i : i + 7]) for i in (0, 7, 14)] == [list(range(7))] * 3
    assert walk[:7] != walk[7:14]


def test_batches_do_not_depend_on_where_one_starts(sources):
    spec, augment = CompactDepth().spec, AugmentConfig()
    whole = dict(batches(sources, 0, 6, spec, augment, seed=4))
    late = dict(batches(sources, 3, 6, spec, augment, seed=4))
    assert sorted(late) == [3, 4, 5]
    for step, batch in late.items():
        assert torch.equal(batch.image, whole[step].image)
        assert torch.equal(batch.disparity, whole[step].disparity)
    assert not torch.equal(whole[0].image, whole[1].image)


def test_picture_and_label_stay_together_through_augmentation():
    config = AugmentConfig(colour=0.0, degrade=0.0)
    for seed in range(20):
        pixels, disparity, known = make_sample(
            ramp_pair(0), (48, 64), config, np.random.default_rng(seed)
        )
        grey = pixels.mean(-1)
        assert known.all()
        assert np.corrcoef(grey.ravel(), disparity.ravel())[0, 1] > 0.999


def test_unknown_pixels_stay_unknown():
    pair = ramp_pair(0)
    pair.known[:, :60] = False
    _, disparity, known = make_sample(pair, (48, 64), AugmentConfig(), np.random.default_rng(1))
    assert 0 < known.mean() < 1
    assert disparity[known].min() > 0.45


def run(folder, sources, steps, network_seed=0):
    torch.manual_seed(network_seed)
    config = TrainConfig(steps=steps, save_every=2, warmup=1)
    trainer = Trainer(CompactDepth(), config, folder)
    resumed = trainer.resume()
    train(trainer, sources, AugmentConfig(), lambda _: {"score": 1.0}, lambda _: None)
    return trainer, resumed


def test_stopped_and_resumed_equals_unbroken(tmp_path, sources):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    whole, _ = run(tmp_path / "a", sources, 4)
    torch.manual_seed(0)
    first = Trainer(CompactDepth(), TrainConfig(steps=4, save_every=2, warmup=1), tmp_path / "b")
    stop = RuntimeError("power cut")

    def cut(_):
        raise stop

    with pytest.raises(RuntimeError, match="power cut"):
        train(first, sources, AugmentConfig(), cut, lambda _: None)
    second, resumed = run(tmp_path / "b", sources, 4, network_seed=99)
    assert resumed
    for name, value in whole.network.state_dict().items():
        assert torch.equal(value, second.network.state_dict()[name]), name
    for name, value in whole.average.items():
        assert torch.equal(value, second.average[name]), name


def test_a_checkpoint_of_another_network_is_refused(tmp_path):
    torch.save({"network": {"x": torch.zeros(1)}}, tmp_path / "checkpoint.pt")
    with pytest.raises(InputError, match="does not fit"):
        Trainer(CompactDepth(), TrainConfig(steps=1), tmp_path).resume()


def test_a_loss_that_is_not_finite_stops_the_run(tmp_path, sources):
    trainer = Trainer(CompactDepth(), TrainConfig(steps=3), tmp_path)
    with torch.no_grad():
        trainer.network.last.bias.fill_(float("nan"))
    with pytest.raises(SightlineError, match="not finite at step 0"):
        train(trainer, sources, AugmentConfig(), lambda _: {}, lambda _: None)


def test_the_rate_warms_up_holds_and_falls():
    config = TrainConfig(steps=100, warmup=10, decay=0.4)
    rates = [rate_at(step, config) for step in range(100)]
    assert rates[0] == pytest.approx(0.1)
    assert set(rates[9:60]) == {1.0}
    assert rates[99] == pytest.approx(1 / 40)
    assert rates[60:] == sorted(rates[60:], reverse=True)


def test_folders_are_read_in_their_own_layouts(tmp_path):
    rgbd, photos, labels = tmp_path / "rgbd", tmp_path / "photos" / "a", tmp_path / "labels" / "a"
    for folder in (rgbd, photos, labels):
        folder.mkdir(parents=True)
    with (rgbd / "index.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["id", "source", "scene", "kind", "fx", "real"])
        rows.writerow(["00000", "x", "x", "depth_mm", "", "1"])
        rows.writerow(["00001", "x", "x", "disparity_rel", "", "1"])
    colour = np.zeros((40, 60, 3), np.uint8)
    label = np.zeros((40, 60), np.uint16)
    label[:, 30:] = 2000
    label[:, 45:] = 4000
    for name in ("00000", "00001"):
        cv2.imwrite(str(rgbd / f"{name}.jpg"), colour)
        cv2.imwrite(str(rgbd / f"{name}.png"), label)
    depth, disparity = read_pairs(rgbd_items(rgbd), 40)
    assert not depth.known[:, :30].any()
    assert depth.disparity[0, 35] == 2 * depth.disparity[0, 50]
    assert disparity.disparity[0, 50] == 2 * disparity.disparity[0, 35]

    kept = next(f"p{i}.jpg" for i in range(99) if not is_held_out(f"p{i}.jpg"))
    out = next(f"p{i}.jpg" for i in range(999) if is_held_out(f"p{i}.jpg"))
    for name in (kept, out, "unlabelled.jpg"):
        cv2.imwrite(str(photos / name), colour)
    for name in (kept, out):
        cv2.imwrite(str((labels / name).with_suffix(".png")), np.full((20, 30), 7, np.uint8))
    items = photo_items(tmp_path / "photos", tmp_path / "labels")
    assert [item.picture.name for item in items] == [kept]
    assert read_pairs(items, 40)[0].known.all()


def test_a_label_of_another_shape_is_named(tmp_path):
    cv2.imwrite(str(tmp_path / "a.jpg"), np.zeros((40, 60, 3), np.uint8))
    (tmp_path / "labels").mkdir()
    cv2.imwrite(str(tmp_path / "labels" / "a.png"), np.zeros((60, 40), np.uint8))
    with pytest.raises(InputError, match=r"a\.png: label is 40×60"):
        read_pairs(photo_items(tmp_path, tmp_path / "labels"), 40)


def test_batch_is_normalised_for_the_network(sources):
    batch = make_batch(sources, 0, CompactDepth().spec, AugmentConfig(), seed=0)
    assert batch.image.shape == (2, 3, 64, 64)
    assert float(batch.image.min()) >= -127 / 128 - 1e-6
    assert float(batch.image.max()) <= 1 + 1e-6
