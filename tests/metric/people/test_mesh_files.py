from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
import trimesh

from sightline.errors import InputError
from sightline.metric.people.mesh_files import read_mesh


@pytest.fixture
def body() -> trimesh.Trimesh:
    """A capsule of 1.7 m, three meters before the camera."""
    mesh = trimesh.creation.capsule(height=1.3, radius=0.2, count=[8, 8])
    mesh.apply_translation([0.1, 0.2, 3.0])
    return mesh


@pytest.mark.parametrize("suffix", [".obj", ".ply"])
def test_what_trimesh_writes_is_read(tmp_path, body, suffix):
    path = tmp_path / f"a{suffix}"
    body.export(path)
    mesh = read_mesh(path)
    np.testing.assert_allclose(mesh.vertices, body.vertices, atol=1e-6)
    np.testing.assert_array_equal(mesh.faces, body.faces)
    assert (mesh.vertices.dtype, mesh.faces.dtype) == (np.float64, np.int32)


def test_npz(tmp_path, body):
    path = tmp_path / "a.npz"
    np.savez_compressed(path, vertices=body.vertices.astype(np.float32), faces=body.faces)
    np.testing.assert_allclose(read_mesh(path).vertices, body.vertices, atol=1e-6)


def test_obj_of_every_dialect(tmp_path):
    path = tmp_path / "a.obj"
    path.write_text(
        "# made by hand\nmtllib ../../etc/passwd\no body\n"
        "v 0 0 2\nv 1 0 2 0.5 0.5 0.5\nv 1 1 2\nv 0 1 2.5\nvn 0 0 1\nvt 0 0\n"
        "usemtl x\nf 1/1/1 2//1 3 4\nf -4 -3 -2\n"
    )
    mesh = read_mesh(path)
    assert mesh.vertices.shape == (4, 3)
    assert mesh.faces.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 2]]


def _save(path, **arrays):
    np.savez(path, **arrays)
    return path


TRIANGLE = np.array([[0, 1, 2]])
POINTS = np.array([(0, 0, 2), (1, 0, 2), (0, 1, 2)], float)


@pytest.mark.parametrize(
    ("vertices", "faces", "complaint"),
    [
        (POINTS * np.nan, TRIANGLE, "not finite"),
        (POINTS * (1, 1, np.inf), TRIANGLE, "not finite"),
        (POINTS * (1, 1, -1), TRIANGLE, r"behind the camera \(z from -2.00 to -2.00 m\); write"),
        (POINTS - (0, 0, 2), TRIANGLE, "behind the camera"),
        (POINTS * 1000, TRIANGLE, "meters"),
        (POINTS * 0.001, TRIANGLE, "meters"),
        (POINTS, TRIANGLE + 1, "corners that do not exist"),
        (POINTS, TRIANGLE - 1, "corners that do not exist"),
        (POINTS, TRIANGLE.astype(float), "whole numbers"),
        (POINTS, TRIANGLE[:0], "faces must be"),
        (POINTS[:, :2], TRIANGLE, "V×3"),
        (np.array([["a", "b", "c"]]), TRIANGLE, "V×3"),
        (np.array([None, {}], object), TRIANGLE, "Python objects"),
    ],
)
def test_nonsense_is_refused_in_one_line_with_the_file(tmp_path, vertices, faces, complaint):
    path = _save(tmp_path / "street_0.npz", vertices=vertices, faces=faces)
    with pytest.raises(InputError, match=complaint) as caught:
        read_mesh(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_no_pickle_is_ever_opened(tmp_path):
    class Bomb:
        def __reduce__(self):
            return pytest.fail, ("a pickle was opened",)

    path = _save(tmp_path / "a.npz", vertices=np.array([Bomb()], object), faces=TRIANGLE)
    with pytest.raises(InputError, match="never loaded"):
        read_mesh(path)


def test_a_shape_larger_than_its_bytes(tmp_path):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        stream, {"shape": (10**12, 3), "fortran_order": False, "descr": "<f8"}
    )
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("vertices.npy", stream.getvalue())
        archive.writestr("faces.npy", b"")
    with pytest.raises(InputError, match="do not fill"):
        read_mesh(path)


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".npz", ".fbx"])
def test_damaged_files(tmp_path, suffix):
    path = tmp_path / f"a{suffix}"
    path.write_bytes(b"v 1 2\nf a b c\n\xff\xfe")
    with pytest.raises(InputError, match=f"a\\{suffix}: "):
        read_mesh(path)


def test_an_archive_without_the_arrays(tmp_path):
    path = _save(tmp_path / "a.npz", verts=POINTS)
    with pytest.raises(InputError, match="needs the arrays 'vertices'"):
        read_mesh(path)
