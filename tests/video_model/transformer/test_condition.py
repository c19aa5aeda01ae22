"""First frames are given, the rest is zero."""

import pytest
import torch

from sightline.errors import InputError
from sightline.video_model.transformer import VideoCondition, first_frames, held

VIDEO = torch.rand(2, 3, 5, 4, 4, generator=torch.Generator().manual_seed(0)) + 1


def test_first_frames():
    condition = first_frames(VIDEO, 3, numbers=torch.ones(2, 1))
    assert torch.equal(condition.video[:, :, :3], VIDEO[:, :, :3])
    assert not bool(condition.video[:, :, 3:].any())
    assert condition.given.tolist() == [[True, True, True, False, False]] * 2
    assert condition.numbers is not None
    values, mask = condition.keep
    kept = torch.where(mask, values, torch.full_like(VIDEO, -1))
    assert torch.equal(kept[:, :, :3], VIDEO[:, :, :3])
    assert bool((kept[:, :, 3:] == -1).all())
    assert bool((VIDEO >= 1).all())


@pytest.mark.parametrize("count", [0, -1, 5, 6])
def test_wrong_numbers_of_frames_are_refused(count):
    with pytest.raises(InputError, match=rf"{count} condition frames of 5; give 1 to 4"):
        first_frames(VIDEO, count)


@pytest.mark.parametrize("name", ["given", "words"])
def test_masks_are_true_or_false(name):
    masks = {"given": torch.ones(2, 5, dtype=torch.bool)} | {name: torch.ones(2, 5)}
    with pytest.raises(InputError, match=rf"{name}: expected torch.bool, got torch.float32"):
        VideoCondition(VIDEO, **masks)


def test_the_last_given_frame_is_held():
    condition = first_frames(VIDEO, 3)
    shown = held(condition)
    assert torch.equal(shown[:, :, :3], VIDEO[:, :, :3])
    assert all(torch.equal(shown[:, :, later], VIDEO[:, :, 2]) for later in (3, 4))
