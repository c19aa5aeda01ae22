"""Clouds and meshes come back exactly, and other software sees the same."""

import json
import struct
from pathlib import Path

import numpy as np
import pytest
import trimesh
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sightline.errors import InputError
from sightline.io.pixels import srgb_to_linear
from sightline.io.pointclouds import read_pointcloud, write_pointcloud
from sightline.types import PointCloud

SUFFIXES = [".ply", ".glb"]
property_test = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60
)


@st.composite
def clouds(draw: st.DrawFn, min_size: int = 0) -> PointCloud:
    count = draw(st.integers(min_size, 12))
    numbers = st.floats(-(2.0**100), 2.0**100, width=32)
    xyz = draw(arrays(np.float32, (count, 3), elements=numbers))
    rgb = draw(arrays(np.uint8, (count, 3))) if draw(st.booleans()) else None
    faces = None
    if count and draw(st.booleans()):
        corners = st.integers(0, count - 1)
        faces = draw(arrays(np.int32, (draw(st.integers(1, 8)), 3), elements=corners))
    return PointCloud(xyz, rgb, draw(st.sampled_from(["m", ""])), faces)


@property_test
@given(clouds(), st.sampled_from(SUFFIXES))
def test_round_trip_is_exact(tmp_path: Path, points: PointCloud, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    write_pointcloud(path, points)
    read = read_pointcloud(path)
    assert np.array_equal(read.xyz, points.xyz)
    assert read.unit == points.unit
    if len(points) or suffix == ".ply":
        assert (read.rgb is None) == (points.rgb is None)
        assert read.rgb is None or np.array_equal(read.rgb, points.rgb)
        assert (read.faces is None) == (points.faces is None)
        assert read.faces is None or np.array_equal(read.faces, points.faces)


def test_every_color_level_survives_glb(tmp_path: Path) -> None:
    rgb = np.stack([np.arange(256)] * 3, -1).astype(np.uint8)
    write_pointcloud(tmp_path / "a.glb", PointCloud(np.zeros((256, 3)), rgb))
    assert np.array_equal(read_pointcloud(tmp_path / "a.glb").rgb, rgb)


def quad() -> PointCloud:
    """Four colored points and two triangles, one meter ahead."""
    xyz = [[-1.0, -2, 1], [1, -2, 1], [-1, 2, 1.5], [1, 2, 1.5]]
    rgb = [[255, 0, 0], [0, 128, 0], [0, 0, 255], [200, 100, 50]]
    faces = [[0, 2, 1], [1, 2, 3]]
    return PointCloud(np.array(xyz), np.array(rgb, np.uint8), "m", np.array(faces))


@pytest.mark.parametrize("mesh", [False, True])
def test_trimesh_reads_ply(tmp_path: Path, mesh: bool) -> None:
    points = quad() if mesh else PointCloud(quad().xyz, quad().rgb, "m")
    write_pointcloud(tmp_path / "a.ply", points)
    theirs = trimesh.load(tmp_path / "a.ply", process=False)
    assert np.allclose(theirs.vertices, points.xyz)
    colors = theirs.visual.vertex_colors if mesh else theirs.colors
    assert np.array_equal(np.asarray(colors)[:, :3], points.rgb)
    if mesh:
        assert np.array_equal(theirs.faces, points.faces)


@pytest.mark.parametrize("mesh", [False, True])
def test_trimesh_reads_glb(tmp_path: Path, mesh: bool) -> None:
    """In glTF's frame (y up, -z forward), with colors in linear light."""
    points = quad() if mesh else PointCloud(quad().xyz, quad().rgb, "m")
    write_pointcloud(tmp_path / "a.glb", points)
    scene = trimesh.load_scene(tmp_path / "a.glb", process=False)
    (theirs,) = scene.geometry.values()
    assert np.allclose(theirs.vertices, points.xyz * [1, -1, -1])
    if mesh:
        assert theirs.visual.kind == "vertex"  # colors are shown, not kept aside
    colors = np.asarray(theirs.visual.vertex_colors if mesh else theirs.colors)
    if colors.dtype.kind == "u":
        colors = colors / np.iinfo(colors.dtype).max
    assert np.allclose(colors[:, :3], srgb_to_linear(points.rgb / 255), atol=1 / 200)
    if mesh:
        assert np.array_equal(theirs.faces, points.faces)
        # Seen from the camera, triangles turn the same way as before.
        ours = np.cross(*(np.diff(points.xyz[points.faces[0]], axis=0)))
        normal = np.cross(*(np.diff(theirs.vertices[theirs.faces[0]], axis=0)))
        assert np.allclose(normal, ours * [1, -1, -1])


def test_we_read_what_trimesh_writes(tmp_path: Path) -> None:
    ours = quad()
    theirs = trimesh.Trimesh(ours.xyz, ours.faces, vertex_colors=ours.rgb, process=False)
    for encoding in ("ascii", "binary"):
        (tmp_path / "a.ply").write_bytes(
            trimesh.exchange.ply.export_ply(theirs, encoding=encoding, vertex_normal=True)
        )
        read = read_pointcloud(tmp_path / "a.ply")
        assert np.allclose(read.xyz, ours.xyz)
        assert np.array_equal(read.rgb, ours.rgb)
        assert np.array_equal(read.faces, ours.faces)
        assert read.unit == ""
    cloud = trimesh.PointCloud(ours.xyz)
    cloud.export(tmp_path / "b.glb")
    assert np.allclose(read_pointcloud(tmp_path / "b.glb").xyz, ours.xyz * [1, -1, -1])


def test_headers_say_unit_and_frame(tmp_path: Path) -> None:
    write_pointcloud(tmp_path / "a.ply", quad())
    header = (tmp_path / "a.ply").read_bytes().split(b"end_header")[0].decode()
    assert "comment unit m\n" in header
    assert "comment frame x right, y down, z forward\n" in header
    assert "format binary_little_endian 1.0\n" in header
    scene = gltf(tmp_path, quad())
    assert scene["nodes"][0]["extras"]["unit"] == "m"


def gltf(folder: Path, points: PointCloud) -> dict:
    write_pointcloud(folder / "a.glb", points)
    data = (folder / "a.glb").read_bytes()
    (length,) = struct.unpack_from("<I", data, 12)
    return json.loads(data[20 : 20 + length])


def test_glb_keeps_the_rules_of_gltf(tmp_path: Path) -> None:
    """Alignment, bounds and lengths as the standard asks for."""
    scene = gltf(tmp_path, quad())
    data = (tmp_path / "a.glb").read_bytes()
    assert struct.unpack_from("<I", data, 8)[0] == len(data)
    assert len(data) % 4 == 0
    for view in scene["bufferViews"]:
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] + view["byteLength"] <= scene["buffers"][0]["byteLength"]
    position = scene["accessors"][scene["meshes"][0]["primitives"][0]["attributes"]["POSITION"]]
    assert position["min"] == [-1, -2, -1.5]
    assert position["max"] == [1, 2, -1]
    assert scene["meshes"][0]["primitives"][0]["mode"] == 4
    assert gltf(tmp_path, PointCloud(quad().xyz))["meshes"][0]["primitives"][0]["mode"] == 0


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_same_points_same_bytes(tmp_path: Path, suffix: str) -> None:
    for name in "ab":
        write_pointcloud(tmp_path / f"{name}{suffix}", quad())
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


# ---- PLY of others ------------------------------------------------------------------------------


def ply(tmp_path: Path, header: list[str], body: bytes) -> Path:
    path = tmp_path / "a.ply"
    path.write_bytes(("\n".join(["ply", *header, "end_header"]) + "\n").encode() + body)
    return path


AXES = [f"property float {axis}" for axis in "xyz"]
CORNERS = "property list uchar int vertex_indices"


def face_of(count: str, corner: str) -> list[str]:
    return ["element face 1", f"property list {count} {corner} vertex_indices"]


def test_ascii_quads_floats_and_unknown_elements(tmp_path: Path) -> None:
    header = [
        "format ascii 1.0",
        "comment unit m",
        "element sensor 1",
        "property int id",
        "element vertex 4",
        *AXES,
        "property float nx",
        *(f"property float {name}" for name in ("red", "green", "blue")),
        "element face 1",
        "property list uchar int vertex_index",
        "property uchar quality",
        "element edge 1",
        "property int first",
    ]
    rows = [
        "7",
        "0 0 1 9 1 0 0",
        "1 0 1 9 0 1 0",
        "1 1 1 9 0 0 1",
        "0 1 1 9 1 1 0.5",
        "4 0 1 2 3 5",
    ]
    points = read_pointcloud(ply(tmp_path, header, "\n".join(rows).encode()))
    assert points.unit == "m"
    assert points.xyz[2].tolist() == [1, 1, 1]
    assert points.rgb.tolist() == [[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 128]]
    assert points.faces.tolist() == [[0, 1, 2], [0, 2, 3]]


def test_big_endian_doubles_and_faces_first(tmp_path: Path) -> None:
    header = [
        "format binary_big_endian 1.0",
        "element face 1",
        "property list uint8 uint32 vertex_indices",
        "element vertex 3",
        *(f"property double {axis}" for axis in "xyz"),
        *(f"property ushort {name}" for name in ("red", "green", "blue")),
    ]
    body = struct.pack(">B3I", 3, 2, 1, 0)
    for n in range(3):
        body += struct.pack(">3d3H", n, n + 0.5, 2, 65535, 257 * n, 0)
    points = read_pointcloud(ply(tmp_path, header, body))
    assert points.xyz.tolist() == [[0, 0.5, 2], [1, 1.5, 2], [2, 2.5, 2]]
    assert points.rgb[:, 1].tolist() == [0, 1, 2]
    assert points.rgb[:, 0].tolist() == [255] * 3
    assert points.faces.tolist() == [[2, 1, 0]]


@pytest.mark.parametrize("form", ["ascii", "binary_little_endian"])
@pytest.mark.parametrize("count", ["1000000000000", "2", "9" * 5000, "-1", "x"])
def test_hostile_counts(tmp_path: Path, form: str, count: str) -> None:
    header = [f"format {form} 1.0", f"element vertex {count}", *AXES]
    body = b"1 2 3\n" if form == "ascii" else struct.pack("<3f", 1, 2, 3)
    with pytest.raises(InputError, match=r"more than the file holds|makes no sense"):
        read_pointcloud(ply(tmp_path, header, body))


@pytest.mark.parametrize(
    ("header", "body", "words"),
    [
        (
            ["format ascii 1.0", "element vertex 1", *AXES[:2]],
            b"1 2",
            "no vertices with x, y and z",
        ),
        (["format ascii 1.0"], b"", "no vertices"),
        (["element vertex 1", *AXES], b"1 2 3", "does not say its PLY format"),
        (["format ascii 2.0"], b"", "makes no sense"),
        (["format ascii 1.0", "property float x"], b"", "makes no sense"),
        (["format ascii 1.0", "element vertex 1", "property quad x"], b"", "makes no sense"),
        (["format ascii 1.0", "element vertex 1", *AXES], b"1 2 three", "words where numbers"),
        (["format ascii 1.0", "element vertex 1", *AXES], b"1 2 nan", "finite"),
        (["format ascii 1.0", "element vertex 1", *AXES], b"1 2 1e99", "finite"),
        (
            ["format binary_little_endian 1.0", "element vertex 1", *AXES, AXES[0]],
            bytes(16),
            "one name twice",
        ),
        (
            ["format ascii 1.0", "element vertex 1", *AXES, "element face 1", CORNERS],
            b"1 2 3 3 0 0 9",
            "faces must be",
        ),
        (
            ["format ascii 1.0", "element vertex 1", *AXES, "element face 2", CORNERS],
            b"1 2 3 3 0 0 0 4 0 0 0 0",
            "different lengths|more than",
        ),
        (
            ["format ascii 1.0", "element vertex 1", *AXES, "element face 1", CORNERS],
            b"1 2 3 3 0 0 -5",
            "do not exist",
        ),
        *(
            (
                ["format ascii 1.0", "element vertex 1", *AXES, "element face 1", CORNERS],
                b"1 2 3 %s 0 0 0" % count,
                "truncated or damaged",
            )
            for count in (b"nan", b"inf", b"1e400")
        ),
        *(
            (
                [f"format {form} 1.0", "element vertex 1", *AXES, *face_of("float", "int")],
                body,
                "makes no sense",
            )
            for form, body in (
                ("ascii", b"1 2 3 3 0 0 0"),
                ("binary_little_endian", struct.pack("<3f f 3i", 1, 2, 3, np.nan, 0, 0, 0)),
            )
        ),
        (
            ["format ascii 1.0", "element vertex 1", *AXES, *face_of("uchar", "float")],
            b"1 2 3 3 0 0 nan",
            "no whole numbers",
        ),
        (
            ["format ascii 1.0", "element vertex 1", "property list uchar float x", *AXES[1:]],
            b"1 1 2 3",
            "no vertices with x, y and z",
        ),
    ],
)
def test_bad_ply(tmp_path: Path, header: list[str], body: bytes, words: str) -> None:
    path = ply(tmp_path, header, body)
    with pytest.raises(InputError, match=words) as caught:
        read_pointcloud(path)
    assert str(caught.value).startswith(str(path))


def test_colors_that_are_none(tmp_path: Path) -> None:
    """Lists are no colors; a signaling NaN is black, without a warning."""
    start = ["format binary_little_endian 1.0", "element vertex 1", *AXES]
    rest = ["property double green", "property float blue"]
    body = struct.pack("<3f 3B d f", 1, 2, 3, 2, 7, 7, 1.0, 0.0)
    listed = ply(tmp_path, [*start, "property list uchar uchar red", *rest], body)
    assert read_pointcloud(listed).rgb is None
    body = struct.pack("<3f I d f", 1, 2, 3, 0x7FA00000, 1.0, 0.0)
    floats = ply(tmp_path, [*start, "property float red", *rest], body)
    assert read_pointcloud(floats).rgb.tolist() == [[0, 255, 0]]


# ---- bad files ----------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_bad_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    with pytest.raises(InputError, match="no such file"):
        read_pointcloud(path)
    write_pointcloud(path, quad())
    whole = path.read_bytes()
    for content in (b"", b"hello" * 10, whole[:30], whole[: len(whole) // 2], whole[:-4]):
        path.write_bytes(content)
        with pytest.raises(InputError):
            read_pointcloud(path)
    with pytest.raises(InputError, match=r"\.glb or \.ply, not \.obj"):
        write_pointcloud(tmp_path / "a.obj", quad())


def glb(path: Path, scene: object, binary: bytes = b"") -> Path:
    document = json.dumps(scene).encode()
    document += b" " * (-len(document) % 4)
    chunks = struct.pack("<II", len(document), 0x4E4F534A) + document
    chunks += struct.pack("<II", len(binary), 0x004E4942) + binary
    path.write_bytes(struct.pack("<III", 0x46546C67, 2, 12 + len(chunks)) + chunks)
    return path


@pytest.mark.parametrize(
    "change",
    [
        {"accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 10**12}]},
        {"accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 1e400}]},
        {"accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": -1}]},
        {"accessors": [{"bufferView": 5, "componentType": 5126, "type": "VEC3", "count": 1}]},
        {"accessors": [{"bufferView": 0, "componentType": 1, "type": "VEC3", "count": 1}]},
        {"accessors": [{"componentType": 5126, "type": "VEC3", "count": 1}]},
        {"accessors": "none"},
        {"bufferViews": [{"buffer": 0, "byteOffset": -8, "byteLength": 12}]},
        {"bufferViews": [{"buffer": 0, "byteStride": -4, "byteLength": 12}]},
        {"bufferViews": [{"buffer": 0, "byteOffset": 4, "byteLength": 12}]},
        {"buffers": [{"uri": "../secret", "byteLength": 12}]},
        {"nodes": [{"mesh": 0, "translation": [1, 0, 0]}]},
        {"nodes": [{"mesh": 0, "extras": {"unit": "feet"}}]},
        {"nodes": 5},
        {"meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 3}]}]},
        {"meshes": [{"primitives": [{"attributes": {"POSITION": 0}}] * 2}]},
        {"meshes": [{"primitives": [{"attributes": {}}]}]},
        {"meshes": [{}]},
    ],
)
def test_hostile_glb(tmp_path: Path, change: dict[str, object]) -> None:
    scene = {
        "asset": {"version": "2.0"},
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "mode": 0}]}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "type": "VEC3", "count": 1}],
        "bufferViews": [{"buffer": 0, "byteLength": 12}],
        "buffers": [{"byteLength": 12}],
    }
    binary = struct.pack("<3f", 1, -2, -3)
    path = tmp_path / "a.glb"
    assert read_pointcloud(glb(path, scene, binary)).xyz.tolist() == [[1, 2, 3]]
    with pytest.raises(InputError) as caught:
        read_pointcloud(glb(path, {**scene, **change}, binary))
    assert str(caught.value).startswith(str(path))


def test_glb_with_signaling_nan(tmp_path: Path) -> None:
    number = {"bufferView": 0, "componentType": 5126, "type": "VEC3"}
    primitive = {"attributes": {"POSITION": 0, "COLOR_0": 1}, "mode": 0}
    scene = {
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [primitive]}],
        "accessors": [{**number, "count": 1}, {**number, "count": 1, "byteOffset": 12}],
        "bufferViews": [{"buffer": 0, "byteLength": 24}],
        "buffers": [{"byteLength": 24}],
    }
    nan = struct.pack("<I", 0x7FA00000)
    whole = struct.pack("<3f", 1, -2, -3)
    path = tmp_path / "a.glb"
    read = read_pointcloud(glb(path, scene, whole + nan + struct.pack("<2f", 1, 0)))
    assert read.rgb.tolist() == [[0, 255, 0]]
    with pytest.raises(InputError, match="finite"):
        read_pointcloud(glb(path, scene, nan * 3 + whole))
    corners = {"bufferView": 0, "componentType": 5126, "type": "SCALAR", "count": 3}
    scene["accessors"].append(corners)
    primitive |= {"mode": 4, "indices": 2}
    del primitive["attributes"]["COLOR_0"]
    scene["accessors"][0]["byteOffset"] = 12
    scene["accessors"][0]["count"] = 1
    with pytest.raises(InputError, match="no whole numbers"):
        read_pointcloud(glb(path, scene, nan * 3 + whole))


@pytest.mark.parametrize("scene", [5, [], "x", None])
def test_glb_with_other_json(tmp_path: Path, scene: object) -> None:
    with pytest.raises(InputError, match="not glTF"):
        read_pointcloud(glb(tmp_path / "a.glb", scene))


@pytest.mark.filterwarnings("ignore")
@property_test
@given(st.data())
def test_damage_gives_points_or_one_clear_error(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / f"a{data.draw(st.sampled_from(SUFFIXES))}"
    write_pointcloud(path, quad())
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    try:
        points = read_pointcloud(path)
    except InputError:
        return
    assert np.isfinite(points.xyz).all()
