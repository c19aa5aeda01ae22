"""Parallel map: call a function on many inputs, in processes of this machine or on a Ray cluster.

`map_inputs` is the one entry. It yields a `MapResult` per input in the order of completion, and
`map_in_order` in the order of the inputs; an input that fails does not end the run. The function is
sent to each worker once and stays there, so an object with `__call__` may load what it needs (a
network, say) at its first call and keep it. It must return the same result whenever it is called with
the same input, since an input is tried again after its worker was killed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from sightline.config import ParallelConfig
from sightline.errors import SightlineError, explained

M = TypeVar("M")
T = TypeVar("T")
R = TypeVar("R")

#: How often an input is tried again after its worker was killed.
RETRIES = 2

#: How long a worker that was told to stop may take to finish, in [s].
STOP_TIMEOUT = 20.0


@dataclass(frozen=True, slots=True)
class MapResult(Generic[T, R]):
    """Result or failure of one input.

    Attributes:
        item: the input.
        result: return value of the function; None after a failure.
        failure: why there is no result.
    """

    item: T
    result: R | None = None
    failure: SightlineError | None = None


class AbortMap(Exception):
    """Raised by a mapped function when no other input can succeed either, as on a full disk.

    The run ends and `map_inputs` raises `error`.
    """

    def __init__(self, error: SightlineError) -> None:
        super().__init__(error)
        self.error = error


def available_cores() -> int:
    """Return the number of processor cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_inputs(
    function: Callable[[T], R],
    inputs: Sequence[T],
    *,
    workers: int | None = None,
    cluster: bool = False,
    address: str | None = None,
    retries: int = RETRIES,
) -> Generator[MapResult[T, R], None, None]:
    """Call `function` on every input in parallel; yield results in the order of completion.

    An exception is a result with a failure and is not tried again. Close the generator to stop early.

    Args:
        function: picklable; takes one input.
        inputs: picklable.
        workers: number of workers, at most one per input; default: one per core of this machine or
            of the cluster.
        cluster: run on Ray instead of processes of this machine. Every machine needs this package
            and `ray`, and must reach the files that the inputs name.
        address: address of the Ray cluster (`auto`, `host:6379`, `ray://host:10001`). Default:
            `RAY_ADDRESS` if set, else a temporary cluster on this machine.
        retries: number of times an input is retried on another worker after its worker was killed.

    Raises:
        SightlineError: the error of an `AbortMap`, or every worker was killed.
    """
    if cluster:
        from sightline.runtime.ray_map import map_on_ray

        return map_on_ray(function, inputs, address=address, workers=workers, retries=retries)
    from sightline.runtime.process_pool import map_in_processes

    return map_in_processes(function, inputs, workers=workers or available_cores(), retries=retries)


def map_in_order(
    function: Callable[[T], R], inputs: Sequence[T], parallel: ParallelConfig | None = None
) -> Generator[MapResult[T, R], None, None]:
    """Call `function` on every input; yield results in the order of the inputs.

    Without a cluster and with at most one worker, the function runs in this process. Results are the
    same in all cases.

    Args:
        function: takes one input; picklable if there are workers.
        inputs: picklable if there are workers.
        parallel: where to run. Default: in this process.

    Raises:
        SightlineError: the error of an `AbortMap`, or every worker was killed.
    """
    parallel = parallel or ParallelConfig()
    if uses_workers(parallel, len(inputs)):
        numbered = [_Numbered(number, item) for number, item in enumerate(inputs)]
        answers = map_inputs(
            _OfNumbered(function),
            numbered,
            workers=parallel.workers,
            cluster=parallel.cluster,
            address=parallel.address,
        )
        early: dict[int, MapResult[T, R]] = {}
        following = 0
        with closing(answers):
            for answer in answers:
                number, original = answer.item.number, answer.item.item
                early[number] = MapResult(original, answer.result, answer.failure)
                while following in early:
                    yield early.pop(following)
                    following += 1
        return
    for item in inputs:
        result = attempt(function, item)
        if isinstance(result, AbortMap):
            raise result.error from result
        yield result


def uses_workers(parallel: ParallelConfig, count: int) -> bool:
    """Return whether `count` inputs are processed outside of this process."""
    return parallel.cluster or ((parallel.workers or 1) > 1 and count > 1)


def worker_threads(parallel: ParallelConfig, count: int, threads: int | None = None) -> int | None:
    """Return the number of CPU threads of each process that works on `count` inputs.

    Args:
        parallel: where to run.
        count: number of inputs.
        threads: threads of all local workers together, or of each worker of a cluster. Default: one
            per core of this machine; 1 per worker of a cluster.

    Returns:
        None, the default of the library that runs the network, for work in this process.
    """
    if parallel.cluster:
        return threads or 1
    if not uses_workers(parallel, count):
        return threads
    return max(1, (threads or available_cores()) // min(parallel.workers or 1, count))


class WithModel(Generic[M, T, R]):
    """Function of a model and an input that loads the model at its first call and keeps it.

    The model is not pickled: every worker loads its own.

    Args:
        load: loads the model; picklable.
        function: takes the model and an input; picklable.
    """

    def __init__(self, load: Callable[[], M], function: Callable[[M, T], R]) -> None:
        self._load, self._function = load, function
        self._model: M | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_model": None}

    def __call__(self, item: T) -> R:
        """Return `function(model, item)`."""
        if self._model is None:
            try:
                self._model = self._load()
            except AbortMap:
                raise
            except Exception as error:  # every worker would fail in the same way
                raise AbortMap(explained(error, "the model could not be loaded")) from error
        return self._function(self._model, item)


@dataclass(frozen=True, slots=True)
class _Numbered(Generic[T]):
    number: int
    item: T

    def __str__(self) -> str:
        return str(self.item)


@dataclass(frozen=True, slots=True)
class _OfNumbered(Generic[T, R]):
    function: Callable[[T], R]

    def __call__(self, numbered: _Numbered[T]) -> R:
        return self.function(numbered.item)


def attempt(function: Callable[[T], R], item: T) -> MapResult[T, R] | AbortMap:
    """Call the function; exceptions are returned, never raised. `str(item)` names the input."""
    try:
        return MapResult(item, function(item))
    except AbortMap as end:
        return end
    except Exception as error:  # one bad input must not end the run
        return MapResult(item, failure=explained(error, str(item)))
