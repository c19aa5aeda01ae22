"""Video files in and out: rates, rotation, formats, damage, atomicity, memory."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import wave
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import InputError, SightlineError
from sightline.io.depth_video import (
    Depth16VideoWriter,
    DepthFolderWriter,
    Segment,
    depth_video_info,
    read_depth_folder,
    read_depth_video,
)
from sightline.io.video import VIDEO_SUFFIXES, open_video
from sightline.io.video_writing import ColorVideoWriter
from sightline.types import Camera, DepthMap, Kind

NTSC = Fraction(30000, 1001)


def picture(number: int, width: int = 64, height: int = 48) -> np.ndarray:
    """A red corner at the top left, blue at the top right, and a bar that moves with the number."""
    pixels = np.full((height, width, 3), 90, np.uint8)
    pixels[: height // 4, : width // 4] = (220, 20, 20)
    pixels[: height // 4, -width // 4 :] = (20, 20, 220)
    pixels[height // 2 :, : 1 + number % width] = 200
    return pixels


def write_clip(
    path: Path,
    frames: int = 12,
    *,
    fps: Fraction = NTSC,
    codec: str = "libx264",
    pix_fmt: str = "yuv420p",
    size: tuple[int, int] = (64, 48),
    rotation: int | None = None,
    matrix: tuple[int, ...] | None = None,
    times: list[Fraction] | None = None,
    options: dict[str, str] | None = None,
    setup=None,
) -> Path:
    """A clip by PyAV alone, not by our writer."""
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=fps, options=options or {})
        stream.width, stream.height = size
        stream.pix_fmt = pix_fmt
        base = 1 / fps if times is None else Fraction(1, 1000)
        stream.codec_context.time_base = base
        if setup is not None:
            setup(stream.codec_context)
        if rotation is not None:
            stream.set_display_rotation(rotation)
        if matrix is not None:
            stream.set_display_matrix(matrix)
        for number in range(frames):
            frame = av.VideoFrame.from_ndarray(picture(number, *size), format="rgb24")
            frame.pts = number if times is None else round(times[number] / base)
            frame.time_base = base
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return path


def frames_of(path: Path) -> list[np.ndarray]:
    with open_video(path) as video:
        return list(video)


def add_sound(path: Path, source: Path, codec: str, seconds: float = 1.0) -> Path:
    """`source`'s pictures with a tone beside them."""
    with av.open(str(source)) as old, av.open(str(path), "w") as new:
        pictures = old.streams.video[0]
        video = new.add_stream_from_template(pictures)
        sound = new.add_stream(codec, rate=48000, layout="mono")
        for packet in old.demux(pictures):
            if packet.size:
                packet.stream = video
                new.mux(packet)
        tone = np.sin(2 * np.pi * 440 * np.arange(int(48000 * seconds)) / 48000)
        for start in range(0, len(tone), 960):
            samples = (tone[None, start : start + 960] * 20000).astype(np.int16)
            frame = av.AudioFrame.from_ndarray(samples, format="s16", layout="mono")
            frame.sample_rate, frame.pts, frame.time_base = 48000, start, Fraction(1, 48000)
            new.mux(sound.encode(frame))
        new.mux(sound.encode(None))
    return path


# Reading


def test_rate_size_and_length_are_exact(tmp_path):
    path = write_clip(tmp_path / "a.mp4", 30)
    with open_video(path) as video:
        assert video.info.fps == NTSC
        assert (video.info.width, video.info.height) == (64, 48)
        assert video.info.frames == 30
        assert video.info.duration == pytest.approx(1.001)
        assert not video.info.has_audio
        times = [video.time for _ in video]
        assert video.count == 30
        assert video.damage is None
    assert times == [n / NTSC for n in range(30)]


def test_matroska_rounds_times_but_we_give_the_even_rate_back(tmp_path):
    path = write_clip(tmp_path / "a.mkv", 30)
    with open_video(path) as video:
        assert video.info.fps == NTSC
        assert [video.time for _ in video] == [n / NTSC for n in range(30)]


def test_uneven_times_are_kept(tmp_path):
    times = [Fraction(t, 1000) for t in (0, 40, 80, 300, 340, 900, 940)]
    path = write_clip(tmp_path / "a.mp4", 7, fps=Fraction(25), times=times)
    with open_video(path) as video:
        assert [video.time for _ in video] == times


@pytest.mark.parametrize(
    ("rotation", "red", "size"),
    [
        (None, (0, 0), (64, 48)),
        (90, (1, 0), (48, 64)),  # PyAV counts counter-clockwise
        (180, (1, 1), (64, 48)),
        (270, (0, 1), (48, 64)),
    ],
)
def test_rotation_is_applied(tmp_path, rotation, red, size):
    path = write_clip(tmp_path / "a.mp4", 3, rotation=rotation)
    with open_video(path) as video:
        assert (video.info.width, video.info.height) == size
        frame = next(iter(video))
    assert frame.shape == (size[1], size[0], 3)
    row, column = (4 if red[0] == 0 else -5), (4 if red[1] == 0 else -5)
    assert frame[row, column, 0] > 180
    assert frame[row, column, 2] < 90


def test_upright_telephone_and_mirror(tmp_path):
    # The matrix an iPhone held upright writes: x' = −y, y' = x, a quarter turn clockwise.
    unit = 65536
    phone = (0, unit, 0, -unit, 0, 0, 0, 0, 1 << 30)
    frame = frames_of(write_clip(tmp_path / "p.mp4", 2, matrix=phone))[0]
    assert frame.shape == (64, 48, 3)
    assert frame[4, -5, 0] > 180  # red: from top left to top right
    assert frame[-5, -5, 2] > 180  # blue: from top right to bottom right
    mirror = (-unit, 0, 0, 0, unit, 0, 0, 0, 1 << 30)
    frame = frames_of(write_clip(tmp_path / "m.mp4", 2, matrix=mirror))[0]
    assert frame[4, -5, 0] > 180
    assert frame[4, 4, 2] > 180


@pytest.mark.parametrize(
    ("name", "codec", "pix_fmt"),
    [
        ("ten.mkv", "libx265", "yuv420p10le"),
        ("gray.mkv", "ffv1", "gray"),
        ("gray16.mkv", "ffv1", "gray16le"),
        ("full.mp4", "libx264", "yuv444p"),
        ("alpha.mov", "png", "rgba"),
        ("rgb.avi", "ffv1", "bgr0"),
        ("web.webm", "libvpx-vp9", "yuv420p"),
        ("old.mpg", "mpeg2video", "yuv420p"),
    ],
)
def test_formats(tmp_path, name, codec, pix_fmt):
    options = {"x265-params": "log-level=none"} if codec == "libx265" else {}
    path = write_clip(
        tmp_path / name, 5, codec=codec, pix_fmt=pix_fmt, fps=Fraction(25), options=options
    )
    frames = frames_of(path)
    assert len(frames) == 5
    want = picture(0).astype(int)
    if pix_fmt.startswith("gray"):
        want = np.repeat((want @ [0.299, 0.587, 0.114])[..., None], 3, -1)
    got = frames[0].astype(int)
    assert got.shape == (48, 64, 3)
    for place in ((5, 5), (5, -5), (40, 40)):  # inside the patches, away from chroma edges
        np.testing.assert_allclose(got[place], want[place], atol=14)


def test_color_range_and_matrix_follow_the_tags(tmp_path):
    def full_range(context):
        context.color_range = 2

    color = np.full((64, 64, 3), (200, 120, 40), np.uint8)
    for name, setup, target in (("full", full_range, 2), ("limited", None, 1)):
        with av.open(str(tmp_path / f"{name}.mp4"), "w") as container:
            stream = container.add_stream("libx264", rate=25, options={"crf": "1"})
            stream.width = stream.height = 64
            if setup:
                setup(stream.codec_context)
            frame = av.VideoFrame.from_ndarray(color, format="rgb24").reformat(
                format="yuv420p", src_color_range=2, dst_color_range=target, dst_colorspace=5
            )
            frame.pts = 0
            container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
        got = frames_of(tmp_path / f"{name}.mp4")[0]
        np.testing.assert_allclose(got.mean((0, 1)), color[0, 0], atol=4)


@pytest.mark.parametrize(("transfer", "white"), [(16, 0.58), (18, 0.75)])
def test_high_dynamic_range_is_tone_mapped(tmp_path, transfer, white):
    # Diffuse white sits at 58 % of the PQ curve and 75 % of HLG (ITU-R BT.2408).
    def hdr(context):
        context.color_trc, context.color_primaries, context.colorspace = transfer, 9, 9

    ramp = np.repeat(np.linspace(0, white, 64)[None], 64, 0)
    coded = np.repeat((ramp * 65535).astype(np.uint16)[..., None], 3, -1)
    path = tmp_path / "hdr.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream(
            "libx265", rate=25, options={"crf": "4", "x265-params": "log-level=none"}
        )
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p10le"
        hdr(stream.codec_context)
        frame = av.VideoFrame.from_ndarray(coded, format="rgb48le").reformat(
            format="yuv420p10le", dst_colorspace=9, src_color_range=2, dst_color_range=1
        )
        frame.pts = 0
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    got = frames_of(path)[0].astype(int)
    assert got[32, -2].mean() > 215, "diffuse white must look white, not gray"
    assert got[32, 2].mean() < 20
    assert (np.diff(got[32, :, 1]) >= -2).all()
    assert np.ptp(got[32, 60]) < 6, "gray must stay gray"


def test_transparency_is_laid_over_white(tmp_path):
    path = tmp_path / "a.mov"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("png", rate=10)
        stream.width = stream.height = 16
        stream.pix_fmt = "rgba"
        pixels = np.zeros((16, 16, 4), np.uint8)
        pixels[:8] = (255, 0, 0, 255)
        container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgba")))
        container.mux(stream.encode(None))
    frame = frames_of(path)[0]
    assert tuple(frame[2, 2]) == (255, 0, 0)
    assert tuple(frame[12, 12]) == (255, 255, 255)


def test_animated_gif_is_a_video(tmp_path):
    from PIL import Image

    pictures = [Image.fromarray(picture(8 * n)) for n in range(4)]
    path = tmp_path / "a.gif"
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=100, loop=0)
    with open_video(path) as video:
        assert video.info.fps == 10
        frames = list(video)
    assert len(frames) == 4
    np.testing.assert_allclose(frames[0][4, 4], (220, 20, 20), atol=12)
    assert ".gif" in VIDEO_SUFFIXES


# Bad input


def test_text_in_a_video_suit(tmp_path):
    path = tmp_path / "notes.mp4"
    path.write_text("These are notes, not a video.\n" * 40)
    with pytest.raises(InputError, match=r"notes\.mp4: is not a video"):
        open_video(path)


def test_playlists_cannot_reach_out(tmp_path):
    path = tmp_path / "list.mp4"
    path.write_text("#EXTM3U\n#EXT-X-TARGETDURATION:1\n#EXTINF:1,\nhttp://127.0.0.1:9/x.ts\n")
    with pytest.raises(InputError):
        open_video(path)


def test_lists_of_files_are_no_videos(tmp_path):
    """Nor is it a matter of permission, as FFmpeg says of names it holds for unsafe."""
    path = tmp_path / "concat.mp4"
    path.write_text("ffconcat version 1.0\nfile '/etc/passwd'\n")
    with pytest.raises(InputError, match=r"concat\.mp4: is not a video"):
        open_video(path)


def test_a_colon_in_the_name_is_no_protocol(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_clip(tmp_path / "a.mp4", 3).rename("12:30.mp4")
    with open_video("12:30.mp4") as video:
        frames = list(video)
    assert len(frames) == 3
    with ColorVideoWriter("12:31.mp4", 64, 48, 25, audio_from="12:30.mp4") as writer:
        writer.write(frames[0])
    with Depth16VideoWriter("http:12.mkv", 25) as writer:
        writer.write(depth_of(np.ones((4, 4))))
    assert len(list(read_depth_video("http:12.mkv"))) == 1
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["12:30.mp4", "12:31.mp4", "http:12.mkv"]


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "avi"])
def test_a_varying_rate_is_no_damage(tmp_path, suffix):
    """Twenty frames within a second, then one every half second: far fewer than the rate suggests."""
    times = [Fraction(n, 20) for n in range(20)] + [1 + Fraction(n, 2) for n in range(20)]
    path = write_clip(tmp_path / f"a.{suffix}", 40, fps=Fraction(20), times=times)
    with open_video(path) as video:
        assert sum(1 for _ in video) == 40
        assert video.damage is None


def test_sound_that_goes_on_is_no_damage(tmp_path):
    silent = write_clip(tmp_path / "a.mkv", 25, fps=Fraction(25))
    path = add_sound(tmp_path / "b.mkv", silent, "aac", seconds=5)
    with open_video(path) as video:
        assert video.info.has_audio
        assert sum(1 for _ in video) == 25
        assert video.damage is None


def test_missing_empty_folder(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        open_video(tmp_path / "none.mp4")
    (tmp_path / "empty.mp4").touch()
    with pytest.raises(InputError, match="is empty"):
        open_video(tmp_path / "empty.mp4")
    with pytest.raises(InputError, match="folder"):
        open_video(tmp_path)


def test_sound_only(tmp_path):
    path = tmp_path / "song.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes(bytes(16000))
    with pytest.raises(InputError, match="only sound"):
        open_video(path)


def test_zero_frames(tmp_path):
    # A good index, and zeros where the pictures should be.
    data = bytearray(write_clip(tmp_path / "a.mp4", 4).read_bytes())
    start, end = data.index(b"mdat") + 4, data.index(b"moov") - 4
    data[start:end] = bytes(end - start)
    path = tmp_path / "none.mp4"
    path.write_bytes(data)
    with pytest.raises(InputError, match="no frame"):
        open_video(path)


def test_header_that_lies_about_its_size_is_refused_before_decoding(tmp_path):
    path = write_clip(tmp_path / "a.mp4", 2)
    with pytest.raises(InputError, match="more than the limit"):
        open_video(path, max_pixels=1000)


@pytest.mark.parametrize("suffix", ["mp4", "mkv", "ts"])
def test_truncated_file_gives_what_it_has_and_says_so(tmp_path, suffix):
    whole = tmp_path / f"whole.{suffix}"
    with open_video(write_clip(tmp_path / "source.mkv", 150, size=(160, 120))) as source:
        options = {"movflags": "+faststart"} if suffix == "mp4" else {}
        with av.open(str(whole), "w", container_options=options) as container:
            stream = container.add_stream("libx264", rate=25)
            stream.width, stream.height = 160, 120
            for number, pixels in enumerate(source):
                frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
                frame.pts, frame.time_base = number, Fraction(1, 25)
                container.mux(stream.encode(frame))
            container.mux(stream.encode(None))
    data = whole.read_bytes()
    path = tmp_path / f"cut.{suffix}"
    path.write_bytes(data[: int(len(data) * 0.7)])
    with open_video(path) as video:
        frames = list(video)
        assert 10 < len(frames) < 140
        if suffix != "ts":  # a transport stream has no header that says how much there should be
            assert video.damage is not None
            assert f"{len(frames)} of about 150 frames" in video.damage
    # Without its index (at the end, by default) an MP4 is nothing.
    if suffix == "mp4":
        data = write_clip(tmp_path / "late.mp4", 20).read_bytes()
        path.write_bytes(data[: len(data) // 2])
        with pytest.raises(InputError, match="cut off"):
            open_video(path)


def test_damaged_packets_are_skipped(tmp_path):
    data = bytearray(write_clip(tmp_path / "a.mp4", 60).read_bytes())
    start, end = data.index(b"mdat") + 1200, data.index(b"moov") - 8
    rng = np.random.default_rng(0)
    for place in rng.integers(start, end, 40):
        data[place] ^= 0xFF
    path = tmp_path / "bad.mp4"
    path.write_bytes(data)
    with open_video(path) as video:
        count = sum(1 for _ in video)
        assert count >= 1
        assert video.damage is not None
        assert f"{count}" in video.damage


# Color video


def test_color_video_reads_back(tmp_path):
    path = tmp_path / "a.mp4"
    with ColorVideoWriter(path, 64, 48, NTSC, crf=5) as writer:
        for number in range(20):
            writer.write(picture(number))
    assert writer.size == (64, 48)
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        context = stream.codec_context
        assert (context.name, context.pix_fmt) == ("h264", "yuv420p")
        assert (context.color_range, context.colorspace) == (1, 1)
        assert (context.color_primaries, context.color_trc) == (1, 1)
        assert stream.average_rate == NTSC
        assert stream.frames == 20
    data = path.read_bytes()
    assert data.index(b"moov") < data.index(b"mdat"), "faststart"
    with open_video(path) as video:
        assert video.info.fps == NTSC
        frames = list(video)
    assert len(frames) == 20
    for place in ((5, 5), (5, -5), (20, 40)):
        np.testing.assert_allclose(frames[7][place].astype(int), picture(7)[place], atol=6)


def test_odd_sizes_are_filled_up_to_even(tmp_path):
    path = tmp_path / "odd.mp4"
    with ColorVideoWriter(path, 63, 47, 25) as writer:
        assert writer.size == (64, 48)
        for number in range(3):
            writer.write(picture(number, 63, 47))
    frame = frames_of(path)[0]
    assert frame.shape == (48, 64, 3)
    assert np.abs(frame[-1].astype(int) - frame[-2]).max() < 20
    one = tmp_path / "one.mp4"
    with ColorVideoWriter(one, 1, 1, 25) as writer:
        writer.write(np.zeros((1, 1, 3), np.uint8))
    assert frames_of(one)[0].shape == (2, 2, 3)


def test_uneven_times_survive(tmp_path):
    times = [Fraction(t, 1000) for t in (0, 40, 80, 300, 340, 900)]
    with ColorVideoWriter(tmp_path / "a.mp4", 64, 48, Fraction(25)) as writer:
        for number, time in enumerate(times):
            writer.write(picture(number), time)
    with open_video(tmp_path / "a.mp4") as video:
        assert [video.time for _ in video] == times


def test_doubled_times_are_spread(tmp_path):
    with ColorVideoWriter(tmp_path / "a.mp4", 64, 48, 25) as writer:
        for number in range(4):
            writer.write(picture(number), Fraction(0))
    assert len(frames_of(tmp_path / "a.mp4")) == 4


@pytest.mark.parametrize(("codec", "kept"), [("aac", "aac"), ("pcm_s16le", "aac")])
def test_sound_is_kept(tmp_path, codec, kept):
    silent = write_clip(tmp_path / "silent.mp4", 25, fps=Fraction(25))
    source = add_sound(tmp_path / "source.mkv", silent, codec, seconds=1.6)
    path = tmp_path / "out.mp4"
    with open_video(source) as video:
        assert video.info.has_audio
        with ColorVideoWriter(path, 64, 48, video.info.fps, audio_from=source) as writer:
            for frame in video:
                writer.write(frame, video.time)
    with av.open(str(path)) as container:
        sound = container.streams.audio[0]
        assert sound.codec_context.name == kept
        samples = np.concatenate(
            [f.to_ndarray().astype(np.float32)[0] for f in container.decode(sound)]
        )
    assert len(samples) / 48000 == pytest.approx(1.0, abs=0.08), "cut where the pictures end"
    middle = samples[12000:36000]
    spectrum = np.abs(np.fft.rfft(middle))
    assert np.argmax(spectrum) * 48000 / len(middle) == pytest.approx(440, abs=4)
    with open_video(path) as video:
        assert sum(1 for _ in video) == 25


def test_no_sound_to_keep(tmp_path):
    silent = write_clip(tmp_path / "silent.mp4", 5)
    with ColorVideoWriter(tmp_path / "a.mp4", 64, 48, NTSC, audio_from=silent) as writer:
        writer.write(picture(0))
    with open_video(tmp_path / "a.mp4") as video:
        assert not video.info.has_audio


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_nothing_half_written_stays(tmp_path, error):
    folder = tmp_path / "out"
    depth = DepthMap(np.ones((48, 64)), Kind.METRIC_DEPTH)

    def stopped_half_way() -> None:
        with (
            ColorVideoWriter(folder / "a.mp4", 64, 48, 25) as color,
            Depth16VideoWriter(folder / "a.mkv", 25) as gray,
            DepthFolderWriter(folder / "a") as npz,
        ):
            for number in range(3):
                color.write(picture(number))
                gray.write(depth)
                npz.write(depth)
            raise error

    with pytest.raises(error):
        stopped_half_way()
    assert list(folder.iterdir()) == []


def test_wrong_frames_and_no_frames(tmp_path):
    with (
        pytest.raises(InputError, match="frame is"),
        ColorVideoWriter(tmp_path / "a.mp4", 64, 48, 25) as writer,
    ):
        writer.write(picture(0, 32, 32))
    with (
        pytest.raises(SightlineError, match="no frame was given"),
        ColorVideoWriter(tmp_path / "a.mp4", 64, 48, 25),
    ):
        pass
    with (
        pytest.raises(SightlineError, match="no frame was given"),
        Depth16VideoWriter(tmp_path / "a.mkv", 25),
    ):
        pass
    with (
        pytest.raises(SightlineError, match="no frame was given"),
        DepthFolderWriter(tmp_path / "a"),
    ):
        pass
    with pytest.raises(InputError, match=r"\.mkv"):
        Depth16VideoWriter(tmp_path / "a.mp4", 25)
    with pytest.raises(InputError, match="positive"):
        ColorVideoWriter(tmp_path / "a.mp4", 64, 48, 0)
    with (
        pytest.raises(InputError, match="suffix"),
        ColorVideoWriter(tmp_path / "a.nonsense", 64, 48, 25),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_one_line_and_leaves_nothing(tmp_path):
    # A limit on the size of files stands in for the full disk: the write fails half way.
    code = """
import resource, signal, sys
import numpy as np
from sightline.errors import SightlineError
from sightline.io.video_writing import ColorVideoWriter
from sightline.io.depth_video import Depth16VideoWriter
from sightline.types import DepthMap, Kind
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
rng = np.random.default_rng(0)
for make in (lambda: ColorVideoWriter(sys.argv[1] + "/a.mp4", 256, 256, 25, crf=1),
             lambda: Depth16VideoWriter(sys.argv[1] + "/a.mkv", 25)):
    try:
        with make() as writer:
            for _ in range(12):
                if isinstance(writer, ColorVideoWriter):
                    writer.write(rng.integers(0, 255, (256, 256, 3), dtype=np.uint8))
                else:
                    writer.write(DepthMap(rng.random((256, 256)), Kind.RELATIVE_DISPARITY))
    except SightlineError as error:
        print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    lines = done.stdout.strip().splitlines()
    assert len(lines) == 2, done.stdout + done.stderr
    assert all("could not be written" in line for line in lines)
    assert list(tmp_path.iterdir()) == []


# Depth video


def depth_of(values, kind=Kind.RELATIVE_DISPARITY, valid=None) -> DepthMap:
    values = np.asarray(values, np.float32)
    camera = Camera.from_fov(60.0, values.shape[1], values.shape[0])
    return DepthMap(values, kind, valid, camera, source="tiny 1234")


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**32),
    kind=st.sampled_from(list(Kind)),
    span=st.sampled_from([0.0, 1e-4, 1.0, 80.0, 1e5]),
    level=st.sampled_from([0.0, 1.0, 1e3]),
    drift=st.sampled_from([0.0, 0.3, 20.0]),
)
def test_depth_video_reads_back_within_half_a_step(
    tmp_path_factory, seed, kind, span, level, drift
):
    rng = np.random.default_rng(seed)
    path = tmp_path_factory.mktemp("v") / "a.mkv"
    maps = []
    for number in range(6):
        values = level + span * (rng.random((15, 17)) + drift * number) + (kind != "x") * 1e-3
        maps.append(depth_of(values, kind, rng.random((15, 17)) < 0.9))
    with Depth16VideoWriter(path, NTSC) as writer:
        for depth in maps:
            writer.write(depth)
    info = depth_video_info(path)
    assert (info.kind, info.fps) == (kind, NTSC)
    assert info.segments == tuple(writer.segments)
    back = list(read_depth_video(path))
    assert len(back) == 6
    for number, (want, got) in enumerate(zip(maps, back, strict=True)):
        step = [s.scale for s in info.segments if s.first <= number][-1]
        np.testing.assert_array_equal(got.valid, want.valid)
        error = np.abs(got.values - want.values)[want.valid].max(initial=0)
        assert error <= 0.5 * step * (1 + 1e-6) + 3e-7 * np.abs(want.values).max()
        assert got.kind is want.kind
        assert got.source == want.source
        np.testing.assert_array_equal(got.camera.K, want.camera.K)


def test_nothing_is_clipped_when_the_range_jumps(tmp_path):
    rng = np.random.default_rng(0)
    frames = [rng.random((8, 8)), rng.random((8, 8)) * 2, rng.random((8, 8)) * 1000]
    frames += [rng.random((8, 8)) * 1e-3, np.full((8, 8), 0.5)]
    path = tmp_path / "a.mkv"
    with Depth16VideoWriter(path, 25) as writer:
        for frame in frames:
            writer.write(depth_of(frame))
    assert [s.first for s in writer.segments][:3] == [0, 2, 3]
    for want, got in zip(frames, read_depth_video(path), strict=True):
        # A thousand levels at the least, whatever came before.
        np.testing.assert_allclose(got.values, want, atol=max(np.ptp(want), 1e-3) / 1000)


def test_steady_clips_have_one_scale_and_plenty_of_levels(tmp_path):
    rng = np.random.default_rng(0)
    with Depth16VideoWriter(tmp_path / "a.mkv", 25) as writer:
        for number in range(10):
            writer.write(depth_of(5 + rng.random((8, 8)) + 0.3 * np.sin(number)))
    assert len(writer.segments) == 1
    assert writer.segments[0].scale < 1 / 16000
    assert writer.segments[0].fits(5.0, 6.0)
    assert Segment.around(0, 2.0, 2.0, positive=True).fits(2.0, 2.0)


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2)])
def test_the_smallest_videos(tmp_path, size):
    height, width = size
    with Depth16VideoWriter(tmp_path / "a.mkv", 25) as writer:
        writer.write(depth_of(np.full(size, 3.0)))
    (read,) = read_depth_video(tmp_path / "a.mkv")
    assert read.values.shape == size
    assert read.values.ravel() == pytest.approx(3.0, rel=1e-3)
    with ColorVideoWriter(tmp_path / "a.mp4", width, height, 25) as writer:
        writer.write(np.zeros((height, width, 3), np.uint8))
    assert len(frames_of(tmp_path / "a.mp4")) == 1


def test_depth_video_is_readable_by_others(tmp_path):
    path = tmp_path / "a.mkv"
    values = np.linspace(1, 9, 48 * 64).reshape(48, 64)
    with Depth16VideoWriter(path, NTSC) as writer:
        for _ in range(3):
            writer.write(depth_of(values, Kind.METRIC_DEPTH))
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        assert (stream.codec_context.name, stream.codec_context.pix_fmt) == ("ffv1", "gray16le")
        assert stream.average_rate == NTSC
        tags = container.metadata
        assert tags["SIGHTLINE_KIND"] == "metric_depth"
        assert tags["SIGHTLINE_DIRECTION"] == "larger is farther"
        scale, offset = float(tags["SIGHTLINE_SCALE"]), float(tags["SIGHTLINE_OFFSET"])
        levels = next(container.decode(stream)).to_ndarray()
    np.testing.assert_allclose(offset + scale * levels, values, atol=scale * 0.51)


def test_frames_without_a_valid_pixel(tmp_path):
    none = depth_of(np.ones((6, 6)), valid=np.zeros((6, 6), bool))
    some = depth_of(np.full((6, 6), 3.0))
    path = tmp_path / "a.mkv"
    with Depth16VideoWriter(path, 25) as writer:
        for depth in (none, some, none):
            writer.write(depth)
    back = list(read_depth_video(path))
    assert [bool(d.valid.any()) for d in back] == [False, True, False]
    np.testing.assert_allclose(back[1].values, 3.0, rtol=1e-6)


def test_depth_video_refuses_what_is_not_one(tmp_path):
    color = write_clip(tmp_path / "a.mkv", 2)
    with pytest.raises(InputError, match="not a depth video"):
        read_depth_video(color)
    good = tmp_path / "good.mkv"
    with Depth16VideoWriter(good, 25) as writer:
        for _ in range(30):
            writer.write(depth_of(np.random.default_rng(0).random((64, 64))))
    data = good.read_bytes()
    (tmp_path / "kind.mkv").write_bytes(data.replace(b"relative_disparity", b"relativ_edisparity"))
    with pytest.raises(InputError, match="kind is"):
        read_depth_video(tmp_path / "kind.mkv")


def test_depth_video_frames_must_agree(tmp_path):
    with Depth16VideoWriter(tmp_path / "a.mkv", 25) as writer:
        writer.write(depth_of(np.ones((6, 6))))
        with pytest.raises(InputError, match="video is"):
            writer.write(depth_of(np.ones((6, 7))))
        with pytest.raises(InputError, match="video is"):
            writer.write(depth_of(np.ones((6, 6)), Kind.METRIC_DEPTH))
    assert len(list(read_depth_video(tmp_path / "a.mkv"))) == 1


# Depth folder


def test_depth_folder_is_exact(tmp_path):
    rng = np.random.default_rng(0)
    maps = [depth_of(rng.random((5, 7))) for _ in range(3)]
    for _ in range(2):  # the second time over the first
        with DepthFolderWriter(tmp_path / "a") as writer:
            for depth in maps:
                writer.write(depth)
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == [
        "000000.npz",
        "000001.npz",
        "000002.npz",
    ]
    for want, got in zip(maps, read_depth_folder(tmp_path / "a"), strict=True):
        np.testing.assert_array_equal(got.values, want.values)
    assert [p.name for p in tmp_path.iterdir()] == ["a"]


def test_depth_folder_leaves_other_files_alone(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "thesis.txt").write_text("years of work")
    with (
        pytest.raises(InputError, match="other files"),
        DepthFolderWriter(tmp_path / "a"),
    ):
        pass
    assert (tmp_path / "a" / "thesis.txt").exists()
    (tmp_path / "b").touch()
    with pytest.raises(InputError, match="in the way"), DepthFolderWriter(tmp_path / "b"):
        pass
    with pytest.raises(InputError, match="holds no depth"):
        read_depth_folder(tmp_path / "a")


# Memory


def test_memory_does_not_grow_with_length(tmp_path):
    """Read and write 60 and 360 frames: the longer clip may not need more."""

    def peak(frames: int) -> int:
        source = write_clip(tmp_path / f"{frames}.mp4", frames, size=(96, 64))
        gc.collect()
        before = resident()
        highest = 0
        with (
            open_video(source) as video,
            ColorVideoWriter(tmp_path / "c.mp4", 96, 64, video.info.fps) as color,
            Depth16VideoWriter(tmp_path / "d.mkv", video.info.fps) as gray,
        ):
            for number, frame in enumerate(video):
                color.write(frame, video.time)
                gray.write(depth_of(frame[..., 0]), video.time)
                if number % 20 == 19:
                    highest = max(highest, resident() - before)
        return highest

    peak(60)  # buffers that are made once
    short, long = peak(60), peak(360)
    raw = 300 * 96 * 64 * (3 + 4)
    assert long - short < raw / 3, (short, long)


def resident() -> int:
    """Bytes of this process that lie in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()
