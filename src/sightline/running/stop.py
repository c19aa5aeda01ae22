"""Ctrl-C and a polite kill, minded between steps."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Whether somebody asked to stop."""

    asked = False

    def ask(self, _signal: int, _frame: FrameType | None) -> None:
        """Remember; the loop looks between steps."""
        self.asked = True


@contextmanager
def stop_between_steps() -> Iterator[Stop]:
    """Turn Ctrl-C and a polite kill into a flag, so that no step is cut in half."""
    stop = Stop()
    try:
        before = {s: signal.signal(s, stop.ask) for s in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:  # not the main thread: nobody sends signals here
        yield stop
        return
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def stopped(step: int, steps: int) -> KeyboardInterrupt:
    """Say how far a run came."""
    return KeyboardInterrupt(
        f"stopped at step {step} of {steps}; the same command goes on from there"
    )


def progress_line(step: int, steps: int, losses: list[float], pace: float) -> str:
    """Return how a run goes, in a line.

    Args:
        step: done.
        steps: in all.
        losses: of the steps so far; the last twenty count.
        pace: seconds that a step takes.
    """
    recent = losses[-20:] or [float("nan")]
    return (
        f"step {step}/{steps}  loss {sum(recent) / len(recent):.4f}  "
        f"{pace:.2f} s a step  {pace * (steps - step) / 60:.0f} min left"
    )
