"""The same jobs on Ray: a function over many inputs, on one machine or on many.

`run_on_ray` takes what `processes.run_in_processes` takes and yields the same answers. The function
lives in actors: Ray starts an actor that was killed again, here or on another machine, and gives it
the input that it had. Each actor has one input at a time, so a death is counted against no other.

Every machine needs this package (and `ray`), and must see the files that the inputs name: a shared
folder or a bucket.
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
from sightline.processes import PATIENCE, RETRIES, Answer, EndOfRun, attempt

T = TypeVar("T")
R = TypeVar("R")

#: How long a cluster may take to answer, in [s].
ANSWER_WITHIN = 10.0


def run_on_ray(
    function: Callable[[T], R],
    inputs: Sequence[T],
    *,
    address: str | None = None,
    workers: int | None = None,
    retries: int = RETRIES,
) -> Generator[Answer[T, R], None, None]:
    """Call `function` on every input on a Ray cluster; yield answers in the order they come.

    An exception is an answer with a failure, and is not tried again; an input whose worker was killed
    is. When the caller stops early (`close()`), inputs that are being worked on are finished.

    Args:
        function: can be pickled; takes one input. Sent to each worker once, and kept there.
        inputs: can be pickled.
        address: of the cluster (`auto`, `host:6379`, `ray://host:10001`); None for the one that
            `RAY_ADDRESS` names, or one of this machine alone, which ends with the run.
        workers: how many; None for one per processor of the cluster.
        retries: how often an input is tried again after its worker was killed.
    """
    ray = _import_ray()
    with _session(ray, address):
        yield from _run(ray, function, list(inputs), workers, retries)


class _Holder:
    """The actor: keeps the function for its life."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function

    def run(self, item: Any) -> Answer[Any, Any] | EndOfRun:
        return attempt(self._function, item)


def _run(
    ray: Any, function: Callable[[T], R], inputs: list[T], workers: int | None, retries: int
) -> Generator[Answer[T, R], None, None]:
    processors = max(1.0, float(ray.cluster_resources().get("CPU", 1.0)))
    count = min(workers or int(processors), len(inputs))
    if count == 0:
        return
    # More workers than processors share them; otherwise some would wait for ever for one of their own.
    holder = ray.remote(
        num_cpus=min(1.0, processors / count), max_restarts=-1, max_task_retries=retries
    )(_Holder)
    crew = [holder.remote(function) for _ in range(count)]
    waiting = iter(inputs)
    busy: dict[Any, tuple[Any, T]] = {}

    def give_next(actor: Any) -> None:
        for item in waiting:
            busy[actor.run.remote(item)] = actor, item
            return

    try:
        for actor in crew:
            give_next(actor)
        while busy:
            (reference, *_), _ = ray.wait(list(busy), num_returns=1)
            actor, item = busy.pop(reference)
            answer = _fetch(ray, reference, item, retries)
            give_next(actor)
            yield answer
    finally:
        if busy:
            ray.wait(list(busy), num_returns=len(busy), timeout=PATIENCE)
        for actor in crew:
            ray.kill(actor)


def _fetch(ray: Any, reference: Any, item: T, retries: int) -> Answer[T, Any]:
    try:
        message: Answer[T, Any] | EndOfRun = ray.get(reference)
    except ray.exceptions.RayError as error:
        how = f"{retries + 1} workers were killed over it ({type(error).__name__})"
        return Answer(item, failure=SightlineError(f"{item}: {how}; is memory short?"))
    if isinstance(message, EndOfRun):
        raise message.error
    return message


@contextmanager
def _session(ray: Any, address: str | None) -> Iterator[None]:
    """Be connected to a cluster, and leave it as it was found."""
    if ray.is_initialized():
        yield
        return
    address = address or os.environ.get("RAY_ADDRESS")
    _knock(address)
    options: dict[str, Any] = {}
    if address is None or "://" not in address:  # a Ray client hands its options on to the cluster
        options = {"include_dashboard": False, "log_to_driver": False}
    on_polite_kill = signal.getsignal(signal.SIGTERM)
    try:
        ray.init(address=address, logging_level=logging.ERROR, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise _nobody(address, error) from error
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, on_polite_kill)  # Ray has put its own in its place
    try:
        yield
    finally:
        ray.shutdown()


def _knock(address: str | None) -> None:
    """Refuse an address where nobody answers: Ray itself would try for more than five minutes."""
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


def _import_ray() -> Any:
    # Ray reports its use to its makers unless told otherwise before it is imported.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        return import_module("ray")
    except ModuleNotFoundError as error:
        raise InputError("Ray is not installed", remedy=install("cluster")) from error
