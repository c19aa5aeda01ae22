"""Virtual KITTI 2: centimeters in 16 bits, sky at their end."""

import cv2
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.training.data.datasets import vkitti2


def write_frame(root, centimeters, scene="Scene01", variation="clone", camera=0, frame=7):
    frames = root / scene / variation / "frames"
    for kind in ("rgb", "depth"):
        (frames / kind / f"Camera_{camera}").mkdir(parents=True, exist_ok=True)
    picture = frames / "rgb" / f"Camera_{camera}" / f"rgb_{frame:05d}.jpg"
    depth = frames / "depth" / f"Camera_{camera}" / f"depth_{frame:05d}.png"
    cv2.imwrite(str(picture), np.zeros((37, 124, 3), np.uint8))
    cv2.imwrite(str(depth), centimeters)
    return depth


def road():
    """A flat road 1.5 m below a level camera and the sky above, in closed form."""
    rows = np.arange(37)[:, None].repeat(124, 1)
    meters = np.divide(1.5 * 72.5, rows - 18.0, where=rows > 18, out=np.full(rows.shape, 700.0))
    return meters, np.minimum(np.rint(meters * 100), 65535).astype(np.uint16)


def test_a_road_in_meters_and_the_sky_infinitely_far(tmp_path):
    meters, centimeters = road()
    write_frame(tmp_path, centimeters)
    (item,) = vkitti2.items(tmp_path)
    pair = vkitti2.read(item, 999)
    assert pair.known.all()
    assert not pair.disparity[:19].any()
    inverse = pair.disparity[19:].astype(float) * pair.unit
    np.testing.assert_allclose(1 / inverse, meters[19:], rtol=2e-3)
    assert 1 / pair.unit == pytest.approx(meters.min(), rel=2e-3)


def test_both_cameras_and_all_variations_are_listed(tmp_path):
    _, centimeters = road()
    for scene, variation, camera in (("Scene20", "fog", 1), ("Scene01", "clone", 0)):
        write_frame(tmp_path, centimeters, scene, variation, camera)
    items = vkitti2.items(tmp_path)
    assert [item.picture.parts[-6] for item in items] == ["Scene01", "Scene20"]
    assert all(item.depth.is_file() for item in items)


def test_bad_files_are_named(tmp_path):
    _, centimeters = road()
    depth = write_frame(tmp_path, centimeters)
    (item,) = vkitti2.items(tmp_path)
    depth.write_bytes(depth.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"depth_00007\.png: is truncated"):
        vkitti2.read(item, 37)
    write_frame(tmp_path, centimeters[:-1])
    with pytest.raises(InputError, match=r"depth_00007\.png: depth is 124×36"):
        vkitti2.read(item, 37)
    write_frame(tmp_path, np.zeros((37, 124), np.uint16))
    with pytest.raises(InputError, match=r"depth_00007\.png: no pixel of it is known"):
        vkitti2.read(item, 37)
    write_frame(tmp_path, np.ones((37, 124), np.uint8))
    with pytest.raises(InputError, match=r"depth_00007\.png: has 8 bits"):
        vkitti2.read(item, 37)
    depth.unlink()
    with pytest.raises(InputError, match=r"depth_00007\.png: no such file"):
        vkitti2.read(item, 37)
    with pytest.raises(InputError, match="has no picture of this set"):
        vkitti2.items(tmp_path / "Scene01")
