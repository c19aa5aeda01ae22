import json

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from sightline.benchmarks import sets
from sightline.benchmarks.comparison import duel
from sightline.benchmarks.moge import BENCHMARK, items, read_moge_depth
from sightline.benchmarks.protocol import Protocol
from sightline.benchmarks.run import run
from sightline.cli import main
from sightline.errors import InputError
from sightline.types import DepthMap, Kind

INTRINSICS = [[1.2, 0.0, 0.5], [0.0, 2.0, 0.5], [0.0, 0.0, 1.0]]


def write_depth(path, depth, text=None):
    """Encode depth by MoGe's rule, with another PNG writer than ours."""
    finite = np.isfinite(depth)
    near, far = float(depth[finite].min()), float(depth[finite].max())
    share = np.log(np.where(finite, depth, near) / near) / np.log(far / near)
    values = (1 + np.round(share * 65533)).astype(np.uint16)
    values[np.isnan(depth)] = 0
    values[np.isinf(depth)] = 65535
    info = PngInfo()
    for key, value in ({"near": str(near), "far": str(far)} if text is None else text).items():
        info.add_text(key, value)
    Image.fromarray(values).save(path, pnginfo=info)


@pytest.fixture
def folder(tmp_path, save_picture, ramp):
    for group, names in (("NYUv2", ("00001", "00002")), ("Sintel", ("alley_1/0001",))):
        for name in names:
            sample = tmp_path / group / name
            save_picture(sample / "image.jpg")
            depth = ramp.astype(np.float64)
            depth[:2] = np.inf
            depth[2, :3] = np.nan
            write_depth(sample / "depth.png", depth)
            (sample / "meta.json").write_text(json.dumps({"intrinsics": INTRINSICS}))
        (tmp_path / group / ".index.txt").write_text("\n".join(names) + "\n")
    return tmp_path


def test_depth_camera_and_unit(folder, ramp):
    found = items(folder)
    assert [item.name for item in found] == ["NYUv2/00001", "NYUv2/00002", "Sintel/alley_1/0001"]
    truth = found[0].load()
    assert not truth.known[:2].any()
    assert not truth.known[2, :3].any()
    assert truth.known.sum() == ramp.size - 43
    assert np.allclose(1 / truth.disparity[truth.known], ramp[truth.known], rtol=1e-4)
    assert truth.metric
    assert truth.dense
    assert not found[2].load().metric
    # Normalized 0.5 is the middle of the picture, which lies between pixels of even sizes.
    assert np.allclose(truth.camera.K, [[24, 0, 9.5], [0, 24, 5.5], [0, 0, 1]])


def test_one_set_alone_and_detection(folder):
    assert [item.group for item in items(folder / "Sintel")] == ["Sintel"]
    assert sets.detect(folder) is BENCHMARK
    assert sets.detect(folder / "NYUv2") is BENCHMARK


def test_codes(tmp_path):
    values = np.array([[0, 1, 65534, 65535, 32768]], np.uint16)
    info = PngInfo()
    for key, value in (("near", "0.5"), ("far", "50"), ("unit", "2")):
        info.add_text(key, value)
    Image.fromarray(values).save(tmp_path / "depth.png", pnginfo=info)
    depth, has_unit = read_moge_depth(tmp_path / "depth.png")
    assert has_unit
    assert np.isnan(depth[0, 0])
    assert np.isinf(depth[0, 3])
    assert np.allclose(depth[0, [1, 2, 4]], [1, 100, 2 * 0.5 * 100 ** (32767 / 65533)])


def test_outliers_are_dropped(folder, ramp):
    depth = ramp.astype(np.float64)
    depth[5, 5] = 1500.0
    write_depth(folder / "NYUv2/00001/depth.png", depth)
    known = items(folder)[0].load().known
    assert not known[5, 5]
    assert known.sum() == known.size - 1


def test_perfect_under_all_alignments(folder, oracle, fixed):
    report = run(BENCHMARK, folder, oracle)
    assert set(report.rows) == {"NYUv2", "Sintel"}
    assert report.overall["abs_rel"] == pytest.approx(0, abs=1e-3)
    assert "cap the picture's largest true depth" in report.line
    # 40 times too far: no cap may cut the prediction before its scale is known.
    far = fixed(
        lambda item, _: DepthMap(40 / np.maximum(item.load().disparity, 1e-3), Kind.METRIC_DEPTH)
    )
    for align in ("disparity", "depth", "scale", "median", "log", "moge-scale", "moge-affine"):
        report = run(BENCHMARK, folder, far, Protocol(align, cap=None))
        assert report.overall["abs_rel"] == pytest.approx(0, abs=2e-3), align
    meters = run(BENCHMARK, folder, far, Protocol("none", cap=None))
    assert meters.left_out == ("Sintel/alley_1/0001",)


def test_duel(folder, oracle, fixed):
    flat = fixed(lambda _, pixels: DepthMap(np.ones(pixels.shape[:2]), Kind.RELATIVE_DISPARITY))
    report = duel({"oracle": oracle, "flat": flat}, folder, protocols=("disparity", "moge-affine"))
    (found,) = report.comparisons(("moge-affine", "abs_rel"))
    assert (found.a, found.wins, found.losses) == ("oracle", 3, 0)


def _no_depth(sample):
    (sample / "depth.png").unlink()


def _no_near(sample):
    write_depth(sample / "depth.png", np.linspace(1, 2, 240).reshape(12, 20), {"far": "2"})


def _near_is_no_number(sample):
    text = {"near": "close", "far": "2"}
    write_depth(sample / "depth.png", np.linspace(1, 2, 240).reshape(12, 20), text)


def _other_size(sample):
    write_depth(sample / "depth.png", np.linspace(1, 2, 100).reshape(10, 10))


def _eight_bits(sample):
    Image.fromarray(np.zeros((12, 20), np.uint8)).save(sample / "depth.png")


def _nothing_known(sample):
    info = PngInfo()
    info.add_text("near", "1")
    info.add_text("far", "2")
    Image.fromarray(np.zeros((12, 20), np.uint16)).save(sample / "depth.png", pnginfo=info)


def _no_intrinsics(sample):
    (sample / "meta.json").write_text("{}")


def _other_matrix(sample):
    (sample / "meta.json").write_text('{"intrinsics": [1, 2]}')


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_no_depth, "depth.png is not there"),
        (_no_near, "has no text chunk 'near'"),
        (_near_is_no_number, "has near 'close', not a positive number"),
        (_other_size, "truth is (10, 10), the picture (12, 20)"),
        (_eight_bits, "is not a 16-bit gray PNG"),
        (_nothing_known, "no pixel of known depth"),
        (_no_intrinsics, "has no intrinsics"),
        (_other_matrix, "has intrinsics of shape (2,), not (3, 3)"),
    ],
)
def test_a_bad_sample_is_named_and_the_rest_is_scored(folder, oracle, damage, words):
    damage(folder / "NYUv2/00002")
    with pytest.raises(InputError, match="1 of 3 pictures"):
        run(BENCHMARK, folder, oracle)
    report = run(BENCHMARK, folder, oracle, keep_going=True)
    assert len(report.scored) == 2
    (line,) = report.failures
    assert line.startswith("NYUv2/00002: ")
    assert words in line
    assert "\n" not in line


def test_bad_lists(folder):
    (folder / "NYUv2/.index.txt").write_text("00001\n00001\n")
    with pytest.raises(InputError, match="lists '00001' twice"):
        items(folder)
    with pytest.raises(InputError, match=r"has \.index\.txt"):
        items(folder / "NYUv2/00001")


def test_command(folder, capsys):
    maps = folder / "maps"
    for item in items(folder):
        path = maps / f"{item.name}.npy"
        path.parent.mkdir(parents=True, exist_ok=True)
        np.save(path, item.load().disparity)
    words = ["bench", "moge", str(folder), "--predictions", str(maps)]
    assert main([*words, "--predictions-kind", "disparity"]) == 0
    assert "NYUv2" in capsys.readouterr().out
