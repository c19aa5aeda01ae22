"""Order of training samples, and the cache of image features."""

import numpy as np
import pytest
import torch
from PIL import Image

from sightline.errors import InputError
from sightline.perception.options import VLMTraining
from sightline.perception.questions import depth
from sightline.perception.questions.records import Record
from sightline.perception.tokens import to_text
from sightline.perception.vlm.compact import CompactOptions, build_compact, train_tokenizer
from sightline.perception.vlm.training import train_vlm
from sightline.perception.vlm.training_samples import (
    ConcatenatedSamples,
    FeatureCache,
    MixedSamples,
    RecordedSamples,
    ScatteredPoints,
    by_curriculum,
    cache_features,
    cache_marks,
    unmarked,
)


@pytest.fixture(scope="module")
def vlm():
    tokenizer = train_tokenizer(["what is nearest (A)"])
    return build_compact(tokenizer, CompactOptions(32, 1, 2, 56))


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "set"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(5):
        pixels = rng.integers(0, 255, (30, 40, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


NAMES = [f"{number}.png" for number in range(5)]


def records(task="direct"):
    return [Record(name, "what?", f"({'ABCDE'[k]})", task) for k, name in enumerate(NAMES)]


def rows(folder):
    return [(folder, record) for record in records()]


def test_what_was_looked_at_is_what_would_be_seen(vlm, pictures, tmp_path):
    looks = cache_features(vlm, NAMES, pictures, tmp_path / "looks", batch=2, report=lambda _: None)
    shown, kept = (
        RecordedSamples(rows(pictures)),
        RecordedSamples(rows(pictures), looks),
    )
    pixels = vlm.image_processor.look([shown.sample(3)[1]])
    tower = vlm.model.model.vision_tower
    with torch.no_grad():
        seen = tower(pixels).last_hidden_state[0]
        before = tower(torch.from_numpy(kept.sample(3)[1][None].astype(np.float32)))
    # Halves: a two-thousandth of the picture is a tenth of its shortest wave.
    torch.testing.assert_close(before.last_hidden_state[0], seen, atol=0.1, rtol=2e-3)
    assert len(kept) == 5


def test_looking_goes_on_where_it_was_stopped(vlm, pictures, tmp_path):
    whole = cache_features(vlm, NAMES, pictures, tmp_path / "a", batch=2, report=lambda _: None)
    (pictures / "4.png").rename(pictures / "away.png")
    with pytest.raises(InputError):
        cache_features(vlm, NAMES, pictures, tmp_path / "b", batch=1, report=lambda _: None)
    with pytest.raises(InputError, match="has no features"):
        FeatureCache(tmp_path / "b").of("4.png")
    (pictures / "away.png").rename(pictures / "4.png")
    again = cache_features(vlm, NAMES, pictures, tmp_path / "b", batch=2, report=lambda _: None)
    for name in NAMES:
        np.testing.assert_allclose(again.of(name), whole.of(name), atol=2e-2, rtol=2e-3)
    with pytest.raises(InputError, match="other images"):
        cache_features(vlm, NAMES[:3], pictures, tmp_path / "b", report=lambda _: None)
    (tmp_path / "b" / "looks.json").write_text("[]")
    with pytest.raises(InputError, match="not a feature index"):
        FeatureCache(tmp_path / "b")


def test_only_points_are_looked_for_again_in_marked_pictures(vlm, pictures, tmp_path):
    assert unmarked("images/p7-3-1.jpg") == "images/p7.jpg"
    folder = tmp_path / "looks"
    cache_features(vlm, NAMES, pictures, folder, report=lambda _: None)
    clean = FeatureCache(folder).of("2.png")
    pixels = np.random.default_rng(3).integers(0, 255, (30, 40, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(pictures / "2-3.png")
    cache_marks(vlm, ["2-3.png"], pictures, folder)
    looks = FeatureCache(folder)
    marked = looks.of("2-3.png")
    with torch.no_grad():
        points = vlm.model.model.vision_tower.mark_detector.points(
            vlm.image_processor.look([pixels])
        )[0]
    np.testing.assert_allclose(marked[4:9, 528:531], points, atol=2e-3)
    changed = marked != clean
    assert changed[4:9, 528:531].any()
    changed[4:9, 528:531] = False
    assert not changed.any()
    np.testing.assert_array_equal(looks.of("2.png"), clean)
    near = looks.near("2-3.png")
    assert near.shape == (56, 56)
    assert near.min() == 0
    assert near.max() == 255


def test_boxes_that_were_seen_come_from_left_to_right(vlm, pictures, tmp_path):
    folder = tmp_path / "looks"
    looks = cache_features(vlm, NAMES, pictures, folder, report=lambda _: None)
    assert looks.boxes("1.png") == [], "it knows no kinds"
    values = np.load(folder / "looks.npy", mmap_mode="r+")
    values[1, 9:11, -4:] = [[0.125, 0.25, 0.5, 0.75], [0.25, 0.0, 0.5, 0.5]]
    values.flush()
    expected = [(0.125, 0.25, 0.5, 0.75), (0.25, 0.0, 0.5, 0.5)]
    assert FeatureCache(folder).boxes("1.png") == expected


def test_a_speaker_learns_from_looks(vlm, pictures, tmp_path):
    looks = cache_features(vlm, NAMES, pictures, tmp_path / "looks", report=lambda _: None)
    samples = RecordedSamples(rows(pictures) * 4, looks)
    train_vlm(vlm, samples, tmp_path / "run", VLMTraining(batch=4), report=lambda _: None)
    assert (tmp_path / "run" / "checkpoint.pt").is_file()


def test_points_are_strewn_over_pictures_and_told_as_the_glass_would(vlm, pictures, tmp_path):
    looks = cache_features(vlm, NAMES, pictures, tmp_path / "looks", report=lambda _: None)
    codes = to_text(np.arange(100).reshape(10, 10))
    maps = [depth.generation(name, codes, "pixels") for name in NAMES]
    samples = ScatteredPoints(maps, looks, 40)
    assert len(samples) == 40
    counts = set()
    for position in range(40):
        record, look = samples.sample(position)
        places = depth.read_places(record.answer)
        readings = depth.read_readings(record.answer)
        counts.add(len(places))
        assert list(places) == list("ABCDE"[: len(places)])
        near = looks.near(record.image)
        for number, (letter, (x, y)) in enumerate(places.items()):
            there, across, down = look[4 + number, 528:531]
            assert there == 1
            assert np.hypot(across * 336 - x, down * 336 - y) < 6
            value = int(near[y * len(near) // 336, x * len(near) // 336])
            assert round(99 * readings[letter]) == value * 99 // 255
        assert not look[4 + len(places) : 9, 528:531].any()
    assert counts == {2, 3, 4, 5}
    again, look = ScatteredPoints(maps, looks, 40).sample(7)
    assert again == samples.sample(7)[0]
    np.testing.assert_array_equal(look, samples.sample(7)[1])
    assert ScatteredPoints(maps, looks, 40, seed=1).sample(7)[0] != again
    whole, _ = ScatteredPoints(maps, looks, 40, in_steps=True).sample(7)
    assert whole.task == "chain"
    assert codes in whole.answer
    assert depth.read_places(whole.answer) == depth.read_places(again.answer)


def test_samples_of_several_kinds(pictures):
    one, other = RecordedSamples(rows(pictures)[:2]), RecordedSamples(rows(pictures)[2:])
    order = ConcatenatedSamples(one, other)
    assert [order.sample(k)[0].image for k in range(len(order))] == NAMES
    with pytest.raises(IndexError):
        order.sample(5)
    mixed = MixedSamples([one, other], 40, seed=3)
    drawn = [mixed.sample(k)[0].image for k in range(len(mixed))]
    assert set(drawn[::2]) == set(NAMES[:2])
    assert set(drawn[1::2]) == set(NAMES[2:])
    assert drawn == [MixedSamples([one, other], 40, seed=3).sample(k)[0].image for k in range(40)]


def test_the_order_is_that_of_the_curriculum():
    atomic, reasoning = records("depth"), records("chain")
    order = by_curriculum(atomic, reasoning, size=10, epochs=3)
    assert len(order) == 30
    assert [r.task for r in order[:10]] == ["depth"] * 10
    assert [r.task for r in order[20:]] == ["depth"] + ["chain"] * 9


def test_a_picture_outside_the_folder_is_refused(pictures):
    samples = RecordedSamples([(pictures, Record("../../etc/passwd", "q", "a", "direct"))])
    with pytest.raises(InputError, match="outside"):
        samples.sample(0)
