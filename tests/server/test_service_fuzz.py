"""Damaged pictures, films and bodies: answered with 200 or 4xx, never a crash, nothing left behind."""

from __future__ import annotations

import io
import json
import random

import cv2
import numpy as np
import pytest
from PIL import Image

from .conftest import wait_for

#: What a damaged request may be answered with.
FINE = {200, 400, 413, 415, 422}


@pytest.fixture(scope="module")
def pictures(photo, tmp_path_factory):
    """The same small photograph in every format that is read."""
    small = Image.fromarray(photo[::8, ::8])
    found = []
    for form in ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "JPEG2000", "AVIF", "PPM"):
        buffer = io.BytesIO()
        small.save(buffer, form)
        found.append(buffer.getvalue())
    exif = Image.Exif()
    exif[0x0112] = 6
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", exif=exif)
    found.append(buffer.getvalue())
    found.append(cv2.imencode(".hdr", np.asarray(small, np.float32) / 255)[1].tobytes())
    found.append(cv2.imencode(".png", np.asarray(small, np.uint16) * 257)[1].tobytes())
    from sightline.io.depth_files import write_exr
    from sightline.types import DepthMap, Kind

    path = tmp_path_factory.mktemp("exr") / "map.exr"
    write_exr(path, DepthMap(np.ones((20, 30), np.float32), Kind.METRIC_DEPTH))
    found.append(path.read_bytes())
    return found


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Flip, cut, repeat, swap or stuff some bytes."""
    found = bytearray(data)
    for _ in range(rng.choice((1, 1, 2, 8))):
        if not found:
            break
        place = rng.randrange(min(len(found), rng.choice((40, 400, len(found)))))
        match rng.randrange(6):
            case 0:
                found[place] ^= 1 << rng.randrange(8)
            case 1:
                found[place : place + 4] = rng.choice(
                    (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff")
                )
            case 2:
                del found[place:]
            case 3:
                del found[place : place + rng.randrange(1, 50)]
            case 4:
                found[place:place] = found[place : place + rng.randrange(1, 200)]
            case _:
                found[place : place + 8] = rng.randbytes(8)
    return bytes(found)


WORLD = {
    "scenario": "collision",
    "speeds": [2, 1],
    "radii": [1, 0.7],
    "seed": 3,
    "direction": "right",
    "size": 64,
    "condition": 3,
}
STRANGE = (
    *(None, True, -1, 0, 1e308, 2**63, 2**31 - 1, "", "right", "nan", [], [1], [[1]], {}, {"a": 1}),
    *([0.2, 8], [2.5, 2.5], "\x00", "😀" * 50, [None], ["1"], 0.1 + 0.2, -0.0, 33, 31.9999),
)


def strange_json(rng: random.Random) -> bytes:
    """A world with something strange in it; sometimes the bytes are damaged as well."""
    body = dict(WORLD)
    for _ in range(rng.randrange(1, 3)):
        name = rng.choice([*body, "surprise"]) if body else "surprise"
        if rng.random() < 0.2:
            body.pop(name, None)
        else:
            body[name] = rng.choice(STRANGE)
    data = json.dumps(body).encode()
    return damaged(data, rng) if rng.random() < 0.3 else data


WORDS = (
    *(
        "",
        "1,1,20,20=1m",
        "1,1=2m",
        "0,0,0,0=1m",
        "1e9,1,2,2=1m",
        "nan,1,2,3=1m",
        "1,1,5,5=1e-300m",
    ),
    *(
        "1,1,5,5=0m",
        "10,10,30,30=1m±200%",
        "=1m",
        "1,1,9,9=9999km",
        "😀",
        "1,1,30,20=-1m",
        "5,5=1in",
    ),
)


def strange_form(rng: random.Random) -> dict[str, str]:
    fields = {"people": "false", "depth_at": "10,10=2m"}
    for _ in range(rng.randrange(1, 3)):
        name = rng.choice(("length", "depth_at", "box", "camera_height", "fov", "palette", "iris"))
        fields[name] = rng.choice((*WORDS, "60", "turbo", "true"))
    return fields


QUESTIONS = (
    *("which is nearest?", "how many cups?", "depth map", "", "?", "which is farthest?"),
    *("\x00", "😀" * 50, "how many <DEPTH_3>?", "near " * 99, "x" * 501, "count the " + "a" * 400),
)
POINTS = (
    *("A=1,1", "B=20,20", "C=9,30", "A=1e9,1", "A=nan,1", "Z=1,1", "=", "A=1", "B=-1,-1"),
    "😀=1,2",
)


def strange_question(rng: random.Random) -> dict[str, str | list[str]]:
    points = rng.sample(POINTS, rng.randrange(5))
    return {
        "question": rng.choice(QUESTIONS),
        "points": points,
        "verify": rng.choice(("true", "no")),
    }


def requests(count, rng, pictures, films):
    """Give (path, arguments) of so many strange requests."""
    headers = {"Content-Type": "application/json"}
    for number in range(count):
        match number % 7:
            case 0 | 1:
                yield "/v1/depth", {"files": {"image": damaged(rng.choice(pictures), rng)}}
            case 2:
                path = rng.choice(("/v1/depth", "/v1/physics/score"))
                yield path, {"files": {"video": damaged(rng.choice(films), rng)}}
            case 3:
                yield "/v1/physics/world", {"content": strange_json(rng), "headers": headers}
            case 4:
                yield "/v1/physics/predict", {"content": strange_json(rng), "headers": headers}
            case 5:
                files = {"image": damaged(rng.choice(pictures), rng)}
                yield "/v1/ask", {"files": files, "data": strange_question(rng)}
            case _:
                files = {"image": rng.choice(pictures)}
                yield "/v1/metric", {"files": files, "data": strange_form(rng)}


def fuzz(server, pictures, films, count, seed):
    rng = random.Random(seed)
    before = {path.parent.name for path in server.left()}
    deaths = server.metric("worker_deaths_total")
    statuses: dict[int, int] = {}
    wrong = []
    for path, arguments in requests(count, rng, pictures, films):
        answer = server.client.post(path, **arguments)
        statuses[answer.status_code] = statuses.get(answer.status_code, 0) + 1
        if answer.status_code not in FINE:
            wrong.append((path, answer.status_code, answer.text))
        elif answer.status_code != 200:
            assert answer.json()["error"].endswith((".", "!", "?", "…"))
            assert str(server.spool) not in answer.text
    assert not wrong, wrong[:5]
    assert server.metric("worker_deaths_total") == deaths
    assert server.process.poll() is None
    wait_for(lambda: {path.parent.name for path in server.left()} <= before)
    return statuses


@pytest.fixture(scope="module")
def films(world_film, photo):
    from .conftest import film

    return [world_film, film(photo, 8, 32)]


def test_strange_requests(server, pictures, films):
    statuses = fuzz(server, pictures, films, 140, seed=1)
    assert statuses[200] > 10
    assert statuses[422] > 10


@pytest.mark.slow
def test_two_thousand_strange_requests(server, pictures, films):
    statuses = fuzz(server, pictures, films, 2000, seed=2)
    print("answers by status:", statuses)
    assert sum(statuses.values()) == 2000
