import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.estimation import check_not_blank


def test_a_picture_of_one_tone_is_refused():
    gray = np.full((80, 120, 3), 128, np.uint8)
    with pytest.raises(InputError, match="blank"):
        check_not_blank(gray)
    with pytest.raises(InputError, match="no floor was found: the picture is blank"):
        check_not_blank(
            gray + np.random.default_rng(0).integers(0, 3, gray.shape, np.uint8), floor=True
        )


def test_a_faint_picture_is_not():
    faint = np.full((80, 120, 3), 120, np.uint8)
    faint[40:] += 10
    check_not_blank(faint)
