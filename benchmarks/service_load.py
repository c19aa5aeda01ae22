"""Eight clients at once, good and bad requests mixed: what they saw, and what is wrong with it.

Every kind of request is first made alone. Under load a request is set beside the time that one worker
needs for everything that was under way when it came, itself included: the sum of the times alone. A
queue that is fair and costs nothing gives a ratio of one at most.
"""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from sightline.server.worker_pool import resident_memory

CLIENTS = 8
#: The 95th percentile of the ratio may be so much.
MOST_RATIO = 4.0
_PATIENCE = 300.0
#: A field of a multipart form: the bytes of a file, or no file name and a text.
FormPart = bytes | tuple[None, str]
_ENDED = ("done", "failed", "canceled")


@dataclass(frozen=True)
class Kind:
    """A kind of request.

    Attributes:
        name: of it.
        weight: how often it is made, beside the others.
        ask: makes it; returns the status that ended it and what was said.
        fine: statuses that it deserves.
    """

    name: str
    weight: int
    ask: Callable[[httpx.Client, random.Random], tuple[int, str]]
    fine: frozenset[int]


@dataclass(frozen=True)
class Seen:
    """One request: its kind, time in [s], time that was to be expected in [s], status, words."""

    kind: str
    seconds: float
    expected: float
    status: int
    said: str

    @property
    def ratio(self) -> float:
        """Time over the time that was to be expected."""
        return self.seconds / self.expected


@dataclass
class Outcome:
    """Everything that was seen.

    Attributes:
        alone: median time of each kind alone in [s].
        seen: under load.
        before: memory of server and workers when every model was loaded, in MB.
        most: the largest during the load, in MB.
        lost: workers that were replaced.
        waiting: left in the queue when all clients were gone.
    """

    alone: dict[str, float]
    kinds: Sequence[Kind]
    before: float
    most: float = 0.0
    seen: list[Seen] = field(default_factory=list)
    lost: int = 0
    waiting: float = 0.0

    @property
    def statuses(self) -> Counter[int]:
        """How often each was seen."""
        return Counter(one.status for one in self.seen)

    @property
    def p95(self) -> float:
        """Of the ratio, over all that was not refused for want of room."""
        ratios = [one.ratio for one in self.seen if one.status != 429]
        return float(np.quantile(ratios, 0.95)) if ratios else float("inf")

    def wrong(self, most_mb: float, growth_mb: float) -> list[str]:
        """Say what is not as it should be, a line each."""
        fine = {kind.name: kind.fine | {429} for kind in self.kinds}
        lines = [
            f"{one.kind} was answered with {one.status}: {one.said[:200]}"
            for one in self.seen
            if one.status not in fine[one.kind]
        ]
        good = {one.kind for one in self.seen if one.status in fine[one.kind] - {429}}
        lines += [f"{kind.name} was never answered" for kind in self.kinds if kind.name not in good]
        if self.p95 > MOST_RATIO:
            lines.append(f"95 % took up to {self.p95:.1f} times what was to be expected")
        if self.most > most_mb:
            lines.append(f"memory rose to {self.most:.0f} MB")
        if self.most > self.before + growth_mb:
            lines.append(f"memory grew from {self.before:.0f} to {self.most:.0f} MB")
        if self.lost:
            lines.append(f"{self.lost} workers were lost")
        if self.waiting:
            lines.append(f"{self.waiting:.0f} requests still wait")
        return lines


def kinds(picture: bytes, film: bytes, body_bytes: int) -> list[Kind]:
    """Return good requests to every path, and bad ones.

    Args:
        picture: a photograph.
        film: of a ball in uniform motion.
        body_bytes: largest body that the server takes.
    """
    photo = {"image": picture}
    width = _form(people="false", length="10,20,80,20=0.2m")
    points: list[tuple[str, FormPart]] = [
        ("image", picture),
        ("question", (None, "which is nearest?")),
        ("points", (None, "A=20,20")),
        ("points", (None, "B=60,60")),
    ]

    def post(name: str, weight: int, path: str, status: int = 200, **settings: Any) -> Kind:
        def ask(client: httpx.Client, _: random.Random) -> tuple[int, str]:
            return _end(client.post(path, **settings))

        return Kind(name, weight, ask, frozenset({status}))

    def damaged(client: httpx.Client, rng: random.Random) -> tuple[int, str]:
        return _end(client.post("/v1/depth", files={"image": picture[: rng.randrange(9, 900)]}))

    world = {"scenario": "collision", "speeds": [2.0, 1.0], "radii": [1.0, 0.7]}
    large = {"image": bytes(body_bytes + 1000)}
    return [
        post("depth", 6, "/v1/depth", files=photo),
        post("metric", 2, "/v1/metric", files={**photo, **width}),
        post("ask", 1, "/v1/ask", files=points),
        post("score", 3, "/v1/physics/score", files={"video": film}),
        post("world", 3, "/v1/physics/world", json=world),
        post("predict", 1, "/v1/physics/predict", json={}),
        Kind("job", 2, lambda client, _: _followed(client, photo), frozenset({200})),
        Kind("canceled job", 2, lambda client, _: _canceled(client, photo), frozenset({409, 200})),
        Kind("damaged picture", 2, damaged, frozenset({422})),
        post("wrong number", 2, "/v1/physics/world", 422, json={"speeds": [99]}),
        post("wrong length", 1, "/v1/metric", 422, files={**photo, **_form(length="wide")}),
        post("too large", 1, "/v1/depth", 413, files=large),
    ]


def run(address: str, pid: int, asked: Sequence[Kind], seconds: float, times: int = 3) -> Outcome:
    """Load a server and return what was seen.

    Args:
        address: of the server.
        pid: its process.
        asked: kinds of requests.
        seconds: how long, and until every kind has been asked; what is under way then is waited for.
        times: that each kind is made alone, after a first time that loads what it needs.
    """
    with httpx.Client(base_url=address, timeout=_PATIENCE) as client:
        alone = {kind.name: _alone(client, kind, times) for kind in asked}
        workers = workers_of(pid)
        outcome = Outcome(alone, asked, _memory(pid))
        threads = _start_clients(address, outcome, seconds)
        while any(thread.is_alive() for thread in threads):
            outcome.most = max(outcome.most, _memory(pid))
            time.sleep(0.1)
        outcome.lost = len(set(workers) - set(workers_of(pid)))
        outcome.waiting = client.get("/healthz").json()["queue"]
    return outcome


def workers_of(pid: int) -> list[int]:
    """Return the worker processes of a server."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = [int(child) for child in children]
    return [child for child in found if b"spawn_main" in _words(child)]


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _memory(pid: int) -> float:
    return sum(map(resident_memory, [pid, *workers_of(pid)])) / 1e6


def _alone(client: httpx.Client, kind: Kind, times: int) -> float:
    rng, taken = random.Random(0), []
    for _ in range(times + 1):
        begin = time.monotonic()
        status, said = kind.ask(client, rng)
        taken.append(time.monotonic() - begin)
        assert status in kind.fine, f"{kind.name}: {status} {said}"
    return statistics.median(taken[1:])


def _start_clients(address: str, outcome: Outcome, seconds: float) -> list[threading.Thread]:
    lock, under_way = threading.Lock(), Counter[str]()
    until = time.monotonic() + seconds
    first = random.Random(0).sample(outcome.kinds, len(outcome.kinds))  # each once, then by weight
    weights = [kind.weight for kind in outcome.kinds]

    def work(number: int) -> None:
        rng = random.Random(number)
        with httpx.Client(base_url=address, timeout=_PATIENCE) as client:
            while first or time.monotonic() < until:
                with lock:
                    kind = first.pop() if first else rng.choices(outcome.kinds, weights)[0]
                    under_way[kind.name] += 1
                    expected = sum(outcome.alone[k] * count for k, count in under_way.items())
                begin = time.monotonic()
                try:
                    status, said = kind.ask(client, rng)
                except httpx.HTTPError as error:
                    status, said = 599, repr(error)  # no answer at all
                taken = time.monotonic() - begin
                with lock:
                    under_way[kind.name] -= 1
                    outcome.seen.append(Seen(kind.name, taken, expected, status, said))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(CLIENTS)]
    for thread in threads:
        thread.start()
    return threads


def _form(**fields: str) -> dict[str, tuple[None, str]]:
    return {name: (None, value) for name, value in fields.items()}


def _end(answer: httpx.Response) -> tuple[int, str]:
    """Return the status; a refusal without a reason, or without a time to come back, is an error."""
    if answer.status_code < 400:
        return answer.status_code, ""
    said = answer.json()["error"] if answer.headers["content-type"] == "application/json" else ""
    if not said or (answer.status_code == 429 and "retry-after" not in answer.headers):
        return 598, f"{answer.status_code} without a reason or a time: {answer.text[:100]}"
    return answer.status_code, said


def _followed(client: httpx.Client, photo: dict[str, bytes]) -> tuple[int, str]:
    """Start a job, wait for its end, fetch its result, remove it."""
    started = client.post("/v1/depth?wait=false", files=photo)
    if started.status_code != 202:
        return _end(started)
    path = f"/v1/jobs/{started.json()['id']}"
    _wait(client, path)
    answer = _end(client.get(f"{path}/result", params={"format": "npz"}))
    client.delete(path)
    return answer


def _canceled(client: httpx.Client, photo: dict[str, bytes]) -> tuple[int, str]:
    """Start a job and cancel it; it ends as canceled (409), or was quicker (200)."""
    started = client.post("/v1/depth?wait=false", files=photo)
    if started.status_code != 202:
        return _end(started)
    path = f"/v1/jobs/{started.json()['id']}"
    client.delete(path)
    job = client.get(path)
    if job.status_code == 404:  # it was done by then, and is removed
        return 200, ""
    _wait(client, path)
    answer = _end(client.get(f"{path}/result"))
    client.delete(path)
    return answer


def _wait(client: httpx.Client, path: str) -> None:
    late = time.monotonic() + _PATIENCE
    while client.get(path).json()["state"] not in _ENDED and time.monotonic() < late:
        time.sleep(0.02)
