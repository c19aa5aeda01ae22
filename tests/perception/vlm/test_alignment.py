"""The projector learns what lies in each cell before anybody speaks."""

import numpy as np
import pytest
import torch

from sightline.errors import InputError
from sightline.perception.questions import depth
from sightline.perception.questions.hardblink import Point
from sightline.perception.tokens import to_text
from sightline.perception.vlm.alignment import (
    UNKNOWN,
    align_projector,
    labels_of,
)
from sightline.perception.vlm.compact import CompactOptions, build_compact, train_tokenizer

POINTS = {"A": Point(10, 335, 30), "B": Point(200, 120, 230)}
CODES = np.arange(100).reshape(10, 10)


def look(kinds=2, things=()):
    seen = np.zeros((129, 531 + kinds + 4), np.float16)
    for number, (kind, box) in enumerate(things):
        seen[105 + number, 531 + kind] = 0.9
        seen[105 + number, -4:] = box
    return seen


def test_labels_are_read_from_answers_and_looks():
    record = depth.chain("a.jpg", POINTS, to_text(CODES))
    labels = labels_of(record, look(things=[(1, (0.25, 0.5, 0.75, 0.998))]), 2)
    np.testing.assert_array_equal(labels.codes, range(100))
    assert labels.letters.tolist() == [1, 1, 0, 0, 0]
    assert labels.names.tolist() == [0, 1, UNKNOWN, UNKNOWN, UNKNOWN]
    assert labels.rows[[0, 10, 99, 100, 101]].tolist() == [0, 1, 9, 9, 3]
    assert labels.columns[[0, 10, 99, 100, 101]].tolist() == [0, 0, 9, 0, 5]
    assert (labels.rows[102:] == UNKNOWN).all()
    assert (labels.levels == 0).all()
    assert labels.places[:2].tolist() == [[10, 335], [200, 120]]
    assert labels.values[:2].tolist() == [[1, 1], [8, 9]]
    assert (labels.places[2:] == UNKNOWN).all()
    assert (labels.values[2:] == UNKNOWN).all()
    assert labels.kinds.tolist() == [1, *[UNKNOWN] * 23]
    assert labels.sides[0].tolist() == [84, 168, 252, 335]
    assert (labels.sides[1:] == UNKNOWN).all()


def test_points_that_are_not_listed_teach_nothing():
    unlisted = labels_of(depth.map_first("a.jpg", POINTS, to_text(CODES)), look(), 2)
    assert (unlisted.letters == UNKNOWN).all()
    assert unlisted.codes[7] == 7
    plain = labels_of(depth.direct("a.jpg", POINTS), look(), 2)
    assert (plain.codes == UNKNOWN).all()


class Cells:
    """Pictures whose features say what their cells are, in a place of their own."""

    def __init__(self, width):
        rng = np.random.default_rng(0)
        self.rows = []
        for _ in range(12):
            codes = rng.integers(128, size=(10, 10))
            seen = np.zeros((129, width), np.float32)
            seen[np.arange(100), codes.ravel()] = 20
            self.rows.append((depth.generation("a.jpg", to_text(codes)), seen))

    def __len__(self):
        return len(self.rows)

    def sample(self, position):
        return self.rows[position]


@pytest.fixture(scope="module")
def vlm():
    options = CompactOptions(width=64, layers=1, heads=2)
    return build_compact(train_tokenizer(["a b"]), options)


def test_only_the_projector_learns_and_it_tells_cells_apart(vlm):
    before = {name: p.clone() for name, p in vlm.model.named_parameters()}
    lines = []
    align_projector(
        vlm,
        Cells(vlm.model.model.vision_tower.looks[1]),
        steps=60,
        batch=8,
        rate=1e-2,
        report=lines.append,
    )
    moved = {n for n, p in vlm.model.named_parameters() if not torch.equal(p, before[n])}
    assert moved
    assert all("multi_modal_projector" in name for name in moved)
    share = float(lines[-1].split("codes ")[1].split(",")[0])
    assert share > 0.6


def test_what_cannot_be_aligned(vlm):
    small = build_compact(train_tokenizer(["a b"]), CompactOptions(32, 1, 2, side=56))
    with pytest.raises(InputError, match="68 tokens a picture are not 100 cells"):
        align_projector(small, Cells(200), steps=1)
