"""A progress bar with rate and remaining time on the error stream, if that is a terminal."""

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
    """Inputs (or frames) per second, or seconds for each if they take longer."""

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
        """Count one more input as done."""
        if self._total > 1:
            self._bar.update(self._task, advance=1, description=self._what)

    def step(self, done: int, total: int | None, text: str = "") -> None:
        """Show the progress inside the present input.

        Args:
            done: number of steps done, such as frames of a video.
            total: number of all steps, if known.
            text: description of the steps. Default: frames.
        """
        if self._total == 1:
            self._bar.update(
                self._task, completed=done, total=total, description=text or self._what
            )
        else:
            text = text or f"frame {done}/{total or '?'}"
            self._bar.update(self._task, description=text)


@contextmanager
def progress(total: int, what: str = "depth") -> Iterator[Display]:
    """Show a bar for `total` inputs while the block runs; `what` describes the results."""
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
