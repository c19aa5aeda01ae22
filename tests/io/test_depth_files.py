"""Depth files give back what was put in, with its meaning, and refuse what is not theirs."""

import contextlib
import io
import struct
import zipfile
import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from PIL import Image

from sightline.errors import InputError
from sightline.io import depth_files, png
from sightline.io.depth_files import read_depth, write_depth
from sightline.types import Camera, CameraSource, DepthMap, Kind

property_test = settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80
)


@st.composite
def depth_maps(draw: st.DrawFn) -> DepthMap:
    kind = draw(st.sampled_from(list(Kind)))
    shape = draw(st.tuples(st.integers(1, 9), st.integers(1, 9)))
    low = {Kind.METRIC_DEPTH: 1e-30, Kind.METRIC_DISPARITY: 0.0}.get(kind, -1e30)
    numbers = st.floats(float(np.float32(low)), float(np.float32(1e30)), width=32)
    values = draw(arrays(np.float32, shape, elements=numbers))
    valid = draw(arrays(np.bool_, shape))
    camera = None
    if draw(st.booleans()):
        focal = draw(st.floats(1e-3, 1e6))
        camera = Camera.from_focal(focal, shape[1], shape[0], draw(st.sampled_from(CameraSource)))
    sigma = None
    if draw(st.booleans()):
        sigma = draw(arrays(np.float32, shape, elements=st.floats(0, 1e10, width=32)))
    source = draw(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20))
    return DepthMap(values, kind, valid, camera, sigma, source)


def check_meaning(read: DepthMap, written: DepthMap) -> None:
    assert read.kind is written.kind
    assert read.source == written.source
    assert np.array_equal(read.valid, written.valid)
    assert (read.camera is None) == (written.camera is None)
    if read.camera is not None and written.camera is not None:
        assert np.array_equal(read.camera.K, written.camera.K)
        assert read.camera.source is written.camera.source


@property_test
@given(depth_maps(), st.sampled_from([".npz", ".exr"]))
def test_float_files_are_exact(tmp_path: Path, depth: DepthMap, suffix: str) -> None:
    write_depth(tmp_path / f"a{suffix}", depth)
    read = read_depth(tmp_path / f"a{suffix}")
    check_meaning(read, depth)
    assert np.array_equal(read.values, depth.values)
    assert (read.sigma is None) == (depth.sigma is None)
    if depth.sigma is not None:
        assert np.array_equal(read.sigma, depth.sigma)


@property_test
@given(depth_maps())
def test_png_is_exact_to_half_a_step(tmp_path: Path, depth: DepthMap) -> None:
    path = tmp_path / "a.png"
    write_depth(path, depth)
    read = read_depth(path)
    check_meaning(read, depth)
    assert read.sigma is None
    known, back = depth.values[depth.valid].astype(float), read.values[depth.valid].astype(float)
    if known.size == 0:
        return
    step = (known.max() - known.min()) / 65534
    rounding = np.spacing(np.abs(known).astype(np.float32)).astype(float)
    assert (np.abs(back - known) <= step / 2 * (1 + 1e-9) + rounding).all()
    # The ends of the range are exact.
    assert back.min() == known.min()
    assert back.max() == known.max()
    # The formula in the file, applied by somebody else to Pillow's pixels.
    with Image.open(path) as image:
        scale, offset = float(image.text["scale"]), float(image.text["offset"])
        pixels = np.asarray(image).astype(np.float64)
    theirs = (offset + scale * pixels)[depth.valid]
    # Beside half a step, the offset itself is a rounded number of the size of the least value.
    slack = 4 * np.spacing(np.abs(known).max())
    assert (np.abs(theirs - known) <= step / 2 * (1 + 1e-9) + slack).all()
    assert ((pixels == 0) == ~depth.valid).all()


@property_test
@given(depth_maps())
def test_png_written_again_does_not_change(tmp_path: Path, depth: DepthMap) -> None:
    """Quantized once is quantized for good: no creeping loss over copies."""
    write_depth(tmp_path / "a.png", depth)
    once = read_depth(tmp_path / "a.png")
    write_depth(tmp_path / "b.png", once)
    twice = read_depth(tmp_path / "b.png")
    assert np.array_equal(once.values, twice.values)


def plain_depth(kind: Kind = Kind.METRIC_DEPTH) -> DepthMap:
    values = np.linspace(0.5, 20, 12 * 16, dtype=np.float32).reshape(12, 16)
    valid = values < 18
    camera = Camera.from_fov(60, 16, 12)
    return DepthMap(values, kind, valid, camera, values / 10, "tiny 1234")


@pytest.mark.parametrize("suffix", [".npz", ".png", ".exr"])
def test_same_map_same_bytes(tmp_path: Path, suffix: str) -> None:
    for name in ("a", "b"):
        write_depth(tmp_path / f"{name}{suffix}", plain_depth())
    assert (tmp_path / f"a{suffix}").read_bytes() == (tmp_path / f"b{suffix}").read_bytes()


def text_by_pillow(path: Path) -> dict[str, str]:
    with Image.open(path) as image:
        return image.text


def test_png_says_what_it_is(tmp_path: Path) -> None:
    write_depth(tmp_path / "a.png", plain_depth())
    text = text_by_pillow(tmp_path / "a.png")
    assert text["kind"] == "metric_depth"
    assert text["unit"] == "m"
    assert text["direction"] == "larger is farther"
    assert text["invalid"] == "0"
    assert text["camera_source"] == "given"
    assert len(text["K"].split()) == 9
    write_depth(tmp_path / "b.png", plain_depth(Kind.RELATIVE_DISPARITY))
    assert text_by_pillow(tmp_path / "b.png")["direction"] == "larger is nearer"


def test_npz_by_numpy_alone(tmp_path: Path) -> None:
    depth = plain_depth()
    write_depth(tmp_path / "a.npz", depth)
    with np.load(tmp_path / "a.npz", allow_pickle=False) as file:
        assert {"values", "kind", "valid", "K"} <= set(file.files)
        assert file["values"].dtype == np.float32
        assert np.array_equal(file["values"], depth.values)
        assert str(file["kind"]) == "metric_depth"
        assert str(file["unit"]) == "m"
        assert str(file["direction"]) == "larger is farther"
        assert file["valid"].dtype == np.bool_
        assert np.array_equal(file["K"], depth.camera.K)


def test_npz_made_by_numpy_alone(tmp_path: Path) -> None:
    values = np.array([[1.0, np.nan], [3.0, np.inf]])
    np.savez_compressed(tmp_path / "a.npz", values=values, kind="metric_depth")
    read = read_depth(tmp_path / "a.npz")
    assert read.valid.tolist() == [[True, False], [True, False]]
    assert read.camera is None
    np.savez(tmp_path / "b.npz", values=np.array([[1, 2]]), kind="metric_depth", K=np.eye(3))
    assert read_depth(tmp_path / "b.npz").camera.source is CameraSource.GIVEN


def test_exr_for_film(tmp_path: Path) -> None:
    """Channel Z, float, no NaN; read by OpenEXR itself."""
    import OpenEXR

    depth = plain_depth()
    write_depth(tmp_path / "a.exr", depth)
    file = OpenEXR.File(str(tmp_path / "a.exr"), separate_channels=True)
    channels = file.channels()
    assert set(channels) == {"Z", "valid", "sigma"}
    assert np.array_equal(channels["Z"].pixels, depth.values)
    assert np.isfinite(channels["Z"].pixels).all()
    assert file.header()["sightline:unit"] == "m"
    assert np.array_equal(file.header()["sightline:K"], depth.camera.K)
    write_depth(tmp_path / "b.exr", plain_depth(Kind.METRIC_DISPARITY))
    file = OpenEXR.File(str(tmp_path / "b.exr"), separate_channels=True)
    assert "disparity" in file.channels()


def test_invalid_everywhere(tmp_path: Path) -> None:
    nothing = DepthMap(np.full((3, 4), np.nan), Kind.METRIC_DEPTH)
    for suffix in (".npz", ".png", ".exr"):
        write_depth(tmp_path / f"a{suffix}", nothing)
        assert not read_depth(tmp_path / f"a{suffix}").valid.any()


# ---- bad input ----------------------------------------------------------------------------------


def test_unknown_suffix(tmp_path: Path) -> None:
    for call in (lambda path: write_depth(path, plain_depth()), read_depth):
        with pytest.raises(InputError, match=r"\.npz"):
            call(tmp_path / "a.tiff")


@pytest.mark.parametrize("suffix", [".npz", ".png", ".exr"])
def test_bad_files(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    with pytest.raises(InputError, match="no such file"):
        read_depth(path)
    write_depth(path, plain_depth())
    whole = path.read_bytes()
    for content in (b"", b"hello", whole[:10], whole[: len(whole) // 2], whole[:-30]):
        path.write_bytes(content)
        with pytest.raises(InputError) as caught:
            read_depth(path)
        assert str(caught.value).startswith(str(path))
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="folder"):
        read_depth(path)


@pytest.mark.filterwarnings("ignore")
@property_test
@given(st.data())
def test_damage_gives_a_map_or_one_clear_error(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / f"a{data.draw(st.sampled_from(['.npz', '.png', '.exr']))}"
    write_depth(path, plain_depth())
    whole = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 5))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(whole)
    with contextlib.suppress(InputError):
        assert read_depth(path).values.ndim == 2


@pytest.mark.parametrize("suffix", [".npz", ".png", ".exr"])
def test_larger_than_allowed(tmp_path: Path, suffix: str) -> None:
    write_depth(tmp_path / f"a{suffix}", plain_depth())
    reader = {".npz": "read_npz", ".png": "read_png16", ".exr": "read_exr"}[suffix]
    with pytest.raises(InputError, match=r"16×12|larger"):
        getattr(depth_files, reader)(tmp_path / f"a{suffix}", max_pixels=100)


class Evil:
    def __reduce__(self):
        return (Path("pwned").write_text, ("x",))


def test_npz_with_pickles(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    objects = np.array([[Evil()]], dtype=object)
    np.savez(path, values=objects, kind="metric_depth")
    with pytest.raises(InputError, match="Python objects"):
        read_depth(path)
    assert not Path("pwned").exists()


def npz_of(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def npy(array: object) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asarray(array), allow_pickle=False)
    return stream.getvalue()


def test_npz_bombs(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    kind = npy("metric_depth")
    # Many megabytes of zeros in a few kilobytes.
    npz_of(path, {"values.npy": bytes(30_000_000), "kind.npy": kind})
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="too much"):
        depth_files.read_npz(path, max_pixels=1_000_000)
    # Text as large as a map.
    npz_of(path, {"values.npy": npy(np.ones((2, 2))), "kind.npy": npy("x" * 1_000_000)})
    with pytest.raises(InputError, match="too much"):
        read_depth(path)
    # A header that promises more than there is.
    lie = npy(np.ones((2, 2))).replace(b"(2, 2)", b"(9, 2)")
    npz_of(path, {"values.npy": lie, "kind.npy": kind})
    with pytest.raises(InputError, match="do not fill"):
        read_depth(path)
    huge = npy(np.ones((2, 2))).replace(b"(2, 2), }      ", b"(99999, 99999)}")
    npz_of(path, {"values.npy": huge, "kind.npy": kind})
    with pytest.raises(InputError, match="= 9,999,800,001 pixels"):
        read_depth(path)
    # A header that no Python reader can read to its end.
    npz_of(
        path,
        {"values.npy": npy(np.ones((2, 2))).replace(b"(2, 2), }", b"(2, 2), ("), "kind.npy": kind},
    )
    with pytest.raises(InputError, match="damaged array 'values'"):
        read_depth(path)
    npz_of(path, {f"{n}.npy": b"" for n in range(1000)})
    with pytest.raises(InputError, match="1000 members"):
        read_depth(path)


def test_npz_with_damaged_lzma(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("values.npy", npy(np.random.default_rng(0).random((20, 20))))
        archive.writestr("kind.npy", npy("metric_depth"))
    whole = bytearray(path.read_bytes())
    at = whole.index(b"values.npy") + len("values.npy") + 4
    whole[at : at + 60] = b"\xff" * 60  # behind the two bytes of version and two of length
    path.write_bytes(whole)
    with pytest.raises(InputError, match="damaged"):
        read_depth(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"values": None}, "no 'values'"),
        ({"kind": None}, "no 'kind'"),
        ({"kind": "depth in feet"}, "kind is 'depth in feet', must be one of relative_disparity"),
        ({"kind": np.array(["metric_depth"] * 2)}, "one piece of text"),
        ({"values": np.ones(5)}, "H×W"),
        ({"values": np.ones((2, 2, 2))}, "H×W"),
        ({"values": np.ones((2, 2), complex)}, "numbers"),
        ({"values": np.full((2, 2), np.nan)}, "not finite"),
        ({"values": np.full((2, 2), 1e300)}, "not finite"),
        ({"values": np.full((2, 2), np.inf)}, "not finite"),
        ({"valid": np.ones((3, 2), bool)}, "valid mask"),
        ({"valid": np.ones((2, 2))}, "true or false"),
        ({"sigma": np.ones((3, 2))}, "sigma is"),
        ({"sigma": np.full((2, 2), -1.0)}, "sigma must be"),
        ({"sigma": np.full((2, 2), np.nan)}, "sigma must be"),
        ({"K": np.ones((2, 2))}, "camera matrix"),
        ({"K": np.diag([1, np.nan, 1])}, "camera matrix"),
        ({"K": np.zeros((3, 3))}, "positive focal"),
        ({"camera_source": "hearsay"}, "camera_source is 'hearsay'"),
    ],
)
def test_npz_with_wrong_fields(tmp_path: Path, change: dict[str, object], words: str) -> None:
    fields = {
        "values": np.ones((2, 2), np.float32),
        "kind": "metric_depth",
        "valid": np.ones((2, 2), bool),
        "K": np.eye(3),
        **change,
    }
    np.savez(tmp_path / "a.npz", **{k: v for k, v in fields.items() if v is not None})
    with pytest.raises(InputError, match=words) as caught:
        read_depth(tmp_path / "a.npz")
    assert str(caught.value).startswith(str(tmp_path / "a.npz"))


def test_png_of_others(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    cv2.imwrite(str(path), np.ones((4, 4), np.uint16))
    with pytest.raises(InputError, match="no kind and scale and offset in it; only PNG files"):
        read_depth(path)
    cv2.imwrite(str(path), np.ones((4, 4, 3), np.uint8))
    with pytest.raises(InputError, match="not a 16-bit gray PNG"):
        read_depth(path)


@pytest.mark.parametrize(
    ("key", "value"),
    [("scale", "nan"), ("offset", "1e999"), ("scale", "a lot"), ("kind", "x"), ("K", "1 2 3")],
)
def test_png_with_wrong_text(tmp_path: Path, key: str, value: str) -> None:
    text = {"kind": "metric_depth", "scale": "1", "offset": "0", key: value}
    (tmp_path / "a.png").write_bytes(png.encode(np.ones((2, 2), np.uint16), text))
    with pytest.raises(InputError, match=key):
        read_depth(tmp_path / "a.png")


def test_png_with_a_huge_header(tmp_path: Path) -> None:
    header = struct.pack(">IIBBBBB", 30000, 30000, 16, 0, 0, 0, 0)
    chunk = (
        struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    )
    (tmp_path / "a.png").write_bytes(png.SIGNATURE + chunk)
    with pytest.raises(InputError, match="30000×30000"):
        read_depth(tmp_path / "a.png")


def test_exr_of_others(tmp_path: Path) -> None:
    import OpenEXR

    path = str(tmp_path / "a.exr")
    flat = np.ones((4, 4), np.float32)
    OpenEXR.File({}, {"Z": flat}).write(path)
    with pytest.raises(InputError, match="does not say what its numbers mean"):
        read_depth(path)
    OpenEXR.File({"sightline:kind": "metric_depth"}, {"Y": flat}).write(path)
    with pytest.raises(InputError, match="no channel 'Z'"):
        read_depth(path)
