"""Connections before they are requests: how long a head may take, and how many lines may be open.

A client that sends half a head and then nothing, or a byte now and then, would hold its line for ever.
What follows a head is bounded in `guards`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from sightline.app.options import Limits
from sightline.app.problems import Problem

#: Open lines for each request that may be in hand.
_LINES = 4


def protocol(limits: Limits, refused: Callable[[str], None]) -> type[H11Protocol]:
    """Return the kind of connection that a service accepts.

    Args:
        limits: `head_seconds` from the first moment of a line, or the first byte of a later request
            on it, to the end of the head; and `connections`.
        refused: told why, for the counters.
    """

    class Punctual(H11Protocol):
        """A connection that does not wait for ever for the head of a request."""

        _timer: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            if len(self.connections) > _LINES * limits.connections:
                refused("connections")
                self._refuse(Problem(503, "too many lines are open; try again soon", retry=1))
                return
            self._watch(begun=True)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch(begun=bool(self.conn.trailing_data[0]))

        def send_400_response(self, msg: str) -> None:
            self._refuse(Problem(400, msg))

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self._watch(begun=bool(self.conn.trailing_data[0]))

        def connection_lost(self, exc: Exception | None) -> None:
            self._rest()
            super().connection_lost(exc)

        def _watch(self, *, begun: bool) -> None:
            """Let the time run while a head is on its way, and only then."""
            if not begun or self.conn.their_state is not h11.IDLE or self.transport.is_closing():
                self._rest()
            elif self._timer is None:
                self._timer = self.loop.call_later(limits.head_seconds, self._give_up)

        def _rest(self) -> None:
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None

        def _give_up(self) -> None:
            self._timer = None
            if self.transport.is_closing():
                return
            refused("slow")
            sentence = f"the head of the request took longer than {limits.head_seconds:g} s"
            self._refuse(Problem(408, sentence))

        def _refuse(self, problem: Problem) -> None:
            self.transport.write(raw(problem))
            self.transport.close()

    return Punctual


def raw(problem: Problem) -> bytes:
    """Return an answer as it goes over the line, after which that is closed."""
    body = json.dumps({"error": problem.sentence}, ensure_ascii=False).encode()
    headers: dict[str, Any] = {
        "Content-Type": "application/json",
        "Content-Length": len(body),
        "Connection": "close",
        **problem.headers,
    }
    head = f"HTTP/1.1 {problem.status} {HTTPStatus(problem.status).phrase}\r\n"
    head += "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return head.encode("ascii") + b"\r\n" + body
