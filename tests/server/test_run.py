"""Settings of a server: reverse proxies, request log, full disk, time limits of videos."""

from __future__ import annotations

import json

import httpx
import pytest

from sightline.errors import InputError
from sightline.physics.datasets.mp4 import decode
from sightline.server.config import ServeConfig

from .conftest import film, running, wait_for


@pytest.mark.parametrize("proxy", ["example.org", "10.0.0.0/99", "", "*"])
def test_proxies_are_addresses_or_networks(proxy):
    with pytest.raises(InputError, match="trusted-proxies"):
        ServeConfig(trusted_proxies=(proxy,))


def test_behind_a_proxy(tmp_path, small_photo):
    """Clients behind a trusted proxy have their own rate limits; others cannot pretend to."""
    words = ("--model", "tiny", "--root-path", "/lab", "--log", "json", "--rate", 1, "--burst", 2)
    with running(tmp_path, *words, "--trusted-proxies", "127.0.0.0/8") as live:
        assert live.address.endswith("/lab")
        statuses = {
            client: [
                live.client.get("/v1/models", headers={"X-Forwarded-For": client}).status_code
                for _ in range(3)
            ]
            for client in ("203.0.113.7", "203.0.113.8")
        }
        assert statuses == {one: [200, 200, 429] for one in ("203.0.113.7", "203.0.113.8")}
        spoofed = {"X-Forwarded-For": "198.51.100.1, 203.0.113.7"}  # the proxy appends the last
        assert live.client.get("/v1/models", headers=spoofed).status_code == 429
        page = live.client.get("/")
        assert page.status_code == 200
        plain = live.address.removesuffix("/lab")
        assert httpx.get(f"{plain}/healthz").status_code == 200  # the proxy stripped the prefix
        sent = {"X-Forwarded-For": "203.0.113.9", "X-Request-ID": "abc"}
        job = live.client.post("/v1/depth?wait=false", files={"image": small_photo}, headers=sent)
        assert job.status_code == 202
        assert job.headers["location"] == f"/lab/v1/jobs/{job.json()['id']}"
        assert job.headers["x-request-id"] == "abc"
        described = live.client.get("/openapi.json").json()
        assert described["servers"] == [{"url": "/lab"}]
    records = []
    for line in (tmp_path / "errors.txt").read_text().splitlines():
        if line.startswith("{"):
            records.append(json.loads(line))
    (mine,) = [record for record in records if record["request_id"] == "abc"]
    assert (mine["client"], mine["status"]) == ("203.0.113.9", 202)
    assert (mine["method"], mine["path"]) == ("POST", "/v1/depth")
    assert mine["seconds"] > 0


def test_forwarded_addresses_are_ignored_by_default(tmp_path):
    with running(tmp_path, "--model", "tiny", "--rate", 1, "--burst", 2) as live:
        answers = [
            live.client.get("/v1/models", headers={"X-Forwarded-For": f"203.0.113.{k}"})
            for k in range(3)
        ]
        assert [one.status_code for one in answers] == [200, 200, 429]


def test_a_full_disk(tmp_path, small_photo):
    with running(tmp_path, "--model", "tiny", "--min-free-mb", 1e9) as live:
        for answer in (
            live.client.post("/v1/depth", files={"image": small_photo}),
            live.client.post("/v1/physics/world", json={}),
        ):
            assert answer.status_code == 507
            assert "disk" in answer.json()["error"]
            assert "retry-after" in answer.headers
        assert live.client.get("/healthz").status_code == 200
        assert live.metric('refused_total{reason="disk"}') == 2


def test_a_video_beyond_its_time_limit_is_cut_short(tmp_path, photo, client):
    video = film(photo, 12)
    words = ("--model", "tiny", "--video-timeout", 0.01, "--engine", "openvino", "--device", "cpu")
    with running(tmp_path, *words) as live:
        live.wait_ready()
        job = live.client.post("/v1/depth?wait=false", files={"video": video}).json()
        where = f"/v1/jobs/{job['id']}"
        wait_for(lambda: live.client.get(where).json()["state"] not in ("queued", "running"))
        found = live.client.get(f"{where}/result").json()
        assert found["partial"]
        assert found["frames_total"] == 12
        assert 1 <= found["frames"] < 12
        mp4 = live.client.get(f"{where}/result?format=mp4").content
        assert len(decode(mp4)) == found["frames"]
        assert live.metric("worker_deaths_total") == 0
    whole = client.post("/v1/depth", files={"video": video}).json()
    assert (whole["partial"], whole["frames"], whole["frames_total"]) == (False, 12, 12)
