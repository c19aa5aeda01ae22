"""What can be set when a service is started: one field, one flag of `sightline serve`.

Kept free of heavy imports, because `sightline serve --help` is generated from it.
"""

from __future__ import annotations

import ipaddress
import math
from dataclasses import dataclass, field
from typing import Annotated

from cyclopts import Parameter

from sightline.errors import InputError

Flag = Annotated[bool, Parameter(negative="")]


@dataclass(frozen=True, slots=True)
class Limits:
    """What a request may cost.

    Attributes:
        body_mb: largest body of a request in MB.
        pixels: of a picture, at most; checked in its header, before it is decoded.
        video_pixels: of a frame of a video, at most.
        video_seconds: longest video in [s].
        video_frames: frames of a video, at most.
        seconds: longest time for one request's work in [s]; then its worker is ended.
        head_seconds: longest time for the head of a request to arrive in [s].
        body_seconds: longest time for a body to arrive in [s].
        memory_mb: of a worker process in MB; one that takes more is ended.
        queue: requests that may wait; the next one is told to come back later.
        connections: requests in hand at a time, event streams among them.
        rate: requests of one client per minute; 0 for no limit.
        burst: requests that a client may make at once.
        keep: results of background jobs are kept for so long in [s].
        kept: results of background jobs that are kept, at most.
        kept_mb: disk that all results may take in MB.
    """

    body_mb: float = 32.0
    pixels: int = 24_000_000
    video_pixels: int = 2_100_000
    video_seconds: float = 60.0
    video_frames: int = 1800
    seconds: float = 120.0
    head_seconds: float = 10.0
    body_seconds: float = 60.0
    memory_mb: float = 6000.0
    queue: int = 16
    connections: int = 128
    rate: float = 600.0
    burst: int = 60
    keep: float = 900.0
    kept: int = 32
    kept_mb: float = 2000.0

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            least = 0 if name in ("rate", "queue") else 1e-3
            if not (math.isfinite(value) and value >= least):
                raise InputError(f"--{name.replace('_', '-')} must be positive, got {value:g}")

    @property
    def body_bytes(self) -> int:
        """Largest body in bytes."""
        return round(self.body_mb * 1e6)


@dataclass(frozen=True, slots=True)
class ServeOptions:
    """How to serve.

    Attributes:
        host: address to listen on; any but this machine's own (127.0.0.1) needs a token.
        port: to listen on; 0 for any that is free.
        token: that clients must send as "Authorization: Bearer TOKEN"; default: SIGHTLINE_TOKEN.
        model: name of a depth model or a weight file; several times if clients may choose.
        ask_model: name, file or folder of a model that answers questions; default: the embedded one.
        codebook: name or file of the codebook that it was trained with.
        video_model: name or file of a model that continues videos; default: the embedded one.
        workers: processes that hold the models and compute; each has its own copy of them.
        threads: processor threads of each; default: every core.
        accept_licence: accept the models' non-commercial licences.
        allow_host: name under which clients may reach the server, beside its address.
        cors: origin of another site whose pages may use the service, such as https://example.org.
        open: open the page in a browser.
        limits: what a request may cost.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: Annotated[str | None, Parameter(env_var="SIGHTLINE_TOKEN")] = None
    model: tuple[str, ...] = ("default",)
    ask_model: str | None = None
    codebook: str = "codebook"
    video_model: str | None = None
    workers: int = 1
    threads: int | None = None
    accept_licence: Flag = False
    allow_host: tuple[str, ...] = ()
    cors: tuple[str, ...] = ()
    open: Flag = False
    limits: Annotated[Limits, Parameter(name="*")] = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"--port must lie in 0 to 65535, got {self.port}")
        if self.workers < 1 or (self.threads is not None and self.threads < 1):
            raise InputError("--workers and --threads must be at least 1")
        if not self.model:
            raise InputError("no depth model named", remedy="give --model default")
        if self.token is not None and (len(self.token) < 8 or not printable(self.token)):
            raise InputError(
                "a token has at least 8 letters, digits and signs, no blanks",
                remedy="make one with: openssl rand -hex 16",
            )
        for origin in self.cors:
            if origin == "*" or not origin.startswith(("http://", "https://")):
                raise InputError(
                    f"{origin!r} is no origin", remedy="write one such as https://example.org"
                )
        if self.token is None and not is_loopback(self.host):
            raise InputError(
                f"{self.host} can be reached by others, and there is no token",
                remedy="give --token or SIGHTLINE_TOKEN, or leave out --host",
            )


def is_loopback(host: str) -> bool:
    """Whether an address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def printable(text: str) -> bool:
    """Whether a text has visible ASCII characters only: what fits into a header."""
    return all("!" <= letter <= "~" for letter in text)
