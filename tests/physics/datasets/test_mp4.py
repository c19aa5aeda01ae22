"""mp4 in memory: same bytes, right colors, upright, and what is no mp4 is refused."""

import io

import av
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.physics.datasets import mp4
from sightline.physics.rendering import render


@pytest.fixture
def frames(pair):
    return render(pair[0], 64)


def test_lossless_is(frames):
    np.testing.assert_array_equal(mp4.decode(mp4.encode(frames, "lossless")), frames)


def test_standard_is_close_and_upright(frames):
    decoded = mp4.decode(mp4.encode(frames))
    assert decoded.shape == frames.shape
    assert np.abs(decoded.astype(int) - frames).mean() < 3
    assert np.abs(decoded[:, ::-1].astype(int) - frames).mean() > 10


@pytest.mark.parametrize("quality", ["standard", "lossless"])
def test_the_same_bytes_wherever_the_frames_lie_in_memory(pair, rng, quality):
    for index in range(3):
        frames = render(pair[index], 64)
        first = mp4.encode(frames, quality)
        for _ in range(6):
            rubbish = [np.ones(size, np.uint8) for size in rng.integers(1000, 40_000, 30)]
            del rubbish
            elsewhere = np.empty(frames.nbytes + 64, np.uint8)[rng.integers(64) :][: frames.nbytes]
            elsewhere = elsewhere.reshape(frames.shape)
            elsewhere[:] = frames
            assert mp4.encode(elsewhere, quality) == first


def test_other_readers_agree(frames):
    """As somebody else's trainer would read it, at the rate and in the codec of the reference."""
    with av.open(io.BytesIO(mp4.encode(frames))) as container:
        stream = container.streams.video[0]
        assert (stream.average_rate, stream.codec_context.name) == (10, "h264")
        assert stream.codec_context.pix_fmt == "yuv420p"
        theirs = np.stack([f.to_ndarray(format="rgb24") for f in container.decode(stream)])
    assert np.abs(theirs.astype(int) - mp4.decode(mp4.encode(frames))).max() <= 2


def test_odd_sides(pair):
    odd = render(pair[0], 33)
    with pytest.raises(InputError, match="even sides"):
        mp4.encode(odd)
    np.testing.assert_array_equal(mp4.decode(mp4.encode(odd, "lossless")), odd)


def sound_only():
    buffer = io.BytesIO()
    with av.open(buffer, "w", format="mp4") as container:
        stream = container.add_stream("aac", rate=44100)
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), "fltp", "mono")
        frame.sample_rate = 44100
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return buffer.getvalue()


def test_what_is_no_video_is_refused(frames):
    whole = mp4.encode(frames)
    playlist = b"#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n"
    unknown = whole.replace(b"avc1", b"xxxx")
    cut = (whole[:100], whole[: len(whole) // 2])
    for data in (b"", b"garbage", *cut, playlist, sound_only(), unknown):
        with pytest.raises(InputError, match="the mp4"):
            mp4.decode(data)
