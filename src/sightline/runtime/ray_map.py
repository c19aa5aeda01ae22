"""Map over inputs on a Ray cluster, on one machine or many.

The function lives in actors. Ray restarts an actor that was killed, here or on another machine, and
gives it the input that it had. Each actor has one input at a time, so a death is counted against no
other input.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, TypeVar

from sightline.errors import InputError, SightlineError, install
from sightline.runtime.parallel import RETRIES, STOP_TIMEOUT, AbortMap, MapResult, attempt

T = TypeVar("T")
R = TypeVar("R")

#: How long a cluster may take to answer, in [s].
ANSWER_WITHIN = 10.0


def map_on_ray(
    function: Callable[[T], R],
    inputs: Sequence[T],
    *,
    address: str | None = None,
    workers: int | None = None,
    retries: int = RETRIES,
) -> Generator[MapResult[T, R], None, None]:
    """Call `function` on every input on a Ray cluster; see `parallel.map_inputs`.

    When the caller stops early (`close()`), inputs that are being worked on are finished.
    """
    ray = _import_ray()
    with _session(ray, address):
        yield from _run(ray, function, list(inputs), workers, retries)


class _Holder:
    """Actor that keeps the function."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def run(self, item: Any) -> MapResult[Any, Any] | AbortMap:
        return attempt(self._function, item)


def _run(
    ray: Any, function: Callable[[T], R], inputs: list[T], workers: int | None, retries: int
) -> Generator[MapResult[T, R], None, None]:
    processors = max(1.0, float(ray.cluster_resources().get("CPU", 1.0)))
    count = min(workers or int(processors), len(inputs))
    if count == 0:
        return
    # More workers than processors share them; otherwise some would wait forever for one of their own.
    holder = ray.remote(
        num_cpus=min(1.0, processors / count), max_restarts=-1, max_task_retries=retries
    )(_Holder)
    pool = [holder.remote(function) for _ in range(count)]
    waiting = iter(inputs)
    busy: dict[Any, tuple[Any, T]] = {}

    def give_next(actor: Any) -> None:
        for item in waiting:
            busy[actor.run.remote(item)] = actor, item
            return

    try:
        for actor in pool:
            give_next(actor)
        while busy:
            (reference, *_), _ = ray.wait(list(busy), num_returns=1)
            actor, item = busy.pop(reference)
            answer = _fetch(ray, reference, item, retries)
            give_next(actor)
            yield answer
    finally:
        if busy:
            ray.wait(list(busy), num_returns=len(busy), timeout=STOP_TIMEOUT)
        for actor in pool:
            ray.kill(actor)


def _fetch(ray: Any, reference: Any, item: T, retries: int) -> MapResult[T, Any]:
    try:
        message: MapResult[T, Any] | AbortMap = ray.get(reference)
    except ray.exceptions.RayError as error:
        how = f"{retries + 1} workers were killed over it ({type(error).__name__})"
        return MapResult(item, failure=SightlineError(f"{item}: {how}; is memory short?"))
    if isinstance(message, AbortMap):
        raise message.error
    return message


@contextmanager
def _session(ray: Any, address: str | None) -> Iterator[None]:
    """Connect to a cluster, unless the caller has, and disconnect afterwards."""
    if ray.is_initialized():
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS")
    _knock(address)
    options: dict[str, Any] = {}
    if address is None or "://" not in address:  # a Ray client hands its options on to the cluster
        options = {"include_dashboard": False, "log_to_driver": False}
    sigterm_handler = signal.getsignal(signal.SIGTERM)
    try:
        with _no_usage_reports():
            ray.init(address=address, logging_level=logging.ERROR, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _nobody(address, error) from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, sigterm_handler)  # Ray replaces it
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str | None) -> None:
    """Refuse an address where nothing listens; Ray itself would try for more than five minutes."""
    host, _, port = (address or "").rpartition("://")[2].rpartition(":")
    if not host or not port.isdecimal():  # `auto`, say: Ray knows best
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=ANSWER_WITHIN).close()
    except (OSError, OverflowError) as error:
        raise _nobody(address, error) from error


def _nobody(address: str | None, error: Exception) -> InputError:
    reason = " ".join(str(error).split())[:200]
    return InputError(
        f"no Ray cluster at {address or 'this machine'} ({reason})",
        remedy="start one with `ray start --head`, or leave out the address for one of your own",
    )


@contextmanager
def _no_usage_reports() -> Iterator[None]:
    """Keep Ray from reporting usage to its makers, unless the user has decided about it.

    Ray reads this variable only from the environment; it is removed again when Ray has started.
    """
    name = "RAY_USAGE_STATS_ENABLED"
    if name in os.environ:
        yield
        return
    os.environ[name] = "0"
    try:
        yield
    finally:
        del os.environ[name]


def _import_ray() -> Any:
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise InputError("Ray is not installed", remedy=install("cluster")) from error
