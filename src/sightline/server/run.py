"""Run the server until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import sys
import threading
import time
import webbrowser

import uvicorn
from fastapi import FastAPI

from sightline.errors import InputError
from sightline.server.app import create_app
from sightline.server.config import ServeConfig
from sightline.server.http_protocol import make_protocol
from sightline.server.job_service import JobService
from sightline.server.middleware import SecurityMiddleware

#: Time for running jobs, and then for their responses, when the server is stopped in [s].
_DRAIN_TIMEOUT, _RESPONSE_TIMEOUT = 2, 8
#: Fields of a request's log record.
_LOG_FIELDS = ("request_id", "client", "method", "path", "status", "seconds")


class _Server(uvicorn.Server):
    """Server that prints its address when it listens and drains jobs when it is stopped."""

    def __init__(self, config: uvicorn.Config, address: str, open_url: str | None) -> None:
        super().__init__(config)
        self._address, self._open_url = address, open_url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen."""
        await super().startup(sockets)
        if self.started:
            print(f"Sightline listens on {self._address} (Ctrl-C stops it)", flush=True)
            if self._open_url is not None:
                threading.Thread(
                    target=webbrowser.open, args=(self._open_url,), daemon=True
                ).start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop to listen and answer waiting clients."""
        drained = asyncio.create_task(self._service().drain(_DRAIN_TIMEOUT))
        await super().shutdown(sockets)
        await drained

    def _service(self) -> JobService:
        middleware = self.config.app
        assert isinstance(middleware, SecurityMiddleware)
        assert isinstance(middleware.app, FastAPI)
        service: JobService = middleware.app.state.service
        return service


class _LogFormatter(logging.Formatter):
    """Format a request's log record as one line of text or JSON."""

    def __init__(self, *, as_json: bool) -> None:
        super().__init__()
        self._as_json = as_json

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        fields = {"time": f"{moment}.{record.msecs:03.0f}Z"}
        fields |= {name: getattr(record, name) for name in _LOG_FIELDS}
        if self._as_json:
            return json.dumps(fields)
        return " ".join(str(value) for value in fields.values())


def serve(config: ServeConfig) -> int:
    """Serve until SIGINT or SIGTERM; return the exit code.

    Args:
        config: settings of the server.

    Raises:
        InputError: the address is in use, or a model does not exist.
    """
    listener = _listen(config.host, config.port)
    port = int(listener.getsockname()[1])
    host = f"[{config.host}]" if ":" in config.host else config.host
    address = f"http://{host}:{port}{config.root_path}/"
    page = address.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]")
    fragment = "" if config.token is None else f"#token={config.token}"
    try:
        app = create_app(config)
        settings = uvicorn.Config(
            app,
            http=make_protocol(config.limits, app.count_refused),
            log_level="warning",
            access_log=False,
            server_header=False,
            proxy_headers=bool(config.trusted_proxies),
            forwarded_allow_ips=list(config.trusted_proxies),
            timeout_graceful_shutdown=_RESPONSE_TIMEOUT,
            timeout_keep_alive=15,
            h11_max_incomplete_event_size=32_768,
            ws="none",
            lifespan="on",
        )
        _configure_logging(config.log)
        server = _Server(settings, address, page + fragment if config.open else None)
        with contextlib.suppress(KeyboardInterrupt):  # raised by uvicorn after it has stopped
            server.run(sockets=[listener])
    finally:
        listener.close()
    if not server.started:
        raise InputError("the server could not start", remedy="see the messages above")
    print("stopped", file=sys.stderr)
    return 0


def _configure_logging(log: str) -> None:
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # the client gets the error
    if log == "none":
        return
    handler = logging.StreamHandler()
    handler.setFormatter(_LogFormatter(as_json=log == "json"))
    access = logging.getLogger("sightline.server.access")
    access.addHandler(handler)
    access.setLevel(logging.INFO)
    access.propagate = False


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
