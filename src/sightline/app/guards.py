"""What every request passes before anything is done for it, and what every answer carries.

In this order: is it meant for this server (Host), does it come from a page of ours (Origin), is its
sender not in too great a hurry (rate), does it know the token, is there room for it, and is its body
within bounds. Everything that goes wrong is JSON with one sentence.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import secrets
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sightline.app.metrics import Metrics
from sightline.app.options import ServeOptions, is_loopback
from sightline.app.problems import Problem

CONTENT_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "font-src 'self'",
        "worker-src 'self' blob:",
        "manifest-src 'self'",
        "form-action 'none'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

SECURITY_HEADERS = {
    "Content-Security-Policy": CONTENT_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

_EXPOSED = "Location, Retry-After, Content-Disposition, X-Sightline-Width, X-Sightline-Height"
_EXPOSED += ", X-Sightline-Planes, X-Sightline-Kind, X-Sightline-Unit"

#: Clients whose pace is remembered, at most.
_CLIENTS = 10_000
#: A body that is too large is read and thrown away up to so many times the limit, so that its sender
#: is there to hear why; beyond, the line is cut.
_DRAINED = 4


class Pace:
    """How fast each client may ask: a bucket of `burst` tokens that fills at `rate` per minute."""

    def __init__(self, rate: float, burst: int) -> None:
        self._rate, self._burst = rate / 60, float(burst)
        self._clients: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str, now: float) -> float:
        """Take a token; return 0, or the seconds after which there is one."""
        if not self._rate:
            return 0.0
        tokens, then = self._clients.pop(client, (self._burst, now))
        tokens = min(self._burst, tokens + (now - then) * self._rate)
        enough = tokens >= 1
        self._clients[client] = (tokens - enough, now)
        if len(self._clients) > _CLIENTS:
            self._clients.popitem(last=False)
        return 0.0 if enough else (1 - tokens) / self._rate


class Guard:
    """The ASGI application around the application.

    Args:
        app: to protect.
        options: of the service.
        metrics: that requests are counted in.
    """

    def __init__(self, app: ASGIApp, options: ServeOptions, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics
        self._limits, self._cors = options.limits, frozenset(options.cors)
        self._token = None if options.token is None else options.token.encode()
        self._hosts = {"localhost", "127.0.0.1", "::1", options.host.strip("[]").lower()}
        self._hosts |= {name.lower() for name in options.allow_host}
        self._any_address = not is_loopback(options.host)
        self._pace = Pace(self._limits.rate, self._limits.burst)
        self._inside = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._add_headers(scope, MutableHeaders(scope=message))
            await send(message)

        try:
            await self._admit(scope, receive, answer)
        finally:
            path = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self.metrics.count("requests_total", path=path, method=method, status=str(status))
            self.metrics.time("request_seconds", time.perf_counter() - start, path=path)

    async def _admit(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            origin = self._check_origin(headers)
            if origin is not None and _is_preflight(scope, headers):
                await _preflight(send)
                return
            self._check_pace(scope)
            self._check_token(scope, headers)
            with self._room():
                bounded = await self._bounded(headers, receive)
                await self.app(scope, bounded, send)
        except Problem as problem:
            await _say(problem, send)

    def refused(self, reason: str) -> None:
        """Count a request that was refused before any work."""
        self.metrics.count("refused_total", reason=reason)

    def _refuse(self, reason: str, problem: Problem) -> Problem:
        self.refused(reason)
        return problem

    def _check_host(self, headers: Headers) -> None:
        """Refuse a name that is not ours: by one of its own, another site can make browsers call us."""
        host = _host_of(headers.get("host", ""))
        if host in self._hosts or (self._any_address and _is_address(host)):
            return
        sentence = f"this server is not called {host[:80]!r}; start it with --allow-host if it is"
        raise self._refuse("host", Problem(421, sentence))

    def _check_origin(self, headers: Headers) -> str | None:
        """Refuse what a page of another site sends; return the origin if it was allowed by name."""
        origin = headers.get("origin")
        if origin is None:
            return None
        if origin in self._cors:
            return origin
        try:
            same = urlsplit(origin).netloc == headers.get("host")
        except ValueError:
            same = False
        if same:
            return None
        sentence = f"pages of {origin[:80]!r} may not use this server; start it with --cors if so"
        raise self._refuse("origin", Problem(403, sentence))

    def _check_pace(self, scope: Scope) -> None:
        if not _is_guarded(scope["path"]):
            return
        wait = self._pace.wait(_client_of(scope), time.monotonic())
        if wait:
            sentence = f"too many requests; wait {max(1, round(wait))} s"
            raise self._refuse("rate", Problem(429, sentence, retry=wait))

    def _check_token(self, scope: Scope, headers: Headers) -> None:
        if self._token is None or not _is_guarded(scope["path"]):
            return
        kind, _, given = headers.get("authorization", "").partition(" ")
        known = secrets.compare_digest(given.strip().encode(), self._token)
        if kind.lower() == "bearer" and known:
            return
        challenge = {"WWW-Authenticate": 'Bearer realm="sightline"'}
        sentence = "this server wants its token; send it as Authorization: Bearer TOKEN"
        raise self._refuse("token", Problem(401, sentence, headers=challenge))

    @contextmanager
    def _room(self) -> Iterator[None]:
        if self._inside >= self._limits.connections:
            sentence = f"{self._inside} requests are being answered already; try again soon"
            raise self._refuse("connections", Problem(429, sentence, retry=1))
        self._inside += 1
        try:
            yield
        finally:
            self._inside -= 1

    async def _bounded(self, headers: Headers, receive: Receive) -> Receive:
        """Return `receive` that ends a body which is too large or too slow."""
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise self._refuse("body", Problem(415, "send the body as it is, not compressed"))
        most, late = self._limits.body_bytes, time.monotonic() + self._limits.body_seconds
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > most:
            await _drain(receive, min(int(declared), _DRAINED * most), late)
            raise self._too_large()
        so_far, done = 0, False

        async def bounded() -> Message:
            nonlocal so_far, done
            if done:  # now it only tells whether the client is still there
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), late - time.monotonic())
            except TimeoutError:
                sentence = f"the body took longer than {self._limits.body_seconds:g} s to arrive"
                raise self._refuse("slow", Problem(408, sentence)) from None
            so_far += len(message.get("body", b""))
            done = not message.get("more_body", False)
            if so_far > most:
                if not done:
                    await _drain(receive, (_DRAINED - 1) * most, late)
                raise self._too_large()
            return message

        return bounded

    def _too_large(self) -> Problem:
        sentence = f"the body is larger than {self._limits.body_mb:g} MB; send something smaller"
        return self._refuse("body", Problem(413, sentence))

    def _add_headers(self, scope: Scope, headers: MutableHeaders) -> None:
        for name, value in SECURITY_HEADERS.items():
            headers[name] = value
        if _is_guarded(scope["path"]):
            headers["Cache-Control"] = "no-store"
        origin = Headers(scope=scope).get("origin")
        if self._cors:
            headers.add_vary_header("Origin")
        if origin in self._cors:
            headers["Access-Control-Allow-Origin"] = str(origin)
            headers["Access-Control-Expose-Headers"] = _EXPOSED


_METHODS = ("GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH")


def _is_guarded(path: str) -> bool:
    """Whether a path is more than the page, its description and a sign of life."""
    return path.startswith("/v1/") or path == "/metrics"


def _client_of(scope: Scope) -> str:
    """Return what tells clients apart: an address, of IPv6 the network that one household has."""
    client = scope.get("client")
    address = client[0] if client else ""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
    except ValueError:
        return address


def _host_of(header: str) -> str:
    """Return the name or address in a Host header, without port and brackets."""
    host = header.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    return scope["method"] == "OPTIONS" and "access-control-request-method" in headers


async def _preflight(send: Send) -> None:
    headers = [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", b"Authorization, Content-Type, Accept"),
        (b"access-control-max-age", b"600"),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive, most: int, late: float) -> None:
    """Read on and throw away, up to a number of bytes and a point in time."""
    seen = 0
    while seen < most and (left := late - time.monotonic()) > 0:
        try:
            message = await asyncio.wait_for(receive(), min(left, 10.0))
        except TimeoutError:
            return
        seen += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


async def _say(problem: Problem, send: Send) -> None:
    body = json.dumps({"error": problem.sentence}, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    headers |= problem.headers
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": problem.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
