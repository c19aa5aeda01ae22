"""The projector learns what lies in each cell before anybody speaks."""

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.perception.codebook.words import to_text
from sightline.perception.model.alignment import (
    UNKNOWN,
    CellHeads,
    align_projector,
    judge_cells,
    labels_of,
)
from sightline.perception.model.compact import CompactOptions, build_compact, train_tokenizer
from sightline.perception.questions import depth
from sightline.perception.questions.markers import Point

POINTS = {"A": Point(10, 335, 30), "B": Point(200, 120, 230)}
CODES = np.arange(100).reshape(10, 10)


def test_labels_are_read_from_answers():
    labels = labels_of(depth.chain("a.jpg", POINTS, to_text(CODES)))
    np.testing.assert_array_equal(labels.codes, [*range(100), *[UNKNOWN] * 5])
    assert np.flatnonzero(labels.letters).tolist() == [35, 90, 100, 101]
    assert labels.letters[[35, 90, 100, 101]].tolist() == [2, 1, 1, 2]
    for b, a in ((35, 90), (101, 100)):
        assert labels.digits[:, b].tolist() == [2, 0, 0, 1, 2, 0]
        assert labels.digits[:, a].tolist() == [0, 1, 0, 3, 3, 5]
        assert labels.readings[:, a].tolist() == [1, 1]
    assert (labels.digits[:, 0] == UNKNOWN).all()


def test_a_picture_that_was_not_asked_about_has_no_points_and_others_may():
    assert (labels_of(depth.generation("a.jpg", to_text(CODES))).letters == 0).all()
    unlisted = labels_of(depth.map_first("a.jpg", POINTS, to_text(CODES)))
    assert (unlisted.letters == UNKNOWN).all()
    assert unlisted.codes[7] == 7


class Cells:
    """Pictures whose features say what their cells are, in a place of their own."""

    def __init__(self, width):
        rng = np.random.default_rng(0)
        self.rows = []
        for _ in range(12):
            codes = rng.integers(128, size=(10, 10))
            look = np.zeros((100, width), np.float32)
            look[np.arange(100), codes.ravel()] = 20
            self.rows.append((depth.generation("a.jpg", to_text(codes)), look))

    def __len__(self):
        return len(self.rows)

    def sample(self, position):
        return self.rows[position]


@pytest.fixture(scope="module")
def speaker():
    options = CompactOptions(width=64, layers=1, heads=2)
    return build_compact(train_tokenizer(["a b"]), options, codebook=None)


def test_only_the_projector_learns_and_it_tells_cells_apart(speaker):
    before = {name: p.clone() for name, p in speaker.model.named_parameters()}
    lines = []
    align_projector(
        speaker,
        Cells(speaker.model.model.vision_tower.looks[1]),
        steps=60,
        batch=8,
        rate=1e-2,
        report=lines.append,
    )
    moved = {n for n, p in speaker.model.named_parameters() if not torch.equal(p, before[n])}
    assert moved
    assert all("multi_modal_projector" in name for name in moved)
    share = float(lines[-1].split("codes ")[1].split(",")[0])
    assert share > 0.6


def test_what_cannot_be_aligned(speaker):
    small = build_compact(
        train_tokenizer(["a b"]), CompactOptions(32, 1, 2, side=56), codebook=None
    )
    with pytest.raises(InputError, match="9 tokens a picture are not 100 cells"):
        align_projector(small, Cells(200), steps=1)
    scores = CellHeads(8)(torch.zeros(1, 105, 8))
    nothing = labels_of(depth.direct("a.jpg", POINTS))
    with pytest.raises(InputError, match="neither maps nor points"):
        judge_cells(scores, [nothing])
