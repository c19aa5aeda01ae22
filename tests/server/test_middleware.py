"""What stands before the service: host, origin, token, pace, room, body; and the headers of answers."""

from __future__ import annotations

import asyncio
import json
import time

import httpx
import pytest

from sightline.errors import InputError
from sightline.server.config import Limits, ServeConfig
from sightline.server.metrics import Metrics
from sightline.server.middleware import SECURITY_HEADERS, RateLimiter, SecurityMiddleware

TOKEN = "open-sesame"


async def echo(scope, receive, send):
    """An application that says how many bytes it was sent."""
    size, more = 0, True
    while more:
        message = await receive()
        size += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def guarded(app=echo, **settings):
    limits = Limits(**settings.pop("limits", {"rate": 0}))
    return SecurityMiddleware(app, ServeConfig(limits=limits, **settings), Metrics())


def ask(
    guard, method="GET", path="/v1/models", *, host="127.0.0.1:8765", client="127.0.0.1", **more
):
    """Send one request; more of them share the guard's memory."""

    async def once():
        transport = httpx.ASGITransport(guard, client=(client, 1234))
        base = "http://127.0.0.1:8765"
        async with httpx.AsyncClient(transport=transport, base_url=base) as http:
            headers = {"Host": host, **more.pop("headers", {})}
            return await http.request(method, path, headers=headers, **more)

    return asyncio.run(once())


@pytest.mark.parametrize(
    "host", ["127.0.0.1:8765", "localhost", "LOCALHOST:1", "[::1]:8765", "127.0.0.1"]
)
def test_its_own_names(host):
    assert ask(guarded(), host=host).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8765",
        "192.168.0.7",
        "",
        "[::2]",
    ],
)
def test_a_name_that_another_site_made_up(host):
    """DNS rebinding: a browser is led here under the name of another site."""
    answer = ask(guarded(), host=host)
    assert answer.status_code == 421
    assert "--allow-host" in answer.json()["error"]


def test_names_that_were_allowed():
    guard = guarded(allow_host=("depth.example",), token=TOKEN, host="0.0.0.0")
    headers = {"Authorization": f"Bearer {TOKEN}"}
    assert ask(guard, host="depth.example", headers=headers).status_code == 200
    assert ask(guard, host="192.168.0.7:8765", headers=headers).status_code == 200
    assert ask(guard, host="other.example", headers=headers).status_code == 421


def test_pages_of_other_sites_are_refused():
    for origin in ("https://evil.example", "null", "http://127.0.0.1:9", "http://[", ""):
        answer = ask(guarded(), "POST", headers={"Origin": origin})
        assert answer.status_code == 403, origin
        assert "access-control-allow-origin" not in answer.headers
    own = ask(guarded(), "POST", headers={"Origin": "http://127.0.0.1:8765"})
    assert own.status_code == 200
    assert "access-control-allow-origin" not in own.headers


def test_pages_that_were_allowed():
    guard = guarded(cors=("https://good.example",), token=TOKEN)
    ask_first = {"Origin": "https://good.example", "Access-Control-Request-Method": "POST"}
    preflight = ask(guard, "OPTIONS", headers=ask_first)
    assert preflight.status_code == 204
    assert preflight.headers["access-control-allow-origin"] == "https://good.example"
    assert "Authorization" in preflight.headers["access-control-allow-headers"]
    headers = {"Origin": "https://good.example", "Authorization": f"Bearer {TOKEN}"}
    answer = ask(guard, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "https://good.example"
    assert "Origin" in answer.headers["vary"]
    assert ask(guard, headers={"Origin": "https://bad.example"}).status_code == 403
    refused = ask(guard, "OPTIONS", headers={**ask_first, "Origin": "https://bad.example"})
    assert refused.status_code == 403


def test_the_token():
    guard = guarded(token=TOKEN)
    for path in ("/v1/models", "/v1/jobs/x", "/metrics"):
        answer = ask(guard, path=path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
    for path in ("/", "/page/main.js", "/healthz", "/openapi.json"):
        assert ask(guard, path=path).status_code == 200
    for wrong in ("", "Bearer", f"Bearer {TOKEN}x", f"Basic {TOKEN}", TOKEN, "Bearer ü"):
        headers = {"Authorization": wrong.encode("latin-1")}
        assert ask(guard, headers=headers).status_code == 401, wrong
    for right in (f"Bearer {TOKEN}", f"bearer  {TOKEN}"):
        assert ask(guard, headers={"Authorization": right}).status_code == 200
    assert TOKEN not in guard.metrics.text()


def test_other_addresses_need_a_token():
    for host in ("0.0.0.0", "::", "192.168.0.7", "example.org"):
        with pytest.raises(InputError, match="token"):
            ServeConfig(host=host)
        ServeConfig(host=host, token=TOKEN)
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        ServeConfig(host=host)


@pytest.mark.parametrize(
    "settings",
    [
        {"token": "short"},
        {"token": "with a blank in it"},
        {"port": 70000},
        {"workers": 0},
        {"cors": ("*",)},
        {"cors": ("good.example",)},
        {"model": ()},
    ],
)
def test_settings_that_cannot_be(settings):
    with pytest.raises(InputError):
        ServeConfig(**settings)


@pytest.mark.parametrize("name", ["max_body_mb", "max_pixels", "job_timeout", "max_kept", "burst"])
def test_limits_are_positive(name):
    with pytest.raises(InputError, match=name.replace("_", "-")):
        Limits(**{name: 0})
    with pytest.raises(InputError):
        Limits(**{name: float("nan")})


def test_the_pace_of_each_client():
    guard = guarded(limits={"rate": 1, "burst": 3})
    statuses = [ask(guard).status_code for _ in range(5)]
    assert statuses == [200, 200, 200, 429, 429]
    refused = ask(guard)
    assert int(refused.headers["retry-after"]) >= 1
    assert "too many" in refused.json()["error"].lower()
    assert ask(guard, client="10.0.0.9").status_code == 200
    assert ask(guard, path="/healthz").status_code == 200  # a sign of life costs nothing


def test_guessing_tokens_is_slow():
    guard = guarded(token=TOKEN, limits={"rate": 1, "burst": 3})
    statuses = [ask(guard, headers={"Authorization": "Bearer guess"}).status_code for _ in range(5)]
    assert statuses == [401, 401, 401, 429, 429]


def test_the_rate_limit_resets(monkeypatch):
    now = [1000.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    limiter = RateLimiter(60, 2)  # 2 requests in any 2 s
    assert [limiter.wait_seconds("a") > 0 for _ in range(3)] == [False, False, True]
    assert 0 < limiter.wait_seconds("a") <= 4
    now[0] += 5
    assert [limiter.wait_seconds("a") > 0 for _ in range(3)] == [False, False, True]
    assert not RateLimiter(0, 2).wait_seconds("a")


def test_old_clients_are_forgotten(monkeypatch):
    limiter = RateLimiter(60, 1)
    for number in range(2000):
        limiter.wait_seconds(str(number))
    storage = limiter._limiter.storage
    later = time.time() + 60
    monkeypatch.setattr(time, "time", lambda: later)
    for _ in range(100):
        limiter.wait_seconds("late")
        time.sleep(0.02)
        if len(storage.storage) < 10:
            return
    pytest.fail(f"{len(storage.storage)} clients are still stored")


def test_one_household_of_ipv6_is_one_client():
    guard = guarded(limits={"rate": 1, "burst": 2})
    statuses = [ask(guard, client=f"2001:db8:1:2::{k}").status_code for k in range(3)]
    assert statuses == [200, 200, 429]
    assert ask(guard, client="2001:db8:1:3::1").status_code == 200


def test_bodies_are_bounded():
    guard = guarded(limits={"rate": 0, "max_body_mb": 0.1})
    assert ask(guard, "POST", content=b"x" * 100_000).text == "100000"
    declared = ask(guard, "POST", content=b"x" * 100_001)
    assert declared.status_code == 413
    assert "0.1 MB" in declared.json()["error"]

    async def pieces():
        for _ in range(11):
            yield b"x" * 10_000

    undeclared = ask(guard, "POST", content=pieces())
    assert undeclared.status_code == 413
    squeezed = ask(guard, "POST", content=b"x", headers={"Content-Encoding": "gzip"})
    assert squeezed.status_code == 415


def test_a_body_that_never_comes():
    async def story():
        guard = guarded(limits={"rate": 0, "body_timeout": 0.2})
        sent = []

        async def receive():
            await asyncio.sleep(60)

        async def send(message):
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"content-length", b"10")]
        scope = {"type": "http", "method": "POST", "path": "/v1/depth", "headers": headers}
        begin = time.monotonic()
        await guard({**scope, "client": ("127.0.0.1", 1)}, receive, send)
        assert time.monotonic() - begin < 10
        return sent

    first, second = asyncio.run(story())
    assert first["status"] == 408
    assert "0.2 s" in json.loads(second["body"])["error"]


def test_room_for_so_many():
    async def story():
        gate = asyncio.Event()

        async def slow(scope, receive, send):
            await gate.wait()
            await echo(scope, receive, send)

        guard = guarded(slow, limits={"rate": 0, "max_connections": 2})
        transport = httpx.ASGITransport(guard)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            two = [asyncio.create_task(http.get("/v1/models")) for _ in range(2)]
            while guard._active < 2:
                await asyncio.sleep(0)
            third = await http.get("/v1/models")
            gate.set()
            return third, [(await one).status_code for one in two], await http.get("/v1/models")

    third, two, later = asyncio.run(story())
    assert third.status_code == 429
    assert "retry-after" in third.headers
    assert two == [200, 200]
    assert later.status_code == 200


def test_every_answer_is_wrapped():
    for path, status in (("/v1/models", 200), ("/", 200)):
        answer = ask(guarded(), path=path)
        assert answer.status_code == status
        for name, value in SECURITY_HEADERS.items():
            assert answer.headers[name] == value
    policy = SECURITY_HEADERS["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    refused = ask(guarded(), host="evil.example")
    assert refused.headers["x-content-type-options"] == "nosniff"
    assert refused.headers["cache-control"] == "no-store"


async def show_paths(scope, receive, send):
    """An application that returns the paths and the client that it was called with."""
    body = json.dumps([scope["root_path"], scope["path"], scope["client"][0]]).encode()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.mark.parametrize("path", ["/lab/depth/v1/models", "/v1/models"])
def test_the_root_path_may_or_may_not_be_stripped_by_the_proxy(path):
    guard = guarded(show_paths, root_path="/lab/depth")
    assert ask(guard, path=path).json()[:2] == ["/lab/depth", "/lab/depth/v1/models"]


def test_paths_below_the_root_path_are_protected():
    guard = guarded(show_paths, root_path="/lab", token=TOKEN)
    for path in ("/lab/v1/models", "/v1/models", "/lab/metrics"):
        assert ask(guard, path=path).status_code == 401, path
    assert ask(guard, path="/lab/healthz").status_code == 200
    assert ask(guard, path="/laboratory").json()[1] == "/lab/laboratory"


def test_the_root_path_without_its_slash_is_redirected():
    answer = ask(guarded(show_paths, root_path="/lab"), path="/lab")
    assert (answer.status_code, answer.headers["location"]) == (308, "/lab/")


@pytest.mark.parametrize("root_path", ["lab", "/lab/", "/", "/a b", "//x", "/a?b"])
def test_root_paths_that_cannot_be(root_path):
    with pytest.raises(InputError, match="root-path"):
        ServeConfig(root_path=root_path)


def test_request_ids():
    guard = guarded()
    made = ask(guard).headers["x-request-id"]
    assert made != ask(guard).headers["x-request-id"]
    assert ask(guard, headers={"X-Request-ID": "abc-1.2"}).headers["x-request-id"] == "abc-1.2"
    for bad in ("a b", "x" * 65, "a;b", ""):
        assert ask(guard, headers={"X-Request-ID": bad}).headers["x-request-id"] != bad


def test_requests_are_logged(caplog):
    with caplog.at_level("INFO", logger="sightline.server.access"):
        ask(guarded(token=TOKEN), headers={"X-Request-ID": "abc"})
    (record,) = caplog.records
    assert (record.request_id, record.method, record.status) == ("abc", "GET", 401)
    assert (record.path, record.client) == ("/v1/models", "127.0.0.1")


def test_no_websockets():
    async def story():
        sent = []

        async def send(message):
            sent.append(message)

        async def receive():
            return {"type": "websocket.connect"}

        await guarded()({"type": "websocket", "path": "/"}, receive, send)
        return sent

    assert asyncio.run(story()) == []
