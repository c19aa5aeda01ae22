"""Turn SIGINT and SIGTERM into a stop flag. For program entry points only, never for library code."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def stop_on_signals() -> Iterator[Callable[[], bool]]:
    """Handle SIGINT and SIGTERM by setting a flag, from the first look at the flag to the block's end.

    Until the first look, signals end the program as usual: nothing is lost before the first training
    step. Outside the main thread, where Python cannot install handlers, the flag stays unset.

    Yields:
        A function that returns True once a signal arrived; pass it as `stop` to the trainer.
    """
    received = False
    previous: dict[int, object] = {}

    def remember(*_: object) -> None:
        nonlocal received
        received = True

    def stop() -> bool:
        if not previous:
            try:
                for number in (signal.SIGINT, signal.SIGTERM):
                    previous[number] = signal.signal(number, remember)
            except ValueError:  # not the main thread
                return False
        return received

    try:
        yield stop
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)  # type: ignore[arg-type]
