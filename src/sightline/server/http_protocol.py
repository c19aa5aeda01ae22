"""HTTP protocol with a time limit for request heads and a bound on open connections.

A client that sends an incomplete request head would otherwise occupy a connection forever. Request
bodies are bounded in `middleware`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sightline.server.config import Limits
from sightline.server.errors import ServiceError

#: Open connections per allowed concurrent request.
_CONNECTIONS_PER_REQUEST = 4


def make_protocol(limits: Limits, on_refused: Callable[[str], None]) -> type[H11Protocol]:
    """Return the uvicorn protocol class of a service.

    Args:
        limits: `head_timeout` runs from the opening of a connection, or from the first byte of a
            later request on it, to the end of the head; `max_connections` bounds connections.
        on_refused: called with the reason of every refusal.
    """

    class BoundedH11Protocol(H11Protocol):
        """HTTP/1.1 connection that is closed if a request head takes too long."""

        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > _CONNECTIONS_PER_REQUEST * limits.max_connections:
                on_refused("connections")
                message = "too many open connections; try again soon"
                self._refuse(ServiceError(503, message, retry_after=1))
                return
            self._update_timer(head_begun=True)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._update_timer(head_begun=bool(self.conn.trailing_data[0]))

        def send_400_response(self, msg: str) -> None:
            self._refuse(ServiceError(400, msg))

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._update_timer(head_begun=bool(self.conn.trailing_data[0]))

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop_timer()
            super().connection_lost(exc)

        def _update_timer(self, *, head_begun: bool) -> None:
            """Run the timer only while a request head is arriving."""
            idle = self.conn.their_state is h11.IDLE
            if not head_begun or not idle or self.transport.is_closing():
                self._stop_timer()
            elif self._timer is None:
                self._timer = self.loop.call_later(limits.head_timeout, self._time_out)

        def _stop_timer(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _time_out(self) -> None:
            self._timer = None
            if self.transport.is_closing():
                return
            on_refused("slow")
            message = f"the head of the request took longer than {limits.head_timeout:g} s"
            self._refuse(ServiceError(408, message))

        def _refuse(self, error: ServiceError) -> None:
            self.transport.write(_encode_response(error))
            self.transport.close()

    return BoundedH11Protocol


def _encode_response(error: ServiceError) -> bytes:
    """Return the bytes of an error response after which the connection is closed."""
    body = json.dumps(error.body, ensure_ascii=False).encode()
    headers: dict[str, Any] = {
        "Content-Type": "application/json",
        "Content-Length": len(body),
        "Connection": "close",
        **error.headers,
    }
    head = f"HTTP/1.1 {error.status} {HTTPStatus(error.status).phrase}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return head.encode("ascii") + b"\r\n" + body
