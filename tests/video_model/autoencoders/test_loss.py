"""The loss: which pixels count how much."""

import pytest
import torch

from sightline.video_model.autoencoders.loss import pixel_weights, reconstruction_loss


@pytest.fixture
def video():
    """White with one red pixel at (3, 4) of the first of two frames."""
    made = torch.ones(1, 3, 2, 8, 8)
    made[0, 1:, 0, 3, 4] = -1
    return made


def test_bodies_and_their_rims_count_more(video):
    weights = pixel_weights(video, 20.0)
    assert weights.shape == (1, 1, 2, 8, 8)
    expected = torch.ones(8, 8)
    expected[2:5, 3:6] = 21
    assert torch.equal(weights[0, 0, 0], expected)
    assert (weights[0, 0, 1] == 1).all(), "another frame is another matter"


def test_a_half_dark_pixel_counts_half():
    gray = torch.zeros(1, 3, 1, 1, 1)
    assert pixel_weights(gray, 20.0).item() == 11


def test_both_errors_add_up(video):
    assert reconstruction_loss(video, video, 20.0) == 0
    assert reconstruction_loss(video + 0.5, video, 20.0).item() == pytest.approx(0.75)
    forgotten = torch.ones_like(video)
    plain = 2 / 3 * (2 + 4) / 128
    assert reconstruction_loss(forgotten, video, 0.0).item() == pytest.approx(plain)
    weighted = 2 / 3 * (2 + 4) * 21 / (128 + 9 * 20)
    assert reconstruction_loss(forgotten, video, 20.0).item() == pytest.approx(weighted)
