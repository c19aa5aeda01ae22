"""TartanAir: meters as NumPy arrays, a sky that is simply very far."""

import pickle

import cv2
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.training.data.datasets import tartanair


def write_frame(root, meters, world="ocean/Easy", frame=0):
    path = root / world / "P000"
    for kind in ("image_left", "depth_left", "image_right"):
        (path / kind).mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path / "image_left" / f"{frame:06d}_left.png"), np.zeros((48, 64, 3), np.uint8))
    cv2.imwrite(str(path / "image_right" / f"{frame:06d}_right.png"), np.zeros((4, 4, 3), np.uint8))
    depth = path / "depth_left" / f"{frame:06d}_left_depth.npy"
    np.save(depth, meters)
    return depth


def test_meters_sky_and_holes(tmp_path):
    meters = np.full((48, 64), 5.0, np.float32)
    meters[:10] = 10000.0
    meters[20:30] = 20.0
    meters[40], meters[41], meters[42] = np.nan, 0.0, np.inf
    write_frame(tmp_path, meters)
    (item,) = tartanair.items(tmp_path)
    pair = tartanair.read(item, 999)
    assert pair.unit == pytest.approx(0.2)
    assert pair.disparity[[5, 15, 25], 0].astype(float) == pytest.approx([5e-4, 1, 0.25], rel=1e-3)
    assert pair.known[[40, 41, 42], 0].tolist() == [False, False, True]
    # Stereo by the authors' notes: disparity in pixels is 80 / depth, 320 px times 0.25 m.
    stereo = pair.disparity[15, 0] * pair.unit * 320 * 0.25
    assert float(stereo) == pytest.approx(80 / 5)


def test_worlds_are_found_however_they_were_unpacked(tmp_path):
    meters = np.ones((48, 64), np.float32)
    write_frame(tmp_path, meters, "ocean/ocean/Hard", 1)
    write_frame(tmp_path, meters, "office/Easy", 2)
    items = tartanair.items(tmp_path)
    assert [item.picture.name for item in items] == ["000001_left.png", "000002_left.png"]
    assert all(item.depth.is_file() for item in items)
    assert len(tartanair.items(tmp_path / "office")) == 1


def test_bad_files_are_named(tmp_path):
    meters = np.ones((48, 64), np.float32)
    depth = write_frame(tmp_path, meters)
    (item,) = tartanair.items(tmp_path)
    depth.write_bytes(depth.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"_left_depth\.npy: is not a whole NumPy array"):
        tartanair.read(item, 48)
    depth.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(InputError, match="is not a whole NumPy array"):
        tartanair.read(item, 48)
    write_frame(tmp_path, meters[..., None])
    with pytest.raises(InputError, match="holds no map of numbers"):
        tartanair.read(item, 48)
    write_frame(tmp_path, meters[:40])
    with pytest.raises(InputError, match=r"npy: depth is 64×40, its picture is 64×48"):
        tartanair.read(item, 48)
    write_frame(tmp_path, meters * np.float32(np.nan))
    with pytest.raises(InputError, match=r"npy: no pixel of it is known"):
        tartanair.read(item, 48)
    depth.unlink()
    with pytest.raises(InputError, match=r"npy: no such file"):
        tartanair.read(item, 48)
