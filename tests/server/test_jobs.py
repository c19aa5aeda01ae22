"""Jobs by id: progress, results, cancelling, a full queue, a worker that is killed."""

from __future__ import annotations

import json
import os
import signal
import threading
import time

import httpx
import pytest

from .conftest import wait_for


def start(client, film):
    """Keep the worker busy; return the job."""
    answer = client.post("/v1/depth?wait=false", files={"video": film})
    assert answer.status_code == 202, answer.text
    return answer.json()


def state(client, job):
    return client.get(f"/v1/jobs/{job['id']}").json().get("state")


def follow(client, job):
    """All events of a job."""
    found = []
    with client.stream("GET", f"/v1/jobs/{job['id']}/events") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        for line in stream.iter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
    return found


def test_events_tell_how_far_a_job_is(client, photo):
    from .conftest import film

    job = start(client, film(photo, 60))
    events = follow(client, job)
    assert events[-1]["state"] == "done"
    assert events[-1]["progress"] == 1
    shares = [one["progress"] for one in events if one["progress"] is not None]
    assert shares == sorted(shares)
    assert any(one["step"].startswith("frame ") for one in events)
    assert events[-1]["formats"] == ["json", "mp4", "mkv"]


def test_a_result_waits_for_its_job(client, long_film):
    job = start(client, long_film)
    early = client.get(f"/v1/jobs/{job['id']}/result")
    assert early.status_code == 409
    assert early.json()["error"].startswith("This job is ")
    client.delete(f"/v1/jobs/{job['id']}")
    wait_for(lambda: state(client, job) == "canceled")


def test_a_running_job_is_canceled(server, client, long_film, small_photo):
    job = start(client, long_film)
    wait_for(lambda: (client.get(f"/v1/jobs/{job['id']}").json()["progress"] or 0) > 0)
    assert client.delete(f"/v1/jobs/{job['id']}").status_code == 200
    wait_for(lambda: state(client, job) == "canceled")
    late = client.get(f"/v1/jobs/{job['id']}/result")
    assert (late.status_code, late.json()["error"]) == (409, "This job was canceled.")
    assert client.post("/v1/depth", files={"image": small_photo}).status_code == 200
    assert client.delete(f"/v1/jobs/{job['id']}").status_code == 200  # now it is removed
    assert client.get(f"/v1/jobs/{job['id']}").status_code == 404


def test_cancelling_inside_a_step_leaves_the_worker_alive(server, client, photo):
    """The tiles of a picture are one step; between two of them it is heard."""
    from io import BytesIO

    from PIL import Image

    large = BytesIO()
    Image.fromarray(photo).resize((1000, 1000)).save(large, "JPEG")
    deaths, worker = server.metric("worker_deaths_total"), server.worker()
    files = {"image": large.getvalue(), "tiles": (None, "true"), "sigma": (None, "true")}
    job = client.post("/v1/depth?wait=false", files=files).json()
    wait_for(lambda: client.get(f"/v1/jobs/{job['id']}").json()["step"] == "estimating depth")
    client.delete(f"/v1/jobs/{job['id']}")
    wait_for(lambda: state(client, job) == "canceled")
    assert client.post("/v1/physics/world", json={}).status_code == 200
    assert server.worker() == worker
    assert server.metric("worker_deaths_total") == deaths
    assert not [path for path in server.left() if path.parent.name == job["id"]]


def test_a_full_queue_refuses_and_says_when_to_come_back(server, client, long_film, small_photo):
    first = start(client, long_film)
    wait_for(lambda: state(client, first) == "running")
    picture = {"image": small_photo}
    waiting = [client.post("/v1/depth?wait=false", files=picture).json() for _ in range(4)]
    places = [client.get(f"/v1/jobs/{one['id']}").json()["position"] for one in waiting]
    assert places == [1, 2, 3, 4]
    refused = client.post("/v1/depth", files=picture)
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) >= 1
    assert "waiting" in refused.json()["error"]
    client.delete(f"/v1/jobs/{waiting[1]['id']}")  # one that waits is canceled at once
    assert state(client, waiting[1]) == "canceled"
    places = [client.get(f"/v1/jobs/{one['id']}").json()["position"] for one in waiting]
    assert places == [1, 0, 2, 3]
    client.delete(f"/v1/jobs/{first['id']}")
    for number in (0, 2, 3):
        assert follow(client, waiting[number])[-1]["state"] == "done"


def test_mistakes_of_a_form_are_told_before_anybody_waits(client, long_film, small_photo):
    """While the worker is at something else."""
    job = start(client, long_film)
    wait_for(lambda: state(client, job) == "running")
    image = {"image": small_photo, "people": (None, "false")}
    for fields, says in (
        ({"length": (None, "1,2,3=1m")}, "not 4 numbers"),
        ({"depth_at": (None, "1,2=far")}, "not a length"),
        ({"box": (None, "1,2,30,40")}, "has no length"),
        ({"camera_height": (None, "1.5 lightyears")}, "unknown unit"),
        ({"from": (None, "here"), "to": (None, "1,1")}, "not 2 numbers"),
    ):
        path = "/v1/measure" if "from" in fields else "/v1/metric"
        answer = client.post(path, files={**image, **fields})
        assert answer.status_code == 422, answer.text
        assert says in answer.json()["error"]
        assert "--" not in answer.json()["error"]
    wrong = client.post("/v1/depth", files={"video": long_film, "sigma": (None, "true")})
    assert wrong.status_code == 422
    assert state(client, job) == "running"
    client.delete(f"/v1/jobs/{job['id']}")
    wait_for(lambda: state(client, job) == "canceled")


def test_a_worker_killed_over_a_job(server, client, long_film, small_photo):
    """Its client gets an error, those that wait and come next get answers."""
    job = start(client, long_film)
    wait_for(lambda: state(client, job) == "running")
    answers = []

    def ask():
        with httpx.Client(base_url=server.address, timeout=120) as other:
            answers.append(other.post("/v1/depth", files={"image": small_photo}))

    waiting = threading.Thread(target=ask)
    waiting.start()
    wait_for(lambda: client.get("/healthz").json()["queue"] == 1)
    dead = server.worker()
    os.kill(dead, signal.SIGKILL)
    failed = follow(client, job)[-1]
    assert (failed["state"], failed["status"]) == ("failed", 503)
    assert "signal 9" in failed["error"]
    result = client.get(f"/v1/jobs/{job['id']}/result")
    assert result.status_code == 503
    assert result.headers["retry-after"] == "1"
    waiting.join()
    assert answers[0].status_code == 200
    assert server.worker() != dead
    assert server.metric("worker_deaths_total") >= 1
    assert client.post("/v1/depth", files={"image": small_photo}).status_code == 200


def test_a_waiting_client_hears_of_a_killed_worker(server, long_film):
    answers = []

    def ask():
        with httpx.Client(base_url=server.address, timeout=120) as other:
            answers.append(other.post("/v1/depth", files={"video": long_film}))

    asking = threading.Thread(target=ask)
    before = server.metric("jobs_total")
    asking.start()
    worker = server.worker()
    wait_for(lambda: [path for path in server.left() if path.name == "upload-video"])
    server.wait_idle()  # nobody waits: the worker has it
    time.sleep(0.5)
    os.kill(worker, signal.SIGKILL)
    asking.join()
    assert answers[0].status_code == 503, answers[0].text
    assert "ended by signal 9" in answers[0].json()["error"]
    wait_for(lambda: server.metric("jobs_total") > before)


def test_nobody_works_for_a_client_who_hung_up(server, client, long_film):
    with pytest.raises(httpx.ReadTimeout), httpx.Client(base_url=server.address) as hasty:
        hasty.post("/v1/depth", files={"video": long_film}, timeout=httpx.Timeout(60, read=1.5))
    assert wait_for(lambda: 'end="canceled",kind="depth"' in client.get("/metrics").text)
    assert client.post("/v1/physics/world", json={}).status_code == 200


def test_nothing_is_left_of_what_was_answered(server, client, small_photo, short_film):
    """Files stay for background jobs only, until these are removed."""
    kept = {path.parent.name for path in server.left()}
    for form in ("json", "npz", "glb", "f32"):
        client.post(f"/v1/depth?format={form}", files={"image": small_photo})
    client.post("/v1/depth", files={"image": b"no picture"})
    client.post("/v1/depth", files={"video": short_film})
    client.post("/v1/physics/world?format=mp4", json={})
    wait_for(lambda: {path.parent.name for path in server.left()} <= kept)
    job = client.post("/v1/depth?wait=false", files={"image": small_photo}).json()
    follow(client, job)
    mine = [path.name for path in server.left() if job["id"] == path.parent.name]
    assert "result-npz.npz" in mine
    assert not [name for name in mine if name.startswith("upload")]  # the upload is gone already
    cloud = client.get(f"/v1/jobs/{job['id']}/result", params={"format": "ply"}).content
    at_once = client.post("/v1/depth?format=ply", files={"image": small_photo}).content
    assert cloud == at_once  # colors and all
    client.delete(f"/v1/jobs/{job['id']}")
    wait_for(lambda: {path.parent.name for path in server.left()} <= kept)


def test_a_measurement_needs_a_job_of_meters(client, small_photo):
    job = client.post("/v1/depth?wait=false", files={"image": small_photo}).json()
    follow(client, job)
    fields = {"job": (None, job["id"]), "from": (None, "1,1"), "to": (None, "9,9")}
    wrong = client.post("/v1/measure", files=fields)
    assert wrong.status_code == 422
    assert "metric" in wrong.json()["error"]
    nobody = client.post("/v1/measure", files={**fields, "job": (None, "nobody")})
    assert nobody.status_code == 404
    at = client.get(f"/v1/jobs/{job['id']}/at", params={"x": 1, "y": 1})
    assert at.status_code == 200
