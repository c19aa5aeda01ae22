import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import ndimage

from sightline.physics.tracking.blobs import (
    AREA,
    BOTTOM,
    COLOR,
    LEFT,
    MOST_BLOBS,
    RIGHT,
    SUM_X,
    SUM_Y,
    TOP,
    find_blobs,
)

COLORS = np.array([[255.0, 0, 0], [0, 0, 255]])


def _blobs(labels, least=1):
    """Blobs of (T, H, W) labels: 0 white, 1 red, 2 blue."""
    palette = np.array([[255, 255, 255], [255, 0, 0], [0, 0, 255]], np.uint8)
    video = palette[labels]
    ink = np.flatnonzero(labels.ravel()).astype(np.int32)
    return find_blobs(video.reshape(-1), ink, COLORS, labels.shape, least)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12))
def test_as_scipy_labels(seed, height, width):
    random = np.random.default_rng(seed)
    labels = random.choice(3, (2, height, width), p=[0.6, 0.25, 0.15])
    table, number = _blobs(labels)
    for frame, picture in enumerate(labels):
        expected = []
        for color in (1, 2):
            parts, count = ndimage.label(picture == color, np.ones((3, 3)))
            for part in range(1, count + 1):
                rows, columns = np.nonzero(parts == part)
                expected.append(
                    (color - 1, len(rows), columns.sum(), rows.sum(), columns.min(), columns.max(),
                     rows.min(), rows.max())
                )  # fmt: skip
        expected.sort(key=lambda blob: -blob[1])
        assert number[frame] == min(len(expected), MOST_BLOBS)
        fields = [COLOR, AREA, SUM_X, SUM_Y, LEFT, RIGHT, TOP, BOTTOM]
        found = [tuple(row) for row in table[frame, : number[frame]][:, fields]]
        assert [blob[1] for blob in found] == [b[1] for b in expected[:MOST_BLOBS]]
        assert set(found) <= set(expected)


def test_specks_are_dropped():
    labels = np.zeros((1, 20, 20), int)
    labels[0, 2, 2] = 1
    labels[0, 10:14, 10:14] = 1
    table, number = _blobs(labels, least=5)
    assert number[0] == 1
    assert table[0, 0, AREA] == 16
