"""What is too large, too long or not what it says is refused in words, before it costs anything."""

from __future__ import annotations

import io
import pickle
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from pathlib import Path

import av
import httpx
import numpy as np
import pytest
from PIL import Image

from sightline.physics.datasets.mp4 import encode

from .conftest import film, running


def png(width: int, height: int, row: bytes = b"") -> bytes:
    """A PNG that claims a size; its pixels are black and take almost nothing."""

    def chunk(kind, body):
        crc = zlib.crc32(kind + body)
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", crc)

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    squeeze = zlib.compressobj(9)
    rows = row or b"\0" * (width + 1)
    pixels = b"".join(squeeze.compress(rows) for _ in range(min(height, 20_000)))
    pixels += squeeze.flush()
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def gif(width: int, height: int) -> bytes:
    """A GIF of a few bytes that claims a screen of any size."""
    head = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    return head + b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x44\x01\x00;"


def jpeg_of(width: int, height: int, photo) -> bytes:
    """A real JPEG whose header was changed to another size."""
    buffer = io.BytesIO()
    Image.fromarray(photo[:80, :80]).save(buffer, "JPEG")
    data = bytearray(buffer.getvalue())
    place = data.index(b"\xff\xc0") + 5
    data[place : place + 4] = struct.pack(">HH", height, width)
    return bytes(data)


def test_bombs_are_refused_before_they_are_decoded(server, client, photo):
    before = server.metric("worker_memory_bytes")
    bombs = {
        "png": png(30_000, 30_000),
        "gif": gif(65_000, 65_000),
        "jpeg": jpeg_of(60_000, 60_000, photo),
        "bmp": b"BM"
        + struct.pack(
            "<IHHIIiiHHIIiiII", 100, 0, 0, 54, 40, 40_000, 40_000, 1, 24, 0, 0, 0, 0, 0, 0
        ),
        "pnm": b"P6\n50000 50000\n255\n" + bytes(100),
    }
    for name, bomb in bombs.items():
        assert len(bomb) < 4_000_000
        begin = time.monotonic()
        answer = client.post("/v1/depth", files={"image": bomb})
        assert answer.status_code == 413, (name, answer.text)
        assert "limit of 1,000,000" in answer.json()["error"]
        assert "max" not in answer.json()["error"]
        assert time.monotonic() - begin < 20
    client.post("/v1/depth", files={"image": png(8, 8)})
    assert server.metric("worker_memory_bytes") < before + 100e6
    assert server.metric("worker_deaths_total") == 0 or server.workers()


def test_a_picture_at_the_limit(client):
    assert client.post("/v1/depth", files={"image": png(1000, 1000)}).status_code == 200
    assert client.post("/v1/depth", files={"image": png(1000, 1001)}).status_code == 413


def test_a_body_that_is_too_large(client):
    answer = client.post("/v1/depth", files={"image": bytes(4_100_000)})
    assert answer.status_code == 413
    assert "4 MB" in answer.json()["error"]

    def pieces():
        yield b'--x\r\nContent-Disposition: form-data; name="image"; filename="a"\r\n\r\n'
        for _ in range(50):
            yield bytes(100_000)

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = client.post("/v1/depth", content=pieces(), headers=headers)
    assert answer.status_code == 413


def test_films_that_are_too_long_or_too_large(client, photo):
    long = encode(np.stack([photo[:32, :32]] * 310))  # 31 s
    answer = client.post("/v1/depth", files={"video": long})
    assert answer.status_code == 413
    assert "limit of 30 s" in answer.json()["error"]
    fast = _mp4(np.stack([photo[:32, :32]] * 320), 60)  # 5 s, but many frames
    answer = client.post("/v1/depth", files={"video": fast})
    assert answer.status_code == 413
    assert "limit of 300" in answer.json()["error"]
    wide = encode(np.zeros((2, 800, 800, 3), np.uint8))
    answer = client.post("/v1/depth", files={"video": wide})
    assert answer.status_code == 413
    assert "limit of 500,000" in answer.json()["error"]


def _mp4(frames, rate):
    return encode(frames, rate=rate)


def test_physics_wants_square_films_of_some_frames(client, photo):
    narrow = encode(np.stack([photo[:32, :64]] * 8))
    answer = client.post("/v1/physics/score", files={"video": narrow})
    assert answer.status_code == 422
    assert "square" in answer.json()["error"]
    answer = client.post("/v1/physics/score", files={"video": film(photo, 4)})
    assert answer.status_code == 422
    assert "too few" in answer.json()["error"]


@pytest.mark.parametrize(
    "text",
    [
        "ffconcat version 1.0\nfile '/etc/hostname'\n",
        "#EXTM3U\n#EXTINF:10,\nfile:///etc/hostname\n#EXT-X-ENDLIST\n",
        "v=0\no=- 0 0 IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
        "<?xml version='1.0'?><MPD><BaseURL>file:///etc/</BaseURL></MPD>",
    ],
)
def test_lists_of_other_files_are_no_films(client, text, tmp_path):
    for path in ("/v1/depth", "/v1/physics/score"):
        answer = client.post(path, files={"video": text.encode()})
        assert answer.status_code == 422
        assert "not a supported video" in answer.json()["error"]
        assert "hostname" not in answer.json()["error"]


def test_a_film_that_points_to_another_file(client, tmp_path, world_film):
    """A QuickTime reference movie names a file of the machine it is opened on."""
    secret = tmp_path / "secret.mp4"
    secret.write_bytes(world_film)
    data = bytearray(world_film)
    place = data.index(b"dref")
    entry = data.index(b"url ", place)
    data[entry + 7] = 0  # the flag that says: the pictures are in this very file
    answer = client.post("/v1/physics/score", files={"video": bytes(data)})
    assert answer.status_code in (200, 422)  # opened as if it were whole, or not at all


def test_no_file_of_the_server_is_read(client, small_photo, tmp_path):
    """On the command line `depth_at` may name a table; a request may not."""
    table = tmp_path / "points.csv"
    table.write_text("x,y,depth\n10,10,2.0\n")
    for field in ("depth_at", "length", "box", "camera_height"):
        for value in (str(table), f"file://{table}", "http://127.0.0.1:1/x.csv", "@/etc/passwd"):
            data = {field: value, "people": "false"}
            answer = client.post("/v1/metric", files={"image": small_photo}, data=data)
            assert answer.status_code == 422, (field, value)
    for name in ("measured", "painter", "meshes", "path", "url"):
        data = {name: str(table), "people": "false"}
        answer = client.post("/v1/metric", files={"image": small_photo}, data=data)
        assert answer.status_code == 422
        assert "no field called" in answer.json()["error"]


def test_the_name_of_an_upload_means_nothing(server, client, small_photo, tmp_path):
    mark = tmp_path / "mark"
    for name in (f"../../../..{mark}", str(mark), "..", "a\\b", "upload-video", "x" * 3000):
        answer = client.post("/v1/depth", files={"image": (name, small_photo)})
        assert answer.status_code in (200, 400)
    assert not mark.exists()


def test_pickles_stay_pickled(client, tmp_path):
    class Trap:
        def __reduce__(self):
            return Path.touch, (tmp_path / "sprung",)

    buffer = io.BytesIO()
    np.savez(buffer, frames=np.array([Trap()], dtype=object))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("data.pkl", pickle.dumps(Trap()))
    for data in (pickle.dumps(Trap()), buffer.getvalue(), archive.getvalue()):
        for field, path in (("image", "/v1/depth"), ("video", "/v1/physics/score")):
            assert client.post(path, files={field: data}).status_code == 422
    assert not (tmp_path / "sprung").exists()


def test_forms_with_too_much_in_them(client, small_photo):
    many = [("length", (None, "1,1,2,2=1m"))] * 200
    assert client.post("/v1/metric", files=[("image", small_photo), *many]).status_code == 400
    some = [("length", (None, "1,1,2,2=1m"))] * 20
    assert client.post("/v1/metric", files=[("image", small_photo), *some]).status_code == 422
    long = client.post("/v1/metric", files={"image": small_photo}, data={"length": "1" * 100_000})
    assert long.status_code == 400
    twice = [("image", small_photo), ("image", small_photo)]
    assert client.post("/v1/depth", files=twice).status_code == 422
    for content in (b"", b"--x", b"--x\r\n\r\n", b"no form at all", b"--x--\r\n"):
        headers = {"Content-Type": "multipart/form-data; boundary=x"}
        answer = client.post("/v1/depth", content=content, headers=headers)
        assert answer.status_code in (400, 422), content
    answer = client.post("/v1/depth", content=b"x", headers={"Content-Type": "multipart/form-data"})
    assert answer.status_code == 400


def test_deep_and_strange_json(client):
    headers = {"Content-Type": "application/json"}
    for body in (
        b"[" * 100_000,
        b'{"seed": ' + b"9" * 5000 + b"}",
        b'{"speeds": [NaN]}',
        b'{"speeds": [1e999]}',
        b'{"scenario": "\\ud800"}',
        b"\xff\xfe{}",
        b"",
        b"null",
        b'{"size": 128.5}',
        b'{"size": 33}',
        b'{"radii": {"0": 1}}',
    ):
        answer = client.post("/v1/physics/world", content=body, headers=headers)
        assert answer.status_code in (400, 422), body[:40]
        assert list(answer.json()) == ["error"]


def test_a_token_and_no_other_address_without_one(tmp_path, small_photo):
    with running(tmp_path, "--model", "tiny", SIGHTLINE_TOKEN="open-sesame") as live:
        assert live.client.get("/healthz").status_code == 200
        assert live.client.get("/v1/models").status_code == 401
        headers = {"Authorization": "Bearer open-sesame"}
        assert live.client.get("/v1/models", headers=headers).status_code == 200
        described = live.client.get("/openapi.json").json()
        assert described["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
        left = list(live.spool.iterdir())
        assert len(left) == 1
        assert left[0].stat().st_mode & 0o077 == 0  # nobody else may look into it
        evil = httpx.get(f"{live.address}/healthz", headers={"Host": "evil.example"})
        assert evil.status_code == 421
    assert live.process.returncode == 0
    assert not list(live.spool.iterdir())


def test_mistakes_at_the_start(tmp_path):
    def start(*words):
        command = [sys.executable, "-m", "sightline", "serve", *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    for words, says in (
        (("--host", "0.0.0.0"), "token"),
        (("--model", "no-such-model", "--port", "0"), "no-such-model"),
        (("--ask-model", str(tmp_path / "none"), "--port", "0"), "--ask-model"),
    ):
        done = start(*words)
        assert done.returncode == 2
        assert says in done.stderr
        assert len(done.stderr.strip().splitlines()) == 1


def test_a_film_of_frames_that_grow(client, tmp_path):
    """A stream may change its size after the header was looked at."""
    path = tmp_path / "grow.mkv"
    with av.open(str(path), "w") as container:
        stream = container.add_stream("ffv1", rate=10)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for shade in (0, 100, 200):
            frame = av.VideoFrame.from_ndarray(
                np.full((64, 64, 3), shade, np.uint8), format="rgb24"
            )
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    data = path.read_bytes()
    assert client.post("/v1/depth", files={"video": data}).status_code == 200
    cut = data[: len(data) // 2]
    assert client.post("/v1/depth", files={"video": cut}).status_code in (200, 422)


def test_a_film_with_a_title_in_rubbish(client, tmp_path):
    path = tmp_path / "titled.mp4"
    with av.open(str(path), "w") as container:
        container.metadata["title"] = "TITLE-OF-A-FILM"
        stream = container.add_stream("libx264", rate=10)
        stream.width = stream.height = 64
        stream.pix_fmt = "yuv420p"
        for shade in (0, 100, 200):
            frame = av.VideoFrame.from_ndarray(
                np.full((64, 64, 3), shade, np.uint8), format="rgb24"
            )
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    data = path.read_bytes()
    assert b"TITLE-OF-A-FILM" in data
    data = data.replace(b"TITLE-OF-A-FILM", b"\xff\xfe\xff" * 5)
    assert client.post("/v1/depth", files={"video": data}).status_code == 200
