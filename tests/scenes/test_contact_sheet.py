import numpy as np
import pytest
from PIL import Image

from sightline.scenes.contact_sheet import (
    CAPTION,
    GAP,
    HEIGHT,
    MARGIN,
    ScenePanel,
    color_instances,
    contact_sheet,
    write_contact_sheet,
)
from sightline.types import DepthMap, Kind


def panel(number, width=80, height=60):
    disparity = np.linspace(0, 2, width * height, dtype=np.float32).reshape(height, width)
    mask = np.zeros((height, width), np.int32)
    mask[30:, 20:50] = number
    pixels = np.full((height, width, 3), (200, 30, 60), np.uint8)
    return ScenePanel(f"{number} room", pixels, DepthMap(disparity, Kind.METRIC_DISPARITY), mask)


def test_picture_depth_and_things_stand_side_by_side():
    sheet = contact_sheet([panel(3)], across=1)
    width = 80 * HEIGHT // 60
    assert sheet.shape == (HEIGHT + CAPTION + 2 * MARGIN, 3 * width + 2 * GAP + 2 * MARGIN, 3)
    middle = MARGIN + HEIGHT // 2 + 20
    assert sheet[middle, MARGIN + width // 2].tolist() == [200, 30, 60]
    depth = sheet[MARGIN : MARGIN + HEIGHT, MARGIN + width + GAP : MARGIN + 2 * width + GAP]
    assert int(depth[-5, 5, 0]) > int(depth[5, 5, 0])  # near, at the bottom, is warm
    things = sheet[middle, MARGIN + 2 * (width + GAP) + width // 2]
    assert things.tolist() == color_instances(np.array([[3]]), np.array([[False]]))[0, 0].tolist()


@pytest.mark.parametrize(("count", "across"), [(1, 1), (5, 2), (24, None)])
def test_every_scene_is_on_the_sheet(count, across):
    sheet = contact_sheet([panel(k + 1) for k in range(count)], across=across)
    red = (sheet == (200, 30, 60)).all(-1).sum()
    assert red == count * HEIGHT * (80 * HEIGHT // 60)


def test_things_have_colors_of_their_own():
    mask = np.arange(40, dtype=np.int32).reshape(5, 8)
    painted = color_instances(mask, np.zeros(mask.shape, bool))
    assert len({tuple(color) for color in painted.reshape(-1, 3)}) == 40
    sky = color_instances(mask * 0, np.ones(mask.shape, bool))
    assert (sky < painted[0, 0]).all()


def test_pictures_of_different_sizes_share_a_sheet(tmp_path):
    write_contact_sheet(
        tmp_path / "sheet.png", [panel(1, 80, 60), panel(2, 60, 80), panel(3, 64, 64)]
    )
    with Image.open(tmp_path / "sheet.png") as picture:
        assert picture.size[0] > 3 * HEIGHT
