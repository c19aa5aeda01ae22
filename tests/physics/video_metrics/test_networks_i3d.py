from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from sightline.errors import InputError

torch = pytest.importorskip("torch")

from sightline.physics.video_metrics.fvd import video_features  # noqa: E402
from sightline.physics.video_metrics.networks import I3d, same_padding, same_pool  # noqa: E402

#: Place of "playing cricket" among the classes of Kinetics-400, in the order of their names.
CRICKET = 227


@pytest.fixture(scope="module")
def cricket(shared_data: Path) -> np.ndarray:
    """The example clip of the network's authors, (79, 224, 224, 3)."""
    from PIL import Image, ImageSequence

    with Image.open(shared_data / "metric_checks" / "cricket.gif") as clip:
        return np.stack([np.asarray(f.convert("RGB")) for f in ImageSequence.Iterator(clip)])


@pytest.mark.slow
def test_the_example_clip_is_cricket(cricket: np.ndarray, i3d: I3d):
    assert len(cricket) == 79
    chances = torch.from_numpy(video_features(cricket, i3d)).softmax(0)
    assert int(chances.argmax()) == CRICKET
    assert round(float(chances[CRICKET]), 3) == 0.989


def test_sixteen_frames_of_it_are_cricket_too(cricket: np.ndarray, i3d: I3d):
    features = video_features(cricket[:16], i3d)
    assert features.shape == (400,)
    assert int(features.argmax()) == CRICKET


@pytest.mark.parametrize("sides", [(9, 14, 15), (16, 7, 8), (5, 2, 3)])
@pytest.mark.parametrize(("window", "step"), [(3, 1), (3, 2), (7, 2), (2, 2), (1, 1)])
def test_padding_is_tensorflows(sides: tuple[int, ...], window: int, step: int):
    """Steps along a side are ⌈side / step⌉, and of an odd padding the larger part comes last."""
    x = torch.ones(1, 1, *sides)
    padded = same_padding(x, (window,) * 3, (step,) * 3)
    for axis, (side, wide) in enumerate(zip(sides, padded.shape[2:], strict=True), start=2):
        assert (wide - window) // step + 1 == -(-side // step)
        content = torch.nonzero(padded.amax([k for k in range(5) if k != axis]))
        before, after = int(content[0]), wide - 1 - int(content[-1])
        assert after - before in (0, 1)


def test_pooling_at_the_edge():
    x = torch.tensor([1.0, 5.0, 2.0, 4.0]).view(1, 1, 1, 1, 4)
    pooled = same_pool(x, (1, 1, 3), (1, 1, 2))
    assert pooled.flatten().tolist() == [5.0, 4.0]


def test_batch_norm_is_folded_in():
    """One convolution against torch's own batch norm; statistics as the file has them."""
    from sightline.physics.video_metrics.networks import Unit, _fold

    rng = np.random.default_rng(0)
    kernel = rng.normal(size=(3, 3, 3, 2, 4)).astype(np.float32)
    bias, mean = rng.normal(size=(2, 1, 1, 1, 1, 4)).astype(np.float32)
    variance = rng.uniform(0.1, 3, (1, 1, 1, 1, 4)).astype(np.float32)
    unit = Unit(2, 4, 3)
    unit.requires_grad_(requires_grad=False)
    _fold(
        unit,
        {"Conv_0": {"kernel": kernel}, "BatchNorm_0": {"bias": bias}},
        {"BatchNorm_0": {"mean": mean, "var": variance}},
    )
    x = torch.from_numpy(rng.normal(size=(1, 2, 5, 6, 7)).astype(np.float32))
    plain = torch.nn.functional.conv3d(
        x, torch.from_numpy(kernel.transpose(4, 3, 0, 1, 2).copy()), padding=1
    )
    expected = torch.nn.functional.batch_norm(
        plain,
        torch.from_numpy(mean.ravel()),
        torch.from_numpy(variance.ravel()),
        bias=torch.from_numpy(bias.ravel()),
        eps=1e-3,
    ).relu()
    torch.testing.assert_close(unit(x), expected, rtol=1e-4, atol=1e-4)


def test_weights_of_another_network_are_refused():
    with pytest.raises(InputError, match="not weights of I3D"):
        I3d().load({"params": {}, "batch_stats": {}})
