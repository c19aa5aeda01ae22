"""Videos that begin like their samples, and those that do not."""

import io

import av
import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from sightline.errors import InputError
from sightline.physics.datasets.mp4 import decode
from sightline.physics.rendering import render
from sightline.physics.scoring.inputs import ALIKE, check_beginning, likeness
from sightline.physics.worlds.simulation import sample

COUNT = 40


def worst_quality(frame):
    """Compress a frame as badly as H.264 can."""
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=10, options={"crf": "51"})
        stream.width, stream.height, stream.pix_fmt = frame.shape[1], frame.shape[0], "yuv420p"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        container.mux(stream.encode(None))
    return decode(buffer.getvalue())[0]


def noisy(frame):
    noise = np.random.default_rng(0).normal(0, 60, frame.shape)
    return np.clip(frame + noise, 0, 255).astype(np.uint8)


def of_size(side):
    return lambda frame: np.asarray(Image.fromarray(frame).resize((side, side)))


def gray(frame):
    return np.repeat(frame.mean(axis=2, keepdims=True).astype(np.uint8), 3, axis=2)


TOUCHED = {
    "compressed": worst_quality,
    "noisy": noisy,
    "blurred": lambda frame: gaussian_filter(frame, (3, 3, 0)),
    "shifted": lambda frame: np.roll(frame, (1, 2), (0, 1)),
    "small": of_size(64),
    "large": of_size(256),
    "odd": of_size(101),
    "gray": gray,
    "dark": lambda frame: (frame * 0.5).astype(np.uint8),
}


def first_frames(scenario, split, seed):
    samples = sample(scenario, COUNT, split=split, seed=seed)
    return [render(samples[k], 128)[0] for k in range(COUNT)]


@pytest.fixture(
    scope="module",
    params=[(s, p) for s in ("uniform", "parabola", "collision") for p in ("id", "ood")],
)
def worlds(request):
    """First frames of one data set, and of another one of the same kind."""
    return first_frames(*request.param, seed=1), first_frames(*request.param, seed=2)


@pytest.mark.parametrize("how", TOUCHED)
def test_a_frame_that_went_through_something_is_still_the_same(worlds, how):
    found = [likeness(TOUCHED[how](true), true) for true in worlds[0]]
    assert np.mean(np.array(found) >= ALIKE) > 0.95


def test_frames_of_other_samples_are_not(worlds):
    found = [likeness(other, true) for true, other in zip(*worlds, strict=True)]
    assert np.mean(np.array(found) >= ALIKE) < 0.4


def test_an_empty_true_frame_says_nothing():
    (true, *_) = first_frames("uniform", "id", 1)
    empty = np.full_like(true, 255)
    assert likeness(true, empty) is None
    assert likeness(empty, empty) is None
    check_beginning(true[None], empty[None], 0)


@pytest.mark.parametrize("level", [0, 90, 255])
def test_a_video_that_begins_with_nothing_is_refused(level):
    (true, *_) = first_frames("uniform", "id", 1)
    nothing = np.full_like(true, level)
    assert likeness(nothing, true) == 0
    with pytest.raises(InputError, match="does not begin like sample 0"):
        check_beginning(nothing[None], true[None], 0)


def test_a_video_of_another_sample_is_refused():
    one, other, *_ = first_frames("uniform", "id", 1)
    check_beginning(one[None], one[None], 7)
    with pytest.raises(InputError, match="does not begin like sample 7"):
        check_beginning(other[None], one[None], 7)
