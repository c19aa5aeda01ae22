"""The glass that finds marked points."""

import numpy as np
import pytest
import torch

from sightline.perception.vlm.detectors import (
    CHANNELS,
    MarkDetector,
    cell_of_letters,
    marked_batch,
    train_mark_detector,
)
from sightline.perception.vlm.processing import ImageProcessor

EYE = ImageProcessor(280, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25), smooth=True)


@pytest.fixture
def pictures():
    rng = np.random.default_rng(0)
    return [
        np.full((336, 336, 3), shade, np.uint8) for shade in rng.integers(60, 200, (6, 1, 1, 3))
    ]


def test_a_token_of_the_glass_is_a_token_of_the_encoder():
    assert MarkDetector()(torch.zeros(2, 3, 280, 56)).shape == (2, CHANNELS, 10, 2)


def test_points_are_marked_in_their_cells(pictures):
    shown, letters, places = marked_batch(pictures * 3, EYE, np.random.default_rng(1))
    assert shown.shape == (18, 3, 280, 280)
    assert letters.shape == (18, 10, 10)
    per_picture = (letters > 0).sum((1, 2))
    assert 0 in per_picture
    assert per_picture.max() >= 4
    # A ring is red: there is one where a place says so.
    number, row, column = (int(v) for v in torch.nonzero(letters)[0])
    x, y = (28 * (places[number, :, row, column] + torch.tensor([column, row]))).int().tolist()
    red = shown[number, 0] - shown[number, 1:].amax(0)
    assert red[max(0, y - 6) : y + 7, max(0, x - 6) : x + 7].max() > 1


def test_a_glass_learns_to_read(pictures):
    lines = []
    glass = train_mark_detector(pictures, EYE, steps=100, batch=8, rate=4e-3, report=lines.append)
    shown, letters, places = marked_batch(pictures * 4, EYE, np.random.default_rng(7))
    with torch.no_grad():
        cells = glass.find(glass(shown).flatten(2).transpose(1, 2)).argmax(-1)
        points = glass.points(shown)
    wanted = cell_of_letters(letters)
    assert (cells == 100)[wanted == 100].float().mean() > 0.8
    # Which letter it is takes longer to learn than where marks are.
    marked = (letters > 0).flatten(1).gather(1, cells.clamp(max=99))
    assert marked[cells < 100].float().mean() > 0.6
    right = (cells == wanted) & (wanted < 100)
    assert right.any()
    x = (wanted % 10 + places.flatten(2)[:, 0].gather(1, wanted.clamp(max=99))) / 10
    assert (points[..., 1] - x).abs()[right].mean() < 0.03
    assert points[..., 0][right].min() > 0.3
    assert "step 100 of 100" in lines[-1]
    assert not any(p.requires_grad for p in glass.parameters())
    assert all(value.is_contiguous() for value in glass.state_dict().values()), "it can be stored"


def test_the_same_seed_makes_the_same_glass(pictures):
    first, second = (
        train_mark_detector(pictures, EYE, steps=2, batch=2, seed=3, report=lambda _: None)
        for _ in range(2)
    )
    assert all(
        torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)
    )


def test_a_letter_has_a_cell_or_none():
    letters = torch.zeros(2, 2, 3, dtype=torch.long)
    letters[0, 1, 0], letters[1, 0, 2] = 1, 5
    assert cell_of_letters(letters).tolist() == [[3, 6, 6, 6, 6], [6, 6, 6, 6, 2]]
    scores = MarkDetector().find(torch.zeros(2, 6, CHANNELS))
    assert scores.shape == (2, 5, 7)
    assert not scores[..., -1].any()


def test_points_are_told_in_shares_of_the_picture():
    glass = MarkDetector()
    with torch.no_grad():
        points = glass.points(torch.zeros(2, 3, 56, 56))
    assert points.shape == (2, 5, 3)
    assert (points >= 0).all()
    assert (points <= 1).all()
