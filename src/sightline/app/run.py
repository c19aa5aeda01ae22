"""Listen, say where, and serve until told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import sys
import threading
import webbrowser

import uvicorn
from fastapi import FastAPI

from sightline.app.desk import Desk
from sightline.app.guards import Guard
from sightline.app.lines import protocol
from sightline.app.options import ServeOptions
from sightline.app.service import make_service
from sightline.errors import InputError

#: How long jobs that are under way may take when the server is stopped, and then their answers, in [s].
_PATIENCE, _FAREWELL = 2, 8


class _Server(uvicorn.Server):
    """Says where it listens once it does, and ends what is under way when it is stopped."""

    def __init__(self, config: uvicorn.Config, address: str, browse: str | None) -> None:
        super().__init__(config)
        self._address, self._browse = address, browse

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to listen."""
        await super().startup(sockets)
        if self.started:
            print(f"Sightline listens on {self._address} (Ctrl-C ends it)", flush=True)
            if self._browse is not None:
                threading.Thread(target=webbrowser.open, args=(self._browse,), daemon=True).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop to listen, and answer whoever waits."""
        ending = asyncio.create_task(self._desk().stop(_PATIENCE))
        await super().shutdown(sockets)
        await ending

    def _desk(self) -> Desk:
        guard = self.config.app
        assert isinstance(guard, Guard)
        assert isinstance(guard.app, FastAPI)
        desk: Desk = guard.app.state.desk
        return desk


def serve(options: ServeOptions) -> int:
    """Serve until Ctrl-C or a polite kill; return the exit code.

    Args:
        options: how.

    Raises:
        InputError: the address is taken, or a model is not there.
    """
    listener = _listen(options.host, options.port)
    port = int(listener.getsockname()[1])
    host = f"[{options.host}]" if ":" in options.host else options.host
    address = f"http://{host}:{port}/"
    page = address.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")
    fragment = "" if options.token is None else f"#token={options.token}"
    try:
        app = make_service(options)
        config = uvicorn.Config(
            app,
            http=protocol(options.limits, app.refused),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=_FAREWELL,
            timeout_keep_alive=15,
            h11_max_incomplete_event_size=32_768,
            ws="none",
            lifespan="on",
        )
        logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
        logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # the client is told
        server = _Server(config, address, page + fragment if options.open else None)
        with contextlib.suppress(
            KeyboardInterrupt
        ):  # how uvicorn passes Ctrl-C on, when all is done
            server.run(sockets=[listener])
    finally:
        listener.close()
    if not server.started:
        raise InputError("the service could not start", remedy="see what it said above")
    print("stopped", file=sys.stderr)
    return 0


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host.strip("[]"), port))
    except OSError as error:
        listener.close()
        raise InputError(
            f"cannot listen on {host}:{port} ({error.strerror or error})",
            remedy="choose another --port or --host",
        ) from error
    listener.set_inheritable(False)
    return listener
