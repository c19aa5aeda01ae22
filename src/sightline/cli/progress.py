"""A progress bar with rate and time left on the error stream; nothing when that is no terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class _Rate(ProgressColumn):
    """Files (or frames) per second, or seconds for each when they take longer."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        if not speed:
            return Text("")
        return Text(f"{speed:.1f} per s" if speed >= 1 else f"{1 / speed:.1f} s each")


class Display:
    """The bar of one batch."""

    def __init__(self, bar: Progress, total: int, what: str) -> None:
        self._bar, self._total, self._what = bar, total, what
        self._task = bar.add_task(what, total=total)

    def advance(self) -> None:
        """One more file is done."""
        if self._total > 1:
            self._bar.update(self._task, advance=1, description=self._what)

    def frame(self, done: int, total: int | None) -> None:
        """So many frames of the present video are done; a video alone has the bar to itself."""
        if self._total == 1:
            self._bar.update(self._task, completed=done, total=total)
        else:
            self._bar.update(self._task, description=f"frame {done}/{total or '?'}")

    def note(self, text: str) -> None:
        """Say what is being done with the present file; forgotten when it is done."""
        self._bar.update(self._task, description=text)


@contextmanager
def progress(total: int, what: str = "depth") -> Iterator[Display]:
    """Show a bar for `total` files while the block runs, with a word for what is being made."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not sys.stderr.isatty(),
    )
    with bar:
        yield Display(bar, total, what)
