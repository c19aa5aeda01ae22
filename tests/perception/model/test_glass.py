"""The glass that finds marked points."""

import numpy as np
import pytest
import torch

from sightline.perception.model.eye import Eye
from sightline.perception.model.glass import (
    CHANNELS,
    MarkGlass,
    cell_of_letters,
    mark_loss,
    marked_batch,
    right_letters,
    train_glass,
)

EYE = Eye(280, (0.5, 0.5, 0.5), (0.25, 0.25, 0.25), smooth=True)


@pytest.fixture
def pictures():
    rng = np.random.default_rng(0)
    return [
        np.full((336, 336, 3), shade, np.uint8) for shade in rng.integers(60, 200, (6, 1, 1, 3))
    ]


def test_a_token_of_the_glass_is_a_token_of_the_encoder():
    assert MarkGlass()(torch.zeros(2, 3, 280, 56)).shape == (2, CHANNELS, 10, 2)


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
    glass, head = train_glass(pictures, EYE, steps=60, batch=8, rate=4e-3, report=lines.append)
    shown, letters, places = marked_batch(pictures * 4, EYE, np.random.default_rng(7))
    with torch.no_grad():
        said, where = head(glass(shown))
        blind = mark_loss(torch.zeros_like(said), torch.full_like(where, 0.5), letters, places)
        assert mark_loss(said, where, letters, places) < 0.6 * blind
        cells = glass.find(glass(shown).flatten(2).transpose(1, 2)).argmax(-1)
        wanted = cell_of_letters(letters)
        assert (cells == 100)[wanted == 100].float().mean() > 0.8
        # Which letter it is takes longer to learn than where marks are.
        marked = (letters > 0).flatten(1).gather(1, cells.clamp(max=99))
        assert marked[cells < 100].float().mean() > 0.6
    found = said.argmax(1) > 0
    assert (found == (letters > 0)).float().mean() > 0.97
    assert "step 60 of 60" in lines[-1]
    assert not any(p.requires_grad for p in glass.parameters())


def test_the_same_seed_makes_the_same_glass(pictures):
    first, second = (
        train_glass(pictures, EYE, steps=2, batch=2, seed=3, report=lambda _: None)[0]
        for _ in range(2)
    )
    assert all(
        torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)
    )


def test_a_letter_has_a_cell_or_none():
    letters = torch.zeros(2, 2, 3, dtype=torch.long)
    letters[0, 1, 0], letters[1, 0, 2] = 1, 5
    assert cell_of_letters(letters).tolist() == [[3, 6, 6, 6, 6], [6, 6, 6, 6, 2]]
    scores = MarkGlass().find(torch.zeros(2, 6, CHANNELS))
    assert scores.shape == (2, 5, 7)
    assert not scores[..., -1].any()


def test_letters_count_only_where_points_are():
    letters = torch.zeros(1, 2, 2, dtype=torch.long)
    said = torch.zeros(1, 6, 2, 2)
    assert right_letters(said, letters) == 1.0
    letters[0, 0, 0], letters[0, 1, 1] = 3, 1
    said[0, 3, 0, 0] = 1.0
    assert right_letters(said, letters) == 0.5
