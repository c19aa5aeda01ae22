import struct

import numpy as np
import pytest

from sightline.benchmarks.sintel import BENCHMARK, CLEAN, items, read_dpt
from sightline.errors import InputError


def write_dpt(path, depth):
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width = depth.shape
    path.write_bytes(struct.pack("<fii", 202021.25, width, height) + depth.astype("<f4").tobytes())


@pytest.fixture
def folder(tmp_path, save_picture, ramp):
    for scene in ("alley_1", "market_2"):
        for number in (1, 2):
            for render in ("clean", "final"):
                save_picture(tmp_path / f"training/{render}/{scene}/frame_{number:04d}.png")
            write_dpt(tmp_path / f"training/depth/{scene}/frame_{number:04d}.dpt", ramp * number)
    return tmp_path


@pytest.mark.parametrize("benchmark", [BENCHMARK, CLEAN])
def test_frames_by_scene(folder, benchmark, ramp):
    found = benchmark.items(folder)
    assert [item.group for item in found] == ["alley_1", "alley_1", "market_2", "market_2"]
    render = "clean" if benchmark is CLEAN else "final"
    assert found[1].name == f"training/{render}/alley_1/frame_0002"
    assert "alley_1/frame_0002" in found[1].aliases
    truth = found[1].load()
    assert np.allclose(1 / truth.disparity, 2 * ramp)
    assert truth.dense


def test_the_folder_may_be_training_itself(folder):
    assert len(items(folder / "training")) == 4


def test_wrong_files_are_named(folder, ramp):
    path = folder / "training/depth/alley_1/frame_0001.dpt"
    whole = path.read_bytes()
    for content, problem in (
        (whole[:-4], "not as many pixels"),
        (struct.pack("<f", 1.0) + whole[4:], "not a .dpt"),
        (b"ab", "not a .dpt"),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=problem):
            read_dpt(path)
    write_dpt(path, ramp[:5])
    with pytest.raises(InputError, match="the picture"):
        items(folder)[0].load()


def test_another_folder(tmp_path):
    with pytest.raises(InputError, match="not Sintel"):
        items(tmp_path)


def test_scored_by_the_sets_own_protocol(folder, perfect_run):
    report = perfect_run(BENCHMARK, folder, 4)
    assert report.overall["boundary_f1"] == pytest.approx(1)
