"""What codecs and their training are made from, checked."""

import pytest

from sightline.errors import InputError
from sightline.video_model.autoencoders.options import CodecTraining, FrameOptions, InflatedOptions


@pytest.mark.parametrize(
    ("kind", "wrong", "words"),
    [
        (FrameOptions, {"channels": 0}, "channels must be at least 1"),
        (FrameOptions, {"widths": (8, 8)}, r"three numbers from 1 up, got \(8, 8\)"),
        (FrameOptions, {"widths": (8, 0, 8)}, "three numbers from 1 up"),
        (InflatedOptions, {"blocks": -1}, "blocks must be a number from 0 up"),
        (InflatedOptions, {"frame_stride": 4}, "frame_stride is 1 or 2, got 4"),
        (CodecTraining, {"steps": 0}, "steps must be at least 1"),
        (CodecTraining, {"rate": float("nan")}, "rate must be a number"),
        (CodecTraining, {"noise": -0.1}, "noise must be a number from 0 up"),
        (CodecTraining, {"largest": 0.0}, "largest must be above 0"),
    ],
)
def test_bad_options_are_refused(kind, wrong, words):
    with pytest.raises(InputError, match=words):
        kind(**wrong)
