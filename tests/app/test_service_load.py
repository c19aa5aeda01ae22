"""Eight clients at once, good and bad requests mixed: bounded memory, bounded waiting, no surprises."""

from __future__ import annotations

import random
import statistics
import threading
import time
from dataclasses import dataclass, field

import httpx
import numpy as np
import pytest

from sightline.app.hands import memory_of

from .conftest import running, wait_for

CLIENTS = 8
#: What the server process and its worker may take together, and may grow by under load, in [MB].
MOST, GROWTH = 900, 250


@dataclass
class Seen:
    """What all clients saw.

    Attributes:
        statuses: how often each.
        waits: seconds of good pictures over how many requests were under way, their own included.
        wrong: answers that should never be.
    """

    statuses: dict[int, int] = field(default_factory=dict)
    waits: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    under_way: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)


def one_request(client, rng, picture, seen):
    """Make one request, good or bad; return it and what it may be answered with."""
    choice = rng.randrange(10)
    if choice < 5:
        return client.post("/v1/depth", files={"image": picture}), {200}
    if choice == 5:
        return client.post("/v1/physics/world", json={"seed": rng.randrange(99)}), {200}
    if choice == 6:
        return client.post("/v1/depth", files={"image": picture[: rng.randrange(9, 900)]}), {422}
    if choice == 7:
        return client.post("/v1/physics/world", json={"speeds": [99]}), {422}
    if choice == 8:
        return client.post("/v1/depth", files={"image": bytes(5_000_000)}), {413}
    answer = client.post("/v1/depth?wait=false", files={"image": picture})
    if answer.status_code == 202:
        client.delete(f"/v1/jobs/{answer.json()['id']}")
    return answer, {202}


def work(address, number, picture, seen, until):
    rng = random.Random(number)
    with httpx.Client(base_url=address, timeout=120) as client:
        while time.monotonic() < until:
            with seen.lock:
                seen.under_way += 1
                queue = seen.under_way
            begin = time.monotonic()
            answer, fine = one_request(client, rng, picture, seen)
            seconds = time.monotonic() - begin
            with seen.lock:
                seen.under_way -= 1
                status = answer.status_code
                seen.statuses[status] = seen.statuses.get(status, 0) + 1
                if status == 429 and "retry-after" in answer.headers:
                    continue
                if status not in fine:
                    seen.wrong.append(f"{status}: {answer.text}")
                elif fine == {200} and answer.request.url.path == "/v1/depth":
                    seen.waits.append(seconds / queue)


def load(live, picture, seconds):
    client = live.client
    alone = []
    for _ in range(7):
        begin = time.monotonic()
        assert client.post("/v1/depth", files={"image": picture}).status_code == 200
        alone.append(time.monotonic() - begin)
    client.post("/v1/physics/world", json={})
    pids = [live.process.pid, *live.workers()]
    before = sum(map(memory_of, pids)) / 1e6
    seen, until = Seen(), time.monotonic() + seconds
    threads = [
        threading.Thread(target=work, args=(live.address, number, picture, seen, until))
        for number in range(CLIENTS)
    ]
    for thread in threads:
        thread.start()
    most = before
    while any(thread.is_alive() for thread in threads):
        most = max(most, sum(map(memory_of, pids)) / 1e6)
        time.sleep(0.1)
    for thread in threads:
        thread.join()
    single = statistics.median(alone)
    p95 = float(np.quantile(seen.waits, 0.95))
    print(
        f"{sum(seen.statuses.values())} requests in {seconds} s, by status {seen.statuses}; alone "
        f"{single * 1e3:.0f} ms, p95 per request under way {p95 * 1e3:.0f} ms; memory of server and "
        f"worker {before:.0f} MB, under load at most {most:.0f} MB"
    )
    assert not seen.wrong, seen.wrong[:3]
    assert max(seen.statuses) < 500
    assert pids[1:] == live.workers()  # nobody died
    assert p95 <= 4 * single
    assert most < MOST
    assert most < before + GROWTH
    assert live.metric("queue_length") == 0


@pytest.fixture
def live(tmp_path):
    with running(tmp_path, "--model", "tiny", "--rate", 0, "--body-mb", 4) as one:
        one.wait_ready()
        yield one
        kept = one.client.get("/metrics").text
        assert "sightline_jobs_kept" in kept
        wait_for(lambda: len(one.left()) < 200)


def test_eight_clients_for_a_moment(live, small_photo):
    load(live, small_photo, 5)


@pytest.mark.slow
def test_eight_clients_for_a_minute(live, coffee):
    load(live, coffee, 60)
