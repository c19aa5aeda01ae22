"""The loop around the painter, with a painter and a finder whose ways are known."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.inpainting import PaintConfig, paint_people
from sightline.metric.people.types import Person
from sightline.types import Camera, DepthMap, Kind

PICTURE = np.full((40, 60, 3), 100, np.uint8)
CAMERA = Camera.from_focal(50.0, 60, 40)


class Stamp:
    """Paints a white block for every second seed, and keeps a list of what it was asked."""

    source = "stamp"

    def __init__(self, always=False):
        self.asked = []
        self.always = always

    def paint(self, pixels, masks, prompts, seeds):
        self.asked += list(zip(prompts, seeds, strict=True))
        painted = []
        for mask, seed in zip(masks, seeds, strict=True):
            image = pixels.copy()
            if self.always or seed % 2:
                image[mask & (np.arange(40) > 10)[:, None]] = 255
            painted.append(image)
        return painted


class Whites:
    """Takes white blocks for people."""

    source = "whites"

    def find(self, pixels, camera):
        mask = (pixels == 255).all(axis=2)
        if not mask.any():
            return []
        nothing = np.full((33, 2), np.nan)
        return [Person(np.zeros(4), mask, 1.0, nothing, np.zeros(33), np.zeros((33, 3)))]


def infer(pixels):
    values = np.linspace(0.2, 1.0, 40 * 60).reshape(40, 60).astype(np.float32) * 3 + 0.5
    return DepthMap(values, Kind.RELATIVE_DISPARITY)


def upside_down(pixels):
    return DepthMap(5 - infer(pixels).values, Kind.RELATIVE_DISPARITY)


ORIGINAL = DepthMap((infer(PICTURE).values - 0.5) / 3, Kind.RELATIVE_DISPARITY)


def run(painter, infer=infer, **config):
    return list(
        paint_people(PICTURE, CAMERA, ORIGINAL, painter, Whites(), infer, PaintConfig(**config))
    )


def test_it_paints_until_there_are_enough():
    attempts = run(Stamp(), wanted=5, batch=4)
    accepted = [a.painting for a in attempts if a.painting]
    assert len(accepted) == 5
    assert {a.reason for a in attempts if not a.painting} == {"nobody was painted"}
    for painting in accepted:
        assert painting.disparity == pytest.approx(ORIGINAL.values, abs=1e-5)
        assert not (painting.pixels != 100).any(axis=2)[~painting.strip].any()


def test_it_ends_when_nobody_is_ever_painted():
    painter = Stamp()
    painter.paint = lambda pixels, masks, prompts, seeds: [pixels] * len(masks)
    attempts = run(painter, wanted=4, batch=8, attempts=20)
    assert len(attempts) == 20
    assert not any(a.painting for a in attempts)


def test_depth_that_is_upside_down_is_refused():
    attempts = run(Stamp(always=True), infer=upside_down, wanted=2, attempts=4)
    assert {a.reason for a in attempts} == {"its depth does not fit the original's"}


def test_the_same_seed_asks_for_the_same_whatever_the_batch():
    asked = []
    for batch in (1, 8):
        painter = Stamp(always=True)
        run(painter, wanted=8, batch=batch)
        asked.append(painter.asked)
    assert asked[0] == asked[1]
    other = Stamp(always=True)
    run(other, wanted=8, batch=8, seed=1)
    assert other.asked != asked[0]


def test_a_painter_that_paints_too_few():
    painter = Stamp()
    painter.paint = lambda *_: []
    with pytest.raises(InputError, match="painted 0 pictures, asked for 8"):
        run(painter)


def test_bad_settings():
    with pytest.raises(InputError, match="at least 1"):
        PaintConfig(wanted=0)
