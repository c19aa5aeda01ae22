"""How fast the service starts, what it takes, what it bears: `python benchmarks/service.py`.

Writes the figures into docs/service.md and docs/page.md, between the lines that mark them, if asked to
(--write). They are of this machine as it is now; its load is told with them.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
from PIL import Image

import service_load
from sightline.examples import example_person, example_photograph
from sightline.io.atomic import write_text
from sightline.physics.datasets.mp4 import encode
from sightline.physics.rendering import render
from sightline.physics.worlds.simulation import sample
from sightline.server.worker_pool import resident_memory

DOCS = Path(__file__).parents[1] / "docs"
#: Pixels of the largest picture that is taken: 6000 × 4000.
LARGEST = (6000, 4000)
PATIENCE = 900.0
PARTS = ("start", "memory", "load", "demo")


@contextmanager
def serving(*words: str) -> Iterator[tuple[str, int, float]]:
    """Start a server; give its address, its process, and the seconds until it listened."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "sightline", "serve", "--port", "0", "--threads", "1", *words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        if "listens on" not in line:
            sys.exit("the server did not start")
        yield line.split()[3].rstrip("/"), process.pid, time.monotonic() - begin
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def wait_ready(client: httpx.Client) -> None:
    """Wait until the server has its model."""
    while client.get("/healthz").json()["status"] != "ok":
        time.sleep(0.05)


def start() -> list[str]:
    """Start twice; the second time everything is compiled."""
    for _ in range(2):
        begin = time.monotonic()
        with serving() as (address, _, listens), httpx.Client(base_url=address) as client:
            wait_ready(client)
            ready = time.monotonic() - begin
    return [
        f"* With the models compiled before, `sightline serve` listened after {listens:.1f} s and had "
        f"its model after {ready:.1f} s."
    ]


def memory() -> list[str]:
    """Use everything of the default model, one after the other, then the largest picture."""
    photo, person = example_photograph().read_bytes(), example_person().read_bytes()
    large = io.BytesIO()
    Image.open(io.BytesIO(person)).resize(LARGEST).save(large, "JPEG", quality=90)
    question: list[tuple[str, service_load.FormPart]] = [
        ("image", photo),
        ("question", (None, "which is nearest?")),
        ("points", (None, "A=450,60")),
        ("points", (None, "B=300,330")),
    ]
    huge = {"image": large.getvalue()}
    with (
        serving("--job-timeout", str(PATIENCE)) as (address, pid, _),
        httpx.Client(base_url=address, timeout=PATIENCE) as client,
    ):
        wait_ready(client)
        (worker,) = service_load.workers_of(pid)
        rows = [("its model loaded", resident_memory(worker) / 1e6)]

        def used(name: str, send: Callable[[], httpx.Response]) -> None:
            rows.append((name, peak(worker, send)))

        used("depth of 600 × 400", lambda: client.post("/v1/depth", files={"image": photo}))
        used("then meters by a person", lambda: client.post("/v1/metric", files={"image": person}))
        used("then a world", lambda: client.post("/v1/physics/world", json={}))
        used("then the video model", lambda: client.post("/v1/physics/predict", json={}))
        used("then a question", lambda: client.post("/v1/ask", files=question))
        after = resident_memory(worker) / 1e6
        used("then depth of 24 million pixels", lambda: client.post("/v1/depth", files=huge))
        used("their meters by a person", lambda: client.post("/v1/metric", files=huge))
        used("their mesh", lambda: client.post("/v1/depth?format=glb", files=huge))
        server = resident_memory(pid) / 1e6
    lines = ["* Memory of the worker with the default model, at most during each, in MB:", ""]
    lines += ["| one after the other in one worker | MB |", "|---|---|"]
    lines += [f"| {name} | {most:.0f} |" for name, most in rows]
    lines += [
        "",
        f"  With everything loaded and at rest it had {after:.0f} MB, the server {server:.0f}.",
    ]
    return lines


def peak(pid: int, send: Callable[[], httpx.Response]) -> float:
    """Return the largest memory of a process in MB during a request that must succeed."""
    most, over = [resident_memory(pid)], threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            most.append(resident_memory(pid))

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        answer = send()
    finally:
        over.set()
        watching.join()
    if answer.status_code != 200:
        sys.exit(f"{answer.request.url.path}: {answer.status_code} {answer.text[:300]}")
    return max(most) / 1e6


def load(seconds: float) -> list[str]:
    """Eight clients for a while."""
    film = encode(render(sample("uniform", 1)[0], 128))
    asked = service_load.kinds(example_photograph().read_bytes(), film, 4_000_000)
    words = ("--model", "tiny", "--rate", "0", "--max-body-mb", "4")
    with serving(*words) as (address, pid, _), httpx.Client(base_url=address) as client:
        wait_ready(client)
        found = service_load.run(address, pid, asked, seconds)
    alone = ", ".join(f"{name} {taken:.2f}" for name, taken in found.alone.items())
    counts = ", ".join(f"{count} × {status}" for status, count in sorted(found.statuses.items()))
    ratios = [one.ratio for one in found.seen if one.status != 429]
    lines = [
        f"* {service_load.CLIENTS} clients for {seconds:g} s, model `tiny`, photographs of 600 × 400: "
        f"{len(found.seen)} requests, ended by {counts}. Each kind alone, in s: {alone}. "
        "Under load, over what one worker needs alone for all that was under way when a request came: "
        f"median {np.median(ratios):.2f}, 95 % within {found.p95:.2f}. Server and worker had "
        f"{found.before:.0f} MB with everything loaded, and at most {found.most:.0f} MB."
    ]
    wrong = found.wrong(2500, 300)
    return lines + [f"* Wrong: {line}" for line in wrong]


def demo() -> list[str]:
    """Make the whole demo twice; the second time everything is compiled and fetched."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(2):
            begin = time.monotonic()
            before = os.times()
            words = [sys.executable, "-m", "sightline", "demo", "--out", folder]
            subprocess.run(words, check=True, capture_output=True)
            taken, after = time.monotonic() - begin, os.times()
    busy = after.children_user + after.children_system
    busy -= before.children_user + before.children_system
    return [
        f"`sightline demo` took {taken:.0f} s, {busy:.0f} s of them of the processor, with everything "
        "compiled and fetched before."
    ]


def put(path: Path, name: str, lines: list[str]) -> None:
    """Replace what stands between the marks of a name."""
    text = path.read_text(encoding="utf-8")
    block = f"<!-- measured: {name} -->\n" + "\n".join(lines) + "\n<!-- end -->"
    pattern = rf"<!-- measured: {name} -->\n.*?<!-- end -->"
    text, count = re.subn(pattern, lambda _: block, text, flags=re.DOTALL)
    if count != 1:
        sys.exit(f"{path.name} has no place for {name}")
    write_text(path, text)


def main() -> None:
    """Measure, print, and write into the docs if asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--seconds", type=float, default=60.0, help="of the load")
    parser.add_argument(
        "--write", action="store_true", help="into docs/service.md and docs/page.md"
    )
    options = parser.parse_args()
    parts = {"start": start, "memory": memory, "load": lambda: load(options.seconds), "demo": demo}
    for name in options.only:
        lines = parts[name]()
        busy = os.getloadavg()[0]
        lines[-1] += f" (Load average of the machine's {os.cpu_count()} cores: {busy:.1f}.)"
        print("\n".join(lines), flush=True)
        if options.write:
            put(DOCS / ("page.md" if name == "demo" else "service.md"), name, lines)


if __name__ == "__main__":
    main()
