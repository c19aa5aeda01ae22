"""Hypersim: distance along rays, half precision HDF5, and the authors' table of frames."""

import cv2
import h5py
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.training.data.datasets import hypersim

WIDTH, HEIGHT, FOCAL = 64, 48, 886.81 / 16  # a sixteenth of the real size


def wall_distance(meters):
    """Distance along each ray to a wall square to the optical axis, by plain trigonometry."""
    x = np.arange(WIDTH) - 31.5
    y = np.arange(HEIGHT)[:, None] - 23.5
    return meters / np.cos(np.arctan(np.hypot(x, y) / FOCAL))


def write_frame(root, distance, scene="ai_001_002", camera="cam_00", frame=3):
    """Write one frame in the set's layout; return its depth file."""
    images = root / scene / "images"
    preview = images / f"scene_{camera}_final_preview"
    geometry = images / f"scene_{camera}_geometry_hdf5"
    preview.mkdir(parents=True, exist_ok=True)
    geometry.mkdir(parents=True, exist_ok=True)
    picture = preview / f"frame.{frame:04d}.tonemap.jpg"
    cv2.imwrite(str(picture), np.zeros((HEIGHT, WIDTH, 3), np.uint8))
    cv2.imwrite(str(preview / f"frame.{frame:04d}.color.jpg"), np.zeros((9, 9, 3), np.uint8))
    depth = geometry / f"frame.{frame:04d}.depth_meters.hdf5"
    with h5py.File(depth, "w") as file:
        file.create_dataset("dataset", data=distance.astype(np.float16), compression="gzip")
    return depth


def test_a_wall_seen_squarely_has_one_depth(tmp_path):
    distance = wall_distance(4.0)
    distance[:5] = np.nan
    write_frame(tmp_path, distance)
    (item,) = hypersim.items(tmp_path)
    pair = hypersim.read(item, 999)
    assert not pair.known[:5].any()
    assert pair.known[5:].all()
    depth = 1 / (pair.disparity[pair.known].astype(float) * pair.unit)
    np.testing.assert_allclose(depth, 4.0, rtol=2e-3)  # half precision twice
    # The corner's ray is 23 % longer here: taken for depth, it would not pass.
    assert distance[-1, -1] > 4.7


def test_a_slanted_plane_has_disparity_linear_in_the_picture(tmp_path):
    x = np.arange(WIDTH) - 31.5
    inverse = np.broadcast_to(0.25 + 0.002 * x, (HEIGHT, WIDTH))  # planes project to such maps
    stretch = wall_distance(1.0)
    write_frame(tmp_path, stretch / inverse)
    pair = hypersim.read(hypersim.items(tmp_path)[0], 999)
    np.testing.assert_allclose(pair.disparity.astype(float) * pair.unit, inverse, rtol=2e-3)


def test_frames_are_listed_in_order(tmp_path):
    for frame in (10, 2):
        write_frame(tmp_path, wall_distance(2), frame=frame)
    write_frame(tmp_path, wall_distance(2), scene="ai_055_010", camera="cam_01")
    items = hypersim.items(tmp_path)
    names = [(item.picture.parents[2].name, item.picture.name) for item in items]
    assert names == [
        ("ai_001_002", "frame.0002.tonemap.jpg"),
        ("ai_001_002", "frame.0010.tonemap.jpg"),
        ("ai_055_010", "frame.0003.tonemap.jpg"),
    ]
    assert all(item.depth.is_file() for item in items)


def test_the_table_keeps_test_scenes_and_broken_frames_out(tmp_path):
    for frame in range(4):
        write_frame(tmp_path, wall_distance(2), frame=frame)
    (tmp_path / hypersim.SPLIT).write_text(
        "scene_name,camera_name,frame_id,included_in_public_release,exclude_reason,"
        "split_partition_name\n"
        "ai_001_002,cam_00,0,True,,train\n"
        "ai_001_002,cam_00,1,True,,test\n"
        "ai_001_002,cam_00,2,False,broken,\n"
    )
    assert [item.picture.name for item in hypersim.items(tmp_path)] == ["frame.0000.tonemap.jpg"]
    (tmp_path / hypersim.SPLIT).write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="is not Hypersim's table"):
        hypersim.items(tmp_path)
    (tmp_path / hypersim.SPLIT).write_text(
        "scene_name,camera_name,frame_id,included_in_public_release,split_partition_name\n"
        "ai_001_002,cam_00,0,True,val\n"
    )
    with pytest.raises(InputError, match="none of the frames"):
        hypersim.items(tmp_path)


def test_bad_files_are_named(tmp_path):
    depth = write_frame(tmp_path, wall_distance(4.0))
    (item,) = hypersim.items(tmp_path)
    whole = depth.read_bytes()
    depth.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"depth_meters\.hdf5: is not a whole HDF5"):
        hypersim.read(item, 48)
    with h5py.File(depth, "w") as file:
        file.create_dataset("other", data=np.zeros((2, 2)))
    with pytest.raises(InputError, match="is not a whole HDF5"):
        hypersim.read(item, 48)
    write_frame(tmp_path, np.ones((24, 32)))
    with pytest.raises(InputError, match="depth is 32×24, its picture is 64×48"):
        hypersim.read(item, 48)
    write_frame(tmp_path, np.full((HEIGHT, WIDTH), np.nan))
    with pytest.raises(InputError, match=r"hdf5: no pixel of it is known"):
        hypersim.read(item, 48)
    depth.unlink()
    with pytest.raises(InputError, match=r"depth_meters\.hdf5: no such file"):
        hypersim.read(item, 48)


def test_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match="has no picture of this set; expected ai_XXX_YYY"):
        hypersim.items(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        hypersim.items(tmp_path / "nowhere")
