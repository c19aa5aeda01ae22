import subprocess
import sys

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.diffusion import load_painter


@pytest.fixture(scope="module")
def painter(tiny_pipeline):
    return load_painter(str(tiny_pipeline), device="cpu", steps=2, short_side=32)


@pytest.fixture(scope="module")
def picture():
    rng = np.random.default_rng(0)
    return rng.integers(0, 255, (30, 45, 3), np.uint8)


def strips(count):
    mask = np.zeros((30, 45), bool)
    mask[:, 10:25] = True
    return [mask] * count


def test_the_same_seed_paints_the_same_and_another_does_not(painter, picture):
    one = painter.paint(picture, strips(2), ["a man", "a woman"], [1, 2])
    two = painter.paint(picture, strips(2), ["a man", "a woman"], [1, 2])
    assert [p.shape for p in one] == [picture.shape] * 2
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert not np.array_equal(one[0], one[1])


def test_numbers_must_agree(painter, picture):
    with pytest.raises(InputError, match="2 masks, 1 prompts"):
        painter.paint(picture, strips(2), ["a man"], [1, 2])


def test_without_weights_it_says_what_to_fetch_and_what_else_works(tmp_path, monkeypatch):
    pytest.importorskip("diffusers", reason="painting is tested with diffusers installed")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    name = "sd2-community/stable-diffusion-2-inpainting"
    with pytest.raises(InputError, match=f"is no folder, and .*: hf download {name}; ") as caught:
        load_painter(name)
    flags = ("--length", "--depth-at", "--camera-height", "--box", "--iris", "--measured")
    assert all(flag in str(caught.value) for flag in flags)
    with pytest.raises(InputError, match="can be loaded from this folder") as caught:
        load_painter(str(tmp_path))
    assert "hf download" not in str(caught.value)


@pytest.mark.parametrize("name", ["/nonexistent", "./painter", "~/painter", "a/b/c"])
def test_a_path_that_is_not_there_is_no_name_on_the_hub(name):
    with pytest.raises(InputError, match=f"^{name}: is no folder; give a folder") as caught:
        load_painter(name)
    assert "hf download" not in str(caught.value)


def test_loading_says_nothing_of_its_own(tmp_path):
    pytest.importorskip("diffusers", reason="painting is tested with diffusers installed")
    code = f"""
from sightline.errors import InputError
from sightline.metric.diffusion import load_painter
try:
    load_painter({str(tmp_path)!r})
except InputError as error:
    print(error)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "can be loaded from this folder" in ran.stdout
    assert ran.stderr == ""
