"""The embedded model on real pictures with measured depth: it must not get worse unnoticed."""

import pytest

import sightline
from sightline.benchmarks.rgbd import evaluate


@pytest.mark.data
def test_the_default_model_beats_fastdepth_on_real_pictures(shared_data):
    """FastDepth: 0.742 / 0.232 / 0.618 on all pictures (benchmarks/quality.py)."""
    estimator = sightline.load("default")
    table = evaluate(
        lambda pixels: estimator.infer(pixels).values, shared_data / "rgbd", {"sevenscenes": 6}
    )
    mean = table["mean"]
    assert mean.spearman > 0.76
    assert mean.abs_rel < 0.215
    assert mean.delta1 > 0.67
