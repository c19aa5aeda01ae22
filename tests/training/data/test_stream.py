from dataclasses import replace

import numpy as np
import pytest
import torch

from sightline.depth.compact import compact_spec
from sightline.errors import InputError
from sightline.models.entry import ModelSpec
from sightline.training.data.augment import AugmentConfig, make_sample
from sightline.training.data.shards import MemoryPairs
from sightline.training.data.stream import MixtureSource, batches, make_batch, random_shape, shapes
from sightline.types import Kind

from ...depth.training.helpers import ramp_pair, small_stream, two_sources

SPEC = compact_spec()


def test_batches_do_not_depend_on_where_one_starts():
    sources, config = two_sources(), small_stream(seed=4)
    whole = dict(batches(sources, 0, 6, SPEC, config))
    late = dict(batches(sources, 3, 6, SPEC, config))
    assert sorted(late) == [3, 4, 5]
    for step, batch in late.items():
        assert torch.equal(batch.image, whole[step].image)
        assert torch.equal(batch.disparity, whole[step].disparity)
    assert whole[0].image.shape != whole[1].image.shape or not torch.equal(
        whole[0].image, whole[1].image
    )


@pytest.mark.parametrize("processes", [2, 3, 4])
def test_processes_share_one_batch_between_them(processes):
    sources, config = two_sources(share=2), small_stream()
    whole = make_batch(sources, 5, SPEC, config)
    parts = [
        make_batch(sources, 5, SPEC, config, rank=rank, processes=processes)
        for rank in range(processes)
    ]
    for rank, part in enumerate(parts):
        assert torch.equal(part.image, whole.image[rank::processes])
        assert torch.equal(part.disparity, whole.disparity[rank::processes])
    with pytest.raises(InputError, match="5 processes cannot share a batch of 4"):
        make_batch(sources, 0, SPEC, config, rank=0, processes=5)


def test_a_batch_is_normalized_for_the_network():
    batch = make_batch(two_sources(), 0, SPEC, small_stream())
    assert batch.image.shape[:2] == (2, 3)
    assert batch.image.shape[2] % 32 == batch.image.shape[3] % 32 == 0
    assert float(batch.image.min()) >= -127 / 128 - 1e-6
    assert float(batch.image.max()) <= 1 + 1e-6
    assert batch.pasted is None


@pytest.mark.parametrize("multiple", [14, 32])
def test_shapes_are_multiples_of_about_equal_area(multiple):
    for short in (224, 256, 518):
        sizes = shapes(short, multiple)
        assert all(h % multiple == 0 and w % multiple == 0 for h, w in sizes)
        areas = [h * w for h, w in sizes]
        assert max(areas) / min(areas) < 1.15
    assert shapes(10, 32)[0] == (32, 32)


def test_random_grids_are_odd_and_even_wide_and_tall():
    rng = np.random.default_rng(0)
    grids = np.array([random_shape(252, 14, rng) for _ in range(500)]) / 14
    assert (grids % 1 == 0).all()
    assert grids.min() >= 12
    assert grids.max() <= 34
    assert 0.4 < (grids % 2).mean() < 0.6
    aspects = grids[:, 1] / grids[:, 0]
    assert aspects.min() < 0.6
    assert aspects.max() > 1.8
    areas = grids.prod(1)
    assert areas.max() / areas.min() < 1.15


def test_a_stream_of_random_grids_is_a_function_of_seed_and_step():
    stream = small_stream(56, random_grids=True)
    made = [make_batch(two_sources(), step, ModelSpec("vits"), stream) for step in (0, 1, 2, 1)]
    assert torch.equal(made[1].image, made[3].image)
    assert len({batch.image.shape[2:] for batch in made}) > 1


def test_units_and_pseudo_labels_are_told_apart():
    measured = MixtureSource(MemoryPairs([ramp_pair(0, unit=0.5)]), 1)
    labeled = MixtureSource(MemoryPairs([ramp_pair(1, pseudo=True)]), 2)
    batch = make_batch([measured, labeled], 0, ModelSpec("vits"), small_stream(56))
    assert batch.pseudo.tolist() == [False, True, True]
    assert float(batch.unit[0]) == 0.5
    assert bool(batch.unit[1:].isnan().all())


def test_cutmix_pastes_another_labeled_picture_with_its_label():
    pairs = [ramp_pair(i, pseudo=True) for i in range(4)]
    pairs[1].disparity[:] = 0.25
    sources = [MixtureSource(MemoryPairs(pairs), 4), MixtureSource(MemoryPairs([ramp_pair(7)]), 1)]
    clean = make_batch(sources, 0, SPEC, small_stream())
    mixed = make_batch(sources, 0, SPEC, small_stream(cutmix=1.0))
    hit = mixed.pasted.flatten(1).float().mean(1)
    assert bool((hit[:4] > 0).all()), "every labeled sample had a piece pasted in"
    assert float(hit[4]) == 0.0, "measured samples never"
    for target in range(4):
        giver = (target + 1) % 4
        inside = mixed.pasted[target]
        assert torch.equal(mixed.disparity[target][inside], clean.disparity[giver][inside])
        assert torch.equal(mixed.image[target][:, inside], clean.image[giver][:, inside])
        assert torch.equal(mixed.image[target][:, ~inside], clean.image[target][:, ~inside])
    again = make_batch(sources, 0, SPEC, small_stream(cutmix=1.0))
    assert torch.equal(mixed.image, again.image)


def test_sources_must_give_something():
    with pytest.raises(InputError, match="at least 1"):
        MixtureSource(MemoryPairs([ramp_pair(0)]), 0)


def _units(focal, spec, **changes):
    pairs = MemoryPairs([ramp_pair(0, unit=0.5, focal=focal)])
    return make_batch([MixtureSource(pairs, 8)], 3, spec, small_stream(**changes)).unit


def test_meters_are_those_of_the_networks_own_camera():
    plain = compact_spec(Kind.METRIC_DEPTH, 20.0)
    assert torch.equal(_units(100.0, plain), torch.full((8,), 0.5))
    canonical = replace(plain, focal=200.0)
    once, twice = _units(100.0, canonical), _units(200.0, canonical)
    assert torch.allclose(twice, 2 * once)  # seen through a lens twice as long, half as far
    assert len(set(once.tolist())) > 1  # every crop is another zoom
    # Crops of 0.6 to 1 of 90 px, enlarged to a batch of about 64 × 80.
    assert 0.4 < float(once.min()) * 200 / (0.5 * 100) < float(once.max()) * 200 / (0.5 * 100) < 1.6
    with pytest.raises(InputError, match="needs the focal length of every pair"):
        _units(None, canonical)
    with pytest.raises(InputError, match="a pair without meters"):
        make_batch([MixtureSource(MemoryPairs([ramp_pair(0)]), 1)], 0, plain, small_stream())


def test_a_crop_and_its_zoom_agree_about_size_over_distance():
    """A wall 2 m wide at 4 m: its width in pixels over focal length is 0.5, whatever the crop."""
    pair = ramp_pair(0, unit=0.25, focal=100.0)
    config = AugmentConfig(stretch=1.0)
    for seed in range(20):
        sample = make_sample(pair, (64, 80), config, np.random.default_rng(seed))
        slope = np.abs(np.diff(sample.disparity[32, 10:70])).mean()
        assert slope * sample.zoom == pytest.approx(1 / 119, rel=0.03)
