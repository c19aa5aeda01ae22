"""The reference parser against the rules of spec §2.5, written once more in plain NumPy."""

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.laws.reference_evaluator import parse_reference
from sightline.physics.rendering import render
from sightline.physics.worlds.simulation import sample


def _by_the_rules(picture, color):
    """Center and radius of one flipped picture, or None."""
    red, green, blue = np.moveaxis(picture[::-1].astype(int), 2, 0)
    if color == "red":
        mask = (red > 127) & (green < 127) & (blue < 127)
    else:
        mask = (red < 127) & (green < 127) & (blue > 127)
    if not mask.any():
        return None
    rows, columns = np.nonzero(mask)
    width = picture.shape[1]
    return (
        columns.mean() / width * 10,
        rows.mean() / width * 10,
        np.sqrt(mask.sum() / np.pi) / width * 10,
    )


@pytest.mark.parametrize(
    ("scenario", "colors"), [("uniform", ("red",)), ("collision", ("red", "blue"))]
)
def test_as_the_rules_say(scenario, colors):
    frames = render(sample(scenario, 1, seed=9)[0], 64)
    tracks = parse_reference(frames, colors)
    for frame in range(32):
        for ball, color in enumerate(colors):
            expected = _by_the_rules(frames[frame], color)
            if expected is not None:
                np.testing.assert_allclose(tracks.positions[frame, ball], expected[:2])
                assert tracks.radii[frame, ball] == pytest.approx(expected[2])
    assert tracks.velocities.shape == (31, len(colors), 2)
    np.testing.assert_allclose(
        tracks.velocities[0], (tracks.positions[1] - tracks.positions[0]) / 0.1
    )


def test_its_scale_is_short():
    """The last column is drawn at 10 and read at 10 (W - 1) / W."""
    frames = np.full((1, 32, 32, 3), 255, np.uint8)
    frames[0, 31, 31] = (255, 0, 0)
    tracks = parse_reference(frames)
    np.testing.assert_allclose(tracks.positions[0, 0], [10 * 31 / 32, 0])


def test_thresholds_are_strict():
    frames = np.full((1, 4, 4, 3), 255, np.uint8)
    frames[0, 0, 0] = (127, 0, 0)
    frames[0, 0, 1] = (255, 127, 0)
    assert not parse_reference(frames).found.any()
    frames[0, 0, 2] = (128, 126, 126)
    assert parse_reference(frames).found.all()


def test_missing_balls(world):
    frames = render(world([(3, 4, 0, 0, 1.0), (7, 6, 0, 0, 0.8)], frames=4), 64)
    frames[2:] = 255
    pair = parse_reference(frames, ("red", "blue"))
    np.testing.assert_array_equal(pair.positions[2:, :, 0], [[0, 10], [0, 10]])
    # Both take the height of the red ball, as the reference does.
    np.testing.assert_array_equal(pair.positions[3, :, 1], pair.positions[[1, 1], 0, 1])
    np.testing.assert_array_equal(pair.radii[3], pair.radii[1])
    single = parse_reference(frames, ("red",))
    np.testing.assert_array_equal(single.positions[3, 0], [10, single.positions[1, 0, 1]])
    blank = parse_reference(np.full((2, 8, 8, 3), 255, np.uint8))
    assert np.isnan(blank.positions[..., 1]).all()


def test_bad_input():
    with pytest.raises(InputError, match="uint8"):
        parse_reference(np.zeros((2, 8, 8, 3)))
    with pytest.raises(InputError, match="green"):
        parse_reference(np.zeros((2, 8, 8, 3), np.uint8), ("green",))
