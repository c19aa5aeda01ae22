import numpy as np
import pytest

from sightline.errors import InputError
from sightline.metric.painters.diffusion import load_painter


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
    with pytest.raises(InputError, match=r"hf download .*--length"):
        load_painter("sd2-community/stable-diffusion-2-inpainting")
    with pytest.raises(InputError, match="no inpainting folder"):
        load_painter(str(tmp_path))
