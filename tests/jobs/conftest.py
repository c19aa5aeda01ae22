"""Small pictures to label."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image


@pytest.fixture
def save_photos(tmp_path, photo) -> Callable[[int], Path]:
    """Write so many crops of a real photograph to `photos` and return the folder."""

    def save(count: int) -> Path:
        folder = tmp_path / "photos"
        folder.mkdir()
        for number in range(count):
            left, width = 9 * number, 80 + 3 * (number % 7)
            crop = np.ascontiguousarray(photo[100:164, left : left + width])
            Image.fromarray(crop).save(folder / f"{number:03d}.png")
        return folder

    return save
