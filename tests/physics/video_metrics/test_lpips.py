from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.video_metrics.lpips import load_lpips, lpips

#: Distance of p0 and of p1 to the reference, as published with the networks' version 0.1.
PUBLISHED = {"alex": (0.722, 0.138), "vgg": (0.569, 0.422)}


def picture(path: Path) -> np.ndarray:
    from PIL import Image

    return np.asarray(Image.open(path).convert("RGB"))[None]


def test_the_published_triple(shared_data: Path, net: str):
    folder = shared_data / "metric_checks"
    reference = picture(folder / "ex_ref.png")
    found = [lpips(picture(folder / f"ex_{name}.png"), reference, net) for name in ("p0", "p1")]
    assert [round(value, 3) for value in found] == list(PUBLISHED[net])


def test_the_mean_is_over_frames_however_many(clips: list[np.ndarray], alex: str):
    net, video, truth = alex, clips[0], clips[3]
    each = [lpips(video[k : k + 1], truth[k : k + 1], net) for k in range(9)]
    assert lpips(video, truth, net) == pytest.approx(np.mean(each), rel=1e-5)
    assert lpips(video, truth, net) == lpips(video, truth, net)
    assert lpips(video, video, net) == 0


def test_blur_is_farther_the_stronger_it_is(clips: list[np.ndarray], net: str):
    import cv2

    truth = clips[0][:2]
    blurred = [
        np.stack([cv2.GaussianBlur(frame, (0, 0), sigma) for frame in truth])
        for sigma in (0.7, 1.5, 4.0)
    ]
    found = [lpips(video, truth, net) for video in blurred]
    assert 0 < found[0] < found[1] < found[2]


def test_the_smallest_frames_and_those_below(net: str):
    small = np.zeros((1, 32, 40, 3), np.uint8)
    assert lpips(small, small, net) == 0
    with pytest.raises(InputError, match="31 px are too small"):
        lpips(small[:, :31], small[:, :31], net)


def test_weights_of_another_network_are_refused():
    torch = pytest.importorskip("torch")
    from sightline.physics.video_metrics.networks import Lpips

    with pytest.raises(InputError, match="not weights of LPIPS with alex"):
        Lpips("alex").load({})
    wrong = {"kernel": np.zeros((3, 3, 3, 64)), "bias": np.zeros(64)}
    with pytest.raises(InputError, match="does not fit"):
        Lpips("alex").load({"AlexNet_0": {"Conv_0": wrong}})
    assert torch.is_grad_enabled()


def test_an_unknown_network():
    with pytest.raises(InputError, match="use alex or vgg"):
        load_lpips("squeeze")  # type: ignore[arg-type]
