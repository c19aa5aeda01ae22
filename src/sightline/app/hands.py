"""One worker process as the server sees it: hired, heard, nudged, dismissed."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import os
import signal
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sightline.app.worker import NUDGE, Setup, work

if TYPE_CHECKING:
    from sightline.app.task import Task

#: How long a worker may take to end when it is told to, in [s].
PATIENCE = 3.0
#: Largest message of a worker in bytes.
_LONGEST = 1_000_000


@dataclass(eq=False)
class Hand:
    """A worker process.

    Attributes:
        process: itself.
        pipe: to it.
        messages: that it sent; None is its death.
        ready: whether it has its models.
        task: that it is at.
    """

    process: BaseProcess
    pipe: Connection
    messages: asyncio.Queue[dict[str, Any] | None] = field(default_factory=asyncio.Queue)
    ready: bool = False
    task: Task | None = None

    @property
    def pid(self) -> int:
        """Of its process; 0 before there is one."""
        return self.process.pid or 0

    def order(self, order: dict[str, Any]) -> None:
        """Send an order; of one that is dead the next message says so."""
        with suppress(OSError):
            self.pipe.send_bytes(json.dumps(order).encode())

    def cancel(self) -> None:
        """Say that its task is not wanted any more."""
        self.order({"action": "cancel"})
        self.nudge()

    def nudge(self) -> None:
        """Make it look at its pipe, wherever in a step it is."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, NUDGE)

    async def how_it_ended(self) -> str:
        """Wait for the end of a process that has closed its pipe, and say how it came."""
        await asyncio.to_thread(self.process.join, PATIENCE)
        code = self.process.exitcode
        return f"by signal {-code}" if code is not None and code < 0 else f"with exit code {code}"


def hire(setup: Setup) -> Hand:
    """Start a worker process; it loads its models on its own."""
    # Spawned, not forked: a fork copies locks that another thread may hold.
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe()
    process = context.Process(target=work, args=(there, setup), daemon=True)
    resource_tracker.ensure_running()  # it would unblock signals when it is started
    # Ctrl-C reaches every process of the terminal: the worker inherits that it is blocked, and
    # unblocks it once it minds signals.
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    there.close()  # so that the worker's death closes the pipe
    return Hand(process, here)


def hear(hand: Hand, loop: asyncio.AbstractEventLoop) -> None:
    """Read what a worker says; its death is None."""
    try:
        message = json.loads(hand.pipe.recv_bytes(_LONGEST))
    except (EOFError, OSError, ValueError):
        loop.remove_reader(hand.pipe.fileno())
        message = None
    hand.messages.put_nowait(message)


def dismiss(hand: Hand) -> None:
    """End a worker process, politely first."""
    hand.pipe.close()
    hand.process.terminate()
    hand.process.join(PATIENCE)
    if hand.process.is_alive():
        hand.process.kill()
        hand.process.join()
    hand.process.close()


def memory_of(pid: int) -> int:
    """Return the resident memory of a process in bytes; 0 where the system does not say."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
