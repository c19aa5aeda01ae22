from fractions import Fraction

import av
import numpy as np
import pytest

from sightline.errors import InputError
from sightline.io.video import open_video
from sightline.physics.real.clock import (
    dropped_frames,
    duplicated_frames,
    rate_change,
    read_clock,
    repair_stamps,
)

ANDROID = {"com.android.version": "15", "com.android.capture.fps": "120.000000"}


def test_a_capture_tag_undoes_slow_motion():
    stamps = [i / 29.99 for i in range(100)]
    clock = read_clock(stamps, 29.99, ANDROID)
    assert clock.source == "tag"
    assert np.median(np.diff(clock.times)) == pytest.approx(1 / (4 * 29.99))
    assert "slow motion by 4" in clock.remarks[0]
    assert not clock.doubtful


def test_a_stated_rate_wins():
    clock = read_clock([i / 25 for i in range(10)], 25, {}, fps=100)
    assert clock.rate == pytest.approx(100)
    assert clock.times[1] == pytest.approx(0.01)
    assert clock.source == "stated"


def test_a_stated_rate_against_the_tag_is_remarked():
    clock = read_clock([i / 30 for i in range(10)], 30, ANDROID, fps=60)
    assert "120" in clock.remarks[0]


def test_a_re_encoded_clip_is_doubtful():
    clock = read_clock([i / 25 for i in range(10)], 25, {"encoder": "Lavf60.16.100"})
    assert clock.doubtful
    assert clock.source == "edited"


def test_stamps_of_a_camera_are_trusted_and_keep_their_jitter():
    stamps = [0, 0.033, 0.068, 0.1, 0.1335, 0.167, 0.2]
    clock = read_clock(stamps, 30, {"com.android.version": "15"})
    np.testing.assert_allclose(clock.times, stamps)
    assert not clock.doubtful


def test_stamps_out_of_order_fall_back_to_the_frame_number():
    clock = read_clock([0, 0.12, 0.08, 0.2, 0.16], 25, {})
    np.testing.assert_allclose(clock.times, np.arange(5) / 25)
    assert "out of order" in clock.remarks[0]
    assert clock.source == "index"


def test_missing_stamps():
    times, remark = repair_stamps([None, 0.1], 10)
    np.testing.assert_allclose(times, [0, 0.1])
    assert "no time stamps" in remark


def test_a_gap_stays():
    times, remark = repair_stamps([0, 0.1, 0.2, 0.5, 0.6], 10)
    assert remark is None
    assert times[3] == pytest.approx(0.5)
    assert dropped_frames(times) == 2


def test_gif_delays_are_doubtful():
    assert read_clock([0, 0.05, 0.1], 20, {}, suffix=".gif").sigma >= 0.05


def test_a_slow_motion_ramp_is_named():
    steps = np.r_[np.full(30, 1 / 30), np.full(60, 1 / 240), np.full(30, 1 / 30)]
    times = np.r_[0, np.cumsum(steps)]
    assert rate_change(times) is not None
    assert rate_change(np.arange(100) / 30) is None
    clock = read_clock(list(times), 60, {"com.apple.quicktime.make": "Apple"})
    assert "changes" in clock.remarks[-1]
    assert clock.doubtful


def test_the_readout_tag():
    tags = {"com.apple.quicktime.camera.framereadouttimeinmicroseconds": "9000"}
    assert read_clock([0, 0.1], 10, tags).readout == pytest.approx(0.009)


def test_duplicated_frames():
    differences = np.full(20, 2.0)
    differences[[4, 9, 14]] = 0.0
    assert list(np.flatnonzero(duplicated_frames(differences))) == [4, 9, 14]
    assert not duplicated_frames(np.full(20, 0.001)).any()


@pytest.mark.parametrize("fps", [0, -5, float("nan"), float("inf"), 1e9])
def test_absurd_rates_are_refused(fps):
    with pytest.raises(InputError, match="--fps"):
        read_clock([0, 0.1], 10, {}, fps=fps)


def test_tags_stamps_and_aspect_of_a_file(tmp_path):
    path = tmp_path / "clip.mp4"
    with av.open(str(path), "w", options={"movflags": "use_metadata_tags"}) as out:
        out.metadata["com.android.capture.fps"] = "240"
        stream = out.add_stream("libx264", rate=30)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        stream.codec_context.sample_aspect_ratio = Fraction(16, 15)
        for i in range(6):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 40 * i, np.uint8), "rgb24")
            out.mux(stream.encode(frame))
        out.mux(stream.encode(None))
    stamps = []
    with open_video(path) as video:
        for _ in video:
            stamps.append(float(video.stamp))
        info = video.info
    assert info.pixel_aspect == Fraction(16, 15)
    clock = read_clock(stamps, float(info.fps), info.tags)
    assert clock.rate == pytest.approx(240)
    assert len(clock.times) == 6
