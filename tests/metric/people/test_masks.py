from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.metric.people.crops import Crop
from sightline.metric.people.masks import (
    box_of,
    draw_bones,
    free_share,
    painted_over,
    share_out,
    warp_back,
    without_specks,
)

V, U = np.mgrid[0:256, 0:256] - 127.5
DISC = np.where(np.hypot(U, V) < 64, 8.0, -8.0).astype(np.float32)


@given(st.floats(60, 140), st.floats(60, 140), st.floats(40, 200), st.floats(-3, 3), st.booleans())
def test_a_disc_comes_back_as_a_disc_of_the_right_size_and_place(x, y, side, angle, flipped):
    mask = warp_back(DISC, Crop(x, y, side, angle, flipped), 200, 200) > 0
    rows, columns = np.nonzero(mask)
    assert mask.sum() == pytest.approx(np.pi * (side / 4) ** 2, rel=0.04)
    assert columns.mean() == pytest.approx(x, abs=0.3)
    assert rows.mean() == pytest.approx(y, abs=0.3)


def test_a_turned_half_plane_keeps_its_side():
    right = np.where(U > 0, 5.0, -5.0).astype(np.float32)
    mask = warp_back(right, Crop(50, 50, 60, np.pi / 2), 100, 100) > 0
    assert mask[55:75, 40:60].all()  # the crop's right is the picture's bottom
    assert not mask[:49].any()


def test_outside_of_crop_or_picture_is_nobody():
    assert not (warp_back(DISC, Crop(500, 500, 50), 100, 100) > 0).any()
    far = warp_back(np.full((256, 256), 9.0, np.float32), Crop(20, 20, 21), 100, 100)
    assert (far[60:] < 0).all()
    assert far[20, 20] == 6.0


def test_what_two_claim_goes_to_the_surer_one(make_pose):
    first = make_pose(x=60, y=60)
    second = make_pose(x=100, y=60)
    weaker = replace(second, logits=np.where(second.logits > 0, 1.0, -5.0).astype(np.float32))
    masks = share_out([first, weaker], np.zeros((120, 200), bool))
    assert not (masks[0] & masks[1]).any()
    assert masks[0][60, 80]
    assert masks[1][60, 110]
    alone = share_out([second], np.zeros((120, 200), bool))[0]
    assert masks[1].sum() < alone.sum()


def test_what_is_taken_stays_taken_and_a_part_of_somebody_is_nobody(make_pose):
    pose = make_pose(x=60, y=60)
    taken = np.zeros((120, 200), bool)
    taken[:, :55] = True
    (mask,) = share_out([pose], taken)
    assert mask.any()
    assert not (mask & taken).any()
    small = make_pose(x=60, y=60, height=40)  # a knee, say, within the body
    masks = share_out([pose, replace(small, logits=small.logits / 4)], np.zeros((120, 200), bool))
    assert masks[0].any()
    assert not masks[1].any()


def test_specks_that_hang_on_no_limb_are_dropped(make_pose):
    pose = make_pose(x=60, y=60)
    mask = np.zeros((120, 200), bool)
    mask[30:100, 40:80] = True
    mask[5:9, 150:160] = True
    kept = without_specks(mask, pose)
    assert kept[60, 60]
    assert not kept[7, 155]
    nowhere = replace(pose, visibility=np.zeros(33))
    assert without_specks(mask, nowhere)[60, 60]  # then the largest part


def test_bones_far_outside_are_no_trouble():
    landmarks = np.full((33, 2), 1e9)
    assert not draw_bones(landmarks, np.ones(33), (50, 50)).any()


def test_painting_over():
    pixels = np.zeros((20, 20, 3), np.uint8)
    pixels[:, 10:] = 100
    taken = np.zeros((20, 20), bool)
    assert painted_over(pixels, taken) is pixels
    taken[:, :10] = True
    out = painted_over(pixels, taken)
    assert (out[:, :12] == 100).all()
    assert (pixels[:, :10] == 0).all()


def test_a_silhouette_painted_over_is_not_free(make_pose):
    pose = make_pose(x=60, y=60)
    taken = np.zeros((120, 200), bool)
    assert free_share(pose, taken) == 1
    taken[:] = True
    assert free_share(pose, taken) == 0
    assert free_share(make_pose(x=5000), ~taken) == 0


def test_the_box_goes_around_pixels():
    mask = np.zeros((10, 20), bool)
    mask[3:5, 7:8] = True
    np.testing.assert_allclose(box_of(mask), (6.5, 2.5, 7.5, 4.5))
