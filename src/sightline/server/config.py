"""Settings of `sightline serve`: one field, one flag.

This module is imported by `sightline serve --help` and must stay free of heavy imports.
"""

from __future__ import annotations

import ipaddress
import math
import re
from dataclasses import dataclass, field
from typing import Annotated, Literal

from cyclopts import Parameter

from sightline.config import Engine
from sightline.errors import InputError

_ROOT_PATH = re.compile(r"(/[A-Za-z0-9._~-]+)+")

Flag = Annotated[bool, Parameter(negative="")]


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of requests and of what the server stores.

    Attributes:
        max_body_mb: maximum size of a request body in [MB].
        max_pixels: maximum pixels of an image, checked in its header before it is decoded.
        max_video_pixels: maximum pixels of a video frame.
        max_video_seconds: maximum length of a video in [s].
        max_video_frames: maximum number of frames of a video.
        job_timeout: maximum processing time of a job in [s]; its worker is then replaced. Depth of a
            video has the two limits below instead.
        frame_timeout: maximum processing time of one video frame in [s]; the worker is then replaced.
        video_timeout: maximum processing time of a video in [s]; the result then consists of the
            frames that are finished.
        head_timeout: maximum time to receive the head of a request in [s].
        body_timeout: maximum time to receive the body of a request in [s].
        worker_memory_mb: maximum memory of a worker process in [MB]; it is then replaced.
        max_queue: maximum number of waiting jobs; further requests are rejected with status 429.
        max_connections: maximum number of concurrent requests, including event streams.
        rate: maximum requests per client and minute; 0 for no limit.
        burst: maximum requests that a client may send at once.
        keep_seconds: time after which results of background jobs are deleted in [s].
        max_kept: maximum number of stored results of background jobs.
        max_kept_mb: maximum disk space of all stored results in [MB].
        min_free_mb: disk space that must remain free in [MB]. Stored results are deleted first, the
            oldest one at the beginning; then uploads are rejected with status 507.
    """

    max_body_mb: float = 32.0
    max_pixels: int = 24_000_000
    max_video_pixels: int = 2_100_000
    max_video_seconds: float = 60.0
    max_video_frames: int = 1800
    job_timeout: float = 120.0
    frame_timeout: float = 30.0
    video_timeout: float = 900.0
    head_timeout: float = 10.0
    body_timeout: float = 60.0
    worker_memory_mb: float = 6000.0
    max_queue: int = 16
    max_connections: int = 128
    rate: float = 600.0
    burst: int = 60
    keep_seconds: float = 900.0
    max_kept: int = 32
    max_kept_mb: float = 2000.0
    min_free_mb: float = 100.0

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            least = 0 if name in ("rate", "max_queue", "min_free_mb") else 1e-3
            if not (math.isfinite(value) and value >= least):
                raise InputError(f"--{name.replace('_', '-')} must be positive, got {value:g}")

    @property
    def max_body_bytes(self) -> int:
        """Largest request body in bytes."""
        return round(self.max_body_mb * 1e6)


@dataclass(frozen=True, slots=True)
class ServeConfig:
    """Settings of the server.

    Attributes:
        host: address to listen on; any address other than 127.0.0.1 requires a token.
        port: port to listen on; 0 for a free one.
        token: token that clients must send as "Authorization: Bearer TOKEN".
        model: name or weight file of a depth model; may be repeated to let clients choose.
        ask_model: name, file or folder of a vision-language model; default: the embedded one.
        codebook: name or file of the codebook of the vision-language model.
        video_model: name or file of a video model; default: the embedded one.
        workers: number of worker processes; each has its own copy of the models.
        engine: inference engine of the depth models.
        device: device of the engine, for example cpu, cuda or mps.
        threads: CPU threads of each worker process; default: all cores.
        accept_license: accept non-commercial licenses of models.
        allow_host: additional host name under which clients may reach the server; may be repeated.
        cors: origin of a site that may call the API, such as https://example.org; may be repeated.
        root_path: path prefix under which a reverse proxy publishes the server, such as /depth.
        trusted_proxies: address or network of a reverse proxy whose X-Forwarded-For and
            X-Forwarded-Proto headers are used, such as 10.0.0.0/8; may be repeated.
        log: format of the request log on standard error.
        open: open the page in a browser.
        limits: limits of requests.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: Annotated[str | None, Parameter(env_var="SIGHTLINE_TOKEN")] = None
    model: tuple[str, ...] = ("default",)
    ask_model: str | None = None
    codebook: str = "codebook"
    video_model: str | None = None
    workers: int = 1
    engine: Engine = "auto"
    device: str | None = None
    threads: int | None = None
    accept_license: Flag = False
    allow_host: tuple[str, ...] = ()
    cors: tuple[str, ...] = ()
    root_path: str = ""
    trusted_proxies: tuple[str, ...] = ()
    log: Literal["none", "text", "json"] = "none"
    open: Flag = False
    limits: Annotated[Limits, Parameter(name="*")] = field(default_factory=Limits)

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise InputError(f"--port must be from 0 to 65535, got {self.port}")
        if self.workers < 1 or (self.threads is not None and self.threads < 1):
            raise InputError("--workers and --threads must be at least 1")
        if not self.model:
            raise InputError("no depth model given", remedy="give --model default")
        if self.token is not None and (len(self.token) < 8 or not _is_visible_ascii(self.token)):
            raise InputError(
                "the token must have at least 8 visible ASCII characters and no spaces",
                remedy="make one with: openssl rand -hex 16",
            )
        for origin in self.cors:
            if origin == "*" or not origin.startswith(("http://", "https://")):
                raise InputError(
                    f"--cors {origin!r} is not an origin",
                    remedy="give one like https://example.org",
                )
        if self.root_path and not _ROOT_PATH.fullmatch(self.root_path):
            raise InputError(
                f"--root-path {self.root_path!r} is not a path prefix",
                remedy="give one like /depth, without a slash at the end",
            )
        for proxy in self.trusted_proxies:
            try:
                ipaddress.ip_network(proxy)
            except ValueError as error:
                raise InputError(
                    f"--trusted-proxies {proxy!r} is not an address or network",
                    remedy="give one like 127.0.0.1 or 10.0.0.0/8",
                ) from error
        if self.token is None and not is_loopback(self.host):
            raise InputError(
                f"--host {self.host} is reachable by other machines and needs a token",
                remedy="give --token or SIGHTLINE_TOKEN, or leave out --host",
            )


def is_loopback(host: str) -> bool:
    """Return whether a host is a loopback address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_visible_ascii(text: str) -> bool:
    return all("!" <= letter <= "~" for letter in text)
