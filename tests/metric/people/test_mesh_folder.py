from __future__ import annotations

import cv2
import numpy as np
import pytest
import trimesh

from sightline.errors import InputError
from sightline.metric.people.mesh_files import FolderFinder
from sightline.types import Camera

CAMERA = Camera.from_focal(200.0, 160, 120)
PIXELS = np.zeros((120, 160, 3), np.uint8)


def capsule(x: float) -> trimesh.Trimesh:
    mesh = trimesh.creation.capsule(height=0.9, radius=0.15, count=[8, 8])
    mesh.apply_transform(trimesh.transformations.rotation_matrix(np.pi / 2, [1, 0, 0]))
    mesh.apply_translation([x, 0.0, 4.0])
    return mesh


def write_mask(path, *, value: int = 255, size=(120, 160), at=(40, 80), half=(30, 12)) -> None:
    mask = np.zeros(size, np.uint8)
    (y, x), (h, w) = at, half
    mask[y - h : y + h, x - w : x + w] = value
    cv2.imwrite(str(path), mask)


@pytest.fixture
def folder(tmp_path):
    capsule(0.0).export(tmp_path / "street_0.obj")
    write_mask(tmp_path / "street_0_mask.png", at=(60, 80))
    right = capsule(0.7)
    np.savez(tmp_path / "street_1.npz", vertices=right.vertices, faces=right.faces)
    (tmp_path / "notes.txt").write_text("no mesh")
    return tmp_path


def test_meshes_and_masks_become_people(folder):
    first, second = FolderFinder(folder, "street").find(PIXELS, CAMERA)
    assert first.mesh is not None
    assert first.mask.sum() == 60 * 24
    np.testing.assert_allclose(first.box, (67.5, 29.5, 91.5, 89.5))
    assert np.isnan(first.landmarks).all()
    assert not first.visibility.any()
    assert first.confidence == 1.0
    # No mask: the mesh's own outline, 15 px wide, 35 px to the right of the middle.
    rows, columns = np.nonzero(second.mask)
    assert columns.mean() == pytest.approx(79.5 + 0.7 / 4 * 200, abs=0.6)
    assert np.ptp(columns) + 1 == pytest.approx(0.3 / 4 * 200, abs=2)
    assert np.ptp(rows) + 1 == pytest.approx(1.2 / 4 * 200, abs=2)


def test_the_picture_need_not_be_named_when_there_is_one(folder):
    assert len(FolderFinder(folder).find(PIXELS, CAMERA)) == 2
    capsule(0.0).export(folder / "beach_10.ply")
    with pytest.raises(InputError, match="people of 2 pictures"):
        FolderFinder(folder)
    assert len(FolderFinder(folder, "beach").find(PIXELS, CAMERA)) == 1


def test_numbers_are_numbers(folder):
    for number in (2, 10):
        capsule(0.0).export(folder / f"street_{number}.ply")
    finder = FolderFinder(folder, "street")
    assert [path.stem for path in finder._files] == [f"street_{n}" for n in (0, 1, 2, 10)]
    # A stem may itself end in a number.
    capsule(0.0).export(folder / "frame_0007_0.ply")
    assert len(FolderFinder(folder, "frame_0007").find(PIXELS, CAMERA)) == 1


@pytest.mark.parametrize("value", [1, 255])
def test_a_mask_of_ones_counts(tmp_path, value):
    capsule(0.0).export(tmp_path / "a_0.ply")
    write_mask(tmp_path / "a_0_mask.png", value=value, at=(60, 80))
    assert FolderFinder(tmp_path).find(PIXELS, CAMERA)[0].mask.sum() == 60 * 24


def complaint(folder, stem="street") -> str:
    with pytest.raises(InputError) as caught:
        FolderFinder(folder, stem).find(PIXELS, CAMERA)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_mask_of_another_size(folder):
    write_mask(folder / "street_0_mask.png", size=(60, 80))
    assert "street_0_mask.png: is 80×60 px, the picture 160×120 px" in complaint(folder)


def test_an_empty_mask(folder):
    write_mask(folder / "street_0_mask.png", value=0)
    assert "street_0_mask.png: shows nobody" in complaint(folder)


def test_a_mask_that_is_no_picture(folder):
    (folder / "street_0_mask.png").write_bytes(b"hello")
    assert "street_0_mask.png" in complaint(folder)


def test_a_mesh_that_lies_elsewhere(folder):
    write_mask(folder / "street_0_mask.png", at=(30, 20), half=(10, 10))
    assert "street_0.obj: lies elsewhere in the picture than street_0_mask.png" in complaint(folder)


def test_a_mesh_beside_the_picture(folder):
    capsule(9.0).export(folder / "street_2.ply")
    assert "street_2.ply: shows nobody" in complaint(folder)


def test_one_person_in_two_formats(folder):
    capsule(0.0).export(folder / "street_0.ply")
    assert "street_0.ply: is the same person as street_0.obj" in complaint(folder)


@pytest.mark.parametrize("stem", ["../street", "/etc/passwd", "a/b"])
def test_a_name_that_leads_elsewhere(folder, stem):
    assert "it contains a folder" in complaint(folder, stem)


def test_nothing_there(folder, tmp_path):
    assert "holds no mesh of beach; name them beach_0.obj" in complaint(folder, "beach")
    assert "no such folder" in complaint(tmp_path / "none")


def test_a_camera_of_another_size(folder):
    with pytest.raises(InputError, match="the camera is of 10×10 px"):
        FolderFinder(folder, "street").find(PIXELS, Camera.assumed(10, 10))
