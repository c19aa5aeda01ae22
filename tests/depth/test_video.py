"""A whole video through the pipeline, with a stand-in for the network."""

from __future__ import annotations

import gc
import resource
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest

from sightline.depth.video import DisplayRange, process_video, video_outputs
from sightline.errors import InputError
from sightline.io.depth_video import read_depth_folder, read_depth_video
from sightline.io.video import open_video
from sightline.io.video_writing import ColorVideoWriter
from sightline.types import DepthMap, Kind

NTSC = Fraction(30000, 1001)


class Brightness:
    """Takes brightness for nearness, with a scale of its own per frame."""

    def __init__(self, fail_at: int | None = None, error: type[BaseException] = ValueError):
        self.calls = 0
        self._fail_at, self._error = fail_at, error

    def infer(self, image, *, camera=None, tiles=False, sigma=False):
        if self.calls == self._fail_at:
            raise self._error
        scale = 1 + 0.3 * np.sin(5.0 * self.calls)
        self.calls += 1
        values = scale * (1 + image.mean(-1) / 255)
        spread = 0.1 * values if sigma else None
        return DepthMap(values, Kind.RELATIVE_DISPARITY, camera=camera, sigma=spread, source="b")


@pytest.fixture(scope="module")
def pan(
    tmp_path_factory,
) -> Path:
    """A slow pan over a photograph, then one over another: a cut at frame 12."""
    from skimage import data

    path = tmp_path_factory.mktemp("clips") / "pan.mp4"
    with ColorVideoWriter(path, 129, 96, NTSC) as writer:
        for photo in (data.coffee(), data.astronaut()):
            for number in range(12):
                writer.write(np.ascontiguousarray(photo[100:196, 100 + 2 * number :][:, :129]))
    return path


def test_everything_comes_out(pan, tmp_path):
    seen = []
    result = process_video(
        Brightness(), pan, tmp_path, progress=lambda done, total: seen.append((done, total))
    )
    assert (result.frames, result.fps, result.kind) == (24, NTSC, Kind.RELATIVE_DISPARITY)
    assert (result.width, result.height) == (130, 96)
    assert result.cuts == (12,)
    assert result.segments == 1
    assert result.damage is None
    assert seen == [(n, 24) for n in range(1, 25)]
    assert result.outputs == video_outputs(pan, tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "pan_color.mp4",
        "pan_depth.mkv",
        "pan_frames",
    ]
    with open_video(tmp_path / "pan_color.mp4") as video:
        assert (video.info.fps, video.info.frames) == (NTSC, 24)
        assert sum(1 for _ in video) == 24
    exact = list(read_depth_folder(tmp_path / "pan_frames"))
    coded = list(read_depth_video(tmp_path / "pan_depth.mkv"))
    assert len(exact) == len(coded) == 24
    for a, b in zip(exact, coded, strict=True):
        np.testing.assert_allclose(a.values, b.values, atol=1e-3)
        assert a.camera.K.tolist() == b.camera.K.tolist()


def test_stabilizing_steadies(pan, tmp_path):
    def wobble(folder):
        """Change of the mean from frame to frame inside the first shot."""
        means = [d.values.mean() for d in read_depth_folder(folder)]
        return np.abs(np.diff(means[:12])).mean()

    for name, stabilize in (("raw", False), ("steady", True)):
        result = process_video(
            Brightness(), pan, tmp_path / name, save=("npz",), stabilize=stabilize
        )
        assert result.cuts == (12,)
        assert result.segments == 0
    assert wobble(tmp_path / "steady/pan_frames") < wobble(tmp_path / "raw/pan_frames") / 4


def test_paths_can_be_chosen(pan, tmp_path):
    result = process_video(
        Brightness(), pan, {"ffv1": tmp_path / "x" / "deep.mkv"}, fov=90.0, sigma=True
    )
    assert [p.name for p in (tmp_path / "x").iterdir()] == ["deep.mkv"]
    first = next(read_depth_video(result.outputs["ffv1"]))
    assert first.camera.fov == pytest.approx(90.0)


def test_sound_is_kept_on_request(pan, tmp_path):
    source = tmp_path / "loud.mp4"
    with av.open(str(pan)) as old, av.open(str(source), "w") as new:
        pictures = old.streams.video[0]
        video = new.add_stream_from_template(pictures)
        sound = new.add_stream("aac", rate=48000, layout="mono")
        for packet in old.demux(pictures):
            if packet.size:
                packet.stream = video
                new.mux(packet)
        for start in range(0, 38400, 960):
            frame = av.AudioFrame.from_ndarray(
                np.zeros((1, 960), np.int16), format="s16", layout="mono"
            )
            frame.sample_rate, frame.pts, frame.time_base = 48000, start, Fraction(1, 48000)
            new.mux(sound.encode(frame))
        new.mux(sound.encode(None))
    for keep in (False, True):
        process_video(Brightness(), source, tmp_path / "o", save=("color",), keep_audio=keep)
        with open_video(tmp_path / "o" / "loud_color.mp4") as video:
            assert video.info.has_audio is keep
    with pytest.raises(InputError, match="only the color video"):
        process_video(Brightness(), source, tmp_path / "o", save=("npz",), keep_audio=True)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_stopped_half_way_nothing_stays(pan, tmp_path, error):
    with pytest.raises(error):
        process_video(Brightness(fail_at=7, error=error), pan, tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_truncated_video_gives_what_it_has(pan, tmp_path):
    data = pan.read_bytes()
    cut = tmp_path / "cut.mp4"
    cut.write_bytes(data[: int(len(data) * 0.8)])
    result = process_video(Brightness(), cut, tmp_path / "out", save=("ffv1",))
    assert 0 < result.frames < 24
    assert result.damage is not None
    assert f"{result.frames} of about 24" in result.damage


def test_bad_requests(pan, tmp_path):
    with pytest.raises(InputError, match="cannot be saved as 'ply'"):
        process_video(Brightness(), pan, tmp_path, save=("ply",))
    with pytest.raises(InputError, match="no format"):
        process_video(Brightness(), pan, tmp_path, save=())
    with pytest.raises(InputError, match="no such file"):
        process_video(Brightness(), tmp_path / "none.mp4", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_colors_follow_slowly_and_jump_at_cuts():
    def flat(low, high):
        return DepthMap(np.linspace(low, high, 100).reshape(10, 10), Kind.METRIC_DEPTH)

    scale = DisplayRange()
    low, high = scale.update(flat(1, 2), cut=True)
    assert (low, high) == pytest.approx((1.01, 1.99))
    _, outlier = scale.update(flat(1, 50), cut=False)
    assert outlier < 5
    for _ in range(200):
        _, settled = scale.update(flat(1, 50), cut=False)
    assert settled == pytest.approx(49.5, rel=0.02)
    assert scale.update(flat(3, 4), cut=True) == pytest.approx((3.01, 3.99))
    nothing = DepthMap(np.ones((4, 4)), Kind.METRIC_DEPTH, np.zeros((4, 4), bool))
    assert scale.update(nothing, cut=False) == pytest.approx((3.01, 3.99))


def test_memory_does_not_grow_with_length(tmp_path):
    def peak(frames: int) -> int:
        source = tmp_path / f"{frames}.mp4"
        rng = np.random.default_rng(0)
        texture = rng.integers(0, 255, (64, 96 + frames, 3), dtype=np.uint8)
        with ColorVideoWriter(source, 96, 64, 25) as writer:
            for number in range(frames):
                writer.write(np.ascontiguousarray(texture[:, number : number + 96]))
        gc.collect()
        before, highest = resident(), 0

        def watch(done, total):
            nonlocal highest
            if done % 20 == 0:
                highest = max(highest, resident() - before)

        process_video(
            Brightness(), source, tmp_path / "out", save=("color", "ffv1"), progress=watch
        )
        return highest

    peak(40)  # what is made once
    short, long = peak(40), peak(300)
    raw = 260 * 96 * 64 * (3 + 4)
    assert long - short < raw / 3, (short, long)


def resident() -> int:
    """Bytes of this process that lie in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
