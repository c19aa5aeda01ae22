"""IRS: stereo disparity in EXR, 480 px and 0.1 m."""

import cv2
import numpy as np
import OpenEXR
import pytest

from sightline.errors import InputError
from sightline.training.data.datasets import irs


def write_frame(root, channels, folder="Home/ArchvizKitchen", frame=34, size=(54, 96)):
    path = root / folder
    path.mkdir(parents=True, exist_ok=True)
    for eye in "lr":
        cv2.imwrite(str(path / f"{eye}_{frame:05d}.png"), np.zeros((*size, 3), np.uint8))
    depth = path / f"d_{frame:05d}.exr"
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    OpenEXR.File(header, channels).write(str(depth))
    return depth


@pytest.mark.parametrize("names", ["G", "Y", "RGB"])
def test_disparity_becomes_meters(tmp_path, names):
    meters = np.full((54, 96), 2.0)
    meters[20:] = 8.0
    stereo = (48.0 * 0.1 / meters).astype(
        np.float32
    )  # a focal length of 48 px: a tenth of the size
    stereo[0], stereo[1], stereo[2] = 0.0, np.nan, -1.0
    write_frame(tmp_path, {name: stereo.copy() for name in names})
    (item,) = irs.items(tmp_path)
    pair = irs.read(item, 999)
    assert not pair.known[:3].any()
    assert pair.known[3:].all()
    assert pair.unit == pytest.approx(0.5)
    assert pair.disparity[[10, 30], 0].astype(float) == pytest.approx([1, 0.25], rel=1e-3)


def test_at_the_real_size_a_disparity_of_48_px_is_a_meter(tmp_path):
    stereo = np.full((540, 960), 48.0, np.float32)
    write_frame(tmp_path, {"G": stereo}, size=(540, 960))
    pair = irs.read(irs.items(tmp_path)[0], 54)
    assert pair.unit == pytest.approx(1.0)
    assert pair.disparity.shape == (54, 96)


def test_archives_of_any_depth(tmp_path):
    stereo = {"G": np.ones((54, 96), np.float32)}
    write_frame(tmp_path, stereo, "ArchvizKitchen", 1)
    write_frame(tmp_path, stereo, "IRS_small/Store/Shop", 2)
    assert [item.depth.name for item in irs.items(tmp_path)] == ["d_00001.exr", "d_00002.exr"]
    assert all(item.depth.is_file() for item in irs.items(tmp_path))


def test_bad_files_are_named(tmp_path):
    stereo = np.random.default_rng(0).random((54, 96), np.float32)
    depth = write_frame(tmp_path, {"G": stereo})
    (item,) = irs.items(tmp_path)
    whole = depth.read_bytes()
    depth.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"d_00034\.exr: is a damaged"):
        irs.read(item, 54)
    depth.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(99))
    with pytest.raises(InputError, match=r"d_00034\.exr: is not an EXR file"):
        irs.read(item, 54)
    write_frame(tmp_path, {"X": stereo, "Y": stereo})
    with pytest.raises(InputError, match="none is the disparity"):
        irs.read(item, 54)
    write_frame(tmp_path, {"G": stereo[:50]})
    with pytest.raises(InputError, match=r"d_00034\.exr: depth is 96×50"):
        irs.read(item, 54)
    write_frame(tmp_path, {"G": -stereo})
    with pytest.raises(InputError, match=r"d_00034\.exr: no pixel of it is known"):
        irs.read(item, 54)
    depth.unlink()
    with pytest.raises(InputError, match=r"d_00034\.exr: no such file"):
        irs.read(item, 54)
