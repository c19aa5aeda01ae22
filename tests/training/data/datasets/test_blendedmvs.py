"""BlendedMVS: float maps in a unit of their own, zero where the mesh ends."""

import cv2
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.training.data.datasets import blendedmvs


def write_frame(root, depth, scene="5a3ca9cb270f0e3f14d0eddb", frame=12):
    for kind in ("blended_images", "rendered_depth_maps", "cams"):
        (root / scene / kind).mkdir(parents=True, exist_ok=True)
    images = root / scene / "blended_images"
    cv2.imwrite(str(images / f"{frame:08d}.jpg"), np.zeros((48, 64, 3), np.uint8))
    cv2.imwrite(str(images / f"{frame:08d}_masked.jpg"), np.zeros((48, 64, 3), np.uint8))
    path = root / scene / "rendered_depth_maps" / f"{frame:08d}.pfm"
    height, width = depth.shape[:2]
    kind = "PF" if depth.ndim == 3 else "Pf"
    header = f"{kind}\n{width} {height}\n-1.0\n".encode()
    path.write_bytes(header + depth[::-1].astype("<f4").tobytes())
    return path


def test_ratios_without_a_unit_the_right_way_up(tmp_path):
    depth = np.full((48, 64), 30.0, np.float32)
    depth[:10] = 0
    depth[40:] = 15.0
    write_frame(tmp_path, depth)
    (item,) = blendedmvs.items(tmp_path)  # and not the masked picture
    pair = blendedmvs.read(item, 999)
    assert pair.unit is None
    assert not pair.known[:10].any()
    assert pair.known[10:].all()
    assert pair.disparity[[20, 45], 0].tolist() == [0.5, 1]


def test_bad_files_are_named(tmp_path):
    depth = np.ones((48, 64), np.float32)
    path = write_frame(tmp_path, depth)
    (item,) = blendedmvs.items(tmp_path)
    path.write_bytes(path.read_bytes()[:-4])
    with pytest.raises(InputError, match=r"00000012\.pfm: is truncated"):
        blendedmvs.read(item, 48)
    write_frame(tmp_path, depth[:30])
    with pytest.raises(InputError, match=r"00000012\.pfm: depth is 64×30"):
        blendedmvs.read(item, 48)
    write_frame(tmp_path, np.ones((48, 64, 3), np.float32))
    with pytest.raises(InputError, match=r"00000012\.pfm: is a color map"):
        blendedmvs.read(item, 48)
    write_frame(tmp_path, depth * 0)
    with pytest.raises(InputError, match=r"00000012\.pfm: no pixel of it is known"):
        blendedmvs.read(item, 48)
    write_frame(tmp_path, depth * np.float32(np.nan))
    with pytest.raises(InputError, match="no pixel of it is known"):
        blendedmvs.read(item, 48)
    path.unlink()
    with pytest.raises(InputError, match=r"00000012\.pfm: no such file"):
        blendedmvs.read(item, 48)
    with pytest.raises(InputError, match="has no picture of this set"):
        blendedmvs.items(tmp_path / "5a3ca9cb270f0e3f14d0eddb")
