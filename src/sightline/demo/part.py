"""A part of the demo: what it shows on the page and says in a terminal, or why it cannot be shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.errors import InputError, install

#: Told in one line what is about to take a while.
Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Shown:
    """What a part has to show.

    Attributes:
        fields: variables of the part's template.
        lines: lines to print.
    """

    fields: Mapping[str, Any]
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """What every part is made for.

    Attributes:
        out: folder of the page and of what it links to.
        model: name of the depth model.
        tell: told what is about to take a while.
    """

    out: Path
    model: str
    tell: Tell


@dataclass(frozen=True, slots=True)
class Plan:
    """A part before it is made.

    Attributes:
        name: what the user calls it; also its anchor on the page.
        title: its heading.
        says: what is to be seen, a sentence or two.
        extra: package extra that the part needs; empty for none.
        make: does the work; imports what is heavy.
    """

    name: str
    title: str
    says: str
    extra: str
    make: Callable[[Order], Shown]


@dataclass(frozen=True, slots=True)
class Part:
    """A part that was made, or tried.

    Attributes:
        plan: what it was to be.
        fields: variables of its template; empty after a failure.
        lines: lines to print.
        missing: why it could not be made and what to do about it, a sentence; or empty.
        error: a mistake of ours that it failed with, if it did; `missing` says so in words.
        seconds: processing time in [s].
    """

    plan: Plan
    fields: Mapping[str, Any] = field(default_factory=dict)
    lines: tuple[str, ...] = ()
    missing: str = ""
    error: Exception | None = None
    seconds: float = 0.0


def attempt(plan: Plan, order: Order) -> Part:
    """Make a part; what is not installed, cannot be had or fails is said, and no reason to stop.

    Args:
        plan: plan of the part.
        order: what it is made for.

    Raises:
        InputError: depth cannot be had with what was given, such as a model that is not there.
    """
    start = time.perf_counter()
    try:
        shown = plan.make(order)
    except ModuleNotFoundError as error:
        if not plan.extra or (error.name or "").startswith("sightline"):
            return failure(plan, error)
        return Part(plan, missing=_lacking(plan, error.name or "a package"))
    except InputError as error:
        if not plan.extra:  # depth itself has nothing to fall back on
            raise
        return Part(plan, missing=f"This part could not be made: {error}.")
    except Exception as error:  # ours: the other parts must not suffer
        return failure(plan, error)
    return Part(plan, shown.fields, shown.lines, seconds=time.perf_counter() - start)


def failure(plan: Plan, error: Exception) -> Part:
    """Return a part that failed by a mistake of ours, with words for the page."""
    said = (
        f"This part failed, which is a mistake of ours ({in_short(error)}); the others are whole."
    )
    return Part(plan, missing=said, error=error)


def in_short(error: Exception) -> str:
    """Return the kind of an error and what it says, in one line of a bearable length.

    >>> in_short(ValueError("no    way"))
    'ValueError: no way'
    """
    line = " ".join(f"{type(error).__name__}: {error}".split())
    return line if len(line) <= 200 else line[:199] + "…"


def _lacking(plan: Plan, package: str) -> str:
    return f"This part needs {package}, which is not installed; {install(plan.extra)}"
