"""ASGI middleware that checks every request before any work is done for it.

Checks, in this order: host name (DNS rebinding), origin (cross-site requests), request rate, token,
number of concurrent requests, size and duration of the body. Every response gets security headers and
a request id.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from limits import RateLimitItemPerSecond
from limits.storage import MemoryStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sightline.server.config import ServeConfig, is_loopback
from sightline.server.errors import ServiceError
from sightline.server.metrics import Metrics

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

_EXPOSED_HEADERS = ", ".join(
    (
        "Location",
        "Retry-After",
        "Content-Disposition",
        "X-Request-ID",
        *(f"X-Sightline-{name}" for name in ("Width", "Height", "Planes", "Kind", "Unit")),
    )
)
_METHODS = ("GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
#: A body that is too large is read and discarded up to this multiple of the limit, so that the client
#: receives the error; beyond it the connection is closed.
_DRAIN_FACTOR = 4

logger = logging.getLogger("sightline.server.access")


class RateLimiter:
    """Limit of requests per client: `burst` requests in any `burst / rate` minutes.

    Args:
        rate: requests per minute; 0 for no limit.
        burst: requests at once.
    """

    def __init__(self, rate: float, burst: int) -> None:
        self._limiter: SlidingWindowCounterRateLimiter | None = None
        if rate:
            window = max(1, round(60 * burst / rate))
            self._item = RateLimitItemPerSecond(max(1, round(rate * window / 60)), window)
            self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())

    def wait_seconds(self, client: str) -> float:
        """Count a request; return 0, or the time until the client may send another one in [s]."""
        if self._limiter is None or self._limiter.hit(self._item, client):
            return 0.0
        reset = self._limiter.get_window_stats(self._item, client).reset_time
        return max(0.001, reset - time.time())


class SecurityMiddleware:
    """The outermost ASGI application of the service.

    Args:
        app: application to protect.
        config: settings of the server.
        metrics: metrics to update.
    """

    def __init__(self, app: ASGIApp, config: ServeConfig, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics
        self._limits, self._cors = config.limits, frozenset(config.cors)
        self._token = None if config.token is None else config.token.encode()
        self._hosts = {"localhost", "127.0.0.1", "::1", config.host.strip("[]").lower()}
        self._hosts |= {name.lower() for name in config.allow_host}
        self._any_address = not is_loopback(config.host)
        self._root_path = config.root_path
        self._rate_limiter = RateLimiter(self._limits.rate, self._limits.burst)
        self._active = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request to the application, or answer it with an error."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0
        route_path = self._split_root_path(scope)
        given_id = Headers(scope=scope).get("x-request-id", "")
        request_id = given_id if _REQUEST_ID.fullmatch(given_id) else secrets.token_hex(8)

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-ID"] = request_id
                self._add_headers(scope, route_path, headers)
            await send(message)

        try:
            if not route_path:  # relative addresses of the page need the slash at the end
                await _redirect(f"{self._root_path}/", send_with_headers)
            else:
                await self._admit(scope, route_path, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - start
            path = getattr(scope.get("route"), "path", "other")
            method = scope["method"] if scope["method"] in _METHODS else "other"
            self.metrics.requests.labels(path=path, method=method, status=str(status)).inc()
            self.metrics.request_seconds.labels(path=path).observe(seconds)
            details = {
                "request_id": request_id,
                "client": (scope.get("client") or ("",))[0],
                "method": method,
                "path": route_path[:200],
                "status": status,
                "seconds": round(seconds, 4),
            }
            logger.info("%(method)s %(path)s %(status)s", details, extra=details)

    def _split_root_path(self, scope: Scope) -> str:
        """Set the root path of a request and return the rest; proxies may or may not remove it."""
        path, root = str(scope["path"]), self._root_path
        if root and (path == root or path.startswith(root + "/")):
            path = path.removeprefix(root)
        scope["root_path"], scope["path"] = root, root + path
        return path

    async def _admit(self, scope: Scope, path: str, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            self._check_host(headers)
            origin = self._check_origin(headers)
            if origin is not None and _is_preflight(scope, headers):
                await _send_preflight(send)
                return
            if _is_protected(path):
                self._check_rate(scope)
                self._check_token(headers)
            with self._count_active():
                await self.app(scope, await self._limit_body(headers, receive), send)
        except ServiceError as error:
            await _send_error(error, send)

    def count_refused(self, reason: str) -> None:
        """Count a request that was refused before any work."""
        self.metrics.refused.labels(reason=reason).inc()

    def _refuse(self, reason: str, error: ServiceError) -> ServiceError:
        self.count_refused(reason)
        return error

    def _check_host(self, headers: Headers) -> None:
        """Refuse unknown host names, under which another site could reach us (DNS rebinding)."""
        host = _host_name(headers.get("host", ""))
        if host in self._hosts or (self._any_address and _is_ip_address(host)):
            return
        message = f"unknown host name {host[:80]!r}; allow it with --allow-host"
        raise self._refuse("host", ServiceError(421, message))

    def _check_origin(self, headers: Headers) -> str | None:
        """Refuse requests of other sites' pages; return the origin if it is allowed by --cors."""
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
        message = f"requests from {origin[:80]!r} are not allowed; allow them with --cors"
        raise self._refuse("origin", ServiceError(403, message))

    def _check_rate(self, scope: Scope) -> None:
        wait = self._rate_limiter.wait_seconds(_client_key(scope))
        if wait:
            message = f"too many requests; wait {max(1, round(wait))} s"
            raise self._refuse("rate", ServiceError(429, message, retry_after=wait))

    def _check_token(self, headers: Headers) -> None:
        if self._token is None:
            return
        scheme, _, given = headers.get("authorization", "").partition(" ")
        matches = secrets.compare_digest(given.strip().encode(), self._token)
        if scheme.lower() == "bearer" and matches:
            return
        challenge = {"WWW-Authenticate": 'Bearer realm="sightline"'}
        message = "the token is missing or wrong; send it as Authorization: Bearer TOKEN"
        raise self._refuse("token", ServiceError(401, message, headers=challenge))

    @contextmanager
    def _count_active(self) -> Iterator[None]:
        if self._active >= self._limits.max_connections:
            message = f"too many concurrent requests ({self._active}); try again soon"
            raise self._refuse("connections", ServiceError(429, message, retry_after=1))
        self._active += 1
        try:
            yield
        finally:
            self._active -= 1

    async def _limit_body(self, headers: Headers, receive: Receive) -> Receive:
        """Return `receive` with limits on the size and the duration of the body."""
        if headers.get("content-encoding", "identity").lower() != "identity":
            raise self._refuse("body", ServiceError(415, "send the body uncompressed"))
        limit = self._limits.max_body_bytes
        deadline = time.monotonic() + self._limits.body_timeout
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > limit:
            await _drain(receive, min(int(declared), _DRAIN_FACTOR * limit), deadline)
            raise self._body_too_large()
        received, complete = 0, False

        async def limited() -> Message:
            nonlocal received, complete
            if complete:  # later messages only report a disconnect
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), deadline - time.monotonic())
            except TimeoutError:
                text = f"the body took longer than {self._limits.body_timeout:g} s to arrive"
                raise self._refuse("slow", ServiceError(408, text)) from None
            received += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if received > limit:
                if not complete:
                    await _drain(receive, (_DRAIN_FACTOR - 1) * limit, deadline)
                raise self._body_too_large()
            return message

        return limited

    def _body_too_large(self) -> ServiceError:
        message = f"the body is larger than {self._limits.max_body_mb:g} MB; send something smaller"
        return self._refuse("body", ServiceError(413, message))

    def _add_headers(self, scope: Scope, path: str, headers: MutableHeaders) -> None:
        for name, value in SECURITY_HEADERS.items():
            headers[name] = value
        if _is_protected(path):
            headers["Cache-Control"] = "no-store"
        origin = Headers(scope=scope).get("origin")
        if self._cors:
            headers.add_vary_header("Origin")
        if origin in self._cors:
            headers["Access-Control-Allow-Origin"] = str(origin)
            headers["Access-Control-Expose-Headers"] = _EXPOSED_HEADERS


def _is_protected(path: str) -> bool:
    """Return whether a path needs a token; the page, its files and the health check do not."""
    return path.startswith("/v1/") or path == "/metrics"


def _client_key(scope: Scope) -> str:
    """Return the key of a client: its IPv4 address, or its IPv6 /64 network."""
    client = scope.get("client")
    address = client[0] if client else ""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.ip_network((address.partition("%")[0], 64), strict=False))
    except ValueError:
        return address


def _host_name(header: str) -> str:
    """Return the name or address of a Host header without port and brackets."""
    host = header.strip().lower()
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_ip_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    return scope["method"] == "OPTIONS" and "access-control-request-method" in headers


async def _send_preflight(send: Send) -> None:
    headers = [
        (b"access-control-allow-methods", b"GET, POST, DELETE"),
        (b"access-control-allow-headers", b"Authorization, Content-Type, Accept"),
        (b"access-control-max-age", b"600"),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _redirect(location: str, send: Send) -> None:
    headers = [(b"location", location.encode("ascii")), (b"content-length", b"0")]
    await send({"type": "http.response.start", "status": 308, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive, limit: int, deadline: float) -> None:
    """Read and discard a body up to a number of bytes and a point in time."""
    received = 0
    while received < limit and (left := deadline - time.monotonic()) > 0:
        try:
            message = await asyncio.wait_for(receive(), min(left, 10.0))
        except TimeoutError:
            return
        received += len(message.get("body", b""))
        if message["type"] != "http.request" or not message.get("more_body", False):
            return


async def _send_error(error: ServiceError, send: Send) -> None:
    body = json.dumps(error.body, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    headers |= error.headers
    pairs = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": error.status, "headers": pairs})
    await send({"type": "http.response.body", "body": body})
